// The AsyncAPI 3.0 document of the sockets, made from the catalogue of events and the routes alone. A test compares it
// with both.

import Type, { type TSchema } from 'typebox';
import { refusals } from '../../engine/errors.ts';
import { type EventType, events } from '../../engine/events.ts';
import type { Route } from '../route.ts';
import { customerDataSchema, dataSchema } from '../schemas/event-records.ts';
import { Agent, Id, nullable, Time, VisitorSelf } from '../schemas/shared.ts';
import { closeCodes, subprotocol } from '../sockets/session.ts';
import { exampleOf } from './examples.ts';

type Json = Record<string, unknown>;

type Namespace = 'agent' | 'visitor';

export interface AsyncApi {
  readonly asyncapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: { readonly main: { readonly host: string; readonly pathname?: string; readonly protocol: string } };
  readonly channels: Readonly<Record<Namespace, Channel>>;
  readonly operations: Json;
  /** What a call may name as its method. */
  readonly 'x-methods': Readonly<Record<Namespace, readonly string[]>>;
}

const CallId = Type.Union([Type.String(), Type.Integer()], {
  description: 'Yours: its reply has the same.',
  examples: [1],
});
const Seq = Type.Integer({
  description: 'Grows with each event of the workspace. Keep the last one, for since.',
  examples: [1042],
});
const Since = Type.Integer({
  minimum: 0,
  description: 'The last seq that was seen; what was missed follows it. One in the auth frame counts before it.',
  examples: [1041],
});

const Error = Type.Object(
  {
    type: Type.Literal('error'),
    error: Type.String({ description: 'A word, as of HTTP errors.', examples: ['invalid_body'] }),
    message: Type.String({ examples: ['A call needs an id, a method and params.'] }),
  },
  { description: 'A frame that was none, or a call that could not be answered by its id. The socket stays open.' },
);
const Typing = Type.Object(
  {
    type: Type.Literal('typing'),
    at: Time,
    conversationId: Id,
    data: Type.Object({ conversationId: Id, senderType: Type.Enum(['agent', 'visitor']), senderId: Id }),
  },
  { description: 'Somebody else types in a conversation. Neither numbered nor kept.' },
);
const AgentPresence = Type.Object(
  { type: Type.Literal('agent.presence'), at: Time, data: Type.Object({ agentId: Id, isOnline: Type.Boolean() }) },
  {
    description:
      "Another agent's first socket opened, or its last one ended. Not numbered and not kept: who comes back reads the agents.",
  },
);
const Ready = (self: Record<string, TSchema>) =>
  Type.Object(
    {
      type: Type.Literal('ready'),
      at: Type.String({
        format: 'date-time',
        description: 'The time of the service, by which a client knows how long it is until an expiresAt.',
      }),
      ...self,
      seq: Type.Integer({ description: 'Events after this one follow.', examples: [1041] }),
    },
    { description: 'The token counts: the first frame of every socket, before what was missed. Calls may begin.' },
  );

const clientFrames = (namespace: Namespace): Record<string, TSchema> => ({
  auth: Type.Object(
    {
      type: Type.Literal('auth'),
      token: Type.String({ description: 'A bearer token.', examples: [exampleToken] }),
      since: Type.Optional(Since),
    },
    {
      description:
        'Who you are, where the upgrade did not say it: the first frame, within 5 seconds. Answered with ready, or with the end of the socket.',
      examples: [{ type: 'auth', token: exampleToken, since: 1041 }],
    },
  ),
  call: Type.Object(
    {
      type: Type.Literal('call'),
      id: CallId,
      method: Type.String({ description: 'An operation of the HTTP API, by its name; which ones is below.' }),
      params: Type.Optional(Type.Object({}, { description: 'What HTTP has in path, query and body, together.' })),
    },
    {
      description:
        'Does what the operation of that name does over HTTP, with the same rules, limits and errors. Answered with a reply.',
      examples: [
        {
          type: 'call',
          id: 1,
          method: exampleMethods[namespace],
          params: { conversationId: exampleId, body: 'Your order was shipped on Monday.' },
        },
      ],
    },
  ),
  typing: Type.Object(
    { type: Type.Literal('typing'), conversationId: Id },
    { description: 'You type in a conversation. Told to the others in it, answered with nothing.' },
  ),
  ping: Type.Object(
    { type: Type.Literal('ping') },
    {
      description:
        'Answered with pong. The service pings by itself, too, as WebSockets do: what hears nothing for a minute is gone.',
    },
  ),
});

