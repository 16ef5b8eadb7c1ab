// Names a browser or another client from its User-Agent. That header follows custom, not a standard: an unknown client
// keeps the name it gives.

import { oneLine } from './lines.ts';

/** The first match wins, because most browsers also name those they descend from. */
const browsers: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\b(?:OPR|Opera)\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  ['Safari', /\bSafari\//],
];
const systems: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
];
/** A client's own name, before versions and comments. It contains nothing that could be taken for an address. */
const product = /^[\w-]{1,40}/;

/** Such as "Firefox on Linux" or "curl". */
export function deviceOf(userAgent: string | null): string {
  const text = oneLine(userAgent ?? '');
  const browser = browsers.find(([, pattern]) => pattern.test(text))?.[0];
  const system = systems.find(([, pattern]) => pattern.test(text))?.[0];
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`;
  return product.exec(text)?.[0] ?? 'an unknown client';
}
