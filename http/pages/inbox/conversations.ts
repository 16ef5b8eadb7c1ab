// The conversations that the pages know, each of them once: read with lists, kept current by the socket, changed by
// `act`. To show one, read its signal; to follow many, use `onConversation`. Nothing here knows of lists.

import { type Signal, signal } from '@preact/signals';
import { call, token } from '../api.ts';
import { ApiError } from '../api-error.ts';
import { onEvent } from '../live.ts';
import type { Conversation, LiveEvent, Message, Read } from '../records.ts';
import { type Stop, stopAll } from '../subscriptions.ts';
import { isNewer, newestOf, withMessage, withRead } from './merging.ts';

/** The conversation was changed by someone else meanwhile. `was` is what the reader saw, `now` what it is. */
export class StaleError extends Error {
  readonly was: Conversation | undefined;
  readonly now: Conversation;

  constructor(was: Conversation | undefined, now: Conversation) {
    super('Another agent was faster, so nothing changed. Look again and choose.');
    this.name = 'StaleError';
    this.was = was;
    this.now = now;
  }
}

/**
 * Of what is known here. `news` says that an event caused it: the conversation began, or changed. Without it the record
 * was only read, by this agent's own doing, or dropped.
 */
export interface Change {
  readonly before: Conversation | undefined;
  readonly after: Conversation | undefined;
  readonly news: News | undefined;
}
type News = 'began' | 'changed';
type Listener = (change: Change) => void;

const kept = new Map<string, Signal<Conversation | undefined>>();
/** Those whose signals are followed. */
const followed = new Set<string>();
const listeners = new Set<Listener>();

/** Subscribes to the conversation: undefined until it is known. */
export function conversationOf(conversationId: string): Conversation | undefined {
  return signalOf(conversationId).value;
}

/** The known record, without subscribing. */
export function peekConversation(conversationId: string): Conversation | undefined {
  return kept.get(conversationId)?.peek();
}

/** All known records, in no order, without subscribing. */
export function* knownConversations(): Generator<Conversation> {
  for (const one of kept.values()) {
    const conversation = one.peek();
    if (conversation !== undefined) yield conversation;
  }
}

/** Calls `notify` with every change. */
export function onConversation(notify: Listener): Stop {
  listeners.add(notify);
  return () => void listeners.delete(notify);
}

export function knownCount(): number {
  return kept.size;
}

interface Origin {
  /** It comes with an event. */
  readonly isFromEvent?: boolean;
  readonly news?: News | undefined;
}

/** Keeps a record; an older one changes nothing. */
export function remember(record: Conversation, { isFromEvent = false, news }: Origin = {}): Conversation {
  const before = signalOf(record.id).peek();
  const after = before === undefined ? record : newestOf(before, record, { isFromEvent });
  if (before === undefined || !isSame(before, after)) put(after.id, { before, after, news });
  return after;
}

/** The agent can no longer see it, or it is gone. */
export function forget(conversationId: string): void {
  const before = kept.get(conversationId)?.peek();
  if (before !== undefined) put(conversationId, { before, after: undefined, news: undefined });
}

/** Forgets those that are not followed, not being changed and not wanted. They can be read again. */
export function forgetUnfollowed(isWanted: (conversation: Conversation) => boolean): void {
  for (const [conversationId, one] of [...kept]) {
    const conversation = one.peek();
    if (
      followed.has(conversationId) ||
      isActedOn(conversationId) ||
      (conversation !== undefined && isWanted(conversation))
    )
      continue;
    forget(conversationId);
    kept.delete(conversationId);
  }
}

export async function loadConversation(conversationId: string, abort?: AbortSignal): Promise<Conversation> {
  return remember(await readConversation(conversationId, abort));
}

async function readConversation(conversationId: string, abort?: AbortSignal): Promise<Conversation> {
  const { conversation } = await call<{ conversation: Conversation }>(
    'GET',
    `/conversations/${encodeURIComponent(conversationId)}`,
    abort === undefined ? {} : { signal: abort },
  );
  return conversation;
}

/** At most 4 unknown conversations are read at once, and 200 wait: beyond that a list shows them when it reads them. */
const maxReading = 4;
const maxUnread = 200;
const unread = new Set<string>();
let reading = 0;

