// The calls that go on now, as far as who is signed in may see them: read once, then kept by what the socket says. What
// rings here, what is offered here and what this agent is in are read from them. Never asks again by itself but after a
// break.

import { computed, effect, signal } from '@preact/signals';
import { call } from '../api.ts';
import { ApiError } from '../api-error.ts';
import { onceLive, socketOrTimeout } from '../await-socket.ts';
import { isReachable } from '../inbox/lists.ts';
import { connection, onEvent, onResync } from '../live.ts';
import type { Call, Conversation, LiveEvent } from '../records.ts';
import { me } from '../session.ts';
import { type Stop, stopAll } from '../subscriptions.ts';
import { isLive } from './call-story.ts';

export const liveCalls = signal<ReadonlyMap<string, Call>>(new Map());

const ownId = computed(() => me.value?.agent.id);
/** Whether there can be anything here for who is signed in. */
export const worksWithCalls = computed(() => {
  const agent = me.value?.agent;
  return agent !== undefined && (agent.role === 'admin' || agent.channels.includes('calls'));
});

const inOrder = (calls: Iterable<Call>): Call[] => [...calls].sort((a, b) => a.createdAt.localeCompare(b.createdAt));

/** The longest waiting first. */
export const ringingHere = computed(() =>
  inOrder(liveCalls.value.values()).filter(
    (one) => one.state === 'ringing' && ownId.value !== undefined && one.ringingAgentIds.includes(ownId.value),
  ),
);
export const offeredHere = computed(() =>
  inOrder(liveCalls.value.values()).filter((one) => one.handshake !== null && one.handshake.toAgentId === ownId.value),
);
/** Whom this agent is on the phone with. */
export const ownCall = computed(() =>
  inOrder(liveCalls.value.values()).find((one) => one.state !== 'ringing' && one.assignedAgentId === ownId.value),
);

const callEvents = [
  'call.ringing',
  'call.answered',
  'call.on_hold',
  'call.resumed',
  'call.transferred',
  'call.ended',
  'call.voicemail_left',
];
const conversationEvents = [
  'conversation.updated',
  'assignment.pending',
  'assignment.accepted',
  'assignment.declined',
  'assignment.cancelled',
  'assignment.expired',
];

type CallListener = (now: Call, before: Call | undefined) => void;
const watchers = new Set<CallListener>();

/** Calls `tell` with every call that changed, with what it was when it went on before. Answers how to stop. */
export function onCall(tell: CallListener): () => void {
  watchers.add(tell);
  return () => void watchers.delete(tell);
}

/** Told of since the last question was asked: their answer is older. */
let touched = new Set<string>();

/**
 * How far each call has come that was told of, those that ended too: an answer may arrive after the events that
 * followed it.
 */
const reached = new Map<string, Reached>();
const maxReached = 200;

interface Reached {
  readonly version: number;
  readonly updatedAt: string;
  readonly eventCount: number;
}

const reachedBy = ({ version, updatedAt, events }: Call): Reached => ({
  version,
  updatedAt,
  eventCount: events.length,
});

/** None of them ever falls, and none alone says it all: a message leaves the version, a hold the time. */
function isBefore(one: Reached, other: Reached): boolean {
  if (one.version !== other.version) return one.version < other.version;
  return one.updatedAt === other.updatedAt ? one.eventCount < other.eventCount : one.updatedAt < other.updatedAt;
}

/** Takes over what an answer or an event says of a call; an older one changes nothing. */
export function keepCall(kept: Call): void {
  const known = reached.get(kept.id);
  if (known !== undefined && isBefore(reachedBy(kept), known)) return;
  reached.delete(kept.id);
  reached.set(kept.id, reachedBy(kept));
  for (const id of reached.keys()) if (reached.size > maxReached) reached.delete(id);
  touched.add(kept.id);
  const before = liveCalls.peek().get(kept.id);
  const next = new Map(liveCalls.peek());
  if (isLive(kept)) next.set(kept.id, kept);
  else next.delete(kept.id);
  liveCalls.value = next;
  for (const tell of watchers) tell(kept, before);
}

/** It went on where this agent may not follow, perhaps while nobody was told. */
function forgetCall({ id }: Call): void {
  touched.add(id);
  const next = new Map(liveCalls.peek());
  next.delete(id);
  liveCalls.value = next;
}

/** What a conversation's own events say of the call that it is. */
export function withConversation(
  known: Call,
  { version, status, assignedAgentId, departmentId, contactId, visitorId, handshake, updatedAt }: Conversation,
): Call {
  return { ...known, version, status, assignedAgentId, departmentId, contactId, visitorId, handshake, updatedAt };
}

function take({ type, data }: LiveEvent): void {
  // As the sockets' document gives them.
  if (callEvents.includes(type)) return keepCall((data as { call: Call }).call);
  const { conversation } = data as { conversation: Conversation };
  if (conversation.channel !== 'call') return;
  const known = liveCalls.peek().get(conversation.id);
  const agent = me.peek()?.agent;
  if (known !== undefined && agent !== undefined && !isReachable(conversation, agent)) forgetCall(known);
  else if (known !== undefined) keepCall(withConversation(known, conversation));
  else if (type === 'assignment.pending') void readOne(conversation.id);
}

let failed = false;

export function startLiveCalls(): Stop {
  return stopAll([
    onEvent([...callEvents, ...conversationEvents], take),
    onResync(() => void readLive()),
    effect(() => {
      liveCalls.value = new Map();
      reached.clear();
      if (ownId.value !== undefined && worksWithCalls.value) void begin();
    }),
    effect(() => {
      if (connection.value === 'live' && failed) void readLive();
    }),
  ]);
}

async function begin(): Promise<void> {
  await socketOrTimeout();
  onceLive(() => void readLive());
  await readLive();
}

async function readLive(): Promise<void> {
  const asked = ownId.peek();
  if (asked === undefined || !worksWithCalls.peek()) return;
  touched = new Set();
  failed = false;
  try {
    const { calls } = await call<{ calls: Call[] }>('GET', '/calls', { query: { state: 'live', limit: 200 } });
    if (ownId.peek() !== asked) return;
    const told = [...liveCalls.peek()].filter(([id]) => touched.has(id));
    liveCalls.value = new Map([
      ...calls.filter(({ id }) => !touched.has(id)).map((one) => [one.id, one] as const),
      ...told,
    ]);
  } catch (error) {
    // A plan without calls has none that go on. Anything else is asked again when the connection is back.
    failed = !(error instanceof ApiError && (error.status === 402 || error.status === 403));
  }
}

async function readOne(conversationId: string): Promise<void> {
  try {
    keepCall(await call<Call>('GET', `/calls/${conversationId}`));
  } catch {
    // What can no longer be read no longer concerns this agent.
    return;
  }
}
