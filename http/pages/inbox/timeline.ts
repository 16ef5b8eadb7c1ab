// A conversation as a list of items to show: days, messages with the start of each sender's turn, notes, lines of the
// service, and unsent messages. Plain functions, without state.

import type { Message, Note } from '../records.ts';

export interface SentFile {
  readonly url: string;
  readonly name: string;
  readonly size: number;
}

/** A message written here that the service has not acknowledged. */
export interface Outgoing {
  /** Its final id. */
  readonly id: string;
  readonly conversationId: string;
  readonly kind: 'message' | 'note';
  readonly body: string;
  readonly attachments: readonly SentFile[];
  /** False: only to the customer. */
  readonly copy?: false;
  readonly writtenAtMs: number;
  readonly state: 'pending' | 'failed';
  /** Why it failed. */
  readonly problem?: string;
  /** It was sent without an answer. */
  readonly isUncertain?: boolean;
}

export type Item =
  | { readonly kind: 'day'; readonly key: string; readonly at: string }
  | {
      readonly kind: 'message';
      readonly key: string;
      readonly at: string;
      readonly message: Message;
      readonly isFirst: boolean;
      readonly isLast: boolean;
    }
  | { readonly kind: 'line'; readonly key: string; readonly at: string; readonly message: Message }
  | { readonly kind: 'note'; readonly key: string; readonly at: string; readonly note: Note }
  | { readonly kind: 'outgoing'; readonly key: string; readonly at: string; readonly outgoing: Outgoing };

/** Messages of one sender within this time are grouped. */
const groupMs = 5 * 60_000;

/** The union by id, oldest first. Of two versions of a message, keeps read and delivered: neither is ever undone. */
export function mergeMessages(known: readonly Message[], come: readonly Message[]): readonly Message[] {
  const last = known.at(-1);
  const only = come[0];
  // The most frequent case: a new message after all known ones.
  if (come.length === 1 && only !== undefined && (last === undefined || only.createdAt > last.createdAt))
    return [...known, only];
  const byId = new Map(known.map((message) => [message.id, message]));
  for (const message of come) {
    const before = byId.get(message.id);
    byId.set(message.id, before === undefined ? message : furthestOf(before, message));
  }
  return [...byId.values()].sort((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0));
}

const deliveryOrder = [null, 'queued', 'sent', 'failed'] as const;

function furthestOf(one: Message, other: Message): Message {
  const deliveryStatus =
    deliveryOrder[Math.max(deliveryOrder.indexOf(one.deliveryStatus), deliveryOrder.indexOf(other.deliveryStatus))] ??
    null;
  const readAt = one.readAt ?? other.readAt;
  const { mail } = isDeliveredFurther(one, other) ? one : other;
  return readAt === one.readAt && deliveryStatus === one.deliveryStatus && mail === one.mail
    ? one
    : { ...other, readAt, deliveryStatus, mail };
}

/** At least as far; of two that are queued, the one that was tried last. */
function isDeliveredFurther(one: Message, other: Message): boolean {
  const ahead = deliveryOrder.indexOf(one.deliveryStatus) - deliveryOrder.indexOf(other.deliveryStatus);
  return ahead > 0 || (ahead === 0 && (one.mail?.delayed?.at ?? '') >= (other.mail?.delayed?.at ?? ''));
}

/** One side read the other's messages until then. */
export function markRead(
  messages: readonly Message[],
  read: { readonly senderType: 'visitor' | 'agent'; readonly readUpTo: string; readonly readAt: string },
): readonly Message[] {
  const isMeant = ({ senderType, readAt, createdAt }: Message): boolean =>
    readAt === null &&
    createdAt <= read.readUpTo &&
    (senderType === read.senderType || (read.senderType === 'agent' && senderType === 'ai'));
  return messages.some(isMeant)
    ? messages.map((message) => (isMeant(message) ? { ...message, readAt: read.readAt } : message))
    : messages;
}

/** The union by id, oldest first; notes of the same moment in the order of their ids. */
export function mergeNotes(known: readonly Note[], come: readonly Note[]): readonly Note[] {
  const byId = new Map(known.map((note) => [note.id, note]));
  for (const note of come) {
    const before = byId.get(note.id);
    if (before === undefined || note.updatedAt >= before.updatedAt) byId.set(note.id, note);
  }
  return [...byId.values()].sort((a, b) => a.createdAt.localeCompare(b.createdAt) || a.id.localeCompare(b.id));
}

/** This agent's last note, by the service's rule. */
export function workingNoteOf(notes: readonly Note[], agentId: string | undefined): Note | undefined {
  return notes.findLast(({ authorAgentId }) => authorAgentId === agentId);
}

/**
 * `from`: notes before it belong to messages that are not loaded; undefined if all are. Unsent messages come last,
 * unless they have arrived.
 */
export function itemsOf(parts: {
  readonly messages: readonly Message[];
  readonly notes: readonly Note[];
  readonly outgoing: readonly Outgoing[];
  readonly from: string | undefined;
}): Item[] {
  const items: Item[] = [];
  let day = '';
  const add = (item: Item): void => {
    const its = new Date(item.at).toDateString();
    if (its !== day) items.push({ kind: 'day', key: `day ${its}`, at: item.at });
    day = its;
    items.push(item);
  };
  const notes = parts.notes.filter(({ createdAt }) => parts.from === undefined || createdAt >= parts.from);
  let nextNote = 0;
  const addNotesBefore = (at: string): void => {
    for (let note = notes[nextNote]; note !== undefined && note.createdAt < at; note = notes[nextNote]) {
      add({ kind: 'note', key: note.id, at: note.createdAt, note });
      nextNote += 1;
    }
  };
  for (const message of parts.messages) {
    addNotesBefore(message.createdAt);
    if (message.senderType === 'system') {
      add({ kind: 'line', key: message.id, at: message.createdAt, message });
      continue;
    }
    const before = items.at(-1);
    const goesOn = before?.kind === 'message' && isTogether(before.message, message);
    if (goesOn) items[items.length - 1] = { ...before, isLast: false };
    add({ kind: 'message', key: message.id, at: message.createdAt, message, isFirst: !goesOn, isLast: true });
  }
  addNotesBefore('9999');
  const arrived = new Set([...parts.messages, ...parts.notes].map(({ id }) => id));
  for (const outgoing of parts.outgoing)
    if (!arrived.has(outgoing.id))
      add({ kind: 'outgoing', key: outgoing.id, at: new Date(outgoing.writtenAtMs).toISOString(), outgoing });
  return items;
}

function isTogether(before: Message, message: Message): boolean {
  return (
    before.senderType === message.senderType &&
    before.senderId === message.senderId &&
    Date.parse(message.createdAt) - Date.parse(before.createdAt) < groupMs &&
    new Date(before.createdAt).toDateString() === new Date(message.createdAt).toDateString()
  );
}
