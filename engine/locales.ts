// The languages that customers are written to in: those of the widget. Pure functions.

const languages: ReadonlySet<string> = new Set(['en', 'de', 'fr', 'es', 'ar']);
/** Browsers send up to ten tags. */
const maxTags = 20;
const maxHeaderChars = 1000;

/**
 * The best of an Accept-Language header (RFC 9110 §12.5.4), or of a mail's Content-Language, in one of the languages:
 * `de`, `de-AT`. Null if it has none of them.
 */
export function localeIn(header: string | undefined): string | null {
  let best: { readonly locale: string; readonly weight: number } | undefined;
  for (const part of (header ?? '').slice(0, maxHeaderChars).split(',').slice(0, maxTags)) {
    const [tag = '', ...parameters] = part.split(';').map((text) => text.trim());
    const given = parameters.find((text) => /^q=/i.test(text))?.slice(2);
    const weight = given === undefined ? 1 : Number(given);
    const locale = localeOf(tag);
    if (locale !== undefined && weight > (best?.weight ?? 0)) best = { locale, weight };
  }
  return best?.locale ?? null;
}

/** `de-DE` and `de_AT` are German. */
export function languageOf(locale: string): string {
  return locale.toLowerCase().split(/[-_]/, 1)[0] ?? '';
}

/** Language and region, without script and the rest. */
function localeOf(tag: string): string | undefined {
  const [, language = '', region] = /^([a-z]{2})(?:-[a-z]{4})?(?:-([a-z]{2}|\d{3}))?(?:-[a-z0-9-]+)?$/i.exec(tag) ?? [];
  const known = language.toLowerCase();
  if (!languages.has(known)) return undefined;
  return region === undefined ? known : `${known}-${region.toUpperCase()}`;
}
