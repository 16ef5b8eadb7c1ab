// Parses a message's text: addresses that may become links, and the quoted history at its end.

export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly href: string };

const addresses = /https?:\/\/[^\s<>"'`]+/gi;

/** Only http and https become links, without a full stop or bracket that ends the surrounding sentence. */
export function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(addresses)) {
    const found = trimmed(match[0]);
    const parsed = URL.parse(found);
    if (parsed === null || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) continue;
    if (match.index > end) pieces.push({ kind: 'text', text: text.slice(end, match.index) });
    pieces.push({ kind: 'link', text: found, href: parsed.href });
    end = match.index + found.length;
  }
  if (end < text.length) pieces.push({ kind: 'text', text: text.slice(end) });
  return pieces;
}

function trimmed(address: string): string {
  const bare = address.replace(/[.,;:!?…»”’]+$/u, '');
  // A bracket opened before the address closes after it.
  return bare.endsWith(')') && !bare.includes('(') ? bare.slice(0, -1) : bare;
}

/** The lines at the end that begin with >, with the line that introduces them. */
export function splitQuoted(body: string): { readonly text: string; readonly quoted: string } {
  const lines = body.split('\n');
  let first = lines.length;
  while (first > 0 && /^\s*(?:>.*)?$/.test(lines[first - 1] ?? '')) first -= 1;
  if (!lines.slice(first).some((line) => line.trimStart().startsWith('>'))) return { text: body, quoted: '' };
  if (/:\s*$/.test(lines[first - 1] ?? '')) first -= 1;
  const text = lines.slice(0, first).join('\n').trimEnd();
  // A message of quotes only is shown unchanged.
  return text === '' ? { text: body, quoted: '' } : { text, quoted: lines.slice(first).join('\n').trim() };
}
