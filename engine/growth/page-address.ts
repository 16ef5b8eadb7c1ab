// Page addresses in the form that people read and write, so that a browser's address can be compared with what was
// typed into a condition. Pure text functions that also accept incomplete addresses.

import { domainToUnicode } from 'node:url';

const hostOf = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#:]*)/i;
const encoded = /(?:%[0-9a-f]{2})+/gi;

/**
 * Decoded (`/caf%C3%A9` is `/café`), with the host in lower case and in its own script. Encoded delimiters stay
 * encoded.
 */
export function readableAddress(address: string): string {
  const decoded = address.includes('%') ? address.replace(encoded, lettersOf) : address;
  return decoded
    .replace(
      hostOf,
      (_, scheme: string, host: string) => scheme.toLowerCase() + (domainToUnicode(host) || host.toLowerCase()),
    )
    .normalize('NFC');
}

/** Bytes that are not letters stay encoded, in upper case (RFC 3986 §6.2.2.1). */
function lettersOf(bytes: string): string {
  try {
    return decodeURI(bytes).replace(encoded, (rest) => rest.toUpperCase());
  } catch {
    return bytes.toUpperCase();
  }
}

/** Tracking parameters that mails, advertisements and networks add to an address. */
const tracking =
  /^(?:utm_\w+|gclid|gbraid|wbraid|dclid|fbclid|msclkid|ttclid|twclid|li_fat_id|igshid|yclid|mc_[ce]id|_hs(?:enc|mi)|hsCtaTracking|ref_src|srsltid)$/;

/** The names of an address's parameters, and whether it has a fragment. */
export interface Named {
  readonly parameters: ReadonlySet<string>;
  readonly hasFragment: boolean;
}

export function namesOf(address: string): Named {
  const { query, fragment } = partsOf(address);
  return { parameters: new Set(parametersOf(query).map(nameOf)), hasFragment: fragment !== undefined };
}

/**
 * Takes a readable address. Removes tracking parameters, the fragment and a trailing slash, unless `named` has them.
 */
export function plainAddress(address: string, named: Named): string {
  const { path, query, fragment } = partsOf(address);
  const kept = parametersOf(query).filter(
    (parameter) => !tracking.test(nameOf(parameter)) || named.parameters.has(nameOf(parameter)),
  );
  const plainPath = path.length > 1 && path.endsWith('/') && !path.endsWith('//') ? path.slice(0, -1) : path;
  return (
    plainPath +
    (kept.length > 0 ? `?${kept.join('&')}` : '') +
    (named.hasFragment && fragment !== undefined ? `#${fragment}` : '')
  );
}

function partsOf(address: string): { path: string; query: string | undefined; fragment: string | undefined } {
  const [whole = '', ...fragments] = address.split('#');
  const [path = '', ...queries] = whole.split('?');
  return {
    path,
    query: queries.length === 0 ? undefined : queries.join('?'),
    fragment: fragments.length === 0 ? undefined : fragments.join('#'),
  };
}

const parametersOf = (query: string | undefined): string[] =>
  query === undefined || query === '' ? [] : query.split('&');
const nameOf = (parameter: string): string => parameter.split('=', 1)[0] ?? '';
