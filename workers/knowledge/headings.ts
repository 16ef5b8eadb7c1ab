// Headings of a Markdown text, and the anchors by which a link leads to them. An anchor of the page's own is written
// behind its heading as `{#anchor}`.

export interface Heading {
  /** 1 to 6. */
  readonly level: number;
  readonly text: string;
  readonly anchor: string | null;
}

export const headingLine = /^#{1,6}\s+\S/;
const shape = /^(#{1,6})\s+(.*?)(?:\s+\{#([^\s{}]+)\})?(?:\s+#+)?$/;
const maxAnchorChars = 200;

export function headingIn(line: string): Heading | undefined {
  const [, signs = '', text = '', anchor = null] = shape.exec(line.trim()) ?? [];
  return signs === '' ? undefined : { level: signs.length, text: plain(text), anchor };
}

/** A heading's line with its anchor, if that can be written. */
export function headingWith(line: string, anchor: string | undefined): string {
  return anchor === undefined || !/^[^\s{}]+$/.test(anchor) || anchor.length > maxAnchorChars
    ? line
    : `${line} {#${anchor}}`;
}

function plain(text: string): string {
  return text.replace(/[*_`]{1,3}(\S(?:.*?\S)?)[*_`]{1,3}/g, '$1').trim();
}
