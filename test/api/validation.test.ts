import { Ajv } from 'ajv';
import fc from 'fast-check';
import t from 'tap';
import Type from 'typebox';
import {
  closedValidator,
  coercingValidator,
  strictValidator,
  unknownFieldsOf,
} from '../../http/pipeline/validation.ts';
import { apiRoutes } from '../../http/routes.ts';
import { Email, Hex, Id, nullable, OpeningHours, Url } from '../../http/schemas/shared.ts';

const Order = Type.Object({
  id: Id,
  count: Type.Integer({ minimum: 1, maximum: 9 }),
  lines: Type.Array(Type.Object({ sku: Type.String({ minLength: 1 }), price: Type.Optional(Type.Number()) }), {
    maxItems: 3,
  }),
  kind: Type.Optional(Type.Enum(['new', 'used'])),
  note: Type.Optional(nullable(Type.String({ maxLength: 3 }))),
});
const id = '0194b7a6-1111-7111-8111-111111111111';

t.test(
  'every declared schema is one by the schema of schemas, which nothing looks at when they are compiled',
  async (t) => {
    const ajv = new Ajv({ strict: false });
    t.notOk(ajv.validateSchema({ type: 'object', properties: { count: { type: 'integer', minimum: 'one' } } }));
    let count = 0;
    for (const { operation, params, query, body, reply } of apiRoutes) {
      for (const schema of [params, query, body, reply.schema]) {
        if (schema == null) continue;
        count += 1;
        if (ajv.validateSchema(schema) !== true) t.fail(`${operation}: ${ajv.errorsText()}`);
      }
    }
    t.ok(count > 300);
  },
);

t.test('[7] a sound value passes, as it is', async (t) => {
  const validate = strictValidator(Order);
  const value = { id, count: 2, lines: [{ sku: 'a' }], note: null };
  t.equal(validate(value), undefined);
  t.same(value, { id, count: 2, lines: [{ sku: 'a' }], note: null });
});

t.test('[7] every field that is wrong is named, each under its own path', async (t) => {
  const errors = strictValidator(Order)({
    id: 'x',
    count: '2',
    lines: [{}, { sku: '', price: 'much' }],
    kind: 'old',
    note: 'long',
  });
  t.same(errors, {
    id: ['must be an id, such as 019aa000-0000-7000-8000-000000000001'],
    count: ['must be integer'],
    'lines.0.sku': ['is required'],
    'lines.1.sku': ['must not be empty'],
    'lines.1.price': ['must be number'],
    kind: ['must be one of new, used'],
    note: ['must have at most 3 characters'],
  });
});

t.test('[7] a body that is not an object is named as a whole', async (t) => {
  for (const value of [null, [], 'text', 7, true])
    t.match(strictValidator(Order)(value), { body: ['must be object'] }, JSON.stringify(value));
  t.match(strictValidator(Order)({}), { id: ['is required'], count: ['is required'], lines: ['is required'] });
});

t.test('[7] bodies are never converted: a number in quotes is no number', async (t) => {
  const validate = strictValidator(Type.Object({ count: Type.Integer(), on: Type.Boolean(), name: Type.String() }));
  t.match(validate({ count: '1', on: 'true', name: 7 }), {
    count: ['must be integer'],
    on: ['must be boolean'],
    name: ['must be string'],
  });
});

t.test('[7] query values are text and converted', async (t) => {
  const validate = coercingValidator(
    Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
      on: Type.Optional(Type.Boolean()),
      ids: Type.Optional(Type.Array(Type.String())),
    }),
  );
  const query: Record<string, unknown> = { limit: '20', on: 'true', ids: 'a' };
  t.equal(validate(query), undefined);
  t.same(query, { limit: 20, on: true, ids: ['a'] });
  for (const limit of ['0', '201', '1.5', '', ' ', 'x', '1;2', ['1', '2']])
    t.match(validate({ limit }), { limit: [/^must be/] }, JSON.stringify(limit));
});

