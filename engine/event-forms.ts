// How events are stored: without what the rows of their message and conversation say, since most of a workspace's file
// would otherwise be a second copy of it. Only what never changes is left out, so an event that is read again shows
// what it showed. The forms, by their JSON:
//
//   audience  {"kind": …}                             whole
//             ["chat", [null], ["<agent>"], 1, {…}]   about a conversation: channel, departments, agents, 1 if also for
//                                                     its visitor, and the members about mail; ends after the last set
//   data      {"<name>": {…}}                         whole; {} if erasing a customer emptied it
//             [17, {…}]                               the message with this rowid, and its members that may change
//             [{…}]                                   the conversation, without its fixed members and the unset ones
//
// Whole ones are of all other events, and of those from before the short forms until they are rewritten or expire.

import type { EventMessage, KeptEvent } from '../store/conversations/kept-events.ts';
import { rowidOfMessage } from '../store/conversations/messages.ts';
import { type Channel, ConversationView, MessageView } from '../store/conversations/records.ts';
import { unsetConversation } from '../store/conversations/writes.ts';
import type { Database } from '../store/database.ts';
import { fromJson, toJson } from '../store/json.ts';
import { viewer } from '../store/record.ts';
import type { Audience, ConversationAudience } from './audience.ts';
import { PublishedEvent } from './runtime/published-event.ts';
import { shownHtml } from './text.ts';

export interface WholeEvent {
  readonly at: string;
  readonly conversationId?: string | undefined;
  readonly audience: Audience;
  readonly data: { readonly message?: MessageView; readonly conversation?: ConversationView };
  /** Looked up if it is not given. */
  readonly messageRowid?: number | undefined;
}

type MailMembers = Pick<ConversationAudience, 'emailHash' | 'mailPreview'>;
type ShortAudience = readonly [
  channel: Channel,
  departmentIds: ConversationAudience['departmentIds'],
  agentIds: ConversationAudience['agentIds'],
  visitorToo?: 0 | 1,
  mail?: MailMembers,
];

type MessageChanges = Partial<Pick<MessageView, 'conversationId' | 'deliveryStatus' | 'mail' | 'readAt' | 'createdAt'>>;
type ConversationPart = Partial<ConversationView>;

/** The audience and the data of a new event as its row has them, as JSON. Its message has been written. */
export function storedForm(db: Database, event: WholeEvent): { audience: string; data: string } {
  const { message, conversation } = event.data;
  const audience = toJson(event.audience.kind === 'conversation' ? shortAudience(event.audience) : event.audience);
  if (conversation !== undefined && conversation.id === event.conversationId)
    return { audience, data: toJson([partOf(conversation, event.at)]) };
  const rowid = message && (event.messageRowid ?? rowidOfMessage(db, message.id));
  if (message === undefined || rowid === undefined) return { audience, data: toJson(event.data) };
  const changes = changesOf(message, event);
  return { audience, data: changes === undefined ? `[${rowid}]` : `[${rowid},${toJson(changes)}]` };
}

/** The event as it was published. */
export function publishedFrom(row: KeptEvent): PublishedEvent {
  const audience = fromJson<Audience | ShortAudience>(row.audience);
  return new PublishedEvent(
    { ...row, audience: isShort(audience) ? wholeAudience(audience, row) : audience },
    row.data.startsWith('[') ? () => wholeData(row) : row.data,
  );
}

function shortAudience(audience: ConversationAudience): ShortAudience {
  const { channel, departmentIds, agentIds, visitorId } = audience;
  if (audience.emailHash !== undefined || audience.mailPreview !== undefined) {
    const { kind: _, channel: _c, departmentIds: _d, agentIds: _a, visitorId: _v, ...mail } = audience;
    return [channel, departmentIds, agentIds, visitorId === null ? 0 : 1, mail];
  }
  return visitorId === null ? [channel, departmentIds, agentIds] : [channel, departmentIds, agentIds, 1];
}

function isShort(audience: Audience | ShortAudience): audience is ShortAudience {
  return Array.isArray(audience);
}

function wholeAudience(
  [channel, departmentIds, agentIds, visitorToo, mail]: ShortAudience,
  { conversation }: KeptEvent,
): Audience {
  const visitorId = visitorToo === 1 ? (conversation?.visitorId ?? null) : null;
  return { kind: 'conversation', channel, departmentIds, agentIds, visitorId, ...mail };
}

function wholeData(row: KeptEvent): object {
  const [first, second] = fromJson<[number, MessageChanges?] | [ConversationPart, undefined]>(row.data);
  if (typeof first === 'number') return { message: wholeMessage(row, second) };
  return { conversation: wholeConversation(row, first) };
}

/** Its members that may change later, unless they are as of most new messages. */
function changesOf(message: MessageView, event: WholeEvent): MessageChanges | undefined {
  const { conversationId, deliveryStatus, mail, readAt, createdAt } = message;
  const isPlain = deliveryStatus === null && mail === null && readAt === null;
  if (isPlain && createdAt === event.at && conversationId === event.conversationId) return undefined;
  return {
    ...(conversationId === event.conversationId ? {} : { conversationId }),
    ...(deliveryStatus === null ? {} : { deliveryStatus }),
    ...(mail === null ? {} : { mail }),
    ...(readAt === null ? {} : { readAt }),
    ...(createdAt === event.at ? {} : { createdAt }),
  };
}

const messageOf = viewer(MessageView);

function wholeMessage(row: KeptEvent, changes: MessageChanges | undefined): MessageView {
  const message = messageIn(row);
  return messageOf({
    ...message,
    bodyHtml: shownHtml(message),
    conversationId: row.conversationId ?? message.conversationId,
    deliveryStatus: null,
    mail: null,
    readAt: null,
    createdAt: row.at,
    ...changes,
  });
}

function messageIn({ seq, message }: KeptEvent): EventMessage {
  if (message === undefined) throw new Error(`event ${seq} refers to no message`);
  return message;
}

const conversationOf = viewer(ConversationView);
const unset: ConversationPart = { ...unsetConversation, unreachable: false };
/** The rows have them. */
const fixed: ReadonlySet<string> = new Set(['id', 'channel', 'siteId', 'visitorId', 'ticketNumber']);
const stored = Object.keys(ConversationView.properties).filter(
  // The names of a schema's members are those of its record.
  (name): name is keyof ConversationView => !fixed.has(name),
);

function partOf(conversation: ConversationView, at: string): ConversationPart {
  const part: Record<string, unknown> = {};
  for (const name of stored) {
    const value = conversation[name];
    if (!isUnset(value, unset[name]) && !(isOfEvent(name) && value === at)) part[name] = value;
  }
  return part;
}

function isUnset(value: unknown, unsetValue: unknown): boolean {
  return value === unsetValue || (Array.isArray(value) && value.length === 0 && Array.isArray(unsetValue));
}

/** Times that are mostly the event's own. */
function isOfEvent(name: string): boolean {
  return name === 'createdAt' || name === 'updatedAt';
}

function wholeConversation(
  { seq, at, conversationId, conversation }: KeptEvent,
  part: ConversationPart,
): ConversationView {
  if (conversation === undefined || conversationId === null) throw new Error(`event ${seq} refers to no conversation`);
  // partOf() leaves out only what is added here.
  return conversationOf({
    ...unset,
    ...conversation,
    id: conversationId,
    createdAt: at,
    updatedAt: at,
    ...part,
  } as ConversationView);
}
