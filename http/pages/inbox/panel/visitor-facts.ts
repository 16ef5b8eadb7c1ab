// A visitor's record as text: browser and system, place, the address of its page. Plain functions.

import type { Visitor } from '../../records.ts';

/** The more specific ones first: most browsers name others, too. */
const browsers = [
  ['Edge', /\bEdg(?:e|A|iOS)?\/(\d+)/],
  ['Opera', /\bOPR\/(\d+)/],
  ['Samsung Internet', /\bSamsungBrowser\/(\d+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /\b(?:Chrome|CriOS|HeadlessChrome)\/(\d+)/],
  ['Safari', /\bVersion\/(\d+)[\d.]* (?:Mobile\/\S+ )?Safari\//],
] as const;
const systems = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
] as const;

/** "Firefox 128, Windows"; undefined for an unknown one. */
export function browserOf(userAgent: string | null): string | undefined {
  if (userAgent === null) return undefined;
  const browser = browsers
    .map(([name, pattern]) => ({ name, found: pattern.exec(userAgent) }))
    .find(({ found }) => found !== null);
  const system = systems.find(([, pattern]) => pattern.test(userAgent))?.[0];
  const said = [
    browser === undefined ? undefined : `${browser.name} ${browser.found?.[1] ?? ''}`.trim(),
    system,
  ].filter((part) => part !== undefined);
  return said.length === 0 ? undefined : said.join(', ');
}

/** "Lyon, Auvergne-Rhône-Alpes, France" */
export function placeOf({ geo, country }: Pick<Visitor, 'geo' | 'country'>): string | undefined {
  const said = [geo?.city, geo?.region, country === null ? undefined : countryName(country)].filter(
    (part) => part != null && part !== '',
  );
  return said.length === 0 ? undefined : said.join(', ');
}

function countryName(code: string): string {
  try {
    return /^[A-Za-z]{2}$/.test(code)
      ? (new Intl.DisplayNames(undefined, { type: 'region' }).of(code.toUpperCase()) ?? code)
      : code;
  } catch {
    return code;
  }
}

export interface PageAddress {
  /** The address without its scheme, for display. */
  readonly text: string;
  /** Undefined if it is not a web address; it is then shown as text. */
  readonly href: string | undefined;
}

export function pageAddress(url: string | null): PageAddress | undefined {
  if (url === null || url.trim() === '') return undefined;
  try {
    const parsed = new URL(url);
    if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') return { text: url, href: undefined };
    return {
      text: `${parsed.host}${parsed.pathname === '/' ? '' : parsed.pathname}${parsed.search}`,
      href: parsed.href,
    };
  } catch {
    return { text: url, href: undefined };
  }
}
