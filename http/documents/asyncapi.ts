// The AsyncAPI 3.0 document of the sockets, generated only from the catalogue of events and the routes. A test compares
// it with both.

import Type, { type TSchema } from 'typebox';
import { refusals } from '../../engine/errors.ts';
import { events, eventTypes } from '../../engine/events.ts';
import type { Route } from '../route.ts';
import { customerDataSchema, dataSchema } from '../schemas/event-records.ts';
import { Agent, AvailabilityState, Id, NextOpenAt, nullable, Time, VisitorSelf } from '../schemas/shared.ts';
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
  /** The names that a call may use as its method. */
  readonly 'x-methods': Readonly<Record<Namespace, readonly string[]>>;
}

const CallId = Type.Union([Type.String(), Type.Integer()], {
  description: 'Chosen by you; the reply repeats it.',
  examples: [1],
});
const Seq = Type.Integer({
  description: 'Increases with each event of the workspace. Keep the latest for `since`.',
  examples: [1042],
});
const Since = Type.Integer({
  minimum: 0,
  description: 'The last `seq` you received; events after it follow. A value in the auth frame takes precedence.',
  examples: [1041],
});

const Error = Type.Object(
  {
    type: Type.Literal('error'),
    error: Type.String({ description: 'A slug, as in HTTP errors.', examples: ['invalid_body'] }),
    message: Type.String({ examples: ['A call needs an id, a method and params.'] }),
  },
  { description: 'Reports a malformed frame, or a call that could not be answered by its id. The socket stays open.' },
);
const Typing = Type.Object(
  {
    type: Type.Literal('typing'),
    at: Time,
    conversationId: Id,
    data: Type.Object({ conversationId: Id, senderType: Type.Enum(['agent', 'visitor']), senderId: Id }),
  },
  { description: 'Someone else is typing in a conversation. Not numbered and not stored.' },
);
const AgentPresence = Type.Object(
  { type: Type.Literal('agent.presence'), at: Time, data: Type.Object({ agentId: Id, isOnline: Type.Boolean() }) },
  {
    description:
      "Another agent's first socket opened, or its last one closed. Not numbered and not stored: read the agents again after reconnecting.",
  },
);
const availability = { availability: AvailabilityState, nextOpenAt: NextOpenAt };
const AvailabilityChanged = Type.Object(
  { type: Type.Literal('availability'), at: Time, data: Type.Object(availability) },
  {
    description:
      "The site's availability changed: an agent came or went, or office hours began or ended. Not numbered and not stored: `ready` says what holds.",
  },
);
const Ready = (self: Record<string, TSchema>) =>
  Type.Object(
    {
      type: Type.Literal('ready'),
      at: Type.String({
        format: 'date-time',
        description: "The server's time; use it to compute the time left until an `expiresAt`.",
      }),
      ...self,
      seq: Type.Integer({ description: 'Events after this one follow.', examples: [1041] }),
    },
    {
      description:
        'The token is valid. The first frame of every socket, sent before missed events. You may now send calls.',
    },
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
        'Authenticates a socket whose upgrade carried no token. Send it as the first frame, ' +
        'within 5 seconds. The reply is `ready`, or the socket is closed.',
      examples: [{ type: 'auth', token: exampleToken, since: 1041 }],
    },
  ),
  call: Type.Object(
    {
      type: Type.Literal('call'),
      id: CallId,
      method: Type.String({ description: 'The name of an HTTP API operation; the allowed ones are listed below.' }),
      params: Type.Optional(
        Type.Object({}, { description: "The operation's path, query and body parameters, together." }),
      ),
    },
    {
      description:
        'Calls an operation of the HTTP API, with the same rules, limits and errors. The answer is a `reply`.',
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
    {
      description:
        'Reports that you are typing in a conversation. The other participants are notified; there is no reply.',
    },
  ),
  ping: Type.Object(
    { type: Type.Literal('ping') },
    {
      description:
        'Answered with `pong`. The server also sends WebSocket pings, and closes sockets that it has not heard from for a minute.',
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
      status: Type.Integer({ description: 'As over HTTP.', examples: [404] }),
      body: nullable(Type.Object({}, { description: 'As over HTTP, for errors too.' })),
    },
    {
      description:
        'The reply to a call. Replies are sent as calls complete, which may differ from the order of the calls.',
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
  pong: Type.Object({ type: Type.Literal('pong') }, { description: 'The reply to `ping`.' }),
  error: Error,
  resync: Type.Object(
    {
      type: Type.Literal('resync'),
      seq: Type.Integer({ description: 'Events after this one follow.', examples: [1041] }),
    },
    {
      description:
        'Sent after `ready` if the events after `since` are no longer stored, or `since` is in the future. ' +
        'Reload what you show over HTTP; live events continue from here.',
    },
  ),
};

/** Why the service closes a socket. */
const closeReasons: Readonly<Record<keyof typeof closeCodes, string>> = {
  tooBig: 'A frame was larger than 64 KiB. Above 1 MiB the connection is dropped without a code.',
  restart: 'The service restarts. Reconnect with `since`.',
  unavailable: 'An internal error. Try again later.',
  unauthorized:
    'The token is missing, not valid, expired or revoked, or did not arrive within 5 seconds. Get a new one first.',
  forbidden:
    "The visitor is blocked, the page's origin is not allowed for the site, " +
    'or the agent lacks the second factor that its workspace requires. ' +
    'Do not reconnect with the same token.',
  tooSlow: 'More than 1 MiB is waiting to be read. Reconnect with `since`.',
  tooMany: 'Too many sockets from one person or network, or too many frames in a minute. Reconnect later.',
};

const channelTexts: Readonly<Record<Namespace, { title: string; summary: string; description: string }>> = {
  agent: {
    title: 'Agent socket',
    summary: 'For agents: live updates on everything the agent may read.',
    description: `The token is an agent's, from register, login or join; use webhooks for keys and apps. It is valid as long as the sign-in: after signing out, deactivation or a new password, all of the agent's sockets close with 4401.

An agent receives what its role, channels and departments allow at the time of the event. With \`since\` it receives nothing from before it joined; for a conversation that left its scope it receives only one \`conversation.updated\` without texts, tags and customer.`,
  },
  visitor: {
    title: 'Visitor socket',
    summary: "For a customer's browser: live updates on its own conversations.",
    description:
      "The token is a visitor's, from `POST /api/v1/widget/sessions`. " +
      "A browser's Origin must be allowed for the site. " +
      'A visitor only receives events of its own conversations, without what is for agents only.',
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
    ready: Ready({ visitor: VisitorSelf, ...availability }),
    ...serverFrames,
    availability: AvailabilityChanged,
    ...eventFrames('visitor'),
  });
  const { host, pathname, protocol } = new URL(options.baseUrl);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Switchboard sockets',
      version: options.version,
      description: `Text frames of JSON, each an object with a \`type\`. Live updates arrive here; use the HTTP lists for what happened before.

Send the bearer token as the pair of subprotocols \`messaging.v1\` and \`bearer.<token>\` (works in browsers), in the Authorization header, or in a first frame \`auth\` within 5 seconds. The first frame you receive is \`ready\`.

Events carry a \`seq\` that increases per workspace. To resume, pass the last one you received as \`since\` (in \`auth\`, or as a query parameter): you receive every missed event that you may now read, in order. Events are stored for 7 days; a \`resync\` frame says when older ones are missing.

One person may have 100 sockets, one socket 64 calls in progress. Calls share their rate limit with HTTP requests.`,
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
  for (const type of eventTypes) {
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
      description: 'The server selects messaging.v1.',
      examples: [`${subprotocol}, bearer.${exampleToken}`],
    }),
  ),
  Authorization: Type.Optional(
    Type.String({
      description: 'If the subprotocols carry no token.',
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
  // Each payload is described where it is defined.
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
      summary: 'Frames that the server sends.',
      channel: { $ref: `#/channels/${namespace}` },
      messages: refs('server'),
    },
    [`${namespace}Receives`]: {
      action: 'receive',
      summary: 'Frames that the server receives.',
      channel: { $ref: `#/channels/${namespace}` },
      messages: refs('client'),
    },
  };
}

/**
 * The methods of call frames: the operations of the OpenAPI document, with their path, query and body fields together
 * as params.
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
