// The texts of the help centre in the panel, in the widget's languages.

const en = {
  search: 'Search for answers',
  articles: 'Articles',
  offered: 'People often look for',
  suggested: 'This may answer your question',
  found: '{n} found',
  nothing: 'Nothing found. Try other words, or write to us.',
  failed: 'This could not be loaded. Try again in a moment.',
  page: 'Open on its own page',
  helped: 'Did this help?',
  yes: 'Yes',
  no: 'No',
  thanks: 'Thank you!',
};

export type ArticleWords = Readonly<Record<keyof typeof en, string>>;

const languages: Readonly<Record<string, ArticleWords>> = {
  en,
  de: {
    search: 'Antworten suchen',
    articles: 'Artikel',
    offered: 'Oft gesucht',
    suggested: 'Vielleicht beantwortet das Ihre Frage',
    found: '{n} gefunden',
    nothing: 'Nichts gefunden. Versuchen Sie andere Wörter, oder schreiben Sie uns.',
    failed: 'Das konnte nicht geladen werden. Versuchen Sie es gleich noch einmal.',
    page: 'Auf eigener Seite öffnen',
    helped: 'Hat das geholfen?',
    yes: 'Ja',
    no: 'Nein',
    thanks: 'Danke!',
  },
  fr: {
    search: 'Chercher une réponse',
    articles: 'Articles',
    offered: 'Souvent recherché',
    suggested: 'Ceci répond peut-être à votre question',
    found: '{n} trouvés',
    nothing: 'Rien trouvé. Essayez d’autres mots, ou écrivez-nous.',
    failed: 'Le chargement a échoué. Réessayez dans un instant.',
    page: 'Ouvrir sur sa page',
    helped: 'Cela vous a-t-il aidé ?',
    yes: 'Oui',
    no: 'Non',
    thanks: 'Merci !',
  },
  es: {
    search: 'Buscar respuestas',
    articles: 'Artículos',
    offered: 'Se busca a menudo',
    suggested: 'Quizá esto responda a su pregunta',
    found: '{n} encontrados',
    nothing: 'No se encontró nada. Pruebe otras palabras o escríbanos.',
    failed: 'No se pudo cargar. Inténtelo de nuevo en un momento.',
    page: 'Abrir en su página',
    helped: '¿Le ha servido?',
    yes: 'Sí',
    no: 'No',
    thanks: '¡Gracias!',
  },
  ar: {
    search: 'ابحث عن إجابة',
    articles: 'المقالات',
    offered: 'يُبحث عنه كثيرًا',
    suggested: 'قد يجيب هذا عن سؤالك',
    found: 'عدد النتائج: {n}',
    nothing: 'لم يُعثر على شيء. جرّب كلمات أخرى أو راسلنا.',
    failed: 'تعذّر التحميل. حاول مجددًا بعد قليل.',
    page: 'افتحه في صفحته',
    helped: 'هل أفادك هذا؟',
    yes: 'نعم',
    no: 'لا',
    thanks: 'شكرًا لك!',
  },
};

/** English for a language that is not here. */
export function articleWords(locale: string): ArticleWords {
  return languages[locale.toLowerCase().split('-')[0] ?? ''] ?? en;
}
