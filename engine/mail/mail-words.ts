// The fixed words of mails to customers, in the five languages of the widget, and which of them a customer gets. English
// for all others. Mails to agents have words of their own.

import { findVisitor } from '../../store/customers/visitors.ts';
import { languageOf } from '../locales.ts';
import type { View } from '../runtime/context.ts';
import { theWorkspace } from '../workspace/workspace.ts';

interface MailWords {
  /** Such as `de`. */
  readonly language: string;
  readonly direction: 'ltr' | 'rtl';
  readonly colon: string;
  /** The receipt of a question. */
  thanks(number: number | null): string;
  readonly weAnswer: string;
  questionSubject(question: { name: string; number: number | null }): string;
  /** Above a quoted mail. workers/mail/quoted-history.ts recognises it in an answer. */
  wrote(said: { at: string; author: string }): string;
  /** Below a chat's answers; `goOn` leads back to the chat. */
  readonly answerOr: string;
  readonly goOn: string;
  /** In a transcript: who has no name, and what it has no room for. */
  readonly customer: string;
  readonly leftOut: string;
}

/** French has one before a colon, which begins no line. */
const noBreak = '\u00a0';

const english: MailWords = {
  language: 'en',
  direction: 'ltr',
  colon: ':',
  thanks: (number) => `Thank you for your question. Its number is ${number}.`,
  weAnswer: 'We will answer at this address. To add something, answer this mail.',
  questionSubject: ({ name, number }) => `${name}: question ${number}`,
  wrote: ({ at, author }) => `On ${at}, ${author} wrote:`,
  answerOr: 'Answer this mail, or',
  goOn: 'continue on our website',
  customer: 'Customer',
  leftOut: 'Earlier messages are left out.',
};

const languages: Readonly<Record<string, MailWords>> = {
  de: {
    language: 'de',
    direction: 'ltr',
    colon: ':',
    thanks: (number) => `Vielen Dank für Ihre Frage. Sie hat die Nummer ${number}.`,
    weAnswer: 'Wir antworten an diese Adresse. Wenn Sie etwas ergänzen möchten, antworten Sie auf diese E-Mail.',
    questionSubject: ({ name, number }) => `${name}: Frage ${number}`,
    wrote: ({ at, author }) => `Am ${at} schrieb ${author}:`,
    answerOr: 'Antworten Sie auf diese E-Mail, oder',
    goOn: 'schreiben Sie auf unserer Website weiter',
    customer: 'Kunde',
    leftOut: 'Frühere Nachrichten sind hier nicht enthalten.',
  },
  fr: {
    language: 'fr',
    direction: 'ltr',
    colon: `${noBreak}:`,
    thanks: (number) => `Merci pour votre question. Elle porte le numéro ${number}.`,
    weAnswer: 'Nous répondrons à cette adresse. Pour ajouter quelque chose, répondez à cet e-mail.',
    questionSubject: ({ name, number }) => `${name}${noBreak}: question ${number}`,
    wrote: ({ at, author }) => `Le ${at}, ${author} a écrit${noBreak}:`,
    answerOr: 'Répondez à cet e-mail, ou',
    goOn: 'continuez sur notre site',
    customer: 'Client',
    leftOut: 'Les messages précédents ne figurent pas ici.',
  },
  es: {
    language: 'es',
    direction: 'ltr',
    colon: ':',
    thanks: (number) => `Gracias por su pregunta. Le hemos asignado el número ${number}.`,
    weAnswer: 'Le responderemos a esta dirección. Para añadir algo, responda a este correo.',
    questionSubject: ({ name, number }) => `${name}: pregunta ${number}`,
    wrote: ({ at, author }) => `El ${at}, ${author} escribió:`,
    answerOr: 'Responda a este correo, o',
    goOn: 'continúe en nuestro sitio web',
    customer: 'Cliente',
    leftOut: 'No se incluyen los mensajes anteriores.',
  },
  ar: {
    language: 'ar',
    direction: 'rtl',
    colon: ':',
    thanks: (number) => `شكرًا على سؤالك. رقمه ${number}.`,
    weAnswer: 'سنرسل ردّنا إلى هذا العنوان. لإضافة شيء، يُرجى الرد على هذه الرسالة.',
    questionSubject: ({ name, number }) => `${name}: سؤال ${number}`,
    wrote: ({ at, author }) => `في ${at}، كتب ${author}:`,
    answerOr: 'يمكنك الرد على هذه الرسالة، أو',
    goOn: 'متابعة المحادثة على موقعنا',
    customer: 'العميل',
    leftOut: 'لم تُدرج الرسائل السابقة.',
  },
};

/** For a language tag such as de-AT; English for other languages. */
export function mailWordsFor(locale: string): MailWords {
  return languages[languageOf(locale)] ?? english;
}

/** The customer's own, if it is known, or else the workspace's. */
export function customerLocale(view: Pick<View, 'db' | 'state'>, visitorId: string | null): string {
  const visitor = visitorId === null ? undefined : findVisitor(view.db, visitorId);
  return visitor?.locale ?? theWorkspace(view).locale;
}

/** HTML that is fixed words, between words of people that may be in another language and run the other way. */
export function directed({ language, direction }: MailWords, html: string): string {
  return `<div lang="${language}" dir="${direction}">${html}</div>`;
}
