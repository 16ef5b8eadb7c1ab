// Example request bodies, generated from the routes' schemas: a valid value for each, with the words of a small shop
// where a field's name says what it holds. A test validates each against its schema.

interface Shape {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly anyOf?: readonly Shape[];
  readonly allOf?: readonly Shape[];
  readonly items?: Shape;
  readonly minItems?: number;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  /** The part of the schema that applies conditionally. */
  readonly then?: Shape;
}

const id = '01939f5e-7c1d-7a3b-9f0e-2b6d1c4e8a70';

/** Examples for fields whose pattern requires a certain form. */
const forms: readonly string[] = [
  '09:00',
  '+14155550123',
  '2027-01-15',
  'https://shop.example/',
  '#2563eb',
  '/hello',
  'vs_2b6d1c4e8a70',
  'shop.example',
  '482915',
];

/** By field name, in every schema. */
const words: Readonly<Record<string, unknown>> = {
  allowedCountries: ['US', 'CA'],
  allowedOrigins: ['shop.example', '*.shop.example'],
  areaCode: '415',
  attachments: [],
  body: 'Where is my order?',
  callId: 'call-1',
  closes: '17:30',
  code: '482915',
  company: 'Bean & Leaf',
  contentType: 'image/png',
  customFields: { plan: 'gold' },
  customerEmail: 'kim@example.org',
  customerName: 'Kim',
  displayName: 'Front desk',
  domain: 'shop.example',
  e164: '+14155550123',
  email: 'kim@example.org',
  endpoint: 'https://push.example.net/send/dG8tYW5u',
  filename: 'receipt.png',
  from: '+14155550199',
  fromE164: '+14155550199',
  identity: 'kim@example.org',
  localPart: 'sales',
  locale: 'en',
  mail: ['own_messages', 'calls'],
  name: 'Bean & Leaf',
  newPassword: 'long enough to be good',
  note: 'Order 1042 was shipped on Monday.',
  password: 'long enough to be good',
  phoneE164: '+14155550123',
  primaryColor: '#2563eb',
  query: 'When do I get my money back?',
  rating: 5,
  reason: 'I am in a meeting.',
  serviceId: 'vs_2b6d1c4e8a70',
  shortcut: '/hello',
  siteUrl: 'https://shop.example',
  size: 48_213,
  subject: 'Your order 1042',
  tags: ['vip'],
  timezone: 'Europe/Berlin',
  title: 'Opening hours',
  to: 'kim@example.org',
  until: '2027-01-15T09:00:00.000Z',
  url: 'https://shop.example/help',
  value: '/thanks',
  visitorEmail: 'kim@example.org',
  welcomeMessage: 'Hello! How can we help?',
  onlineMessage: 'Ask us anything about our coffee.',
  awayMessage: 'We are roasting. We answer by mail today.',
  closedMessage: 'We are asleep. We answer tomorrow.',
  workspaceName: 'Bean & Leaf',
};

/** `schema` as TypeBox stores it. Optional fields are included if their name says what they hold. */
export function exampleOf(schema: object): unknown {
  return valueOf(schema, undefined);
}

function valueOf(shape: Shape, name: string | undefined): unknown {
  if (shape.examples !== undefined) return shape.examples[0];
  if (shape.const !== undefined) return shape.const;
  if (shape.enum !== undefined) return shape.enum[0];
  if (shape.anyOf !== undefined) return valueOf(shape.anyOf[0] ?? {}, name);
  if (shape.allOf !== undefined) return valueOf(Object.assign({}, ...shape.allOf) as Shape, name);
  if (name !== undefined && Object.hasOwn(words, name) && isOfType(words[name], shape)) return words[name];
  switch (shape.type) {
    case 'object':
      return objectOf(shape);
    case 'array':
      return Array.from({ length: Math.max(1, shape.minItems ?? 1) }, () =>
        valueOf(shape.items ?? {}, name?.replace(/s$/, '')),
      );
    case 'integer':
    case 'number':
      return shape.default ?? shape.minimum ?? 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return textOf(shape);
  }
}

function objectOf({ properties = {}, required: always = [], then }: Shape): Record<string, unknown> {
  const required = [...always, ...(then?.required ?? [])];
  const fields = Object.entries(properties).filter(([name]) => required.includes(name) || Object.hasOwn(words, name));
  return Object.fromEntries(fields.map(([name, shape]) => [name, valueOf(shape, name)]));
}

function textOf({ format, pattern, minLength = 1 }: Shape): string {
  if (format === 'uuid') return id;
  if (format === 'date-time') return '2027-01-15T09:00:00.000Z';
  if (format === 'idn-email') return 'kim@example.org';
  if (format === 'uri') return 'https://shop.example/';
  if (format === 'date') return '2027-01-15';
  const fits = (text: string): boolean =>
    text.length >= minLength && (pattern === undefined || new RegExp(pattern, 'u').test(text));
  return ['text', ...forms].find(fits) ?? 'text'.padEnd(minLength, '.');
}

function isOfType(value: unknown, { type, pattern, maxLength }: Shape): boolean {
  if (type === 'string')
    return (
      typeof value === 'string' &&
      (pattern === undefined || new RegExp(pattern, 'u').test(value)) &&
      value.length <= (maxLength ?? Number.POSITIVE_INFINITY)
    );
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer' || type === 'number') return typeof value === 'number';
  return type === 'object' ? typeof value === 'object' && value !== null && !Array.isArray(value) : false;
}
