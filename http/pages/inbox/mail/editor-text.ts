// The document of the mail editor, and the Markdown that the service takes and keeps. In the editor every line is a
// paragraph and an empty one separates, as writers of mail expect; in Markdown lines end with a line break, and an empty
// line separates. The only importer of prosemirror-model.

import { Marked, type MarkedToken, type Token, type Tokens } from 'marked';
import { Fragment, type Mark, type Node, Schema, Slice } from 'prosemirror-model';

export type { Node, NodeType } from 'prosemirror-model';

export const schema = new Schema({
  nodes: {
    doc: { content: 'block+' },
    paragraph: { group: 'block', content: 'inline*', parseDOM: [{ tag: 'p' }], toDOM: () => ['p', 0] },
    blockquote: {
      group: 'block',
      content: 'block+',
      defining: true,
      parseDOM: [{ tag: 'blockquote' }],
      toDOM: () => ['blockquote', 0],
    },
    bulletList: { group: 'block', content: 'listItem+', parseDOM: [{ tag: 'ul' }], toDOM: () => ['ul', 0] },
    orderedList: { group: 'block', content: 'listItem+', parseDOM: [{ tag: 'ol' }], toDOM: () => ['ol', 0] },
    listItem: { content: 'paragraph block*', defining: true, parseDOM: [{ tag: 'li' }], toDOM: () => ['li', 0] },
    codeBlock: {
      group: 'block',
      content: 'text*',
      marks: '',
      code: true,
      defining: true,
      parseDOM: [{ tag: 'pre', preserveWhitespace: 'full' }],
      toDOM: () => ['pre', ['code', 0]],
    },
    rule: { group: 'block', parseDOM: [{ tag: 'hr' }], toDOM: () => ['hr'] },
    image: {
      group: 'inline',
      inline: true,
      draggable: true,
      attrs: { src: {}, alt: { default: '' } },
      toDOM: ({ attrs }) => ['img', { src: attrs['src'], alt: attrs['alt'] }],
    },
    text: { group: 'inline' },
  },
  marks: {
    link: {
      attrs: { href: {} },
      inclusive: false,
      parseDOM: [{ tag: 'a[href]', getAttrs: (element) => ({ href: element.getAttribute('href') }) }],
      toDOM: ({ attrs }) => ['a', { href: attrs['href'], rel: 'noopener noreferrer nofollow' }, 0],
    },
    strong: { parseDOM: [{ tag: 'strong' }, { tag: 'b' }], toDOM: () => ['strong', 0] },
    em: { parseDOM: [{ tag: 'em' }, { tag: 'i' }], toDOM: () => ['em', 0] },
    strike: { parseDOM: [{ tag: 's' }, { tag: 'del' }], toDOM: () => ['s', 0] },
    code: { parseDOM: [{ tag: 'code' }], toDOM: () => ['code', 0] },
  },
});

const { nodes, marks } = schema;

const skip = (): undefined => undefined;
/** As the service renders it (workers/mail/rich-text.ts). */
const markdown = new Marked({
  gfm: true,
  breaks: true,
  tokenizer: { heading: skip, lheading: skip, table: skip, code: skip, def: skip },
});

export function documentOf(text: string): Node {
  const blocks = blocksOf(markdown.lexer(text));
  return nodes.doc.create(null, blocks.length === 0 ? [nodes.paragraph.create()] : blocks);
}

/** For insertion into a line. */
export function sliceOf(text: string): Slice {
  return new Slice(Fragment.from(blocksOf(markdown.lexer(text))), 1, 1);
}

function blocksOf(tokens: readonly Token[]): Node[] {
  const blocks: Node[] = [];
  let wasParagraph = false;
  for (const token of tokens) {
    const made = blockOf(token as MarkedToken);
    const [first] = made;
    if (first === undefined) continue;
    const isParagraph = first.type === nodes.paragraph;
    if (isParagraph && wasParagraph) blocks.push(nodes.paragraph.create());
    blocks.push(...made);
    wasParagraph = isParagraph;
  }
  return blocks;
}

function blockOf(token: MarkedToken): Node[] {
  switch (token.type) {
    case 'space':
    case 'def':
      return [];
    case 'blockquote':
      return [nodes.blockquote.create(null, filled(blocksOf(token.tokens)))];
    case 'list':
      return [
        (token.ordered ? nodes.orderedList : nodes.bulletList).create(
          null,
          token.items.map((item: Tokens.ListItem) => nodes.listItem.create(null, itemOf(blocksOf(item.tokens)))),
        ),
      ];
    case 'code':
      return [nodes.codeBlock.create(null, token.text === '' ? [] : [schema.text(token.text)])];
    case 'hr':
      return [nodes.rule.create()];
    default:
      return linesOf('tokens' in token && token.tokens !== undefined ? token.tokens : [token]);
  }
}

const filled = (blocks: Node[]): Node[] => (blocks.length === 0 ? [nodes.paragraph.create()] : blocks);
const itemOf = (blocks: Node[]): Node[] =>
  blocks[0]?.type === nodes.paragraph ? blocks : [nodes.paragraph.create(), ...blocks];

/** A paragraph for each line. */
function linesOf(tokens: readonly Token[]): Node[] {
  const lines: Node[][] = [[]];
  for (const piece of inlineOf(tokens, [])) {
    if (piece === 'break') lines.push([]);
    else lines.at(-1)?.push(piece);
  }
  return lines.map((line) => nodes.paragraph.create(null, line));
}

