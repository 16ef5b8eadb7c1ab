// Names and subjects are stored as one line, and every route that takes one enforces it.

import t from 'tap';
import Type from 'typebox';
import { isBlank, linePattern, mailboxName, oneLine, plainName, textPattern } from '../../engine/lines.ts';
import { canonicalForm } from '../../http/pipeline/value-forms.ts';
import { apiRoutes } from '../../http/routes.ts';
import { line, Name } from '../../http/schemas/shared.ts';
import { startService } from '../support/service.ts';

const unseen = [
  '',
  ' ',
  '\u200b',
  '\u2060\ufeff',
  '\u0000',
  '\u3164',
  '\u2800',
  '\u200e\u200f',
  '\ufe0f',
  '\u00ad\t\n',
];
const seen = ['a', ' a ', '山', '❤️', '👩‍👩‍👧', '!', '\u200fמשה', 'می\u200cخواهم'];
const unfit = [
  'a\u0000b',
  'a\u001b[31mb',
  'a\rb',
  'a\nBcc: x@y.example',
  'a\tb',
  'a\u0085b',
  'a\u2028b',
  'a\u202ecod.exe',
  'a\u2067b',
  '\u0000',
];

/** A title is read by programs that treat some of these as line ends. */
const shown = (text: string): string => `“${encodeURIComponent(text)}”`;

t.test('a line shows something, and holds nothing that breaks or turns a text', async (t) => {
  const isLine = new RegExp(linePattern, 'u');
  for (const text of unseen) t.ok(isBlank(text) && !isLine.test(text), shown(text));
  for (const text of seen) t.ok(!isBlank(text) && isLine.test(text), shown(text));
  for (const text of unfit) t.notOk(isLine.test(text), shown(text));
});

t.test('a text shows something, and no NUL ends it early', async (t) => {
  const isText = new RegExp(textPattern, 'u');
  for (const text of unseen) t.notOk(isText.test(text), shown(text));
  for (const text of seen) t.ok(isText.test(text), shown(text));
  for (const text of unfit) t.equal(isText.test(text), !text.includes('\u0000'), shown(text));
  t.ok(isText.test('\n\n a\r\n'));
  for (const text of [`${' '.repeat(500_000)}\u0000`, `${'a'.repeat(500_000)}\u0000`])
    t.notOk(isText.test(text), 'linear: the test would not end otherwise');
});

t.test('a line is kept without white space around it or twice within it, in NFC', async (t) => {
  const rows: [string, string][] = [
    ['  Spaced \u00a0  out \u3000', 'Spaced out'],
    ['\ufeffu\u0308ber\u200b', 'über'],
    ['a\r\n b\u2028c\u0000', 'a b c'],
    ['gpj.\u202eexe.png', 'gpj.exe.png'],
    ['❤️', '❤️'],
    ['Sales ', 'Sales'],
    ['\u200b', ''],
  ];
  for (const [text, kept] of rows) t.equal(oneLine(text), kept, shown(text));
  t.equal(
    oneLine(`a${' '.repeat(500_000)}${'\u200b'.repeat(500_000)}b`).length,
    500_003,
    'linear: the test would not end otherwise',
  );
});

t.test('lines are found in objects, lists and choices, and nothing else is touched', async (t) => {
  const tidy = canonicalForm(
    Type.Object({
      name: Type.Optional(Name),
      tags: Type.Array(line(9)),
      inner: Type.Object({ title: Type.Union([line(9), Type.Null()]) }),
      body: Type.String(),
      both: Type.Intersect([Name, Type.String()]),
    }),
  );
  t.strictSame(
    tidy?.({ tags: [' a ', 'b  c'], inner: { title: ' t ' }, body: ' as it is ', both: ' b ', other: ' o ' }),
    { tags: ['a', 'b c'], inner: { title: 't' }, body: ' as it is ', both: 'b', other: ' o ' },
  );
  t.strictSame(tidy?.({ inner: { title: null } }), { inner: { title: null } });
  t.equal(canonicalForm(Type.Object({ body: Type.String() })), undefined);
});

interface Shape {
  readonly pattern?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly allOf?: readonly Shape[];
}

t.test('every name, title and subject that a route takes is a line', async (t) => {
  const wrong: string[] = [];
  let count = 0;
  // File names have their own rules; a page's title, parts of a mail, a draft's subject and imported rows are reduced to
  // a line instead of refused; a model's name is one of a list.
  const others =
    /^(?:email\.inbound |widget\.\w+ body\.name$|\S+ body\.(?:mail\.)?attachments\.|draft\.\w+ body\.mail\.subject$|contact\.import body\.rows\.|conversation\.import body\.conversations\.|kb\.chooseModel )/;
  const walk = (shape: Shape, operation: string, path: string): void => {
    for (const [name, field] of Object.entries(shape.properties ?? {})) {
      const at = `${path}.${name}`;
      const patterns = [field, ...(field.anyOf ?? []), ...(field.allOf ?? [])].map(({ pattern }) => pattern);
      if (
        /^(?:name|title|subject|company|label|identity|source|\w+Name)$/.test(name) &&
        !others.test(`${operation} ${at}`)
      ) {
        count += 1;
        if (!patterns.includes(linePattern)) wrong.push(`${operation} ${at}`);
      }
      walk(field, operation, at);
    }
    for (const part of [shape.items, ...(shape.anyOf ?? []), ...(shape.allOf ?? [])])
      if (part !== undefined) walk(part, operation, path);
  };
  // As TypeBox stores them.
  for (const { operation, body, rawBody } of apiRoutes)
    if (body !== undefined && rawBody === undefined) walk(body as Shape, operation, 'body');
  t.same(wrong, []);
  t.ok(count > 25, `${count} names`);
});

