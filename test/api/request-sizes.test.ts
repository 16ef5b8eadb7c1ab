// The cost of a request by its size: a list of half a million items, a text of a megabyte, nested brackets. Each is
// refused before anything processes it, with a short reply.

import t from 'tap';
import Type from 'typebox';
import { strictValidator } from '../../http/pipeline/validation.ts';
import type { Route } from '../../http/route.ts';
import { apiRoutes } from '../../http/routes.ts';
import { Subject } from '../../http/schemas/shared.ts';
import { Api } from '../support/api.ts';
import { paramsOf, pathWith, soundBody } from '../support/endpoints.ts';
import { tempFolder } from '../support/folder.ts';
import { ServiceProcess } from '../support/process.ts';
import { startService } from '../support/service.ts';

/** JSON Schema as TypeBox stores it. */
interface Shape {
  readonly type?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly allOf?: readonly Shape[];
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
}

interface Found {
  readonly shape: Shape;
  /** Field names; `0` for an item, `*` for a field of any name. */
  readonly path: readonly string[];
}

function* shapesIn(shape: Shape, path: readonly string[] = []): Generator<Found> {
  yield { shape, path };
  for (const one of [...(shape.anyOf ?? []), ...(shape.allOf ?? [])]) yield* shapesIn(one, path);
  for (const [name, field] of Object.entries(shape.properties ?? {})) yield* shapesIn(field, [...path, name]);
  for (const field of Object.values(shape.patternProperties ?? {})) yield* shapesIn(field, [...path, '*']);
  if (shape.items !== undefined) yield* shapesIn(shape.items, [...path, '0']);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A copy of a body with this value at a path that has no list item. */
function withValue(body: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  return name === undefined
    ? value
    : { ...(isObject(body) ? body : {}), [name]: withValue(isObject(body) ? body[name] : undefined, rest, value) };
}

const withBody = (routes: readonly Route[]): (Route & { body: NonNullable<Route['body']> })[] =>
  routes.flatMap((route) => (route.body === undefined ? [] : [{ ...route, body: route.body }]));
const anId = '019aa000-0000-7000-8000-000000000001';

t.test(
  'every list and every free object that a request may have is bounded, and no choice has two sizes',
  async (t) => {
    let lists = 0;
    for (const { operation, params, query, body } of apiRoutes) {
      for (const part of [params, query, body]) {
        for (const { shape, path } of part === undefined ? [] : shapesIn(part as Shape)) {
          const where = `${operation} ${path.join('.')}`;
          if (shape.items !== undefined) {
            lists += 1;
            t.ok(shape.maxItems !== undefined && shape.maxItems <= 1000, `${where} is a list`);
          }
          if (shape.patternProperties !== undefined)
            t.ok(shape.maxProperties !== undefined && shape.maxProperties <= 1000, `${where} is free`);
          const sized = (shape.anyOf ?? [])
            .filter((one) => one.maxLength !== undefined || one.maxItems !== undefined)
            .map(({ type }) => type);
          t.equal(new Set(sized).size, sized.length, `${where} is a choice`);
        }
      }
    }
    t.ok(lists > 40);
  },
);

t.test('an oversized field is reported beside other errors, without its content', async (t) => {
  const Line = Type.Object({ text: Type.String({ maxLength: 3 }) });
  const Letter = Type.Object({
    subject: Subject,
    lines: Type.Array(Line, { minItems: 1, maxItems: 2 }),
    free: Type.Optional(Type.Record(Type.String(), Type.String(), { maxProperties: 2 })),
  });
  const validate = strictValidator(Letter);
  t.same(validate({ subject: 'x'.repeat(201), lines: [1, 2, 3] }), {
    subject: ['must have at most 200 characters'],
    lines: ['must have at most 2 items'],
  });
  t.same(validate({ lines: [{ text: 'long' }, { text: 'short' }], free: { a: 'x', b: 'x', c: 1 } }), {
    subject: ['is required'],
    'lines.0.text': ['must have at most 3 characters'],
    'lines.1.text': ['must have at most 3 characters'],
    free: ['must have at most 2 fields'],
  });
  const lines = [{ text: 'x' }];
  t.equal(validate({ subject: '🙂'.repeat(200), lines }), undefined, 'a character is one, however it is written');
  t.same(validate({ subject: '🙂'.repeat(201), lines }), { subject: ['must have at most 200 characters'] });
  t.equal(validate({ subject: 'x', lines, free: { ['__proto__']: 'x' } }), undefined);
  const many = strictValidator(Type.Object({ of: Type.Array(Type.Integer(), { maxItems: 1000 }) }));
  t.equal(Object.keys(many({ of: Array(1000).fill('x') }) ?? {}).length, 50, 'at most fifty fields are named');
});

/** The most expensive text: a pattern that scans everything before each end of line. */
const dearText = `${'x'.repeat(900_000)}\n`;
const ones = (count: number): string => `[${'1,'.repeat(count - 1)}1]`;

interface Answered {
  readonly status: number;
  readonly text: string;
}

/** Fields of a body that are lists, or texts with a limit. */
const listsOf = (route: { body: unknown }): Found[] =>
  [...shapesIn(route.body as Shape)].filter(
    ({ shape, path }) => shape.items !== undefined && !path.some((step) => step === '0' || step === '*'),
  );
const textsOf = (route: { body: unknown }): Found[] =>
  [...shapesIn(route.body as Shape)].filter(
    ({ shape, path }) => shape.type === 'string' && !path.some((step) => step === '0' || step === '*'),
  );

t.test(
  'half a million items are refused, and so are as many as are read, on every route with a list, and through sockets',
  async (t) => {
    const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
    const owner = await service.workspace();
    const customer = await service.customer(owner.embedId);
    const tokenOf = ({ access }: Route): string | undefined =>
      access.kind === 'agent' ? owner.token : access.kind === 'visitor' ? customer.token : undefined;
    const sockets = {
      agent: await service.agentSocket(owner.token),
      visitor: await service.visitorSocket(customer.token),
    };
    const fixtures = { agentId: anId, departmentId: anId };

    /** Sends the text unchanged, since half a million items should not be built as objects. */
    const send = async (route: Route, text: string): Promise<Answered> => {
      const path = `/${pathWith(route, Object.fromEntries(paramsOf(route).map((name) => [name, anId])))}`;
      const { status, body } = await service.call(route.method, path, { token: tokenOf(route), body: text });
      return { status, text: JSON.stringify(body) };
    };
    const bodyWith = (route: Route, path: readonly string[], valueText: string): string =>
      JSON.stringify(withValue(soundBody(route, fixtures), path, 'HERE')).replace('"HERE"', () => valueText);
    const isSlight = ({ status, text }: Answered, what: string): void => {
      t.equal(status, 400, what);
      t.ok(text.length < 8000, `${what}: ${text.length} characters of reply`);
    };

    const routes = withBody(service.running.routes).filter(
      ({ access, form }) => access.kind !== 'signed' && form !== true,
    );
    let lists = 0;
    for (const route of routes) {
      for (const { path, shape } of listsOf(route)) {
        lists += 1;
        const name = `${route.operation} ${path.join('.')}`;
        const half = await send(route, bodyWith(route, path, ones(500_000)));
        isSlight(half, `${name} of half a million`);
        t.match(half.text, 'may have at most 20000 values', name);
        const many = await send(route, bodyWith(route, path, ones(19_000)));
        isSlight(many, `${name} of what is read`);
        t.match(many.text, `must have at most ${shape.maxItems} items`, name);
        if (route.httpOnly === true || route.access.kind === 'public') continue;
        const reply = await sockets[route.access.kind === 'visitor' ? 'visitor' : 'agent'].call(route.operation, {
          ...Object.fromEntries(paramsOf(route).map((param) => [param, anId])),
          ...(JSON.parse(bodyWith(route, path, ones(19_000))) as object),
        });
        isSlight({ status: reply.status, text: JSON.stringify(reply.body) }, `${name} through a socket`);
      }
      for (const { path, shape } of textsOf(route)) {
        if (shape.maxLength === undefined) continue;
        isSlight(
          await send(route, bodyWith(route, path, JSON.stringify(dearText))),
          `${route.operation} ${path.join('.')} of a megabyte`,
        );
      }
    }
    t.ok(lists > 25);

    const mailbox = await service.mailbox(owner);
    for (const mail of [
      { to: [mailbox.address, ...Array(500).fill('x@example.com')] },
      { headers: Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`x-${index}`, 'x'])) },
      { headers: { received: Array(1001).fill('x') } },
      { attachments: Array(500).fill(1) },
    ]) {
      const { status, body } = await service.deliver(mailbox, mail);
      isSlight({ status, text: JSON.stringify(body) }, `a mail with ${Object.keys(mail)[0]}`);
    }
    t.equal((await service.get('/me', owner.token)).status, 200);
  },
);