function inlineOf(tokens: readonly Token[], active: readonly Mark[]): (Node | 'break')[] {
  return tokens.flatMap((one): (Node | 'break')[] => {
    const token = one as MarkedToken;
    const within = (mark: Mark): (Node | 'break')[] =>
      inlineOf('tokens' in token ? (token.tokens ?? []) : [], [...active, mark]);
    switch (token.type) {
      case 'br':
        return ['break'];
      case 'strong':
        return within(marks.strong.create());
      case 'em':
        return within(marks.em.create());
      case 'del':
        return within(marks.strike.create());
      case 'link':
        return within(marks.link.create({ href: token.href }));
      case 'codespan':
        return [schema.text(token.text, [...active, marks.code.create()])];
      case 'image':
        return [nodes.image.create({ src: token.href, alt: token.text })];
      case 'text':
        return token.tokens === undefined ? textOf(token.text, active) : inlineOf(token.tokens, active);
      case 'escape':
        return textOf(token.text, active);
      default:
        return textOf(token.raw, active);
    }
  });
}

function textOf(text: string, active: readonly Mark[]): (Node | 'break')[] {
  return text
    .split('\n')
    .flatMap((line, index): (Node | 'break')[] => [
      ...(index > 0 ? (['break'] as const) : []),
      ...(line === '' ? [] : [schema.text(line, active)]),
    ]);
}

export function markdownOf(document: Node): string {
  return blocksAsText(document).trim();
}

function blocksAsText(parent: Node): string {
  let text = '';
  let before: 'nothing' | 'line' | 'block' = 'nothing';
  parent.forEach((block) => {
    const isLine = block.type === nodes.paragraph;
    if (isLine && block.childCount === 0) {
      if (before !== 'nothing') before = 'block';
      return;
    }
    const isClose = before === 'line' && (isLine || (parent.type === nodes.listItem && isList(block)));
    text += before === 'nothing' ? '' : isClose ? '\n' : '\n\n';
    text += isLine ? safeLine(inlineAsText(block)) : blockAsText(block);
    before = isLine ? 'line' : 'block';
  });
  return text;
}

const isList = ({ type }: Node): boolean => type === nodes.bulletList || type === nodes.orderedList;

function blockAsText(block: Node): string {
  switch (block.type) {
    case nodes.blockquote:
      return blocksAsText(block).replace(/^.*$/gm, (line) => (line === '' ? '>' : `> ${line}`));
    case nodes.bulletList:
      return itemsAsText(block, () => '- ');
    case nodes.orderedList:
      return itemsAsText(block, (index) => `${index + 1}. `);
    case nodes.codeBlock: {
      const longest = Math.max(2, ...[...block.textContent.matchAll(/`+/g)].map(([run]) => run.length));
      const fence = '`'.repeat(longest + 1);
      return `${fence}\n${block.textContent}\n${fence}`;
    }
    default:
      return '---';
  }
}

function itemsAsText(list: Node, marker: (index: number) => string): string {
  const items: string[] = [];
  list.forEach((item, _, index) => {
    const mark = marker(index);
    items.push(mark + blocksAsText(item).replace(/\n(?=[^\n])/g, `\n${' '.repeat(mark.length)}`));
  });
  return items.join('\n');
}

/** From the outside in. */
const delimiters: readonly (readonly [string, string])[] = [
  ['strong', '**'],
  ['em', '*'],
  ['strike', '~~'],
];

function inlineAsText(line: Node): string {
  let text = '';
  let open: Mark[] = [];
  /** White space at the edge of a mark belongs outside of it. */
  let space = '';
  const moveTo = (next: Mark[]): void => {
    const kept = open.findIndex((mark, index) => next[index] === undefined || !mark.eq(next[index]));
    const stays = kept < 0 ? open.length : kept;
    for (const mark of open.slice(stays).reverse()) text += closing(mark);
    text += space;
    space = '';
    for (const mark of next.slice(stays)) text += opening(mark);
    open = next;
  };
  line.forEach((piece) => {
    const of = ordered(piece.marks);
    if (piece.type === nodes.image) {
      moveTo(of);
      text += `![${escaped(String(piece.attrs['alt']))}](${addressed(String(piece.attrs['src']))})`;
      return;
    }
    const whole = piece.text ?? '';
    const inner = whole.trim();
    if (inner === '') {
      space += whole;
      return;
    }
    space += whole.slice(0, whole.indexOf(inner));
    moveTo(of);
    text += piece.marks.some(({ type }) => type === marks.code) ? codeOf(inner) : escaped(inner);
    space = whole.slice(whole.indexOf(inner) + inner.length);
  });
  moveTo([]);
  return text;
}

function ordered(given: readonly Mark[]): Mark[] {
  const link = given.filter(({ type }) => type === marks.link);
  return [...link, ...delimiters.flatMap(([name]) => given.filter(({ type }) => type.name === name))];
}

function opening({ type, attrs }: Mark): string {
  return type === marks.link ? '[' : (delimiters.find(([name]) => name === type.name)?.[1] ?? String(attrs['href']));
}

function closing({ type, attrs }: Mark): string {
  return type === marks.link
    ? `](${addressed(String(attrs['href']))})`
    : (delimiters.find(([name]) => name === type.name)?.[1] ?? '');
}

function codeOf(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${text}${fence}` : `${fence} ${text} ${fence}`;
}

const addressed = (href: string): string =>
  /[\s()<>]/.test(href) ? `<${href.replaceAll(/[<>\s]/g, encodeURIComponent)}>` : href;
const escaped = (text: string): string => text.replaceAll(/[\\`*_[\]<>~]|&(?=#?\w+;)|!(?=\[)/g, '\\$&');
/** A line that would begin a list or a rule. */
const safeLine = (line: string): string =>
  line.replace(/^([-+])(?=\s|$|-{2,}$)/, '\\$1').replace(/^(\d{1,9})([.)])(?=\s|$)/, '$1\\$2');