/** A message came in a conversation that is not known here: it is below what the lists hold, or was over. */
async function readSpokenIn(conversationId: string): Promise<void> {
  // Also one that is being read: the answer may be older than this message.
  if (unread.size < maxUnread) unread.add(conversationId);
  while (reading < maxReading) {
    const [next] = unread;
    if (next === undefined) return;
    unread.delete(next);
    reading += 1;
    try {
      remember(await readConversation(next), { news: 'changed' });
    } catch {
      // It is out of reach, or the list is read again when the connection is back.
    } finally {
      reading -= 1;
    }
  }
}

const actedOn = new Map<string, number>();

/** Whether a change from here is under way, so that its outcome is no news to this agent. */
export function isActedOn(conversationId: string): boolean {
  return actedOn.has(conversationId);
}

function countActs(conversationId: string, step: 1 | -1): void {
  const left = (actedOn.get(conversationId) ?? 0) + step;
  if (left > 0) actedOn.set(conversationId, left);
  else actedOn.delete(conversationId);
}

/**
 * Changes the conversation on the server and keeps the result. Rejects with StaleError if someone else changed it
 * since the reader saw it, and with ApiError otherwise.
 */
export async function act<Answer extends object = { conversation: Conversation }>(
  conversationId: string,
  pathBelowConversation: string,
  body?: unknown,
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE' = 'POST',
): Promise<Answer> {
  const was = kept.get(conversationId)?.peek();
  countActs(conversationId, 1);
  try {
    const answer = await call<Answer & { conversation?: Conversation }>(
      method,
      `/conversations/${encodeURIComponent(conversationId)}/${pathBelowConversation}`,
      { body },
    );
    if (answer?.conversation !== undefined) remember(answer.conversation);
    return answer;
  } catch (error) {
    if (!(error instanceof ApiError) || error.slug !== 'stale_version') throw error;
    throw new StaleError(was, await loadConversation(conversationId));
  } finally {
    countActs(conversationId, -1);
  }
}

function signalOf(conversationId: string): Signal<Conversation | undefined> {
  let found = kept.get(conversationId);
  if (found === undefined) {
    found = signal<Conversation | undefined>(undefined, {
      watched: () => void followed.add(conversationId),
      unwatched: () => void followed.delete(conversationId),
    });
    kept.set(conversationId, found);
  }
  return found;
}

function put(conversationId: string, change: Change): void {
  signalOf(conversationId).value = change.after;
  for (const notify of listeners) notify(change);
}

function isSame(one: Conversation, other: Conversation): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

export function startConversations(): Stop {
  return stopAll([
    // Another agent on the same browser sees other conversations.
    token.subscribe(() => {
      unread.clear();
      for (const conversationId of [...kept.keys()]) forget(conversationId);
    }),
    onEvent('*', follow),
  ]);
}

/** The data of each event, by the AsyncAPI document. */
function follow({ type, conversationId, data }: LiveEvent): void {
  if ('conversation' in data)
    remember((data as { conversation: Conversation }).conversation, {
      isFromEvent: true,
      news: type === 'conversation.created' ? 'began' : 'changed',
    });
  const known = conversationId == null ? undefined : kept.get(conversationId)?.peek();
  if (type === 'message.created') {
    const { message } = data as { message: Message };
    if (known !== undefined) remember(withMessage(known, message), { news: 'changed' });
    else if (message.senderType !== 'system') void readSpokenIn(message.conversationId);
  } else if (type === 'message.moved' && known !== undefined) void readMoved(known.id).catch(() => undefined);
  else if (type === 'message.read' && known !== undefined)
    remember(withRead(known, (data as { read: Read }).read), { news: 'changed' });
}

/** An answer that is older than an event is asked for again, at most so often. */
const maxReadsOfMoved = 3;

/** Its last message may be an earlier one now, so the answer is taken as it is: what was known is not merged in. */
async function readMoved(conversationId: string): Promise<void> {
  for (let reads = 1; reads <= maxReadsOfMoved; reads += 1) {
    const after = await readConversation(conversationId);
    const before = kept.get(conversationId)?.peek();
    if (before === undefined) return;
    if (isNewer(after, before)) return put(conversationId, { before, after, news: 'changed' });
  }
}