t.test('JSON may have 20,000 values and 64 levels, anywhere; brackets within a text do not count', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const send = (pad: string) =>
    service.call('POST', '/me/status', { token: owner.token, body: `{"status":"away","pad":${pad}}` });
  const sound = [
    ones(19_990),
    '['.repeat(63) + ']'.repeat(63),
    JSON.stringify('[{,'.repeat(300_000)),
    JSON.stringify('\\"[,\\'.repeat(100_000)),
    `{${Array.from({ length: 9000 }, (_, index) => `"${index}":{}`).join(',')}}`,
  ];
  for (const pad of sound) t.equal((await send(pad)).status, 200, pad.slice(0, 10));
  for (const pad of [
    ones(20_001),
    '['.repeat(65) + ']'.repeat(65),
    '['.repeat(500_000),
    '{"a":'.repeat(65) + '1' + '}'.repeat(65),
    `[${'{},'.repeat(300_000)}1]`,
  ]) {
    t.match(
      await send(pad),
      {
        status: 400,
        body: {
          error: 'invalid_body',
          detail: { fieldErrors: { body: ['may have at most 20000 values and 64 levels of nesting'] } },
        },
      },
      pad.slice(0, 10),
    );
  }
  for (const pad of ['"', '"\\', `"${'\\'.repeat(100_001)}`])
    t.match(
      await send(pad),
      { status: 400, body: { detail: { fieldErrors: { body: ['must be JSON'] } } } },
      'a text without an end',
    );
  const socket = await service.agentSocket(owner.token);
  for (const frame of [`{"type":"ping","pad":${'['.repeat(65)}${']'.repeat(65)}}`, '['.repeat(60_000)]) {
    socket.send(frame);
    t.match(await socket.next('error'), { error: 'invalid_body' });
  }
  for (const pad of [ones(20_001), '['.repeat(65) + ']'.repeat(65)]) {
    socket.send(`{"type":"call","id":7,"method":"me.setStatus","params":{"status":"away","pad":${pad}}}`);
    t.match(
      await socket.next('reply'),
      {
        id: 7,
        status: 400,
        body: {
          statusCode: 400,
          error: 'invalid_body',
          detail: { fieldErrors: { params: ['may have at most 20000 values and 64 levels of nesting'] } },
        },
      },
      'a call is answered as one',
    );
  }
});

