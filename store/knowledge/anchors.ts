// Anchors of an article's headings, the same wherever the article is shown and wherever a link to a section is made.

const maxAnchorChars = 200;

/** The words in lower case, joined by hyphens. Adds itself to `taken`: how often each anchor was asked for above it. */
export function anchorOf(heading: string, taken: Map<string, number>): string {
  const words =
    heading
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu)
      ?.join('-')
      .slice(0, maxAnchorChars) ?? 'section';
  let count = taken.get(words) ?? 0;
  let anchor = count === 0 ? words : `${words}-${count}`;
  for (; taken.has(anchor); anchor = `${words}-${count}`) count += 1;
  taken.set(words, count + 1);
  if (anchor !== words) taken.set(anchor, 1);
  return anchor;
}
