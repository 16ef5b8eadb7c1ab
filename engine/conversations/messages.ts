// Messages from customers, agents and the service itself. Append-only, in the order of createdAt, which is made
// strictly increasing here. Specification 2, 4.5.

import { type ConversationRecord, setReadUpTo, touchConversation } from '../../store/conversations/conversations.ts';
import {
  type MessageMail,
  type MessageRecord,
  markRead,
  messagesBefore,
  type SenderType,
  type Threading,
  unmarkRead,
} from '../../store/conversations/messages.ts';
import { type ConversationView, MessageView } from '../../store/conversations/records.ts';
import { insertMessage, unsetMessage } from '../../store/conversations/writes.ts';
import { viewer } from '../../store/record.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { previewChars } from '../constants.ts';
import { refuse } from '../errors.ts';
import { emit } from '../events.ts';
import { isBlank } from '../lines.ts';
import { foldChange } from '../rollups.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { firstChars, shownHtml } from '../text.ts';
import { type NamedFile, noteNamed } from './attachments.ts';
import {
  audienceOf,
  changeConversation,
  conversationKind,
  conversationView,
  later,
  requireReachable,
  requireReadable,
} from './conversation.ts';
import { mailedFrom, provesEmail } from './customer-view.ts';
import { expectNotice, messageNoticeDeadline } from './notices.ts';

/** One side read the other's messages, up to this time. */
export interface ReadView {
  readonly conversationId: string;
  readonly senderType: 'visitor' | 'agent';
  readonly readUpTo: string | null;
  readonly readAt: string;
  readonly count: number;
}

declare module '../events.ts' {
  interface EventRecords {
    readonly message: MessageView;
    readonly read: ReadView;
  }
}

const viewed = viewer(MessageView);

export function messageView(message: MessageRecord): MessageView {
  return viewed({ ...message, bodyHtml: shownHtml(message) });
}

export interface MessageDraft {
  /** Undefined: generated. */
  readonly id?: string | undefined;
  readonly senderType: SenderType;
  readonly senderId: string | null;
  readonly body: string;
  readonly attachments?: readonly NamedFile[] | undefined;
  readonly deliveryStatus?: MessageRecord['deliveryStatus'];
  /** Safe HTML, if the mail had any. */
  readonly bodyHtml?: string | null | undefined;
  readonly threading?: Threading;
  /** If the message came or leaves as a mail. */
  readonly mail?: MessageMail | null;
  /** The message opens the conversation, so it responds to nothing. */
  readonly isOpening?: boolean;
  /** To or from someone other than the customer, who does not receive it: it answers no one who waits. */
  readonly isSide?: boolean;
}

/**
 * Writes a message and emits it to those who may see it. `view`: as agents see it. The conversation keeps its version
 * (decisions 4.5).
 */
export function appendMessage(
  ctx: Context,
  given: ConversationRecord,
  draft: MessageDraft,
): { message: MessageRecord; view: MessageView; conversation: ConversationRecord } {
  const conversation = draft.senderType === 'agent' ? withoutAssistant(ctx, given) : given;
  const createdAt = nextLineAt(ctx, conversation);
  const message: MessageRecord = {
    ...unsetMessage,
    id: draft.id ?? ctx.ids.uuid(),
    conversationId: conversation.id,
    senderType: draft.senderType,
    senderId: draft.senderId,
    body: draft.body,
    bodyHtml: draft.bodyHtml ?? null,
    threading: draft.threading ?? null,
    mail: draft.mail ?? null,
    attachments: draft.attachments?.map(({ url, name, size }) => ({ url, name, size })) ?? unsetMessage.attachments,
    deliveryStatus: draft.deliveryStatus ?? null,
    createdAt,
  };
  const messageRowid = insertMessage(ctx.db, message);
  if (draft.attachments !== undefined) noteNamed(ctx, message.id, draft.attachments);
  const isSystem = draft.senderType === 'system';
  const isFromCustomer = draft.senderType === 'visitor';
  // A caller cannot hear a message: the response to a call is answering it (calls/actions.ts).
  const isFirstResponse =
    draft.senderType === 'agent' &&
    conversation.firstResponseAt === null &&
    conversation.channel !== 'call' &&
    draft.isSide !== true;
  const isFirstSinceRouted = draft.senderType === 'agent' && conversation.routedAt !== null;
  const mailHash = conversation.channel === 'chat' ? mailedFrom(message) : undefined;
  const turn = turnOf(conversation, message, draft.isSide);
  const next: ConversationRecord = {
    ...conversation,
    routedAt: isFirstSinceRouted ? null : conversation.routedAt,
    lastLineAt: createdAt,
    updatedAt: later(createdAt, conversation.updatedAt),
    preview: isSystem ? conversation.preview : previewOf(message),
    lastMessageAt: isSystem ? conversation.lastMessageAt : createdAt,
    mailPreview: isSystem ? conversation.mailPreview : mailPreviewAfter(conversation, mailHash),
    lastCustomerMessageAt: isFromCustomer ? createdAt : conversation.lastCustomerMessageAt,
    lastSenderType: turn.lastSenderType,
    lastSenderId: turn.lastSenderId,
    waitingSince: turn.waitingSince,
    firstResponseAt: isFirstResponse ? answeredAt(conversation, draft, createdAt) : conversation.firstResponseAt,
    firstResponderId: isFirstResponse ? draft.senderId : conversation.firstResponderId,
  };
  const isTurn =
    next.lastSenderType !== conversation.lastSenderType ||
    next.lastSenderId !== conversation.lastSenderId ||
    next.waitingSince !== conversation.waitingSince;
  touchConversation(ctx.db, next, { isFromCustomer, isFirstResponse, isFirstSinceRouted, isTurn });
  if (isFirstResponse) foldChange(ctx, conversation, next);
  ctx.setState(conversationKind, next.id, next);
  if (isFromCustomer) expectNotice(ctx, messageNoticeDeadline, next.id);
  const view = messageView(message);
  const audience = audienceOf(next, { visitorToo: !isSystem });
  emit(ctx, {
    type: 'message.created',
    conversationId: next.id,
    audience: mailHash === undefined ? audience : { ...audience, emailHash: mailHash },
    data: { message: view },
    messageRowid,
  });
  return { message, view, conversation: next };
}

