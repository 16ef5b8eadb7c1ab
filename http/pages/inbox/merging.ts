// Merges what is known of a conversation into one record. Sources arrive in any order: answers may be older than
// earlier events, and a message changes the record without a new version. Plain functions, without state.

import type { Conversation, Message, Read } from '../records.ts';

/** The service's length. */
const previewChars = 140;

/**
 * Of two records of the same conversation, the newer one, with the newest message and the latest read mark. `isFromEvent`:
 * `come` is from an event. Events arrive in order, so their mark wins if the times are equal.
 */
export function newestOf(
  known: Conversation,
  come: Conversation,
  { isFromEvent = false }: { readonly isFromEvent?: boolean } = {},
): Conversation {
  const [older, newer] = isNewer(come, known) ? [known, come] : [come, known];
  const spoken = isAfter(older.lastMessageAt, newer.lastMessageAt) ? older : newer;
  const lastCustomerMessageAt = laterOf(older.lastCustomerMessageAt, newer.lastCustomerMessageAt);
  const agentsReadUpTo = readMarkOf(known, come, isFromEvent);
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
    lastSenderType: spoken.lastSenderType,
    lastSenderId: spoken.lastSenderId,
    waitingSince: spoken.waitingSince,
    lastCustomerMessageAt,
    agentsReadUpTo,
    updatedAt,
    firstResponseAt,
  };
}

/** Marking unread moves the mark back and the time of change forward; reading only moves the mark forward. */
function readMarkOf(known: Conversation, come: Conversation, isFromEvent: boolean): string | null {
  if (come.updatedAt > known.updatedAt || (isFromEvent && come.updatedAt === known.updatedAt))
    return come.agentsReadUpTo;
  return come.updatedAt === known.updatedAt ? laterOf(known.agentsReadUpTo, come.agentsReadUpTo) : known.agentsReadUpTo;
}

/**
 * Or the same. Versions and times only increase, but neither is enough: a message keeps the version, and two changes can have the
 * same time.
 */
export function isNewer(one: Conversation, other: Conversation): boolean {
  return one.version === other.version ? one.updatedAt >= other.updatedAt : one.version > other.version;
}

/** Updates the record for a new message, as the service does. Its own lines do not count as messages. */
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
    lastSenderType: message.senderType,
    lastSenderId: message.senderId,
    waitingSince: waitingAfter(conversation, message),
  };
}

/** That the assistant hands over answers nothing. The record says so before the message comes. */
function waitingAfter({ assistant, waitingSince }: Conversation, message: Message): string | null {
  if (message.senderType === 'visitor') return waitingSince ?? message.createdAt;
  return message.senderType === 'ai' && assistant === 'handed_over' ? waitingSince : null;
}

/** An agent read the customer's messages. */
export function withRead(conversation: Conversation, read: Read): Conversation {
  return read.senderType === 'visitor'
    ? { ...conversation, agentsReadUpTo: laterOf(conversation.agentsReadUpTo, read.readUpTo) }
    : conversation;
}

/** The service's preview of a message in lists; for files only, their names. */
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

/** Whether no one has it and its customer waits: it stays so whoever looks at it, until someone answers. */
export function waitsForAnyone(conversation: Conversation): boolean {
  const { assignedAgentId, status, channel, assistant, waitingSince } = conversation;
  if (assignedAgentId !== null || status !== 'open' || assistant === 'answering') return false;
  return channel === 'call' || waitingSince !== null;
}

/** Times are ISO 8601 UTC with milliseconds, so they compare as text. Null is before everything. */
function isAfter(at: string | null, other: string | null): boolean {
  return at !== null && (other === null || at > other);
}

function laterOf(at: string | null, other: string | null): string | null {
  return isAfter(at, other) ? at : other;
}