const exampleId = '01939f5e-7c1d-7a3b-9f0e-2b6d1c4e8a70';
const exampleToken = 'eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmVk';
const exampleMethods = { agent: 'message.send', visitor: 'widget.sendMessage' } as const;

const serverFrames: Record<string, TSchema> = {
  reply: Type.Object(
    {
      type: Type.Literal('reply'),
      id: CallId,
      status: Type.Integer({ description: 'As HTTP would have it.', examples: [404] }),
      body: nullable(Type.Object({}, { description: 'As HTTP would have it; of an error too.' })),
    },
    {
      description: 'The answer to a call. Replies come as they are done, which need not be as they were asked for.',
      examples: [
        {
          type: 'reply',
          id: 1,
          status: 404,
          body: { statusCode: refusals.not_found.status, error: 'not_found', message: refusals.not_found.message },
        },
      ],
    },
  ),
  typing: Typing,
  pong: Type.Object({ type: Type.Literal('pong') }, { description: 'The answer to ping.' }),
  error: Error,
  resync: Type.Object(
    {
      type: Type.Literal('resync'),
      seq: Type.Integer({ description: 'Events after this one follow.', examples: [1041] }),
    },
    {
      description:
        'After ready: what followed since is kept no longer, or since is of the future. Read over HTTP what you show; events go on from here.',
    },
  ),
};

/** Why a socket is ended by the service. */
const closeReasons: Readonly<Record<keyof typeof closeCodes, string>> = {
  tooBig: 'A frame was over 64 KiB. Over 1 MiB the connection is torn without a code.',
  restart: 'The service restarts. Come back with since.',
  unavailable: 'Something failed here. Try again later.',
  unauthorized:
    'The token does not count: it is none, it ended, it was signed out, or none came within 5 seconds. Get another first.',
  forbidden:
    "The visitor is blocked, the page's origin is not the site's, or the agent lacks the second factor that its workspace requires. Do not come back with the same.",
  tooSlow: 'More than 1 MiB waits to be taken. Come back with since.',
  tooMany: 'Too many sockets of one person or network, or too many frames in a minute. Come back later.',
};

const channelTexts: Readonly<Record<Namespace, { title: string; summary: string; description: string }>> = {
  agent: {
    title: 'Agent socket',
    summary: 'For who answers: everything that the agent may read, as it happens.',
    description:
      "The token is an agent's own, from register, login or join; keys and apps have webhooks instead. It counts for as long as the sign-in does: signed out, deactivated or given a new password, all the agent's sockets end with 4401.\n\n" +
      'An agent is told what its role, channels and departments let it read at the moment of telling. By since it gets nothing from before it joined, and of a conversation that left its reach only that it did: ' +
      'a `conversation.updated` whose texts, tags and customer are empty.',
  },
  visitor: {
    title: 'Visitor socket',
    summary: "For a customer's browser: its own conversations, as they happen.",
    description:
      "The token is a visitor's, from `POST /api/v1/widget/sessions`. A browser's Origin must be one of its site's. A visitor is told of its own conversations alone, without what is only the agents' to know.",
  },
};

export function asyncApi(routes: readonly Route[], options: { baseUrl: string; version: string }): AsyncApi {
  const agent = channelOf('agent', {
    ready: Ready({ agent: Agent }),
    ...serverFrames,
    'agent.presence': AgentPresence,
    ...eventFrames('agent'),
  });
  const visitor = channelOf('visitor', {
    ready: Ready({ visitor: VisitorSelf }),
    ...serverFrames,
    ...eventFrames('visitor'),
  });
  const { host, pathname, protocol } = new URL(options.baseUrl);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Switchboard sockets',
      version: options.version,
      description:
        'Text frames of JSON, each an object with a type. Live updates come here; lists over HTTP are for what was before.\n\n' +
        'The bearer token comes as the pair of subprotocols `messaging.v1` and `bearer.<token>` (what browsers can do), as the header Authorization, or as a first frame auth within 5 seconds. The first answer is ready.\n\n' +
        'Events carry a seq that grows by workspace. A client that comes back gives the last one it saw as since (in auth, or as a query parameter) and gets what it missed, in order, as far as it may read it now. What is older than 7 days is gone: resync says so.\n\n' +
        'One person may have 100 sockets, one socket 64 calls under way. Calls count with HTTP requests.',
    },
    servers: {
      main: { host, ...(pathname === '/' ? {} : { pathname }), protocol: protocol === 'https:' ? 'wss' : 'ws' },
    },
    channels: { agent, visitor },
    operations: {
      ...operationsOf('agent', agent),
      ...operationsOf('visitor', visitor),
    },
    'x-methods': {
      agent: methodsOf(routes, 'agent'),
      visitor: methodsOf(routes, 'visitor'),
    },
  };
}

