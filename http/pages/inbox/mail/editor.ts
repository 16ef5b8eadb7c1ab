// The editor of mails: ProseMirror with the small formatting that mails have, by buttons, by keys, and by Markdown as one
// types. Loaded when a mail is written. The only importer of the other parts of ProseMirror.

import { baseKeymap, lift, setBlockType, toggleMark, wrapIn } from 'prosemirror-commands';
import { history, redo, undo } from 'prosemirror-history';
import { InputRule, inputRules, textblockTypeInputRule, wrappingInputRule } from 'prosemirror-inputrules';
import { keymap } from 'prosemirror-keymap';
import { liftListItem, sinkListItem, splitListItem, wrapInList } from 'prosemirror-schema-list';
import { type Command, EditorState, Plugin } from 'prosemirror-state';
import { Decoration, DecorationSet, EditorView } from 'prosemirror-view';
import { documentOf, markdownOf, type NodeType, schema, sliceOf } from './editor-text.ts';

export type MarkName = 'strong' | 'em' | 'strike' | 'code' | 'link';
export type BlockName = 'bulletList' | 'orderedList' | 'blockquote' | 'codeBlock';

/** The line that the caret is in. */
export interface CaretLine {
  readonly text: string;
  readonly caret: number;
}

export interface EditorOptions {
  readonly place: HTMLElement;
  readonly label: string;
  readonly placeholder: string;
  readonly markdown: string;
  onChange(markdown: string): void;
  onCaret(line: CaretLine): void;
  /** True if the key was used up. */
  onKey(event: KeyboardEvent): boolean;
  onFiles(files: readonly File[]): void;
}

export interface Editor {
  markdown(): string;
  /** Replaces everything, as one step that can be undone. */
  write(markdown: string): void;
  /** Replaces the characters before the caret, or what is selected. */
  insert(markdown: string, replacedChars?: number): void;
  insertPicture(picture: { src: string; alt: string }): void;
  toggle(mark: Exclude<MarkName, 'link'>): void;
  toggleBlock(block: BlockName): void;
  /** Null removes it. */
  link(href: string | null): void;
  isActive(name: MarkName | BlockName): boolean;
  selectedText(): string;
  focus(): void;
  destroy(): void;
}

const { nodes, marks } = schema;

