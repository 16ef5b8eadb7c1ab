// Values for a JSON schema: valid ones, values on both sides of its bounds, and hostile ones. Knows only what `pools`
// gives it about this service.

import fc from 'fast-check';

/** JSON Schema as the documents use it. */
export interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Real values for a field of this name; empty if there are none. */
export type Pools = (name: string) => readonly string[];

type Values = fc.Arbitrary<unknown>;

export const versionField = 'expectedVersion';

/** JSON.stringify cannot write it: toJson() does. */
const deepMark = '@@deep:';
const rawMark = '@@raw:';
const manyMark = '@@many:';
const longMark = '@@long:';
const fieldsMark = '@@fields:';

const oddTexts: readonly string[] = [
  '',
  ' ',
  '\n',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'x\udc00y',
  '\ufeffx',
  '\u202eabc',
  '\u2028',
  '\u0007',
  'x\r\nBcc: y@example.com',
  '👩‍👩‍👧‍👦',
  '\u0301'.repeat(300),
  'İstanbul',
  'ﷺ'.repeat(60),
  'ß'.repeat(121),
  '../../../etc/passwd',
  '..%2f..%2f',
  '%00',
  '%',
  '%zz',
  '\\',
  '/',
  '//',
  '?',
  '#',
  '&a=b',
  "' OR 1=1 --",
  '"',
  '*',
  '"a" NEAR b',
  'a* OR b:',
  '^',
  '-',
  '(',
  ')',
  '[',
  '(a+)+$',
  '(?<=x)',
  '\\p{L}',
  '<script>alert(1)</script>',
  '</title><svg onload=alert(1)>',
  '${7*7}',
  '{{7*7}}',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'then',
  'NaN',
  'Infinity',
  '-0',
  '-1',
  '0',
  '1.5',
  '1e309',
  '9'.repeat(40),
  '0x10',
  'true',
  'null',
  'undefined',
  '[object Object]',
  '[]',
  '{}',
  '2026-02-30',
  '0000-01-01',
  '9999-12-31T23:59:59.999Z',
  '10000-01-01T00:00:00.000Z',
  '+275760-09-13T00:00:00.000Z',
  '-271821-04-20T00:00:00.000Z',
  '2026-11-20T12:00:00.000Z',
  '2026-11-20T12:00:00+14:00',
  '2016-12-31T23:59:60.000Z',
  '2026-11-20',
  '24:00',
  '23:59',
  '|',
  '2026-11-20T12:00:00.000Z|',
  '|019aa000-0000-7000-8000-000000000001',
  '2026-11-20T12:00:00.000Z|019aa000-0000-7000-8000-000000000001',
  '9999-99-99T99:99:99.999Z|019aa000-0000-7000-8000-000000000001',
  'a@b',
  'a@example.com',
  'A@EXAMPLE.COM',
  '"a b"@example.com',
  'a@[127.0.0.1]',
  'a@exämple.example',
  `${'x'.repeat(64)}@${'y'.repeat(63)}.example`,
  '+14155550123',
  '+1',
  '+999999999999999',
  '0',
  '٣',
  'none',
  'all',
  'http://',
  'http:///',
  'http://[',
  'http://[::1]:1/',
  'http://127.0.0.1:1/',
  'HTTP://127.1:1/',
  'http://a..b/',
  'http://exämple.example/ä?ö#ü',
  'http://user:pass@shop.example/',
  'https://shop.example:99999/',
  'ftp://shop.example/',
  'javascript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  '//shop.example',
  `https://shop.example/${'x'.repeat(2030)}`,
  'Europe/Berlin',
  'Etc/GMT+14',
  'en',
  'zh-Hant-TW',
  '#ffffff',
  '*.example',
  'x'.repeat(1000),
  'x'.repeat(10_001),
  '😀'.repeat(5001),
];
const oddNumbers: readonly number[] = [
  0,
  -0,
  -1,
  1,
  1.5,
  0.1,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  -(2 ** 53),
  1e21,
  1e308,
  5e-324,
];
const oddKeys: readonly string[] = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  '',
  ' ',
  'a.b',
  'a/b',
  '\u0000',
  '$ref',
  'id',
  'workspaceId',
  'role',
  'version',
  'createdAt',
  'then',
  'toJSON',
  'length',
  '0',
  'x'.repeat(300),
];

