// How what is known of a conversation becomes one record, whatever order it comes in: answers may be older than events
// that came before them, and a message changes the record without a new version. Plain functions, without state.

import type { Conversation, Message, Read } from '../records.ts';

/** As many as the service keeps. */
const previewChars = 140;

/**
 * Of two records of the same conversation: the newer one, with the newest message and the read mark of who was changed
 * last. `isTold`: `come` is of
 * an event. These come in order, so that its mark holds where times say nothing.
 */
export function newestOf(
  known: Conversation,
  come: Conversation,
  { isTold = false }: { readonly isTold?: boolean } = {},
): Conversation {
  const [older, newer] = isNewer(come, known) ? [known, come] : [come, known];
  const spoken = isAfter(older.lastMessageAt, newer.lastMessageAt) ? older : newer;
  const lastCustomerMessageAt = laterOf(older.lastCustomerMessageAt, newer.lastCustomerMessageAt);
  const agentsReadUpTo = readMarkOf(known, come, isTold);
  const updatedAt = laterOf(older.updatedAt, newer.updatedAt) ?? newer.updatedAt;
  const firstResponseAt = newer.firstResponseAt ?? older.firstResponseAt;
  if (
    spoken === newer &&
    lastCustomerMessageAt === newer.lastCustomerMessageAt &&
    agentsReadUpTo === newer.agentsReadUpTo &&
    updatedAt === newer.updatedAt &&
    firstResponseAt === newer.firstResponseAt
  )
    return newer;
  return {
    ...newer,
    lastMessageAt: spoken.lastMessageAt,
    preview: spoken.preview,
    lastCustomerMessageAt,
    agentsReadUpTo,
    updatedAt,
    firstResponseAt,
  };
}

/** Marking unread sets it back and the time of change on; reading sets it on alone. */
function readMarkOf(known: Conversation, come: Conversation, isTold: boolean): string | null {
  if (come.updatedAt > known.updatedAt || (isTold && come.updatedAt === known.updatedAt)) return come.agentsReadUpTo;
  return come.updatedAt === known.updatedAt ? laterOf(known.agentsReadUpTo, come.agentsReadUpTo) : known.agentsReadUpTo;
}

/**
 * Versions and times of a conversation only grow, and neither alone: a message leaves the version, two changes may
 * share a time.
 */
function isNewer(one: Conversation, other: Conversation): boolean {
  return one.version === other.version ? one.updatedAt >= other.updatedAt : one.version > other.version;
}

/** What the service does to the record when this is written. Lines of its own are no messages. */
export function withMessage(conversation: Conversation, message: Message): Conversation {
  const updatedAt = laterOf(conversation.updatedAt, message.createdAt) ?? message.createdAt;
  const lastCustomerMessageAt =
    message.senderType === 'visitor'
      ? laterOf(conversation.lastCustomerMessageAt, message.createdAt)
      : conversation.lastCustomerMessageAt;
  if (message.senderType === 'system' || !isAfter(message.createdAt, conversation.lastMessageAt))
    return { ...conversation, updatedAt, lastCustomerMessageAt };
  return {
    ...conversation,
    updatedAt,
    lastCustomerMessageAt,
    lastMessageAt: message.createdAt,
    preview: previewOf(message),
  };
}

/** An agent read what the customer wrote. */
export function withRead(conversation: Conversation, read: Read): Conversation {
  return read.senderType === 'visitor'
    ? { ...conversation, agentsReadUpTo: laterOf(conversation.agentsReadUpTo, read.readUpTo) }
    : conversation;
}

/** What the service keeps of a message for lists; of files alone their names. */
export function previewOf({ body, attachments }: Pick<Message, 'body' | 'attachments'>): string {
  const said =
    body.trim() === '' && attachments.length > 0
      ? `📎 ${attachments.map(({ name, url }) => name ?? url).join(', ')}`
      : body;
  return [...said.slice(0, 2 * previewChars)].slice(0, previewChars).join('');
}

export function isUnread({ lastCustomerMessageAt, agentsReadUpTo }: Conversation): boolean {
  return isAfter(lastCustomerMessageAt, agentsReadUpTo);
}

/** Times are ISO 8601 UTC with milliseconds, so that text compares as time. Nothing is before everything. */
export function isAfter(at: string | null, other: string | null): boolean {
  return at !== null && (other === null || at > other);
}

function laterOf(at: string | null, other: string | null): string | null {
  return isAfter(at, other) ? at : other;
}