t.test('errors are in words: no pattern, no name of a format, and not that a field might be empty', async (t) => {
  const Form = Type.Object({
    email: Email,
    site: nullable(Url),
    colour: Hex,
    opens: OpeningHours,
    ids: Type.Array(Id, { minItems: 1 }),
    name: Type.String({ minLength: 2 }),
    age: Type.Integer({ minimum: 1, maximum: 9 }),
    free: Type.Record(Type.String({ pattern: '^[a-z]+$' }), Type.String(), { additionalProperties: false }),
  });
  t.same(
    strictValidator(Form)({
      email: 'x',
      site: 'x',
      colour: 'red',
      opens: { weekday: 0, opens: '9', closes: '9' },
      ids: [],
      name: 'x',
      age: 10,
      free: { [`X${'x'.repeat(100)}`]: 'x' },
    }),
    {
      email: ['must be an email address'],
      site: ['must be a web address, such as https://example.com'],
      colour: ['must be a hex colour, such as #2563eb'],
      'opens.weekday': ['must be at least 1'],
      'opens.opens': ['must be a time of day, such as 09:00'],
      'opens.closes': ['must be a time of day, such as 17:30'],
      ids: ['must not be empty'],
      name: ['must have at least 2 characters'],
      age: ['must be at most 9'],
      free: [`must not have a field called X${'x'.repeat(63)}`],
    },
  );
  t.match(strictValidator(Type.Object({ site: nullable(Url) }))({ site: 7 }), { site: ['must be string'] });
});

t.test('a conditional requirement is reported at its own field, without the condition', async (t) => {
  const Parcel = Type.Object(
    {
      to: nullable(Type.String()),
      weight: Type.Optional(Type.Integer()),
      clientIp: Type.Optional(Type.String({ anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] })),
    },
    { if: { properties: { to: { type: 'string' } } }, then: { required: ['weight'] } },
  );
  const validate = strictValidator(Parcel);
  for (const sound of [
    { to: null },
    { to: 'x', weight: 1 },
    { to: null, clientIp: '192.0.2.7' },
    { to: null, clientIp: '2001:db8::7' },
  ])
    t.equal(validate(sound), undefined, JSON.stringify(sound));
  t.same(validate({ to: 'x', clientIp: '192.0.2' }), { weight: ['is required'], clientIp: ['must be an IP address'] });
});

t.test('formats are held: ids, emails, addresses, colours, hours', async (t) => {
  const rows: [string, Parameters<typeof strictValidator>[0], readonly unknown[], readonly unknown[]][] = [
    ['id', Id, [id, '7f0a1b5e-2d3c-4e5f-8a9b-0c1d2e3f4a5b'], ['', '1', '0194b7a6', `${id}0`, 5]],
    [
      'email',
      Email,
      ['a@example.com', 'A.B+c@sub.example.co.uk'],
      ['a', 'a@', '@b.c', 'a b@c.d', 'a@b@c.d', `${'a'.repeat(250)}@x.com`],
    ],
    [
      'url',
      Url,
      ['https://example.com', 'http://localhost:3000/x?y=1'],
      [
        'http://127.0.0.1%00.example/',
        'http://1.2.3.400/',
        'http://x:99999/',
        'example.com',
        'ftp://example.com',
        'javascript:alert(1)',
        'https://',
        '//x',
        `https://x.example/${'a'.repeat(2048)}`,
      ],
    ],
    ['colour', Hex, ['#2563eb', '#FFFFFF'], ['2563eb', '#fff', '#25 63eb', '#2563ebff', 'red']],
    [
      'hours',
      OpeningHours,
      [
        { weekday: 1, opens: '00:00', closes: '24:00' },
        { weekday: 7, opens: '23:59', closes: '00:00' },
      ],
      [
        { weekday: 0, opens: '09:00', closes: '17:00' },
        { weekday: 8, opens: '09:00', closes: '17:00' },
        { weekday: 1, opens: '24:00', closes: '17:00' },
        { weekday: 1, opens: '9:00', closes: '17:00' },
        { weekday: 1, opens: '09:00', closes: '24:01' },
      ],
    ],
  ];
  for (const [name, schema, good, bad] of rows) {
    const validate = strictValidator(schema);
    for (const value of good) t.equal(validate(value), undefined, `${name} ${JSON.stringify(value)}`);
    for (const value of bad) t.ok(validate(value), `no ${name}: ${JSON.stringify(value).slice(0, 60)}`);
  }
});