export const madeUpIds: readonly string[] = [
  '019aa000-0000-7000-8000-000000000001',
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-4fff-bfff-ffffffffffff',
  '019AA000-0000-7000-8000-000000000001',
  '019aa000-0000-7000-8000-00000000000',
  'vs_x',
  'sk_live_x',
];

const oddText = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...oddTexts) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
);

const deep = fc.constantFrom('[100', '[3000', '[20000', '{100', '{3000').map((how) => `${deepMark}${how}`);
const raw = fc
  .constantFrom('1e999', '-1e999', '123456789012345678901234567890', '0.1e-400', '-0')
  .map((number) => `${rawMark}${number}`);

/** Items for long lists, by the name in the mark. */
const units: Readonly<Record<string, string>> = { number: '1', null: 'null', object: '{}', list: '[]', text: '"x"' };
/** Beyond all limits: more values than are parsed, the longest body, and the deepest accepted nesting. */
export const hugeValue: Values = fc.oneof(
  fc
    .tuple(fc.constantFrom(300, 5000, 19_900, 20_001, 400_000), fc.constantFrom(...Object.keys(units)))
    .map(([count, unit]) => `${manyMark}${count}:${unit}`),
  fc.constantFrom(11_000, 100_000, 1_000_000).map((length) => `${longMark}${length}`),
  fc.constantFrom(101, 5000, 60_000).map((count) => `${fieldsMark}${count}`),
  fc.constantFrom('[60', '{60').map((how) => `${deepMark}${how}`),
);

/** Any JSON value. */
export const oddValue: Values = fc.oneof(
  { weight: 4, arbitrary: oddText },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(null, true, false, [], {}, [[]], [null], [{}], ...oddNumbers) },
  { weight: 1, arbitrary: deep },
  { weight: 1, arbitrary: raw },
  { weight: 1, arbitrary: hugeValue },
  { weight: 1, arbitrary: fc.array(oddText, { maxLength: 5 }) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(...oddKeys), oddText).map(([key, value]) => withKey({}, key, value)),
  },
);

/** As an own property, whatever its name. */
function withKey(object: Readonly<Record<string, unknown>>, key: string, value: unknown): Record<string, unknown> {
  return Object.defineProperty({ ...object }, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Mostly values that the schema allows, and some at and beyond its bounds. */
export function valueFor(schema: Schema, name: string, pools: Pools): Values {
  return fc.oneof(
    { weight: 12, arbitrary: soundFor(schema, name, pools) },
    { weight: 4, arbitrary: boundaryFor(schema, name, pools) },
    { weight: 3, arbitrary: oddValue },
  );
}

function soundFor(schema: Schema, name: string, pools: Pools): Values {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => soundFor(one, name, pools)));
  switch (schema.type) {
    case 'object':
      return objectFor(schema, pools);
    case 'array':
      return fc.array(schema.items === undefined ? oddValue : valueFor(schema.items, name, pools), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, (schema.minItems ?? 0) + 3),
      });
    case 'string':
      return textFor(schema, name, pools);
    case 'integer':
      // A version is one of the first few; any other is stale.
      if (name === versionField) return fc.integer({ min: 1, max: 6 });
      return fc.integer({
        min: schema.minimum ?? -5,
        max: Math.max(schema.minimum ?? -5, schema.maximum ?? 1_000_000),
      });
    case 'number':
      return fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return oddValue;
  }
}