t.test('a process with a heap of 256 MB survives all of it', async (t) => {
  const process = await ServiceProcess.serving(t, { DATA_DIR: tempFolder(t), RATE_LIMITS: 'off' }, [
    '--max-old-space-size=256',
  ]);
  const api = new Api(process.url);
  const owner = await api.workspace('shop');
  const session = await api.post('/widget/sessions', { siteId: owner.embedId, url: 'https://shop.example/' });
  const { visitorToken } = session.body;
  const lists = [
    `{"body":"x","attachments":${ones(500_000)}}`,
    `{"body":"x","attachments":${ones(19_000)}}`,
    `{"body":"x","attachments":${'['.repeat(500_000)}}`,
    `{"body":"x","attachments":[${'{},'.repeat(6000)}1]}`,
  ];
  const subject = `{"body":"x","customerEmail":"a@b.example","subject":${JSON.stringify(dearText)}}`;
  for (let round = 0; round < 4; round += 1) {
    const answers = await Promise.all([
      ...lists.map((body) => api.post('/widget/conversations', body, visitorToken)),
      api.post('/tickets', subject, owner.token),
    ]);
    t.same(new Set(answers.map(({ status }) => status)), new Set([400]));
  }
  t.equal((await api.get('/me', owner.token)).status, 200);
  t.ok(process.residentMb() < 400, `${process.residentMb().toFixed(0)} MB`);
});