t.test('[decisions] unknown fields are dropped at every depth, declared ones are untouched', async (t) => {
  const drop = unknownFieldsOf(Order);
  const value = {
    id,
    count: 1,
    extra: true,
    lines: [
      { sku: 'a', colour: 'red' },
      { sku: 'b', price: 1 },
    ],
    note: null,
  };
  drop?.(value);
  t.same(value, { id, count: 1, lines: [{ sku: 'a' }, { sku: 'b', price: 1 }], note: null });

  const free = unknownFieldsOf(Type.Object({ fields: Type.Record(Type.String(), Type.Unknown()) }));
  const kept = { fields: { anything: { goes: [1] } } };
  free?.(kept);
  t.same(kept, { fields: { anything: { goes: [1] } } }, 'a free object keeps its own');

  const choice = unknownFieldsOf(
    Type.Object({ one: Type.Union([Type.Object({ a: Type.String() }), Type.Object({ b: Type.String() })]) }),
  );
  const chosen = { one: { b: 'x' } };
  choice?.(chosen);
  t.same(chosen, { one: { b: 'x' } }, 'a choice between objects is left unchanged');

  const nullableObject = unknownFieldsOf(Type.Object({ hours: nullable(Type.Object({ a: Type.String() })) }));
  const filled = { hours: { a: 'x', b: 'y' } };
  nullableObject?.(filled);
  t.same(filled, { hours: { a: 'x' } });
});

t.test('always: the rest after dropping is declared and still valid', async (t) => {
  const validate = strictValidator(Order);
  const drop = unknownFieldsOf(Order);
  const extras = fc.dictionary(
    fc.string().filter((name) => !['id', 'count', 'lines', 'kind', 'note'].includes(name)),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(
      extras,
      fc.array(fc.record({ sku: fc.string({ minLength: 1 }), more: fc.jsonValue() }), { maxLength: 3 }),
      (extra, lines) => {
        const value: Record<string, unknown> = { ...extra, id, count: 3, lines };
        if (validate(value) !== undefined) return false;
        drop?.(value);
        return (
          Object.keys(value).every((name) => ['id', 'count', 'lines'].includes(name)) &&
          lines.every((line) => Object.keys(line).join() === 'sku') &&
          validate(value) === undefined
        );
      },
    ),
  );
  t.pass();
});

t.test('a reply with a field that its route does not declare is refused, at every depth', async (t) => {
  const validate = closedValidator(
    Type.Object({
      agent: Type.Object({ id: Type.String() }),
      list: Type.Array(Type.Object({ a: Type.String() })),
      free: Type.Object({}),
      maybe: nullable(Type.Object({ b: Type.String() })),
    }),
  );
  const sound = { agent: { id: '1' }, list: [{ a: 'x' }], free: { any: 1 }, maybe: { b: 'x' } };
  t.equal(validate(sound), undefined);
  t.ok(validate({ ...sound, more: 1 }));
  t.ok(validate({ ...sound, agent: { id: '1', passwordHash: 'secret' } }));
  t.ok(validate({ ...sound, list: [{ a: 'x', b: 'y' }] }));
  t.ok(validate({ ...sound, maybe: { b: 'x', c: 'y' } }));
});
