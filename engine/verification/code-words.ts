// The texts around a one-time code, in the five languages of the widget. English defines the lines, so a language that
// lacks one does not compile. Texts use only letters of GSM 03.38 where the language allows: one other letter more than
// halves the capacity of a message, and a code that needs two messages costs twice as much.

/** `minutes` with its unit: "1 minute". */
interface Said {
  readonly code: string;
  readonly name: string;
  readonly minutes: string;
}

interface CodeWords {
  minutes(count: number): string;
  subject(code: string): string;
  mail(said: Said): string;
  text(said: Said): string;
  /**
   * The carrier's name for the language of the voice, and the spoken text; digits are spoken one by one. Undefined if
   * carriers' usual voices do not speak the language: then English is used.
   */
  readonly voice: { readonly language: string; say(said: Pick<Said, 'code' | 'name'>): string } | undefined;
}

const english = {
  minutes: (count) => (count === 1 ? '1 minute' : `${count} minutes`),
  subject: (code) => `${code} is your code`,
  mail: ({ code, name, minutes }) =>
    `Your code for ${name} is ${code}.

It works once, for ${minutes}. If you did not request it, ignore this message, and do not share the code with anyone.`,
  text: ({ code, name, minutes }) =>
    `${code} is your code for ${name}. It works for ${minutes}. Do not share it with anyone.`,
  voice: {
    language: 'en-US',
    say: ({ code, name }) => `Hello. Your code for ${name} is: ${code}. Again: ${code}. Goodbye.`,
  },
} as const satisfies CodeWords;

const languages: ReadonlyMap<string, CodeWords> = new Map<string, CodeWords>([
  ['en', english],
  [
    'de',
    {
      minutes: (count) => (count === 1 ? '1 Minute' : `${count} Minuten`),
      subject: (code) => `${code} ist Ihr Code`,
      mail: ({ code, name, minutes }) =>
        `Ihr Code für ${name} ist ${code}.\n\nEr gilt einmal, ${minutes} lang. Wenn Sie ihn nicht angefordert haben, brauchen Sie nichts zu tun; sagen Sie ihn niemandem.\n`,
      text: ({ code, name, minutes }) =>
        `${code} ist Ihr Code für ${name}. Er gilt ${minutes}. Sagen Sie ihn niemandem.`,
      voice: {
        language: 'de-DE',
        say: ({ code, name }) => `Guten Tag. Ihr Code für ${name} ist: ${code}. Noch einmal: ${code}. Auf Wiederhören.`,
      },
    },
  ],
  [
    'fr',
    {
      minutes: (count) => (count === 1 ? '1 minute' : `${count} minutes`),
      subject: (code) => `${code} est votre code`,
      mail: ({ code, name, minutes }) =>
        `Votre code pour ${name} est ${code}.\n\nIl sert une fois, pendant ${minutes}. Si vous ne l’avez pas demandé, ne faites rien et ne le donnez à personne.\n`,
      text: ({ code, name, minutes }) =>
        `${code} est votre code pour ${name}. Il est valable ${minutes}. Ne le donnez à personne.`,
      voice: {
        language: 'fr-FR',
        say: ({ code, name }) => `Bonjour. Votre code pour ${name} est : ${code}. Je répète : ${code}. Au revoir.`,
      },
    },
  ],
  [
    'es',
    {
      minutes: (count) => (count === 1 ? '1 minuto' : `${count} minutos`),
      subject: (code) => `${code} es su código`,
      mail: ({ code, name, minutes }) =>
        `Su código para ${name} es ${code}.\n\nSirve una vez, durante ${minutes}. Si no lo ha pedido, no haga nada y no se lo diga a nadie.\n`,
      text: ({ code, name, minutes }) =>
        `${code} es su clave para ${name}. Sirve durante ${minutes}. No se la diga a nadie.`,
      voice: {
        language: 'es-ES',
        say: ({ code, name }) => `Hola. Su código para ${name} es: ${code}. Repito: ${code}. Adiós.`,
      },
    },
  ],
  [
    'ar',
    {
      minutes: (count) => `${count} د`,
      subject: (code) => `رمزك هو ${code}`,
      mail: ({ code, name, minutes }) =>
        `رمزك لدى ${name} هو ${code}.\n\nيُستخدم مرة واحدة، خلال ${minutes}. إذا لم تطلبه فلا تفعل شيئًا، ولا تخبر به أحدًا.\n`,
      text: ({ code, name, minutes }) => `رمزك لدى ${name} هو ${code}. صالح ${minutes}. لا تخبر به أحدًا.`,
      voice: undefined,
    },
  ],
]);

/** For a language tag such as de-AT; English for other languages. */
export function codeWordsFor(locale: string): CodeWords {
  return languages.get(locale.toLowerCase().split(/[-_]/, 1)[0] ?? '') ?? english;
}

/** Like codeWordsFor(), in a language that carriers speak. */
export function spokenWordsFor(locale: string): NonNullable<CodeWords['voice']> {
  return codeWordsFor(locale).voice ?? english.voice;
}
