// Makes plain text safe for display. Pure functions.

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const special = /[&<>"']/;
/**
 * A web address, up to white space or punctuation that commonly follows one. Linear: one class, one lazy tail
 * character.
 */
const address = /https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]}]/g;

/** The first `count` characters, without splitting one. */
export function firstChars(text: string, count: number): string {
  if (text.length <= count) return text;
  // A character has at most two units.
  return Array.from(text.slice(0, 2 * count))
    .slice(0, count)
    .join('');
}

/** The first `count` characters and "…", cut between words where there are any. */
export function firstWords(text: string, count: number): string {
  const cut = firstChars(text, count);
  if (cut === text) return text;
  const end = cut.lastIndexOf(' ');
  return `${(end > cut.length / 2 ? cut.slice(0, end) : cut).trimEnd()}…`;
}

export function escapeHtml(text: string): string {
  return special.test(text) ? text.replace(/[&<>"']/g, (char) => escapes[char] ?? char) : text;
}

/** The HTML of a plain-text body: paragraphs, line breaks and links; everything else is escaped. */
export function htmlOf(body: string): string {
  if (!body.includes('\n') && !body.includes('://')) return `<p>${escapeHtml(body)}</p>`;
  const paragraphs = body
    .replaceAll('\r\n', '\n')
    .split(/\n{2,}/)
    .filter((part) => part.trim() !== '');
  return paragraphs.map((part) => `<p>${part.split('\n').map(linked).join('<br>')}</p>`).join('');
}

/**
 * The HTML of a message to show: its own, without the places of a mail's pictures that are on other servers, or that of
 * its text.
 */
export function shownHtml({ body, bodyHtml }: { readonly body: string; readonly bodyHtml: string | null }): string {
  if (bodyHtml === null) return htmlOf(body);
  if (!bodyHtml.includes(' data-picture=')) return bodyHtml;
  const shown = bodyHtml.replace(/<img\b[^<>]*\bdata-picture="\d+"[^<>]*>/g, '').trim();
  return shown === '' ? htmlOf(body) : shown;
}

function linked(line: string): string {
  let html = '';
  let end = 0;
  for (const match of line.matchAll(address)) {
    const url = escapeHtml(match[0]);
    html += `${escapeHtml(line.slice(end, match.index))}<a href="${url}" rel="noopener noreferrer nofollow" target="_blank">${url}</a>`;
    end = match.index + match[0].length;
  }
  return html + escapeHtml(line.slice(end));
}

/** A workspace's name as a host label: letters, digits and single hyphens. */
export function slugOf(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss').toLowerCase();
  const slug = plain
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');
  return slug === '' ? 'workspace' : slug;
}
