// How many conversations the lists of the inbox hold, and how many wait. The service counts them once; after that events
// change the numbers as far as it is known what changed. Otherwise, and now and then after changes, it is asked again.
// The offers to the agent come with the first answer, and with that after a break.

import { computed, effect, signal, untracked } from '@preact/signals';
import { call, token } from '../api.ts';
import { onceLive, socketOrTimeout } from '../await-socket.ts';
import { connection, onEvent, onResync } from '../live.ts';
import type { Agent, Conversation, ListedConversation, QueueCounts } from '../records.ts';
import { me } from '../session.ts';
import { type Stop, stopAll } from '../subscriptions.ts';
import { type Change, onConversation } from './conversations.ts';
import { definitions, isOpen, isReachable, reach } from './list-definitions.ts';
import { listOf } from './lists.ts';
import { isUnread, waitsForAnyone } from './merging.ts';

/** The service counts as far as this, which is shown as "999+". */
const mostCounted = 1000;
/** Between two requests, so that a busy workspace is not counted for every event. */
const restMs = 3000;
/** After changes that were counted here: an event may have been counted by both sides. */
const confirmMs = 15_000;

type Rule = (conversation: Conversation, agent: Agent) => boolean;

const badges = {
  /** The agent's own conversations with something unread. */
  unread: (one, agent) =>
    isOpen(one) &&
    one.assignedAgentId !== null &&
    (one.assignedAgentId === agent.id || one.handshake?.toAgentId === agent.id) &&
    isUnread(one),
  waiting: (one) => one.channel !== 'call' && waitsForAnyone(one),
  waitingCalls: (one) => one.channel === 'call' && waitsForAnyone(one),
  /** Offers to the agent. */
  offered: (one, agent) => isOpen(one) && one.handshake?.toAgentId === agent.id,
} as const satisfies Record<string, Rule>;
type BadgeName = keyof typeof badges;
// Object.entries returns plain texts as names.
const badgeRules = Object.entries(badges) as [BadgeName, Rule][];

/** By the key of a list or the name of a badge. Undefined until the service answered. */
const counts = signal<ReadonlyMap<string, number> | undefined>(undefined);

/** The agent's own conversations with something unread, and those that wait for anyone. */
export const waiting = computed(() => (counts.value?.get('unread') ?? 0) + (counts.value?.get('waiting') ?? 0));
/** Open calls that no one has, those that still ring included. */
export const waitingCalls = computed(() => counts.value?.get('waitingCalls') ?? 0);

/** Of a list of open conversations; undefined while it is unknown. */
export function countOfList(key: string): number | undefined {
  const list = listOf(key);
  if (list?.definition.source !== 'queue') return undefined;
  return list.pager.state.value === 'complete' ? list.count : counts.value?.get(key);
}

function countsIn(answer: QueueCounts): Map<string, number> {
  const keyOfChannel = { chat: 'chats', ticket: 'tickets', call: 'calls' } as const;
  const { channels, departments, views, ...others } = answer;
  return new Map([
    ...Object.entries(others),
    ...channels.map(({ channel, count }) => [keyOfChannel[channel], count] as const),
    ...departments.map(({ departmentId, count }) => [`department-${departmentId}`, count] as const),
    ...views.flatMap(({ viewId, count }) => (count === null ? [] : [[`view-${viewId}`, count] as const])),
  ]);
}

type TakeOffers = (offers: readonly ListedConversation[]) => void;
const offerReaders = new Set<() => TakeOffers>();
/** The next answer is to have them. */
let areOffersDue = false;

/** Calls `begin` when the offers to the agent are asked for; the function that it returns takes them. */
export function onOffersAsked(begin: () => TakeOffers): Stop {
  offerReaders.add(begin);
  return () => void offerReaders.delete(begin);
}

const hasFailed = signal(false);
let timer: ReturnType<typeof setTimeout> | undefined;
let dueMs = Number.POSITIVE_INFINITY;
let lastAskedMs = Number.NEGATIVE_INFINITY;
let isAsking = false;
let hasChanged = false;

