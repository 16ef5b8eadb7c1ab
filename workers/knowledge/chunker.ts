// Cuts a Markdown text into chunks to embed and retrieve: along headings, then paragraphs, then sentences. A chunk stays
// within one section, so that its path of headings and its anchor are exact; a long section makes several, which
// overlap by a sentence or two. Each fits the model's token limit. Deterministic.

import { anchorOf } from '../../store/knowledge/anchors.ts';
import { type Heading, headingIn, headingLine } from './headings.ts';

export interface ChunkLimits {
  /** Most tokens in a chunk, by countTokens(). */
  readonly maxTokens: number;
  /** A section without a heading, or one with fewer tokens, continues into the next one of its parent. */
  readonly minTokens: number;
  /** Tokens repeated from the previous chunk of the same section. */
  readonly overlapTokens: number;
  readonly countTokens: (text: string) => number;
}

export interface Chunk {
  /** Markdown, beginning with the section's heading. */
  readonly text: string;
  /** From the outermost to its own; without a first one that repeats the title. */
  readonly headings: readonly string[];
  /** Of the nearest heading that has one. */
  readonly anchor: string | null;
}

/** Never split, unless longer than a whole chunk. `glue` separates it from the previous unit. */
interface Unit {
  readonly text: string;
  readonly tokens: number;
  readonly glue: ' ' | '\n' | '\n\n';
}

interface Section {
  readonly path: readonly Heading[];
  readonly heading: Unit | undefined;
  readonly units: readonly Unit[];
}

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });
const listLine = /^\s*(?:[-*+]|\d+[.)])\s/;
const hasWords = /[\p{L}\p{N}]/u;

export interface ChunkSource {
  readonly title: string;
  readonly text: string;
  /** Whether headings without an anchor get one, as where articles are shown. */
  readonly isArticle?: boolean | undefined;
}

export function chunkText(document: ChunkSource, limits: ChunkLimits): Chunk[] {
  const chunks: Chunk[] = [];
  let piece: Unit[] = [];
  let size = 0;
  let path: readonly Heading[] = [];
  const add = (unit: Unit): void => {
    piece.push(unit);
    size += unit.tokens;
  };
  const flush = (): void => {
    const text = joined(piece);
    if (hasWords.test(text)) chunks.push({ text, ...placeOf(path, document.title) });
    piece = [];
    size = 0;
  };

  for (const section of sectionsOf(document, limits)) {
    const { heading, units } = section;
    const sectionTokens = units.reduce((sum, unit) => sum + unit.tokens, heading?.tokens ?? 0);
    const continues = size > 0 && size < limits.minTokens && size + sectionTokens <= limits.maxTokens;
    if (!continues || !isBeside(section.path, path)) {
      flush();
      path = section.path;
    }
    if (heading !== undefined) add(heading);
    let hasContent = false;
    for (const [index, unit] of units.entries()) {
      if (hasContent && size + unit.tokens > limits.maxTokens) {
        flush();
        path = section.path;
        if (heading !== undefined) add(heading);
        for (const repeated of overlapBefore(
          units,
          index,
          Math.min(limits.overlapTokens, limits.maxTokens - size - unit.tokens),
        ))
          add(repeated);
      }
      add(unit);
      hasContent = true;
    }
  }
  flush();
  return chunks;
}

/** Whether a section may continue a chunk of another: it has the same parent, or is below it. */
function isBeside(path: readonly Heading[], chunkPath: readonly Heading[]): boolean {
  const parents = chunkPath.slice(0, -1);
  return path.length >= chunkPath.length && parents.every((heading, index) => heading === path[index]);
}

function placeOf(path: readonly Heading[], title: string): Pick<Chunk, 'headings' | 'anchor'> {
  const headings = path.map(({ text }) => text);
  return {
    headings: headings[0] === title ? headings.slice(1) : headings,
    anchor: path.findLast(({ anchor }) => anchor !== null)?.anchor ?? null,
  };
}

