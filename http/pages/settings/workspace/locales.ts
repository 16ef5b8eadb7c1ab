// Time zones and languages to choose from, as far as this browser knows them.

export const timeZones: readonly string[] = [...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])];

const locales = [
  'en',
  'en-GB',
  'en-US',
  'de',
  'fr',
  'es',
  'it',
  'pt',
  'pt-BR',
  'nl',
  'pl',
  'sv',
  'da',
  'nb',
  'fi',
  'cs',
  'hu',
  'ro',
  'el',
  'tr',
  'uk',
  'ru',
  'ar',
  'he',
  'hi',
  'ja',
  'ko',
  'zh-CN',
  'zh-TW',
];

/** Each language in its own name; includes the current one, even if it is unknown. */
export function localeChoices(current: string): readonly { readonly value: string; readonly label: string }[] {
  const all = locales.includes(current) ? locales : [current, ...locales];
  return all.map((value) => ({ value, label: localeName(value) }));
}

function localeName(locale: string): string {
  try {
    const name = new Intl.DisplayNames([locale], { type: 'language' }).of(locale) ?? locale;
    return `${name.charAt(0).toLocaleUpperCase(locale)}${name.slice(1)}`;
  } catch {
    return locale;
  }
}

/** "Friday, 14:05"; undefined if the zone does not exist. */
export function timeIn(timeZone: string): string | undefined {
  try {
    return new Intl.DateTimeFormat(undefined, { weekday: 'long', hour: 'numeric', minute: '2-digit', timeZone }).format(
      new Date(),
    );
  } catch {
    return undefined;
  }
}
