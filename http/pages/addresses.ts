// Web addresses: pasted text in the form the service accepts, and checks for external addresses before they become
// links.

/** The host of an address copied from an address bar. */
export function hostOf(text: string): string {
  return text
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/[/?#].*$/, '');
}

/** Adds https if there is no scheme. */
export function webAddressOf(text: string): string {
  const address = text.trim();
  return address === '' || /^https?:\/\//i.test(address) ? address : `https://${address}`;
}

/** A link may only lead to the web. */
export function webUrl(text: string | null | undefined): string | undefined {
  const url = text == null ? null : URL.parse(text);
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') ? url.href : undefined;
}

/**
 * Links contain the service's public address. If it stores files itself, this page's own origin leads there too, and
 * the page's policy allows no other.
 */
export function ownAddress(url: string): string {
  const parsed = URL.parse(url, location.origin);
  return parsed?.pathname.startsWith('/storage/') === true ? parsed.pathname + parsed.search : url;
}
