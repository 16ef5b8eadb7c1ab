// The words of the help centre around its articles, in the languages that the widget speaks.

export interface HelpWords {
  readonly title: (business: string) => string;
  readonly skip: string;
  readonly search: string;
  readonly placeholder: string;
  readonly others: string;
  readonly empty: string;
  readonly results: (words: string) => string;
  readonly nothing: string;
  readonly missing: string;
  readonly helped: string;
  readonly yes: string;
  readonly no: string;
  readonly thanks: string;
  readonly changed: string;
  readonly home: string;
  readonly languages: string;
}

const en: HelpWords = {
  title: (business) => `${business} help centre`,
  skip: 'Skip to the text',
  search: 'Search',
  placeholder: 'What can we help you with?',
  others: 'More articles',
  empty: 'There are no articles yet.',
  results: (words) => `Results for “${words}”`,
  nothing: 'No article was found. Try other words, or fewer.',
  missing: 'There is no article here. It may have moved; search for it.',
  helped: 'Did this help?',
  yes: 'Yes',
  no: 'No',
  thanks: 'Thank you.',
  changed: 'Last changed on',
  home: 'All articles',
  languages: 'Languages',
};

const words: Readonly<Record<string, HelpWords>> = {
  en,
  de: {
    title: (business) => `Hilfe von ${business}`,
    skip: 'Zum Text',
    search: 'Suchen',
    placeholder: 'Wobei können wir helfen?',
    others: 'Weitere Artikel',
    empty: 'Es gibt noch keine Artikel.',
    results: (sought) => `Ergebnisse für „${sought}“`,
    nothing: 'Kein Artikel gefunden. Versuchen Sie es mit anderen oder weniger Wörtern.',
    missing: 'Hier gibt es keinen Artikel. Vielleicht ist er umgezogen; suchen Sie danach.',
    helped: 'War das hilfreich?',
    yes: 'Ja',
    no: 'Nein',
    thanks: 'Vielen Dank.',
    changed: 'Zuletzt geändert am',
    home: 'Alle Artikel',
    languages: 'Sprachen',
  },
  fr: {
    title: (business) => `Centre d’aide de ${business}`,
    skip: 'Aller au texte',
    search: 'Rechercher',
    placeholder: 'Comment pouvons-nous vous aider ?',
    others: 'Autres articles',
    empty: 'Il n’y a pas encore d’articles.',
    results: (sought) => `Résultats pour « ${sought} »`,
    nothing: 'Aucun article trouvé. Essayez d’autres mots, ou moins de mots.',
    missing: 'Il n’y a pas d’article ici. Il a peut-être été déplacé ; recherchez-le.',
    helped: 'Cela vous a-t-il aidé ?',
    yes: 'Oui',
    no: 'Non',
    thanks: 'Merci.',
    changed: 'Dernière modification le',
    home: 'Tous les articles',
    languages: 'Langues',
  },
  es: {
    title: (business) => `Centro de ayuda de ${business}`,
    skip: 'Ir al texto',
    search: 'Buscar',
    placeholder: '¿En qué podemos ayudarle?',
    others: 'Más artículos',
    empty: 'Todavía no hay artículos.',
    results: (sought) => `Resultados de «${sought}»`,
    nothing: 'No se ha encontrado ningún artículo. Pruebe con otras palabras, o con menos.',
    missing: 'Aquí no hay ningún artículo. Quizá se haya movido; búsquelo.',
    helped: '¿Le ha servido?',
    yes: 'Sí',
    no: 'No',
    thanks: 'Gracias.',
    changed: 'Última modificación:',
    home: 'Todos los artículos',
    languages: 'Idiomas',
  },
  ar: {
    title: (business) => `مركز مساعدة ${business}`,
    skip: 'انتقل إلى النص',
    search: 'بحث',
    placeholder: 'كيف يمكننا مساعدتك؟',
    others: 'مقالات أخرى',
    empty: 'لا توجد مقالات بعد.',
    results: (sought) => `نتائج «${sought}»`,
    nothing: 'لم يتم العثور على أي مقالة. جرّب كلمات أخرى أو أقل.',
    missing: 'لا توجد مقالة هنا. ربما نُقلت؛ ابحث عنها.',
    helped: 'هل كان هذا مفيدًا؟',
    yes: 'نعم',
    no: 'لا',
    thanks: 'شكرًا لك.',
    changed: 'آخر تعديل في',
    home: 'كل المقالات',
    languages: 'اللغات',
  },
};

const rightToLeft: ReadonlySet<string> = new Set(['ar', 'fa', 'he', 'ps', 'ur', 'yi']);

/** English where there are none. `language` is a BCP 47 tag. */
export function helpWords(language: string): HelpWords {
  return words[mainPart(language)] ?? en;
}

export function directionOf(language: string): 'ltr' | 'rtl' {
  return rightToLeft.has(mainPart(language)) ? 'rtl' : 'ltr';
}

function mainPart(language: string): string {
  return language.toLowerCase().split(/[-_]/)[0] ?? '';
}
