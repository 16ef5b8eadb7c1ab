// Agents' messages to customers, sent by mail on a ticket, and the assignment that comes with answering. Specification
// 4.5.

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import { findMessage, type MessageRecord } from '../../store/conversations/messages.ts';
import type { MessageView } from '../../store/conversations/records.ts';
import { setOurAddress } from '../../store/mail/mails.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { type AttachmentInput, filesOf, type NamedFile } from '../conversations/attachments.ts';
import { requireReadable, whereNow } from '../conversations/conversation.ts';
import { appendMessage, appendSystemLine, messageView } from '../conversations/messages.ts';
import { takeByReply } from '../conversations/taking.ts';
import { expectUnseen } from '../conversations/unseen.ts';
import { refuse, refuseField } from '../errors.ts';
import { type Addressing, mailOn, planMail } from '../mail/sending.ts';
import { mailMessage } from '../mail/ticket-mail.ts';
import { requireText, requireVersion } from '../preconditions.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';
import { setCopies } from './mail-copies.ts';

const takesNoMessages: ReadonlySet<ConversationRecord['status']> = new Set(['spam', 'solved', 'closed']);

/**
 * Appends an agent's message. On a ticket it is also mailed, and later mails follow the sender and the recipients that
 * were chosen for it. Refuses invalid_body for its recipients.
 */
export function appendAgentMessage(
  ctx: Context,
  conversation: ConversationRecord,
  draft: {
    agent: AgentRecord;
    id?: string | undefined;
    body: string;
    bodyHtml?: string | null | undefined;
    attachments?: readonly NamedFile[] | undefined;
    isOpening?: boolean;
    addressing?: Addressing | undefined;
  },
): { message: MessageRecord; view: MessageView; conversation: ConversationRecord } {
  const { agent, addressing = {} } = draft;
  const sending = planMail(ctx, conversation, addressing);
  const deliveryStatus = sending === undefined ? null : sending.to.length > 0 ? 'queued' : 'failed';
  const isSide = sending?.sideOf !== undefined;
  const addressed = sending === undefined ? conversation : setCopies(ctx, conversation, sending.copiedTo);
  if (sending !== undefined && !isSide && addressing.from !== undefined)
    setOurAddress(ctx.db, conversation.id, sending.from);
  const {
    message,
    view,
    conversation: next,
  } = appendMessage(ctx, addressed, {
    senderType: 'agent',
    senderId: agent.id,
    id: draft.id,
    body: draft.body,
    bodyHtml: draft.bodyHtml,
    attachments: draft.attachments,
    isOpening: draft.isOpening === true,
    deliveryStatus,
    mail: sending === undefined || (deliveryStatus === 'failed' && !isSide) ? null : mailOn(sending, agent),
    isSide,
  });
  if (sending !== undefined && deliveryStatus === 'queued') mailMessage(ctx, message, { agent, sending });
  if (conversation.channel === 'chat') expectUnseen(ctx, message);
  return {
    message,
    view,
    conversation: deliveryStatus === 'failed' ? appendSystemLine(ctx, next, notMailed(isSide)) : next,
  };
}

const notMailed = (isSide: boolean): string =>
  isSide
    ? 'Not mailed: earlier mail to its recipients bounced.'
    : "Not mailed: earlier mail to the customer's address bounced.";

export interface SendParams {
  readonly conversationId: string;
  /** Chosen by the client, so that a retry does not send a second message. */
  readonly messageId?: string | undefined;
  readonly expectedVersion?: number | undefined;
  readonly body: string;
  /** Safe HTML of a formatted mail. */
  readonly bodyHtml?: string | null | undefined;
  /** Undefined: none, or those of the message that it forwards. */
  readonly attachments?: readonly AttachmentInput[] | undefined;
  readonly addressing?: Addressing | undefined;
}

/**
 * Sends an agent's message. Answering takes an unassigned conversation (decisions, "Taking"). Refuses not_found,
 * channel_not_assigned, conversation_archived, invalid_body, conflict if the messageId is another message's.
 */
export const sendMessage = command('message.send', (ctx, params: SendParams): MessageView => {
  const { agent, conversation } = requireReadable(ctx, params.conversationId);
  requireText(params.body);
  const sent = params.messageId === undefined ? undefined : findMessage(ctx.db, params.messageId);
  if (
    sent !== undefined &&
    (sent.senderType !== 'agent' ||
      sent.senderId !== agent.id ||
      sent.conversationId !== whereNow(ctx, conversation.id))
  )
    refuse('conflict', { message: 'Another message already has this messageId.' });
  if (sent !== undefined) return messageView(sent);
  requireVersion(conversation, params.expectedVersion);
  if (takesNoMessages.has(conversation.status)) refuse('conversation_archived');
  if (params.bodyHtml != null && conversation.channel !== 'ticket')
    refuseField('invalid_body', 'format', 'must be plain: only tickets are answered with formatted mails');
  const { view, conversation: answered } = appendAgentMessage(ctx, conversation, {
    agent,
    id: params.messageId,
    body: params.body,
    bodyHtml: params.bodyHtml,
    attachments: attachmentsOf(ctx, params),
    addressing: params.addressing,
  });
  takeByReply(ctx, answered, agent);
  return view;
});

function attachmentsOf(ctx: Context, { conversationId, attachments, addressing }: SendParams): readonly NamedFile[] {
  const { forwardOf } = addressing ?? {};
  if (attachments !== undefined || forwardOf === undefined) return filesOf(ctx, attachments);
  const forwarded = findMessage(ctx.db, forwardOf);
  return forwarded?.conversationId === conversationId ? forwarded.attachments : [];
}
