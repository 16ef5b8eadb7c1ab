// Anchors of an article's headings, the same wherever the article is shown and wherever a link to a section is made.

const maxAnchorChars = 200;

/** The words in lower case, joined by hyphens. Adds itself to `taken`, the anchors above it in the article. */
export function anchorOf(heading: string, taken: Set<string>): string {
  const words =
    heading
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu)
      ?.join('-')
      .slice(0, maxAnchorChars) ?? 'section';
  let anchor = words;
  for (let count = 1; taken.has(anchor); count += 1) anchor = `${words}-${count}`;
  taken.add(anchor);
  return anchor;
}
