// The conversations that this page knows, each one once: read from lists, kept by the socket, changed by what is asked
// for here. Whoever shows one reads its signal; whoever shows many is told of each change. Nothing here knows of lists
// or of messages.

import { type Signal, signal } from '@preact/signals';
import { ApiError, call, token } from '../api.ts';
import { onEvent } from '../live.ts';
import type { Conversation, Message, Read } from '../records.ts';
import { newestOf, withMessage, withRead } from './merging.ts';

/**
 * What was to be changed had been changed meanwhile: whoever shows it says how. `now` is as it is; `was` as the reader
 * saw it.
 */
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
/** Those whose signals somebody follows. */
const followed = new Set<string>();
const listeners = new Set<Listener>();

/** Follows the signal of that conversation: undefined until it is known. */
export function conversationOf(conversationId: string): Conversation | undefined {
  return signalOf(conversationId).value;
}

/** As it is known now. Follows nothing. */
export function peekConversation(conversationId: string): Conversation | undefined {
  return kept.get(conversationId)?.peek();
}

/** All that are known, in no order. Follows none of them. */
export function* knownConversations(): Generator<Conversation> {
  for (const one of kept.values()) {
    const conversation = one.peek();
    if (conversation !== undefined) yield conversation;
  }
}

/** Calls `tell` with every change. Answers how to stop. */
export function onConversation(tell: Listener): () => void {
  listeners.add(tell);
  return () => void listeners.delete(tell);
}

/** Takes a record from wherever it comes; an older one changes nothing. `isTold`: by an event. */
export function remember(record: Conversation, by: { readonly isTold?: boolean } = {}): Conversation {
  const before = signalOf(record.id).peek();
  const after = before === undefined ? record : newestOf(before, record, by);
  if (before === undefined || !isSame(before, after)) put(after.id, before, after);
  return after;
}

/** It is out of reach, or gone. */
export function forget(conversationId: string): void {
  const before = kept.get(conversationId)?.peek();
  if (before !== undefined) put(conversationId, before, undefined);
}

/** Of those known, forgets all that nobody follows, changes or holds on to by `isWanted`. They can be read again. */
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

/** Whether something was asked of it here that is not answered yet: what it becomes meanwhile is no news. */
export function isActedOn(conversationId: string): boolean {
  return actedOn.has(conversationId);
}

function countActs(conversationId: string, step: 1 | -1): void {
  const left = (actedOn.get(conversationId) ?? 0) + step;
  if (left > 0) actedOn.set(conversationId, left);
  else actedOn.delete(conversationId);
}

/**
 * Asks for a change of the conversation and remembers what it is then. Rejects with StaleError when it was another one
 * than the
 * reader saw, with ApiError for everything else.
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
  for (const tell of listeners) tell({ before, after });
}

function isSame(one: Conversation, other: Conversation): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

// Another agent on the same browser sees other conversations.
token.subscribe(() => {
  for (const conversationId of [...kept.keys()]) forget(conversationId);
});

// The data of each event is as the sockets' document gives it.
onEvent('*', ({ type, conversationId, data }) => {
  if ('conversation' in data) remember((data as { conversation: Conversation }).conversation, { isTold: true });
  const known = conversationId == null ? undefined : kept.get(conversationId)?.peek();
  if (type === 'message.created') {
    const { message } = data as { message: Message };
    if (known !== undefined) remember(withMessage(known, message));
    // A message in what is not known here: it reopened, or an older page of the list holds it.
    else if (message.senderType !== 'system') loadConversation(message.conversationId).catch(() => undefined);
  } else if (type === 'message.read' && known !== undefined) remember(withRead(known, (data as { read: Read }).read));
});