export function createEditor(options: EditorOptions): Editor {
  const view: EditorView = new EditorView(options.place, {
    state: EditorState.create({
      doc: documentOf(options.markdown),
      plugins: [
        rules,
        keymap({
          'Mod-b': toggleMark(marks.strong),
          'Mod-i': toggleMark(marks.em),
          'Mod-e': toggleMark(marks.code),
          'Mod-Shift-x': toggleMark(marks.strike),
          'Mod-Shift-7': toggleBlock('orderedList'),
          'Mod-Shift-8': toggleBlock('bulletList'),
          'Mod-Shift-9': toggleBlock('blockquote'),
          'Mod-z': undo,
          'Mod-y': redo,
          'Shift-Mod-z': redo,
          Enter: splitListItem(nodes.listItem),
          // Without a list, Tab leaves the editor.
          Tab: sinkListItem(nodes.listItem),
          'Shift-Tab': liftListItem(nodes.listItem),
        }),
        keymap(baseKeymap),
        history(),
        placeholder(options.placeholder),
      ],
    }),
    attributes: { 'aria-label': options.label, 'aria-multiline': 'true', role: 'textbox', class: 'mail-editor' },
    dispatchTransaction(transaction) {
      view.updateState(view.state.apply(transaction));
      if (transaction.docChanged) options.onChange(markdownOf(view.state.doc));
      options.onCaret(caretLine(view.state));
    },
    handleKeyDown: (_, event) => options.onKey(event),
    handlePaste(_, event) {
      const { files, types } = event.clipboardData ?? {};
      // A copy from a table or a document has a picture of its text as well: the text is meant.
      if (files === undefined || files.length === 0 || types?.includes('text/plain') === true) return false;
      options.onFiles([...files]);
      return true;
    },
    handleDrop(_, event) {
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length > 0) options.onFiles(files);
      return files.length > 0;
    },
    clipboardTextParser: (text) => sliceOf(text.replaceAll(/[\\`*_[\]<>~]/g, '\\$&')),
    clipboardTextSerializer: (slice) => slice.content.textBetween(0, slice.content.size, '\n'),
  });
  const run = (command: Command): void => {
    command(view.state, view.dispatch, view);
    view.focus();
  };
  return {
    markdown: () => markdownOf(view.state.doc),
    write(text) {
      const { tr, doc } = view.state;
      view.dispatch(tr.replaceWith(0, doc.content.size, documentOf(text).content));
    },
    insert(text, replacedChars = 0) {
      const { from, to } = view.state.selection;
      view.dispatch(view.state.tr.replaceRange(from - replacedChars, to, sliceOf(text)).scrollIntoView());
      view.focus();
    },
    insertPicture(picture) {
      view.dispatch(view.state.tr.replaceSelectionWith(nodes.image.create(picture)).scrollIntoView());
    },
    toggle: (mark) => run(toggleMark(marks[mark])),
    toggleBlock: (block) => run(toggleBlock(block)),
    link(href) {
      const { from, to, empty } = view.state.selection;
      const { tr } = view.state;
      if (href === null) view.dispatch(tr.removeMark(from, to, marks.link));
      else if (empty) view.dispatch(tr.insert(from, schema.text(href, [marks.link.create({ href })])));
      else view.dispatch(tr.addMark(from, to, marks.link.create({ href })));
      view.focus();
    },
    isActive(name) {
      const { $from, from, to, empty } = view.state.selection;
      const mark = schema.marks[name];
      if (mark !== undefined)
        return empty
          ? mark.isInSet(view.state.storedMarks ?? $from.marks()) !== undefined
          : view.state.doc.rangeHasMark(from, to, mark);
      for (let depth = $from.depth; depth > 0; depth -= 1) if ($from.node(depth).type.name === name) return true;
      return false;
    },
    selectedText: () => view.state.doc.textBetween(view.state.selection.from, view.state.selection.to, ' '),
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

function toggleBlock(name: BlockName): Command {
  return (state, dispatch) => {
    const { $from } = state.selection;
    const isIn = (type: NodeType): boolean =>
      Array.from({ length: $from.depth }, (_, depth) => $from.node(depth + 1).type).includes(type);
    switch (name) {
      case 'bulletList':
      case 'orderedList':
        return isIn(nodes[name])
          ? liftListItem(nodes.listItem)(state, dispatch)
          : wrapInList(nodes[name])(state, dispatch);
      case 'blockquote':
        return (isIn(nodes.blockquote) ? lift : wrapIn(nodes.blockquote))(state, dispatch);
      case 'codeBlock':
        return setBlockType(isIn(nodes.codeBlock) ? nodes.paragraph : nodes.codeBlock)(state, dispatch);
    }
  };
}

/** Markdown as it is typed. */
const rules = inputRules({
  rules: [
    wrappingInputRule(/^\s*([-+*])\s$/, nodes.bulletList),
    wrappingInputRule(/^(\d+)[.)]\s$/, nodes.orderedList),
    wrappingInputRule(/^\s*>\s$/, nodes.blockquote),
    textblockTypeInputRule(/^```$/, nodes.codeBlock),
    marking(/(?:^|\s)(\*\*([^*]+)\*\*)$/, 'strong'),
    marking(/(?:^|[\s(])(\*([^*\s][^*]*)\*)$/, 'em'),
    marking(/(?:^|[\s(])(_([^_\s][^_]*)_)$/, 'em'),
    marking(/(?:^|\s)(~~([^~]+)~~)$/, 'strike'),
    marking(/(`([^`]+)`)$/, 'code'),
  ],
});

/** `pattern` has the text with its signs, and the text. */
function marking(pattern: RegExp, name: Exclude<MarkName, 'link'>): InputRule {
  return new InputRule(pattern, (state, match, _start, end) => {
    const [, whole = '', inner = ''] = match;
    // The last sign is not in the document yet.
    const from = end - whole.length + 1;
    const mark = marks[name].create();
    return state.tr.replaceWith(from, end, schema.text(inner, [mark])).removeStoredMark(mark);
  });
}

function placeholder(text: string): Plugin {
  return new Plugin({
    props: {
      decorations({ doc }) {
        const [first] = doc.childCount === 1 ? doc.children : [];
        if (first === undefined || first.childCount > 0 || first.type !== nodes.paragraph) return null;
        return DecorationSet.create(doc, [
          Decoration.node(0, first.nodeSize, { class: 'mail-blank', 'data-placeholder': text }),
        ]);
      },
    },
  });
}

function caretLine({ selection: { $from } }: EditorState): CaretLine {
  return { text: $from.parent.textContent, caret: $from.parentOffset };
}
