// The conversations that the pages know, each of them once: read with lists, kept current by the socket, changed by
// `act`. To show one, read its signal; to follow many, use `onConversation`. Nothing here knows of lists.

import { type Signal, signal } from '@preact/signals';
import { call, token } from '../api.ts';
import { ApiError } from '../api-error.ts';
import { onEvent } from '../live.ts';
import type { Conversation, LiveEvent, Message, Read } from '../records.ts';
import { type Stop, stopAll } from '../subscriptions.ts';
import { newestOf, withMessage, withRead } from './merging.ts';

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

type Listener = (change: {
  readonly before: Conversation | undefined;
  readonly after: Conversation | undefined;
}) => void;

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

/** Keeps a record; an older one changes nothing. `isFromEvent`: it comes with an event. */
export function remember(record: Conversation, by: { readonly isFromEvent?: boolean } = {}): Conversation {
  const before = signalOf(record.id).peek();
  const after = before === undefined ? record : newestOf(before, record, by);
  if (before === undefined || !isSame(before, after)) put(after.id, before, after);
  return after;
}

/** The agent can no longer see it, or it is gone. */
export function forget(conversationId: string): void {
  const before = kept.get(conversationId)?.peek();
  if (before !== undefined) put(conversationId, before, undefined);
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
  const { conversation } = await call<{ conversation: Conversation }>(
    'GET',
    `/conversations/${encodeURIComponent(conversationId)}`,
    abort === undefined ? {} : { signal: abort },
  );
  return remember(conversation);
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

function put(conversationId: string, before: Conversation | undefined, after: Conversation | undefined): void {
  signalOf(conversationId).value = after;
  for (const notify of listeners) notify({ before, after });
}

function isSame(one: Conversation, other: Conversation): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

export function startConversations(): Stop {
  return stopAll([
    // Another agent on the same browser sees other conversations.
    token.subscribe(() => {
      for (const conversationId of [...kept.keys()]) forget(conversationId);
    }),
    onEvent('*', follow),
  ]);
}

/** The data of each event, by the AsyncAPI document. */
function follow({ type, conversationId, data }: LiveEvent): void {
  if ('conversation' in data) remember((data as { conversation: Conversation }).conversation, { isFromEvent: true });
  const known = conversationId == null ? undefined : kept.get(conversationId)?.peek();
  if (type === 'message.created') {
    const { message } = data as { message: Message };
    if (known !== undefined) remember(withMessage(known, message));
    // A conversation that is not known here: it was reopened, or is on a page of the list that was not read yet.
    else if (message.senderType !== 'system') loadConversation(message.conversationId).catch(() => undefined);
  } else if (type === 'message.moved' && known !== undefined) void readMoved(known.id).catch(() => undefined);
  else if (type === 'message.read' && known !== undefined) remember(withRead(known, (data as { read: Read }).read));
}

/** Its last message may be an earlier one now, so the answer is taken as it is: what was known is not merged in. */
async function readMoved(conversationId: string): Promise<void> {
  const { conversation } = await call<{ conversation: Conversation }>(
    'GET',
    `/conversations/${encodeURIComponent(conversationId)}`,
  );
  const known = kept.get(conversationId)?.peek();
  if (known !== undefined) put(conversationId, known, conversation);
}
