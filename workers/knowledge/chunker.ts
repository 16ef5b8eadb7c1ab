// Cuts a text into chunks to embed and retrieve: along headings, then paragraphs, then sentences. Each fits the model's
// token limit, and chunks of one section overlap by a sentence or two. Deterministic.

export interface ChunkLimits {
  /** Most tokens in a chunk, by countTokens(). */
  readonly maxTokens: number;
  /** A chunk with fewer tokens continues into the next section, so that short sections keep their context. */
  readonly minTokens: number;
  /** Tokens repeated from the previous chunk of the same section. */
  readonly overlapTokens: number;
  readonly countTokens: (text: string) => number;
}

/** Never split, unless longer than a whole chunk. `glue` separates it from the previous unit. */
interface Unit {
  readonly text: string;
  readonly tokens: number;
  readonly glue: ' ' | '\n' | '\n\n';
}

interface Section {
  readonly heading: Unit | undefined;
  readonly units: readonly Unit[];
}

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });
const headingLine = /^#{1,6}\s+\S/;
const listLine = /^\s*(?:[-*+]|\d+[.)])\s/;

export function chunkText(text: string, limits: ChunkLimits): string[] {
  const chunks: string[] = [];
  let piece: Unit[] = [];
  let size = 0;
  let hasContent = false;
  const add = (unit: Unit): void => {
    piece.push(unit);
    size += unit.tokens;
  };
  const flush = (): void => {
    if (hasContent) chunks.push(joined(piece));
    piece = [];
    size = 0;
    hasContent = false;
  };

  for (const { heading, units } of sectionsOf(text, limits)) {
    const headingTokens = heading?.tokens ?? 0;
    const sectionTokens = units.reduce((sum, unit) => sum + unit.tokens, headingTokens);
    if (size >= limits.minTokens || size + sectionTokens > limits.maxTokens) flush();
    if (heading !== undefined) add(heading);
    for (const [index, unit] of units.entries()) {
      if (hasContent && size + unit.tokens > limits.maxTokens) {
        flush();
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

function sectionsOf(text: string, limits: ChunkLimits): Section[] {
  const sections: Section[] = [];
  let heading: Unit | undefined;
  let units: Unit[] = [];
  const end = (): void => {
    if (heading !== undefined || units.length > 0) sections.push({ heading, units });
    units = [];
  };
  for (const block of blocksOf(text)) {
    if (block.isHeading) {
      end();
      // A heading is context, not content: a quarter of a chunk is more than any real one needs.
      const [line = block.text] = splitLong(block.text, {
        ...limits,
        maxTokens: Math.max(1, Math.floor(limits.maxTokens / 4)),
      });
      heading = { text: line, tokens: limits.countTokens(line), glue: '\n\n' };
    } else {
      const half = { ...limits, maxTokens: Math.max(1, Math.floor((limits.maxTokens - (heading?.tokens ?? 0)) / 2)) };
      units.push(...unitsOf(block.text, half));
    }
  }
  end();
  return sections;
}

/** Headings, and text between blank lines. Inside a code fence neither counts. */
function blocksOf(text: string): { text: string; isHeading: boolean }[] {
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
