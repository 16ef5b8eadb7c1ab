// A customer's message becomes a ticket of its own: of its sender, with its files and its mail, so that answers to that
// mail come there. Merging the ticket back undoes it.

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import { findMessage, type MessageRecord } from '../../store/conversations/messages.ts';
import { countMovable, insertTicketMove, noDetail } from '../../store/conversations/moves.ts';
import type { ConversationView } from '../../store/conversations/records.ts';
import { addParticipants, findMailThread, findReceivedMail } from '../../store/mail/mails.ts';
import {
  changeConversation,
  conversationView,
  requireReachable,
  requireUnmerged,
} from '../conversations/conversation.ts';
import { appendSystemLine } from '../conversations/messages.ts';
import { expectNotice, messageNoticeDeadline } from '../conversations/notices.ts';
import { addressOf, visitorKind } from '../customers/visitors.ts';
import { refuse } from '../errors.ts';
import { takesMailAt } from '../mail/inbound-addresses.ts';
import { startMailThread } from '../mail/ticket-mail.ts';
import { subjectKeyOf } from '../mail-addresses.ts';
import { requireText, requireVersion } from '../preconditions.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';
import { reaches } from '../workspace/access.ts';
import { requireFeature } from '../workspace/entitlements.ts';
import { copiesAfter, setCopies } from './mail-copies.ts';
import { emitMove, moveMessages, spokenFields } from './moving.ts';
import { openTicket, requireMayCreateTickets } from './tickets.ts';

export interface SplitParams {
  readonly conversationId: string;
  readonly messageId: string;
  /** Undefined: that of the ticket. */
  readonly subject?: string | undefined;
  readonly expectedVersion?: number | undefined;
}

/**
 * Answers with the new ticket, which no one has yet, unless the caller could not see it otherwise. Refuses not_found, forbidden, feature_locked, stale_version,
 * conflict for a merged ticket, illegal_status_transition for spam, semantic_error for what cannot be split off.
 */
export const splitMessage = command(
  'conversation.split',
  (ctx, params: SplitParams): { conversation: ConversationView } => {
    const { agent, conversation: source } = requireReachable(ctx, params.conversationId);
    requireMayCreateTickets(agent);
    requireFeature(ctx, 'tickets');
    requireVersion(source, params.expectedVersion);
    if (params.subject !== undefined) requireText(params.subject, 'subject');
    requireUnmerged(ctx, source);
    const message = requireSplittable(ctx, source, params.messageId);
    const subject = params.subject?.trim() ?? source.subject ?? '';
    const opened = openFor(ctx, message, { source, subject });
    const moveId = ctx.ids.uuid();
    insertTicketMove(ctx.db, {
      id: moveId,
      kind: 'split',
      fromId: source.id,
      toId: opened.id,
      agentId: agent.id,
      detail: noDetail,
      createdAt: ctx.at,
    });
    moveMessages(ctx, [{ id: message.id, createdAt: message.createdAt, writtenAt: message.createdAt }], {
      moveId,
      toId: opened.id,
    });
    const filled = changeConversation(ctx, opened, {
      ...spokenFields(ctx, opened, message.createdAt),
      // It has the other ticket only because that is assigned to it.
      ...(reaches(agent, opened) ? {} : { assignedAgentId: agent.id }),
    });
    const ticket = appendSystemLine(
      ctx,
      filled,
      `${agent.name} made this from a message in ticket #${source.ticketNumber}.`,
    );
    const reduced = changeConversation(ctx, source, spokenFields(ctx, source, source.waitingSince));
    appendSystemLine(ctx, reduced, `${agent.name} made a message into ticket #${ticket.ticketNumber}.`);
    emitMove(ctx, { from: reduced, to: ticket, count: 1 });
    expectNotice(ctx, messageNoticeDeadline, ticket.id);
    ctx.audit({
      action: 'conversation.split',
      targetKind: 'conversation',
      targetId: source.id,
      context: { messageId: message.id, into: ticket.id },
    });
    return { conversation: conversationView(ticket) };
  },
);

function requireSplittable(ctx: Context, source: ConversationRecord, messageId: string): MessageRecord {
  const message = findMessage(ctx.db, messageId);
  if (message?.conversationId !== source.id) refuse('not_found');
  if (source.channel !== 'ticket')
    refuse('semantic_error', { message: 'Only messages in tickets can become tickets of their own.' });
  if (source.status === 'spam')
    refuse('illegal_status_transition', {
      message: 'This ticket is spam. Mark it as not spam first.',
      detail: { from: source.status },
    });
  if (message.senderType !== 'visitor')
    refuse('semantic_error', { message: "Only a customer's message can become a ticket of its own." });
  if (message.mail?.side !== undefined)
    refuse('semantic_error', {
      message: 'It answers a message that was forwarded, so it belongs to the conversation about this ticket.',
    });
  if (countMovable(ctx.db, source.id, 2) < 2)
    refuse('semantic_error', { message: 'It is the only message of this ticket.' });
  return message;
}

/** Answers go to whoever wrote the message, and to whom its mail named beside us. */
function openFor(
  ctx: Context,
  message: MessageRecord,
  { source, subject }: { source: ConversationRecord; subject: string },
): ConversationRecord {
  const thread = findMailThread(ctx.db, source.id);
  const received = findReceivedMail(ctx.db, message.id);
  const customer = ctx.state(visitorKind, message.senderId ?? '');
  const customerAddress =
    (customer?.id === source.visitorId ? thread?.customerAddress : undefined) ??
    // A form's mail is answered at the address that it names, and comes from one that no one reads.
    (received?.replyTo?.toLowerCase() === customer?.email?.toLowerCase() ? received?.replyTo : undefined) ??
    received?.fromAddress ??
    (customer && addressOf(ctx, customer))?.toLowerCase();
  if (customer === undefined || customerAddress === undefined)
    refuse('semantic_error', { message: 'No address is known that this message could be answered to.' });
  const ticket = openTicket(ctx, { customer, subject, departmentId: source.departmentId });
  startMailThread(ctx, ticket, {
    customerAddress,
    ourAddress: thread?.ourAddress,
    subjectKey: subjectKeyOf(subject),
  });
  const others = (message.mail?.copiedTo ?? []).filter(
    (address) => address !== customerAddress && takesMailAt(ctx, address) === undefined,
  );
  const isDisproved = received?.authentication?.dmarc === 'fail';
  const copiedTo = copiesAfter({ others, rule: 'new', isDisproved });
  addParticipants(ctx.db, ticket.id, [...(received === undefined ? [] : [received.fromAddress]), ...(copiedTo ?? [])]);
  return setCopies(ctx, ticket, copiedTo);
}