function eventFrames(namespace: Namespace): Record<string, TSchema> {
  const frames: Record<string, TSchema> = {};
  for (const type of Object.keys(events) as EventType[]) {
    if (namespace === 'visitor' && !events[type].visitorToo) continue;
    const data = namespace === 'agent' ? dataSchema(type) : customerDataSchema(type);
    frames[type] = Type.Object(
      { seq: Seq, type: Type.Literal(type), at: Time, conversationId: Type.Optional(Id), data },
      { description: events[type].summary },
    );
  }
  return frames;
}

/** A frame. */
interface Message {
  readonly name: string;
  readonly summary: string;
  readonly payload: TSchema;
  readonly examples: readonly [{ readonly payload: unknown }];
}

export interface Channel {
  readonly address: string;
  readonly title: string;
  readonly summary: string;
  readonly description: string;
  readonly messages: Readonly<Record<string, Message>>;
  readonly bindings: {
    readonly ws: {
      readonly method: string;
      readonly query: TSchema;
      readonly headers: TSchema;
      readonly bindingVersion: string;
    };
  };
  readonly 'x-close-codes': readonly { readonly code: number; readonly reason: string }[];
}

const Query = Type.Object({ since: Type.Optional(Since) });
const Headers = Type.Object({
  'Sec-WebSocket-Protocol': Type.Optional(
    Type.String({
      description: 'The service takes up messaging.v1.',
      examples: [`${subprotocol}, bearer.${exampleToken}`],
    }),
  ),
  Authorization: Type.Optional(
    Type.String({
      description: 'Where there is no bearer among the subprotocols.',
      examples: [`Bearer ${exampleToken}`],
    }),
  ),
});

function channelOf(namespace: Namespace, sent: Record<string, TSchema>): Channel {
  const messages: Record<string, Message> = {};
  for (const [name, payload] of Object.entries(sent)) messages[`server.${name}`] = messageOf(name, payload);
  for (const [name, payload] of Object.entries(clientFrames(namespace)))
    messages[`client.${name}`] = messageOf(name, payload);
  return {
    address: `/${namespace}`,
    ...channelTexts[namespace],
    messages,
    bindings: { ws: { method: 'GET', query: Query, headers: Headers, bindingVersion: '0.1.0' } },
    'x-close-codes': Object.entries(closeReasons).map(([name, reason]) => ({
      code: closeCodes[name as keyof typeof closeReasons],
      reason,
    })),
  };
}

function messageOf(name: string, payload: TSchema): Message {
  // Each payload is described where it is made.
  const { description = '' } = payload as { readonly description?: string };
  return { name, summary: description, payload, examples: [{ payload: exampleOf(payload) }] };
}

function operationsOf(namespace: string, channel: Pick<Channel, 'messages'>): Json {
  const refs = (side: string) =>
    Object.keys(channel.messages)
      .filter((key) => key.startsWith(`${side}.`))
      .map((key) => ({ $ref: `#/channels/${namespace}/messages/${key}` }));
  return {
    [`${namespace}Sends`]: {
      action: 'send',
      summary: 'What the service sends.',
      channel: { $ref: `#/channels/${namespace}` },
      messages: refs('server'),
    },
    [`${namespace}Receives`]: {
      action: 'receive',
      summary: 'What the service takes.',
      channel: { $ref: `#/channels/${namespace}` },
      messages: refs('client'),
    },
  };
}

/**
 * What a call frame may name as its method: the operations of the OpenAPI document, their path, query and body fields
 * together as params.
 */
function methodsOf(routes: readonly Route[], kind: 'agent' | 'visitor'): string[] {
  return routes
    .filter(
      (route) =>
        route.access.kind === kind &&
        route.httpOnly !== true &&
        route.send === undefined &&
        route.receive === undefined,
    )
    .map((route) => route.operation);
}
