import { createRequire } from 'node:module';
import { Ajv } from 'ajv';
import t from 'tap';
import { events, eventTypes } from '../../engine/events.ts';
import { asyncApi } from '../../http/documents/asyncapi.ts';
import { strictValidator } from '../../http/pipeline/validation.ts';
import { closeCodes } from '../../http/sockets/session.ts';
import { closed, problemOf } from '../support/frames.ts';
import { type Service, startService } from '../support/service.ts';

// The specification's own JSON Schema of AsyncAPI 3.0.0, which includes its meta-schema.
const specification = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.0.0.json');
const isAsyncApi = new Ajv({
  strict: false,
  allErrors: true,
  validateFormats: false,
  meta: false,
  validateSchema: false,
}).compile(specification);

const channelNames = ['agent', 'visitor'] as const;
const serverFrames = ['ready', 'resync', 'reply', 'typing', 'pong', 'error'];
const clientFrames = ['auth', 'call', 'typing', 'ping'];

function sent(document: any, channel: string, side: 'server' | 'client'): string[] {
  return Object.keys(document.channels[channel].messages)
    .filter((key) => key.startsWith(`${side}.`))
    .map((key) => key.slice(side.length + 1))
    .sort();
}

t.test('the AsyncAPI document', async (t) => {
  const service: Service = await startService(t);
  const { status, body: document, headers } = await service.call('GET', '/asyncapi.json');

  t.test('is served as JSON, to anyone', async (t) => {
    t.equal(status, 200);
    t.match(headers.get('content-type'), /^application\/json/);
    t.match(document, {
      asyncapi: '3.0.0',
      info: { title: String, version: String },
      servers: { main: { host: 'switchboard.test', protocol: 'ws' } },
    });
  });

  t.test('is AsyncAPI 3.0', async (t) => {
    t.ok(isAsyncApi(document), JSON.stringify(isAsyncApi.errors?.slice(0, 5)));
    for (const [what, broken] of Object.entries({
      version: { ...document, asyncapi: '2.6.0' },
      info: { ...document, info: undefined },
      channels: { ...document, channels: [] },
      operation: { ...document, operations: { x: { action: 'shout', channel: {} } } },
    }))
      t.notOk(isAsyncApi(broken), `a document with a wrong ${what} is none`);
  });

  t.test('every reference in it resolves', async (t) => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
    t.ok(references.length > 40);
    for (const path of references)
      t.not(
        path
          .split('/')
          .reduce((value: any, step) => value?.[step.replaceAll('~1', '/').replaceAll('~0', '~')], document),
        undefined,
        path,
      );
    for (const channel of channelNames) {
      const named = Object.values<any>(document.operations)
        .filter((one) => one.channel.$ref === `#/channels/${channel}`)
        .flatMap((one) => one.messages.map(({ $ref }: any) => $ref.split('/').at(-1)));
      t.strictSame(
        named.sort(),
        Object.keys(document.channels[channel].messages).sort(),
        `${channel}: each message belongs to one operation`,
      );
    }
  });

  t.test(
    "[6] has the catalogue's events, each on its channel, and the frames around them: in both directions",
    async (t) => {
      t.strictSame(sent(document, 'agent', 'server'), [...eventTypes, ...serverFrames, 'agent.presence'].sort());
      t.strictSame(
        sent(document, 'visitor', 'server'),
        [...eventTypes.filter((type) => events[type].visitorToo), ...serverFrames, 'availability'].sort(),
      );
      for (const channel of channelNames)
        t.strictSame(sent(document, channel, 'client'), [...clientFrames].sort(), channel);
      t.strictSame(
        eventTypes.filter((type) => events[type].visitorToo).sort(),
        ['conversation.closed', 'conversation.updated', 'message.created', 'message.read'],
        "a customer's events are those that were decided",
      );
      for (const channel of channelNames)
        for (const key of Object.keys(document.channels[channel].messages)) {
          const { name, payload } = document.channels[channel].messages[key];
          t.equal(payload.properties.type.const, name, key);
          t.equal(
            payload.properties.seq !== undefined,
            [...eventTypes, 'ready', 'resync'].includes(name),
            `${key} is numbered`,
          );
        }
    },
  );

  t.test('[6] lists the callable operations, like the OpenAPI document: in both directions', async (t) => {
    const { body: openapi } = await service.call('GET', '/openapi.json');
    const operations = Object.values<any>(openapi.paths).flatMap((item) => Object.values<any>(item));
    const scheme = { agent: 'workspaceToken', visitor: 'visitorToken' };
    for (const channel of channelNames) {
      const callable = operations
        .filter((one) => one['x-socket-method'] && one.security.some((need: object) => scheme[channel] in need))
        .map((one) => one.operationId);
      t.strictSame([...document['x-methods'][channel]].sort(), callable.sort(), channel);
      t.equal(new Set(callable).size, callable.length);
    }
    for (const named of ['message.send', 'conversation.status', 'conversation.assignToAgent', 'assignment.accept'])
      t.ok(document['x-methods'].agent.includes(named), `${named}, by the name that was decided`);
  });

  t.test('has an example of each frame, which its schema takes', async (t) => {
    for (const channel of channelNames)
      for (const [key, { name, summary, payload, examples }] of Object.entries<any>(
        document.channels[channel].messages,
      )) {
        const [{ payload: example }] = examples;
        t.match(summary, /^[A-Z].*\.$/, `${key} says what it is`);
        t.same(strictValidator(closed(payload))(example), undefined, `${channel} ${key}: ${JSON.stringify(example)}`);
        if (key.startsWith('server.')) t.equal(problemOf(channel, example), undefined, name);
      }
    for (const channel of channelNames) {
      const { method, params } = document.channels[channel].messages['client.call'].examples[0].payload;
      t.ok(document['x-methods'][channel].includes(method), 'a call names an operation');
      const named = service.running.routes.find(({ operation }) => operation === method);
      t.same(
        Object.keys(params).sort(),
        [...Object.keys((named?.params as any)?.properties ?? {}), ...(named?.body as any).required].sort(),
        'with its parameters',
      );
    }
  });

  t.test('says why a socket closes', async (t) => {
    for (const channel of channelNames) {
      const reasons = document.channels[channel]['x-close-codes'];
      t.same(
        reasons.map(({ code }: { code: number }) => code),
        Object.values(closeCodes),
      );
      for (const { code, reason } of reasons) t.match(reason, /^[A-Z].*\.$/, String(code));
    }
  });

  t.test('names the server by the address that customers and agents reach', async (t) => {
    t.strictSame(asyncApi([], { baseUrl: 'https://chat.example.com', version: '1' })['servers'], {
      main: { host: 'chat.example.com', protocol: 'wss' },
    });
    t.strictSame(asyncApi([], { baseUrl: 'http://localhost:8080/desk', version: '1' })['servers'], {
      main: { host: 'localhost:8080', pathname: '/desk', protocol: 'ws' },
    });
  });
});