function sectionsOf({ text, isArticle = false }: ChunkSource, limits: ChunkLimits): Section[] {
  const anchors = new Map<string, number>();
  const sections: Section[] = [];
  let path: Heading[] = [];
  let heading: Unit | undefined;
  let units: Unit[] = [];
  const end = (next: Heading | undefined): void => {
    // A heading above others is in their path; one above nothing is all there is of its section.
    const isParent = units.length === 0 && next !== undefined && next.level > (path.at(-1)?.level ?? 7);
    if ((heading !== undefined || units.length > 0) && !isParent) sections.push({ path: [...path], heading, units });
    units = [];
  };
  for (const block of blocksOf(text)) {
    const next = block.isHeading ? headingIn(block.text) : undefined;
    if (next === undefined) {
      const half = { ...limits, maxTokens: Math.max(1, Math.floor((limits.maxTokens - (heading?.tokens ?? 0)) / 2)) };
      units.push(...unitsOf(block.text, half));
      continue;
    }
    end(next);
    // A heading is context, not content: a quarter of a chunk is more than any real one needs.
    const quarter = { ...limits, maxTokens: Math.max(1, Math.floor(limits.maxTokens / 4)) };
    const [words = next.text] = splitLong(next.text, quarter);
    const line = `${'#'.repeat(next.level)} ${words}`;
    heading = { text: line, tokens: limits.countTokens(line), glue: '\n\n' };
    const anchor = next.anchor ?? (isArticle ? anchorOf(next.text, anchors) : null);
    path = [...path.filter(({ level }) => level < next.level), { ...next, text: words, anchor }];
  }
  end(undefined);
  return sections;
}

/** Headings, and text between blank lines. Inside a code fence neither counts. */
function blocksOf(text: string): { readonly text: string; readonly isHeading: boolean }[] {
  const blocks: { text: string; isHeading: boolean }[] = [];
  let lines: string[] = [];
  let isCode = false;
  const end = (): void => {
    const block = lines.join('\n').trim();
    if (block !== '') blocks.push({ text: block, isHeading: false });
    lines = [];
  };
  for (const line of text.split('\n')) {
    if (line.trimStart().startsWith('```')) isCode = !isCode;
    if (!isCode && headingLine.test(line)) {
      end();
      blocks.push({ text: line.trim(), isHeading: true });
    } else if (!isCode && line.trim() === '') end();
    else lines.push(line);
  }
  end();
  return blocks;
}

/** Sentences of a paragraph, or lines of a list or of code. The first begins a paragraph. */
function unitsOf(block: string, limits: ChunkLimits): Unit[] {
  const isLines =
    block.startsWith('```') || block.includes(' | ') || block.split('\n').some((line) => listLine.test(line));
  const parts = isLines
    ? block.split('\n')
    : [...sentences.segment(block.replaceAll('\n', ' '))].map(({ segment }) => segment.trim());
  return parts
    .filter((part) => part.trim() !== '')
    .flatMap((part) => splitLong(part, limits))
    .map((part, index) => ({
      text: part,
      tokens: limits.countTokens(part),
      glue: index === 0 ? '\n\n' : isLines ? '\n' : ' ',
    }));
}

/** Halves an unbreakable text, such as a table row or a script without spaces, until each part fits. */
function splitLong(text: string, limits: ChunkLimits): string[] {
  if (text.length <= 1 || limits.countTokens(text) <= limits.maxTokens) return [text];
  const middle = Math.floor(text.length / 2);
  const space = text.indexOf(' ', middle);
  let cut = space > 0 && space < text.length - 1 ? space : middle;
  // Not inside a surrogate pair.
  if (/[\uDC00-\uDFFF]/.test(text.charAt(cut))) cut += 1;
  if (cut >= text.length) return [text];
  return [text.slice(0, cut).trim(), text.slice(cut).trim()]
    .filter((part) => part !== '')
    .flatMap((part) => splitLong(part, limits));
}

/** The last units before `index` with at most `tokens` tokens in total. */
function overlapBefore(units: readonly Unit[], index: number, tokens: number): Unit[] {
  const repeated: Unit[] = [];
  let left = tokens;
  for (let at = index - 1; at >= 0; at -= 1) {
    const unit = units[at];
    if (unit === undefined || unit.tokens > left) break;
    repeated.unshift(unit);
    left -= unit.tokens;
  }
  return repeated;
}

function joined(units: readonly Unit[]): string {
  return units.map((unit, index) => (index === 0 ? unit.text : unit.glue + unit.text)).join('');
}