/** Required fields nearly always, others by chance, and sometimes an undeclared one. */
function objectFor(schema: Schema, pools: Pools): fc.Arbitrary<Record<string, unknown>> {
  const fields = Object.entries(schema.properties ?? {}).map(([key, field]) => {
    const present = valueFor(field, key, pools).map((value) => ({ key, value }));
    const absent = fc.constant(undefined);
    const isRequired = schema.required?.includes(key) === true;
    return fc.oneof(
      { weight: isRequired ? 19 : 2, arbitrary: present },
      { weight: isRequired ? 1 : 3, arbitrary: absent },
    );
  });
  const extra = fc.oneof(
    { weight: 6, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.record({ key: fc.constantFrom(...oddKeys), value: oddValue }) },
  );
  return fc.tuple(fc.tuple(...fields), extra).map(([own, more]) => {
    let object: Record<string, unknown> = {};
    for (const field of [...own, more]) if (field !== undefined) object = withKey(object, field.key, field.value);
    return object;
  });
}

function textFor(schema: Schema, name: string, pools: Pools): fc.Arbitrary<string> {
  const ways: fc.WeightedArbitrary<string>[] = [];
  const pool = pools(name);
  if (pool.length > 0) ways.push({ weight: 6, arbitrary: fc.constantFrom(...pool) });
  switch (schema.format) {
    case 'uuid':
      ways.push({ weight: 2, arbitrary: fc.oneof(fc.constantFrom(...madeUpIds), fc.uuid()) });
      break;
    case 'idn-email':
      ways.push({
        weight: 2,
        arbitrary: fc.oneof(
          fc.nat(30).map((number) => `fuzz${number}@example.com`),
          fc.emailAddress(),
        ),
      });
      break;
    case 'uri':
      ways.push({ weight: 2, arbitrary: webAddress });
      break;
    case 'date':
      ways.push({ weight: 2, arbitrary: fc.constantFrom('2026-11-20', '2024-02-29', '0001-01-01', '9999-12-31') });
      break;
    case 'date-time':
      ways.push({
        weight: 2,
        arbitrary: fc.constantFrom(
          '2026-11-20T12:00:00.000Z',
          '2025-11-20T12:00:00.000Z',
          '2026-11-20T12:00:00+02:00',
          '0001-01-01T00:00:00.000Z',
          '9999-12-31T23:59:59.999Z',
        ),
      });
      break;
    default:
      if (schema.pattern?.startsWith('^[hH][tT]')) ways.push({ weight: 2, arbitrary: webAddress });
      // Patterns of web addresses would produce random hosts, some of which exist.
      else if (schema.pattern !== undefined)
        ways.push({ weight: 2, arbitrary: matching(new RegExp(schema.pattern), schema) });
      else
        ways.push({
          weight: 2,
          arbitrary: fc.string({
            minLength: schema.minLength ?? 0,
            maxLength: Math.min(schema.maxLength ?? 40, (schema.minLength ?? 0) + 40),
            unit: 'grapheme',
          }),
        });
  }
  return fc.oneof(...ways);
}

/** Repeats a short text as far as the pattern allows: waiting for a long one by chance could take forever. */
function matching(pattern: RegExp, { minLength = 0, maxLength = 1000 }: Schema): fc.Arbitrary<string> {
  return fc.stringMatching(pattern).map((text) => {
    const fitted = (
      text.length > 0 && text.length < minLength ? text.repeat(Math.ceil(minLength / text.length)) : text
    ).slice(0, maxLength);
    return pattern.test(fitted) ? fitted : text;
  });
}

/** Names that no name server of a test knows. */
const webAddress = fc.oneof(
  fc.webUrl({ validSchemes: ['http', 'https'], withFragments: true, withQueryParameters: true }),
  fc.constantFrom(
    'https://shop1.example/',
    'https://shop1.example/a?b=c#d',
    'http://127.0.0.1:1/x',
    'http://[::1]:1/',
    'HTTPS://SHOP1.EXAMPLE',
    'http://localhost:1/x.png',
    'http://nowhere.internal/',
  ),
);

