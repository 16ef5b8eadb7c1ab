// Mails a conversation as a transcript: its messages in order, without notes. Works in any status. An answer to it from
// the conversation's customer lands there. Specification 4.5.

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import type { MessageRecord } from '../../store/conversations/messages.ts';
import { messagesBefore } from '../../store/conversations/messages.ts';
import { findMailThread } from '../../store/mail/mails.ts';
import { findSuppression } from '../../store/mail/suppressions.ts';
import { requireReachable } from '../conversations/conversation.ts';
import { addressOf, visitorKind } from '../customers/visitors.ts';
import { refuse } from '../errors.ts';
import { mailboxName } from '../lines.ts';
import { mainAddress } from '../mail/inbound-addresses.ts';
import { customerLocale, mailWordsFor } from '../mail/mail-words.ts';
import { enqueueMail } from '../mail/outgoing.ts';
import { recordSent } from '../mail/sent-mail.ts';
import { requireVersion } from '../preconditions.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { htmlOf } from '../text.ts';
import { theRoster } from '../workspace/roster.ts';
import { clockFor } from '../workspace/time-zones.ts';
import { theWorkspace } from '../workspace/workspace.ts';

/** Bounds on a transcript: the newest messages and their text. Mail servers accept ten times as much. */
const maxMessages = 500;
const maxChars = 1_000_000;

/** Queues the mail. Refuses not_found, forbidden, semantic_error for an address that accepts no mail. */
export const mailTranscript = command(
  'conversation.emailTranscript',
  (
    ctx,
    params: {
      conversationId: string;
      expectedVersion?: number | undefined;
      to: string;
      subject: string;
      namesCustomer: boolean;
    },
  ): { status: 'queued' } => {
    const { conversation } = requireReachable(ctx, params.conversationId);
    requireVersion(conversation, params.expectedVersion);
    if (findSuppression(ctx.db, params.to) !== undefined)
      refuse('semantic_error', {
        message: `Earlier mail to ${params.to} bounced; an admin can remove it from the suppressed addresses.`,
      });
    const { to, subject } = params;
    const isToCustomer = isCustomers(ctx, conversation, to);
    const locale = customerLocale(ctx, isToCustomer ? conversation.visitorId : null);
    const { text, lastId } = textOf(ctx, conversation, { namesCustomer: params.namesCustomer, locale });
    const from = mainAddress(ctx);
    const fromName = mailboxName(theWorkspace(ctx).name);
    // Generated, so machines must not answer it (RFC 3834).
    const headers = { 'Auto-Submitted': 'auto-generated' };
    // Filed under the conversation, so that erasing its customer finds it, whoever received it.
    const outboxId = enqueueMail(
      ctx,
      { to, subject, from, fromName, text, html: htmlOf(text), language: locale, headers },
      { purpose: 'unasked', subjectId: conversation.id },
    );
    if (lastId !== undefined && isToCustomer)
      recordSent(ctx, {
        outboxId,
        conversationId: conversation.id,
        messageId: lastId,
        from,
        fromName,
        to: [to],
        subject,
      });
    ctx.audit({
      action: 'conversation.transcript_mailed',
      targetKind: 'conversation',
      targetId: conversation.id,
      context: { to },
    });
    return { status: 'queued' };
  },
);

function textOf(
  ctx: Context,
  { id, visitorId }: ConversationRecord,
  { namesCustomer, locale }: { namesCustomer: boolean; locale: string },
): { text: string; lastId: string | undefined } {
  const read = messagesBefore(ctx.db, {
    conversationId: id,
    before: undefined,
    limit: maxMessages + 1,
    withSystem: false,
  });
  // Mails to and from others are not the customer's.
  const newest = read.filter(({ mail }) => mail?.side === undefined);
  const customer = visitorId === null || !namesCustomer ? undefined : ctx.state(visitorKind, visitorId);
  const words = mailWordsFor(locale);
  const clock = clockFor({ timezone: theWorkspace(ctx).timezone, locale });
  const parts: string[] = [];
  let chars = 0;
  for (const message of newest.slice(0, maxMessages)) {
    const part = partOf(message, {
      sender: senderName(ctx, message, customer?.name ?? words.customer),
      time: clock(message.createdAt),
    });
    chars += part.length;
    if (chars > maxChars) break;
    parts.unshift(part);
  }
  if (parts.length < newest.length || read.length > maxMessages) parts.unshift(`${words.leftOut}\n`);
  return { text: parts.join('\n'), lastId: newest[0]?.id };
}

/** Anyone else's answer is a ticket of its own. */
function isCustomers(ctx: Context, { id, channel, visitorId }: ConversationRecord, address: string): boolean {
  const visitor = channel !== 'chat' || visitorId === null ? undefined : ctx.state(visitorKind, visitorId);
  const own = visitor === undefined ? findMailThread(ctx.db, id)?.customerAddress : addressOf(ctx, visitor);
  return own?.toLowerCase() === address.toLowerCase();
}

function partOf(message: MessageRecord, { sender, time }: { sender: string; time: string }): string {
  return `[${time}] ${sender}\n${message.body}\n${message.attachments.map(({ url }) => `${url}\n`).join('')}`;
}

function senderName(view: Pick<View, 'state'>, message: MessageRecord, customerName: string): string {
  if (message.senderType === 'visitor') return customerName;
  const agent = message.senderId === null ? undefined : theRoster(view).agents.get(message.senderId);
  return agent?.name ?? theWorkspace(view).name;
}