t.test('names and subjects at the edge', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();

  t.test('[4.12, 4.10] they are stored as lines; invalid ones are refused', async (t) => {
    t.equal(
      (await service.post('/contacts', { name: ' Kim   Lee ', company: 'u\u0308ber' }, owner.token)).body.contact.name,
      'Kim Lee',
    );
    t.match(
      (await service.patch(`/workspaces/${owner.workspaceId}`, { name: '  Shop\u00a0two ' }, owner.token)).body
        .workspace,
      { name: 'Shop two' },
    );
    for (const name of [...unseen.slice(1), ...unfit]) {
      t.match(
        await service.post('/contacts', { name }, owner.token),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { name: [String] } } } },
        shown(name),
      );
    }
    for (const subject of unfit)
      t.match(
        await service.post('/tickets', { customerEmail: 'kim@example.org', subject, body: 'b' }, owner.token),
        { status: 400, body: { detail: { fieldErrors: { subject: [String] } } } },
        shown(subject),
      );
  });

  t.test('[4.10] departments and shortcuts are unique, ignoring case and spelling', async (t) => {
    t.equal((await service.post('/departments', { name: 'Büro ' }, owner.token)).status, 201);
    for (const name of ['BÜRO', 'bu\u0308ro', '  Büro'])
      t.match(
        await service.post('/departments', { name }, owner.token),
        { status: 409, body: { error: 'conflict' } },
        name,
      );
    t.equal((await service.post('/departments', { name: 'Buro' }, owner.token)).status, 201, 'an accent counts');
    const reply = (shortcut: string) =>
      service.post('/saved-replies', { shortcut, title: 'T', body: 'b' }, owner.token);
    const { body } = await reply('/u\u0308be1');
    t.equal(body.shortcut, '/übe1');
    for (const shortcut of ['/ÜBE1', '/übe1']) t.match(await reply(shortcut), { status: 409 }, shortcut);
    t.equal((await reply('/ube1')).status, 201);
    t.equal(
      (await service.patch(`/saved-replies/${body.id}`, { shortcut: '/Übe1', expectedVersion: 1 }, owner.token)).status,
      200,
      'its own in another case',
    );
    for (const shortcut of ['/\u200b', '/a\u0000', '/a\u202eb'])
      t.match(await reply(shortcut), { status: 400 }, shown(shortcut));
  });

  t.test('[4.5, 4.12] tags are unique, ignoring case', async (t) => {
    const chat = await service.chat(owner);
    t.strictSame(
      (
        await service.put(
          `/conversations/${chat.id}/tags`,
          { tags: ['vip', 'VIP', 'Late  one', ' late one', '\u200b'] },
          owner.token,
        )
      ).body.conversation.tags,
      ['vip', 'Late one'],
    );
    const { contact } = (await service.post('/contacts', { name: 'Tagged' }, owner.token)).body;
    t.strictSame(
      (await service.patch(`/contacts/${contact.id}`, { tags: ['a', 'A', ' a '] }, owner.token)).body.contact.tags,
      ['a'],
    );
  });

  t.test('[4.5] a text in which nothing can be seen is empty', async (t) => {
    const chat = await service.chat(owner);
    for (const body of unseen)
      t.match(
        await service.post(`/conversations/${chat.id}/messages`, { body }, owner.token),
        { status: 400, body: { error: 'invalid_body' } },
        shown(body),
      );
    for (const body of unseen)
      t.match(
        await service.post(`/widget/conversations/${chat.id}/messages`, { body }, chat.customer.token),
        { status: 400 },
        shown(body),
      );
    for (const body of unseen)
      t.match(
        await service.post(`/conversations/${chat.id}/notes`, { body }, owner.token),
        { status: 400 },
        shown(body),
      );
    for (const body of ['a\u0000b', 'a\u0000', '\u0000a', '\u200b\u0000a'])
      t.match(
        await service.post(`/conversations/${chat.id}/messages`, { body }, owner.token),
        { status: 400, body: { error: 'invalid_body' } },
        shown(body),
      );
    t.equal(
      (await service.post(`/conversations/${chat.id}/messages`, { body: '\u200fa\n\tb' }, owner.token)).body.body,
      '\u200fa\n\tb',
      'any other is kept as it is',
    );
  });

  t.test("[4.12] a page's claims about its visitor are reduced to a line", async (t) => {
    const customer = await service.customer(owner.embedId, { name: '  Kim\r\n\u202eLee ' });
    t.equal((await service.get(`/visitors/${customer.visitorId}`, owner.token)).body.visitor.name, 'Kim Lee');
    await service.patch('/widget/visitor', { name: 'a\tb' }, customer.token);
    t.equal((await service.get(`/visitors/${customer.visitorId}`, owner.token)).body.visitor.name, 'a b');
  });
});

t.test('a name for a mail of the service becomes no link there', async (t) => {
  for (const [name, said] of [
    ['Café Müller & Söhne', 'Café Müller & Söhne'],
    ['Shop 24', 'Shop 24'],
    ['3.5 Stars', '3.5 Stars'],
    ['Dr. Kim', 'Dr. Kim'],
    ['https://evil.example/a', 'https: evil. example/ a'],
    ['evil.example', 'evil. example'],
    ['ev。il．example', 'ev。 il． example'],
    ['pay@evil', 'pay@ evil'],
    ['two\r\nlines', 'two lines'],
    ['x'.repeat(61), `${'x'.repeat(60)}…`],
    ['𝒳'.repeat(61), `${'𝒳'.repeat(60)}…`],
  ] as const)
    t.equal(plainName(name), said.normalize('NFC'), name);
  t.equal(mailboxName('support@paypal.example'), 'support at paypal.example');
});