function boundaryFor(schema: Schema, name: string, pools: Pools): Values {
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => boundaryFor(one, name, pools)));
  const around = (...bounds: (number | undefined)[]): number[] =>
    bounds.flatMap((bound) => (bound === undefined ? [] : [bound - 1, bound, bound + 1]));
  if (schema.type === 'integer' || schema.type === 'number')
    return fc.constantFrom(...around(schema.minimum, schema.maximum), ...oddNumbers);
  if (schema.type === 'string' && schema.enum === undefined) {
    const lengths = around(schema.minLength, schema.maxLength ?? 300).filter((length) => length >= 0);
    // By code points, as JSON Schema counts, by code units and by bytes: the three differ for the last two.
    return fc
      .tuple(fc.constantFrom(...lengths), fc.constantFrom('x', 'é', '😀', ' ', '\u0000'))
      .map(([length, unit]) => unit.repeat(length));
  }
  if (schema.type === 'array') {
    const lengths = around(schema.minItems, schema.maxItems ?? 50).filter((length) => length >= 0 && length <= 300);
    const item = schema.items === undefined ? oddValue : soundFor(schema.items, name, pools);
    return fc.tuple(fc.constantFrom(...lengths, 2), item).map(([length, value]) => Array.from({ length }, () => value));
  }
  return oddValue;
}

/** As JSON, with marks expanded. Lone surrogates stay escaped, as in JSON.stringify. */
export function toJson(value: unknown): string {
  return (JSON.stringify(value) ?? 'null')
    .replace(/"@@raw:([^"]*)"/g, '$1')
    .replace(
      /"@@many:(\d+):(\w+)"/g,
      (_, count: string, unit: string) =>
        `[${Array(Number(count))
          .fill(units[unit] ?? '1')
          .join(',')}]`,
    )
    .replace(/"@@long:(\d+)"/g, (_, length: string) => `"${'x'.repeat(Number(length))}"`)
    .replace(
      /"@@fields:(\d+)"/g,
      (_, count: string) => `{${Array.from({ length: Number(count) }, (_unused, index) => `"${index}":1`).join(',')}}`,
    )
    .replace(/"@@deep:(.)(\d+)"/g, (_, kind: string, depth: string) => {
      const count = Number(depth);
      return kind === '['
        ? `${'['.repeat(count)}${']'.repeat(count)}`
        : `${'{"x":'.repeat(count)}1${'}'.repeat(count)}`;
    });
}

/** For a query or a form. */
export function toText(value: unknown): string {
  return typeof value === 'string' && !value.startsWith('@@') ? value : toJson(value);
}

/** Bodies that are not a JSON object of any schema, as bytes. */
export const oddBody: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc
    .constantFrom(
      '',
      ' ',
      '{',
      '{}',
      '[]',
      'null',
      '"x"',
      '7',
      'true',
      '{"a":1}{"b":2}',
      "{'a':1}",
      '{"a":1,}',
      '\ufeff{}',
      '{"a":"\\ud800"}',
      '{"__proto__":{"x":1}}',
      '{"a":1e999}',
      'a=b&c=d',
      '\u0000',
    )
    .map((text) => Buffer.from(text)),
  fc
    .constantFrom([0xff, 0xfe], [0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d], [0x1f, 0x8b, 8, 0])
    .map((bytes) => Uint8Array.from(bytes)),
  deep.map((value) => Buffer.from(toJson(value))),
  deep.map((value) => Buffer.from(toJson({ name: value, body: value, customFields: { x: value } }))),
  fc.constantFrom(1024 * 1024 - 2, 1024 * 1024 - 1).map((length) => Buffer.from(`"${'x'.repeat(length)}"`)),
  fc.uint8Array({ maxLength: 60 }),
);