/**
 * When the first message of an agent came. A customer whom an agent wrote to first was not waiting: reports recognise
 * this by the time, and later messages are no response either.
 */
function answeredAt(conversation: ConversationRecord, { isOpening }: MessageDraft, createdAt: string): string {
  return isOpening === true ? conversation.createdAt : createdAt;
}

/** Where an agent writes, the assistant does not. */
function withoutAssistant(ctx: Context, conversation: ConversationRecord): ConversationRecord {
  return conversation.assistant === 'answering'
    ? changeConversation(ctx, conversation, { assistant: 'handed_over' })
    : conversation;
}

/** The preview of a mail replaces one that all of the visitor's tokens may see. */
function mailPreviewAfter(
  { preview, mailPreview }: ConversationRecord,
  emailHash: string | undefined,
): ConversationRecord['mailPreview'] {
  if (emailHash === undefined) return null;
  return { emailHash, before: mailPreview === null ? preview : mailPreview.before };
}

type Turn = Pick<ConversationRecord, 'lastSenderType' | 'lastSenderId' | 'waitingSince'>;

/**
 * Who has spoken last, and since when the customer waits. The service's own lines change neither, and a side message
 * only the first.
 */
function turnOf(
  conversation: ConversationRecord,
  { senderType, senderId, createdAt }: MessageRecord,
  isSide = false,
): Turn {
  if (senderType === 'system') return conversation;
  const { waitingSince } = conversation;
  return {
    lastSenderType: senderType,
    lastSenderId: senderId,
    waitingSince: isSide ? waitingSince : senderType === 'visitor' ? (waitingSince ?? createdAt) : null,
  };
}

/** The text in lists. A message with only files shows their names. */
export function previewOf({ body, attachments }: Pick<MessageRecord, 'body' | 'attachments'>): string {
  const isOfFiles = attachments.length > 0 && isBlank(body);
  return firstChars(
    isOfFiles ? `📎 ${attachments.map(({ name, url }) => name ?? url).join(', ')}` : body,
    previewChars,
  );
}

/** A line about what the caller did. It has no author if no agent calls (decisions 4.5). */
export function appendSystemLine(ctx: Context, conversation: ConversationRecord, body: string): ConversationRecord {
  const senderId = ctx.caller.kind === 'agent' ? ctx.caller.agentId : null;
  return appendMessage(ctx, conversation, { senderType: 'system', senderId, body }).conversation;
}

/** A line about what the service did by itself, in whichever command. */
export function appendServiceLine(ctx: Context, conversation: ConversationRecord, body: string): ConversationRecord {
  return appendMessage(ctx, conversation, { senderType: 'system', senderId: null, body }).conversation;
}

/**
 * Marks the customer's messages as read: by the assignee, or by any agent while there is none. For others it changes
 * nothing. Refuses not_found, forbidden.
 */
export const markConversationRead = command(
  'conversation.read',
  (ctx, params: { conversationId: string }): { conversation: ConversationView } => {
    const { agent, conversation } = requireReachable(ctx, params.conversationId);
    return {
      conversation: conversationView(
        isOnlookers(conversation, agent) ? conversation : markReadBy(ctx, conversation, 'agents'),
      ),
    };
  },
);

