// Agents' messages to customers, sent by mail on a ticket, and the assignment that comes with answering. Specification
// 4.5.

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import { findMessage, type MessageRecord } from '../../store/conversations/messages.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { type AttachmentInput, filesOf, type NamedFile } from '../conversations/attachments.ts';
import { requireReadable } from '../conversations/conversation.ts';
import { appendMessage, appendSystemLine, type MessageView, messageView } from '../conversations/messages.ts';
import { takeByReply } from '../conversations/taking.ts';
import { refuse } from '../errors.ts';
import { deliveryOf, envelopeOf, mailToCustomer } from '../mail/ticket-mail.ts';
import { requireText, requireVersion } from '../preconditions.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';

const takesNoMessages: ReadonlySet<ConversationRecord['status']> = new Set(['spam', 'solved', 'closed']);

/** Appends an agent's message. On a ticket it also mails the customer. */
export function appendAgentMessage(
  ctx: Context,
  conversation: ConversationRecord,
  draft: {
    agent: AgentRecord;
    id?: string | undefined;
    body: string;
    attachments?: readonly NamedFile[] | undefined;
    isOpening?: boolean;
    isCopied?: boolean;
  },
): { message: MessageRecord; conversation: ConversationRecord } {
  const { agent, isCopied = true, ...content } = draft;
  const deliveryStatus = deliveryOf(ctx, conversation);
  const mail = deliveryStatus === 'queued' ? envelopeOf(ctx, conversation, { agent, isCopied }) : null;
  const { message, conversation: next } = appendMessage(ctx, conversation, {
    senderType: 'agent',
    senderId: agent.id,
    ...content,
    deliveryStatus,
    mail,
  });
  if (deliveryStatus === 'queued') mailToCustomer(ctx, next, message, { agent });
  return {
    message,
    conversation:
      deliveryStatus === 'failed'
        ? appendSystemLine(ctx, next, "Not mailed: earlier mail to the customer's address bounced.")
        : next,
  };
}

export interface SendParams {
  readonly conversationId: string;
  /** Chosen by the client, so that a retry does not send a second message. */
  readonly messageId?: string | undefined;
  readonly expectedVersion?: number | undefined;
  readonly body: string;
  readonly attachments?: readonly AttachmentInput[] | undefined;
  /** False: on a ticket, only to the customer. */
  readonly copy?: boolean | undefined;
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
    (sent.senderType !== 'agent' || sent.senderId !== agent.id || sent.conversationId !== conversation.id)
  )
    refuse('conflict', { message: 'Another message already has this messageId.' });
  if (sent !== undefined) return messageView(sent);
  requireVersion(conversation, params.expectedVersion);
  if (takesNoMessages.has(conversation.status)) refuse('conversation_archived');
  const { message, conversation: answered } = appendAgentMessage(ctx, conversation, {
    agent,
    id: params.messageId,
    body: params.body,
    attachments: filesOf(ctx, params.attachments),
    isCopied: params.copy ?? true,
  });
  takeByReply(ctx, answered, agent);
  return messageView(message);
});