function askWithin(ms: number): void {
  const atMs = Math.max(performance.now() + ms, lastAskedMs + restMs);
  if (token.peek() === null || atMs >= dueMs) return;
  clearTimeout(timer);
  dueMs = atMs;
  timer = setTimeout(() => void ask(), atMs - performance.now());
}

function stopAsking(): void {
  clearTimeout(timer);
  dueMs = Number.POSITIVE_INFINITY;
}

async function ask(): Promise<void> {
  stopAsking();
  const asked = reach.peek();
  if (token.peek() === null || me.peek() === undefined) return;
  if (isAsking) {
    // The answer under way may be older than the reason to ask.
    hasChanged = true;
    return;
  }
  [isAsking, hasChanged, lastAskedMs] = [true, false, performance.now()];
  const takers = areOffersDue ? [...offerReaders].map((begin) => begin()) : undefined;
  areOffersDue = false;
  try {
    const { offers, ...answer } = await call<QueueCounts & { readonly offers: ListedConversation[] | null }>(
      'GET',
      '/conversations/counts',
      takers === undefined ? {} : { query: { withOffers: true } },
    );
    if (reach.peek() === asked) {
      counts.value = countsIn(answer);
      for (const take of takers ?? []) take(offers ?? []);
    }
    if (reach.peek() !== asked || hasChanged) askWithin(restMs);
  } catch {
    // The numbers stay as they are; the connection says that it is lost.
    hasFailed.value = true;
    areOffersDue ||= takers !== undefined;
    askWithin(confirmMs);
  } finally {
    isAsking = false;
  }
}

function follow({ before, after, news }: Change): void {
  const agent = me.peek()?.agent;
  if (agent === undefined || (before === undefined && news === undefined)) return;
  hasChanged = true;
  const known = counts.peek();
  const isUnknown = (before === undefined && news !== 'began') || after === undefined;
  if (known === undefined || isUnknown) return askWithin(restMs);
  const isHeld = (one: Conversation | undefined, holds: Rule): boolean =>
    one !== undefined && holds(one, agent) && isReachable(one, agent);
  const changed = new Map(known);
  const rules = definitions
    .peek()
    .flatMap(({ key, source, holds }) => (source === 'queue' ? [[key, holds] as const] : []));
  for (const [key, holds] of [...rules, ...badgeRules]) {
    const count = known.get(key);
    const step = Number(isHeld(after, holds)) - Number(isHeld(before, holds));
    if (count === undefined || step === 0) continue;
    if (count < mostCounted) changed.set(key, Math.max(0, count + step));
    else askWithin(restMs);
  }
  if ([...changed].every(([key, count]) => known.get(key) === count)) return;
  counts.value = changed;
  askWithin(confirmMs);
}

/** False if the service counted no calls. Resolves once it was asked. */
export function mayHaveCalls(): Promise<boolean> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      if (counts.value === undefined && !hasFailed.value) return;
      const may = counts.value?.get('calls') !== 0;
      queueMicrotask(() => {
        stop();
        resolve(may);
      });
    });
  });
}

export function startCounts(): Stop {
  return stopAll([
    effect(() => {
      void reach.value;
      untracked(() => {
        counts.value = undefined;
        hasFailed.value = false;
        if (me.peek() !== undefined) void begin();
      });
    }),
    onConversation(follow),
    onEvent(['view.created', 'view.updated', 'department.created', 'department.updated'], () => askWithin(0)),
    // One that was begun here is known before its event.
    onEvent(['conversation.created'], () => askWithin(confirmMs)),
    onResync(() => void askForAll()),
    effect(() => {
      if (connection.value === 'live' && counts.peek() === undefined) untracked(() => askWithin(0));
    }),
    () => stopAsking(),
  ]);
}

async function begin(): Promise<void> {
  await socketOrTimeout();
  onceLive(() => void askForAll());
  await askForAll();
}

function askForAll(): Promise<void> {
  areOffersDue = true;
  return ask();
}