/** Removes the mark from the customer's last message on. Refuses not_found, forbidden, not_its_assignee. */
export const markConversationUnread = command(
  'conversation.unread',
  (ctx, params: { conversationId: string }): { conversation: ConversationView } => {
    const { agent, conversation } = requireReachable(ctx, params.conversationId);
    if (isOnlookers(conversation, agent)) refuse('not_its_assignee');
    const { lastCustomerMessageAt, agentsReadUpTo } = conversation;
    if (lastCustomerMessageAt === null || agentsReadUpTo === null || agentsReadUpTo < lastCustomerMessageAt)
      return { conversation: conversationView(conversation) };
    unmarkRead(ctx.db, { conversationId: conversation.id, senderType: 'visitor', from: lastCustomerMessageAt });
    return {
      conversation: conversationView(
        changeConversation(ctx, conversation, { agentsReadUpTo: isoTime(Date.parse(lastCustomerMessageAt) - 1) }),
      ),
    };
  },
);

/** Whether another agent is assigned. */
function isOnlookers(conversation: ConversationRecord, agent: AgentRecord): boolean {
  return conversation.assignedAgentId !== null && conversation.assignedAgentId !== agent.id;
}

const readers = {
  agents: { mark: 'agentsReadUpTo', reads: ['visitor'], of: 'visitor' },
  customer: { mark: 'customerReadUpTo', reads: ['agent', 'ai'], of: 'agent' },
} as const satisfies Record<string, { mark: keyof ConversationRecord; reads: readonly SenderType[]; of: SenderType }>;

/**
 * One side read the other's messages so far. Both get an event if something was new. The conversation keeps its
 * version.
 */
export function markReadBy(
  ctx: Context,
  conversation: ConversationRecord,
  side: keyof typeof readers,
): ConversationRecord {
  const { mark, reads, of } = readers[side];
  const readUpTo = conversation.lastMessageAt;
  // A message's time may be slightly ahead of the clock, and it cannot be read before it was written.
  const readAt = readUpTo === null ? ctx.at : later(ctx.at, readUpTo);
  const count = markRead(ctx.db, {
    conversationId: conversation.id,
    senderTypes: reads,
    after: conversation[mark],
    at: readAt,
  });
  if (count === 0) return conversation;
  const next: ConversationRecord = { ...conversation, [mark]: readUpTo };
  setReadUpTo(ctx.db, next);
  ctx.setState(conversationKind, next.id, next);
  emit(ctx, {
    type: 'message.read',
    conversationId: next.id,
    audience: audienceOf(next, { visitorToo: true }),
    data: { read: { conversationId: next.id, senderType: of, readUpTo, readAt, count } },
  });
  return next;
}

export interface MessageList {
  readonly messages: readonly MessageView[];
  readonly nextCursor: string | null;
}

/** A page of messages, oldest first. `nextCursor` is the time to pass as `before`, or null at the beginning. */
function readMessages(
  view: View,
  page: { conversationId: string; before: string | undefined; limit: number; withSystem: boolean },
): { messages: MessageRecord[]; nextCursor: string | null } {
  const rows = messagesBefore(view.db, { ...page, limit: page.limit + 1 });
  const hasMore = rows.length > page.limit;
  const messages = rows.slice(0, page.limit).reverse();
  return { messages, nextCursor: hasMore ? (messages[0]?.createdAt ?? null) : null };
}

export function listMessages(
  view: View,
  page: { conversationId: string; before: string | undefined; limit: number },
): MessageList {
  requireReadable(view, page.conversationId);
  const { messages, nextCursor } = readMessages(view, { ...page, withSystem: true });
  return { messages: messages.map(messageView), nextCursor };
}

/** The same for the calling visitor: without system lines, and without mail from an address that it did not prove. */
export function listMessagesForCustomer(
  view: View,
  page: { conversationId: string; before: string | undefined; limit: number },
): MessageList {
  const { messages, nextCursor } = readMessages(view, { ...page, withSystem: false });
  const seen = messages.filter((message) => {
    const emailHash = mailedFrom(message);
    return emailHash === undefined || provesEmail(view.caller, emailHash);
  });
  return { messages: seen.map((message) => ({ ...messageView(message), mail: null })), nextCursor };
}

function nextLineAt(ctx: Context, conversation: ConversationRecord): string {
  if (conversation.lastLineAt === null || conversation.lastLineAt < ctx.at) return ctx.at;
  return isoTime(Date.parse(conversation.lastLineAt) + 1);
}
