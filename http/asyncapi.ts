// The AsyncAPI 3.0 document of the sockets, made from the catalogue of events and the routes alone. A test compares it with both.

import Type, { type TSchema } from 'typebox';
import { events, type EventType } from '../engine/events.ts';
import { customerDataSchema, dataSchema } from './event-records.ts';
import type { Route } from './route.ts';
import { Agent, Id, nullable, Time, VisitorSelf } from './schemas.ts';

type Json = Record<string, unknown>;

const Error = Type.Object({ type: Type.Literal('error'), error: Type.String(), message: Type.String() });
const Typing = Type.Object({ type: Type.Literal('typing'), at: Time, conversationId: Id, data: Type.Object({ conversationId: Id, senderType: Type.Enum(['agent', 'visitor']), senderId: Id }) });
const AgentPresence = Type.Object(
  { type: Type.Literal('agent.presence'), at: Time, data: Type.Object({ agentId: Id, isOnline: Type.Boolean() }) },
  { description: 'Another agent\'s first socket opened, or its last one ended. Not numbered and not kept: who comes back reads the agents.' },
);
const Ready = (self: Record<string, TSchema>) => Type.Object({ type: Type.Literal('ready'), at: Type.String({ format: 'date-time', description: 'The time of the service, by which a client knows how long it is until an expiresAt.' }), ...self, seq: Type.Integer({ description: 'Events after this one follow.' }) });

const clientFrames: Record<string, TSchema> = {
  auth: Type.Object({ type: Type.Literal('auth'), token: Type.String(), since: Type.Optional(Type.Integer()) }),
  call: Type.Object({ type: Type.Literal('call'), id: Type.Union([Type.String(), Type.Integer()]), method: Type.String(), params: Type.Optional(Type.Object({})) }),
  typing: Type.Object({ type: Type.Literal('typing'), conversationId: Id }),
  ping: Type.Object({ type: Type.Literal('ping') }),
};

const serverFrames: Record<string, TSchema> = {
  reply: Type.Object({ type: Type.Literal('reply'), id: Type.Union([Type.String(), Type.Integer()]), status: Type.Integer(), body: nullable(Type.Object({})) }),
  typing: Typing,
  pong: Type.Object({ type: Type.Literal('pong') }),
  error: Error,
  resync: Type.Object({ type: Type.Literal('resync'), seq: Type.Integer() }),
};

export function asyncApi(routes: readonly Route[], options: { baseUrl: string; version: string }): Json {
  const agent = channelOf('agent', { ready: Ready({ agent: Agent }), ...serverFrames, 'agent.presence': AgentPresence, ...eventFrames('agent') });
  const visitor = channelOf('visitor', { ready: Ready({ visitor: VisitorSelf }), ...serverFrames, ...eventFrames('visitor') });
  const { host, pathname, protocol } = new URL(options.baseUrl);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Switchboard sockets',
      version: options.version,
      description:
        'Text frames of JSON. The bearer comes as the subprotocol pair ["messaging.v1", "bearer.<token>"], as Authorization, or as a first frame auth within 5 seconds. ' +
        'Events carry a seq that grows per workspace; a client that comes back gives the last one it saw as since (in auth, or as a query parameter) and gets what it missed, in order, as far as it may read it now: ' +
        'an agent nothing from before it joined, and of a conversation that left its reach only that it did (a conversation.updated whose texts, tags and customer are empty). ' +
        'What is older than 7 days is gone: resync says so. Close codes: 1009 a frame over 64 KiB (over 1 MiB the connection is torn without a code), 1012 restarting, 1013 try again later, 4401 the token does not count, ' +
        '4403 blocked, or an origin that is not the site\'s, 4408 too slow, 4429 too many sockets, or too many frames in a minute.',
    },
    servers: { main: { host, ...(pathname === '/' ? {} : { pathname }), protocol: protocol === 'https:' ? 'wss' : 'ws' } },
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

function eventFrames(namespace: 'agent' | 'visitor'): Record<string, TSchema> {
  const frames: Record<string, TSchema> = {};
  for (const type of Object.keys(events) as EventType[]) {
    if (namespace === 'visitor' && !events[type].visitorToo) continue;
    const data = namespace === 'agent' ? dataSchema(type) : customerDataSchema(type);
    frames[type] = Type.Object({ seq: Type.Integer(), type: Type.Literal(type), at: Time, conversationId: Type.Optional(Id), data }, { description: events[type].summary });
  }
  return frames;
}

interface Channel {
  readonly address: string;
  readonly messages: Record<string, Json>;
  readonly bindings: Json;
}

const Query = Type.Object({ since: Type.Optional(Type.Integer({ minimum: 0, description: 'The last seq that was seen; what was missed follows it. One in the auth frame counts before it.' })) });

function channelOf(namespace: string, sent: Record<string, TSchema>): Channel {
  const messages: Record<string, Json> = {};
  for (const [name, payload] of Object.entries(sent)) messages[`server.${name}`] = { name, payload };
  for (const [name, payload] of Object.entries(clientFrames)) messages[`client.${name}`] = { name, payload };
  return { address: `/${namespace}`, messages, bindings: { ws: { method: 'GET', query: Query, bindingVersion: '0.1.0' } } };
}

function operationsOf(namespace: string, channel: Pick<Channel, 'messages'>): Json {
  const refs = (side: string) =>
    Object.keys(channel.messages)
      .filter((key) => key.startsWith(`${side}.`))
      .map((key) => ({ $ref: `#/channels/${namespace}/messages/${key}` }));
  return {
    [`${namespace}Sends`]: { action: 'send', channel: { $ref: `#/channels/${namespace}` }, messages: refs('server') },
    [`${namespace}Receives`]: { action: 'receive', channel: { $ref: `#/channels/${namespace}` }, messages: refs('client') },
  };
}

/** What a call frame may name as its method: the operations of the OpenAPI document, their path, query and body fields together as params. */
function methodsOf(routes: readonly Route[], kind: 'agent' | 'visitor'): string[] {
  return routes.filter((route) => route.access.kind === kind && route.httpOnly !== true && route.send === undefined && route.receive === undefined).map((route) => route.operation);
}