t.test('frames are held against it in every test: a wrong one is noticed', async (t) => {
  const message = {
    id: '019aa000-0000-7000-8000-000000000000',
    conversationId: '019aa000-0000-7000-8000-000000000001',
    senderType: 'agent',
    senderId: null,
    body: 'x',
    bodyHtml: '<p>x</p>',
    attachments: [],
    deliveryStatus: null,
    mail: null,
    threading: null,
    readAt: null,
    createdAt: '2026-01-01T00:00:00.000Z',
  };
  const conversation = {
    id: message.id,
    channel: 'chat',
    status: 'open',
    subject: null,
    rating: null,
    preview: null,
    lastMessageAt: null,
    createdAt: message.createdAt,
    updatedAt: message.createdAt,
  };
  const event = (type: string, data: object) => ({
    seq: 1,
    type,
    at: message.createdAt,
    conversationId: message.conversationId,
    data,
  });
  for (const namespace of ['agent', 'visitor']) {
    t.equal(problemOf(namespace, { type: 'pong' }), undefined);
    t.equal(problemOf(namespace, event('message.created', { message })), undefined);
    t.type(problemOf(namespace, { type: 'nonsense' }), 'string', 'an unknown type');
    t.type(problemOf(namespace, event('message.created', {})), 'string', 'a missing record');
    t.type(
      problemOf(namespace, event('message.created', { message: { ...message, secret: 1 } })),
      'string',
      'an undeclared field of the record',
    );
    t.type(
      problemOf(namespace, event('message.created', { message, other: 1 })),
      'string',
      'an undeclared field beside it',
    );
    t.type(
      problemOf(namespace, { ...event('message.created', { message }), other: 1 }),
      'string',
      'an undeclared field of the frame',
    );
    t.type(
      problemOf(
        namespace,
        event('message.created', {
          message: { ...message, attachments: [{ url: 'x', name: null, size: null, path: '/etc' }] },
        }),
      ),
      'string',
      'an undeclared field in a list',
    );
  }
  t.equal(problemOf('visitor', event('conversation.updated', { conversation })), undefined);
  for (const field of ['tags', 'handshake', 'assignedAgentId', 'departmentId', 'version', 'contactId'])
    t.type(
      problemOf('visitor', event('conversation.updated', { conversation: { ...conversation, [field]: null } })),
      'string',
      `a customer's frame with ${field}`,
    );
  for (const type of ['note.created', 'assignment.pending', 'agent.updated', 'conversation.created', 'visitor.online'])
    t.type(problemOf('visitor', event(type, {})), 'string', `${type} for a customer`);
});
