// Addresses of the web: as people paste them, brought to what the service takes; and from outside, when they may become
// links.

/** The host of what comes from an address bar. */
export function hostOf(text: string): string {
  return text
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/[/?#].*$/, '');
}

/** With https, where nobody wrote how to get there. */
export function webAddressOf(text: string): string {
  const address = text.trim();
  return address === '' || /^https?:\/\//i.test(address) ? address : `https://${address}`;
}

/** Where a link may lead: the web, and nothing else. */
export function webUrl(text: string | null | undefined): string | undefined {
  const url = text == null ? null : URL.parse(text);
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') ? url.href : undefined;
}
