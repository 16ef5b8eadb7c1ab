// The active calls that the agent may see: read once, then kept current by the socket. Ringing calls, calls offered to
// the agent and its own call are derived from them. Reads again only after a break.

import { computed, effect, signal } from '@preact/signals';
import { call } from '../api.ts';
import { ApiError } from '../api-error.ts';
import { onceLive, socketOrTimeout } from '../await-socket.ts';
import { mayHaveCalls, waitingCalls } from '../inbox/counts.ts';
import { isReachable } from '../inbox/list-definitions.ts';
import { connection, onEvent, onResync } from '../live.ts';
import type { Call, Conversation, LiveEvent } from '../records.ts';
import { me } from '../session.ts';
import { type Stop, stopAll } from '../subscriptions.ts';
import { callCount } from '../title.ts';
import { isLive } from './call-story.ts';

export const liveCalls = signal<ReadonlyMap<string, Call>>(new Map());

const ownId = computed(() => me.value?.agent.id);
/** Whether the agent works with calls. */
export const worksWithCalls = computed(() => {
  const agent = me.value?.agent;
  return agent !== undefined && (agent.role === 'admin' || agent.channels.includes('calls'));
});

const inOrder = (calls: Iterable<Call>): Call[] => [...calls].sort((a, b) => a.createdAt.localeCompare(b.createdAt));

/** Longest waiting first. */
export const ringingHere = computed(() =>
  inOrder(liveCalls.value.values()).filter(
    (one) => one.state === 'ringing' && ownId.value !== undefined && one.ringingAgentIds.includes(ownId.value),
  ),
);
export const offeredHere = computed(() =>
  inOrder(liveCalls.value.values()).filter((one) => one.handshake !== null && one.handshake.toAgentId === ownId.value),
);
/** The agent's own active call. */
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

/** Calls `tell` with every changed call, and its previous record if it was active. Returns a function that stops it. */
export function onCall(tell: CallListener): () => void {
  watchers.add(tell);
  return () => void watchers.delete(tell);
}

/** Changed by events since the last request, whose answer is older. */
let touched = new Set<string>();

/** The latest known state of each call, ended ones included: an answer may arrive after later events. */
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

/** None of them ever decreases, and no single one is enough: a message keeps the version, a hold the time. */
function isBefore(one: Reached, other: Reached): boolean {
  if (one.version !== other.version) return one.version < other.version;
  return one.updatedAt === other.updatedAt ? one.eventCount < other.eventCount : one.updatedAt < other.updatedAt;
}

/** Stores a call's record from an answer or an event; an older one is ignored. */
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

/** It left the agent's reach, perhaps without an event. */
function forgetCall({ id }: Call): void {
  touched.add(id);
  const next = new Map(liveCalls.peek());
  next.delete(id);
  liveCalls.value = next;
}

/** Applies the event of a conversation to its call. */
export function withConversation(
  known: Call,
  { version, status, assignedAgentId, departmentId, contactId, visitorId, handshake, updatedAt }: Conversation,
): Call {
  return { ...known, version, status, assignedAgentId, departmentId, contactId, visitorId, handshake, updatedAt };
}

function take({ type, data }: LiveEvent): void {
  // The data of these events, by the AsyncAPI document.
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
    // Those that no longer ring were missed, or left a voicemail.
    effect(() => {
      const live = [...liveCalls.value.values()].filter(
        (one) => one.status === 'open' && one.assignedAgentId === null,
      ).length;
      callCount.value = worksWithCalls.value ? Math.max(0, waitingCalls.value - live) : 0;
    }),
  ]);
}

async function begin(): Promise<void> {
  await socketOrTimeout();
  onceLive(() => void readLive());
  if (await mayHaveCalls()) await readLive();
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
    // A plan without calls has no active ones. Any other failure is retried when the connection returns.
    failed = !(error instanceof ApiError && (error.status === 402 || error.status === 403));
  }
}

async function readOne(conversationId: string): Promise<void> {
  try {
    keepCall(await call<Call>('GET', `/calls/${conversationId}`));
  } catch {
    // A call that can no longer be read no longer concerns this agent.
    return;
  }
}
