// What the assistant says and understands without a language model, in the widget's languages. Pure functions.

export interface OwnWords {
  /** Under its first answer in a chat: what it is, and how to reach a person. */
  readonly hint: string;
  readonly source: string;
  readonly sources: string;
  readonly greeting: string;
  readonly welcome: string;
  readonly handover: string;
}

const en: OwnWords = {
  hint: 'This is an automatic answer. Write “person” to talk to someone from our team.',
  source: 'Source:',
  sources: 'Sources:',
  greeting: 'Hello! What would you like to know?',
  welcome: 'You are welcome!',
  handover: 'I am passing this on to our team. Someone will answer you here.',
};

const languages: Readonly<Record<string, OwnWords>> = {
  en,
  de: {
    hint: 'Das ist eine automatische Antwort. Schreiben Sie „Person“, um mit jemandem aus unserem Team zu sprechen.',
    source: 'Quelle:',
    sources: 'Quellen:',
    greeting: 'Hallo! Was möchten Sie wissen?',
    welcome: 'Gern geschehen!',
    handover: 'Ich gebe das an unser Team weiter. Jemand antwortet Ihnen hier.',
  },
  fr: {
    hint: 'Ceci est une réponse automatique. Écrivez « personne » pour parler à quelqu’un de notre équipe.',
    source: 'Source :',
    sources: 'Sources :',
    greeting: 'Bonjour ! Que souhaitez-vous savoir ?',
    welcome: 'Avec plaisir !',
    handover: 'Je transmets votre demande à notre équipe. Quelqu’un vous répondra ici.',
  },
  es: {
    hint: 'Esta es una respuesta automática. Escriba «persona» para hablar con alguien de nuestro equipo.',
    source: 'Fuente:',
    sources: 'Fuentes:',
    greeting: '¡Hola! ¿Qué le gustaría saber?',
    welcome: '¡De nada!',
    handover: 'Paso su consulta a nuestro equipo. Alguien le responderá aquí.',
  },
  ar: {
    hint: 'هذا رد آلي. اكتب «شخص» للتحدث مع أحد أفراد فريقنا.',
    source: 'المصدر:',
    sources: 'المصادر:',
    greeting: 'مرحبًا! ماذا تود أن تعرف؟',
    welcome: 'على الرحب والسعة!',
    handover: 'سأحيل هذا إلى فريقنا. سيرد عليك أحدهم هنا.',
  },
};

/** English for a language that is not here. */
export function ownWords(locale: string): OwnWords {
  return languages[locale.toLowerCase().split(/[-_]/)[0] ?? ''] ?? en;
}

const greetings =
  /^(?:hi|hey|hello|hello there|hi there|good (?:morning|afternoon|evening|day)|hallo|guten (?:tag|morgen|abend)|moin|servus|grüezi|bonjour|bonsoir|salut|hola|buen(?:os|as) (?:días|tardes|noches)|ciao|salve|buongiorno|buonasera|olá|oi|bom dia|boa tarde|hej|hei|cześć|dzień dobry|ahoj|привет|здравствуйте|добрый день|merhaba|selam|مرحبا|مرحبًا|السلام عليكم|שלום|नमस्ते|こんにちは|你好|您好|안녕하세요)$/u;
const thanks =
  /^(?:thanks|thank you|thanks a lot|many thanks|thank you very much|thx|ok thanks|danke|vielen dank|danke schön|dankeschön|merci|merci beaucoup|gracias|muchas gracias|grazie|grazie mille|obrigado|obrigada|dank je|bedankt|tack|takk|tak|kiitos|dziękuję|dzięki|děkuji|спасибо|teşekkürler|teşekkür ederim|شكرا|شكرًا|תודה|धन्यवाद|ありがとう|ありがとうございます|谢谢|謝謝|감사합니다)$/u;
const person =
  /^(?:person|human|agent|a person|a human|people|operator|mensch|mitarbeiter|personne|humain|persona|humano|agente|operatore|umano|pessoa|atendente|mens|medewerker|människa|ihminen|człowiek|konsultant|человек|оператор|insan|temsilci|شخص|موظف|אדם|נציג|人間|オペレーター|人工|人工客服|사람|상담원)$/u;
/** A few words around it. A model recognises the rest. */
const wish =
  /\b(?:(?:talk|speak|chat) (?:to|with) (?:a |an |someone|somebody|the )?(?:real |live )?(?:person|human|agent|someone|somebody|people|team|representative)|(?:real|live) (?:person|human|agent)|(?:mit|zu) (?:einem|einer|jemandem)(?: echten)? ?(?:menschen|mitarbeiter|mitarbeiterin|person)?(?: sprechen| reden)|parler (?:à|avec) (?:un |une |quelqu)|hablar con (?:un |una |alguien)|parlare con (?:un |una |qualcuno)|falar com (?:um |uma |alguém))/u;

/** What it does with a message without asking a model; undefined if it needs one. */
export function understood(message: string): 'greeting' | 'thanks' | 'person' | undefined {
  const text = message.toLowerCase().normalize('NFC').replaceAll(/\s+/g, ' ').trim();
  const words = text.replaceAll(/[\p{P}\p{S}]+/gu, '').trim();
  if (person.test(words) || wish.test(text)) return 'person';
  if (greetings.test(words)) return 'greeting';
  return thanks.test(words) ? 'thanks' : undefined;
}
