// Mails a conversation as a transcript: its messages in order, without notes. Works in any status. Specification 4.5.

import type { MessageRecord } from '../../store/conversations/messages.ts';
import { messagesBefore } from '../../store/conversations/messages.ts';
import { findSuppression } from '../../store/mail/suppressions.ts';
import { requireReachable } from '../conversations/conversation.ts';
import { visitorKind } from '../customers/visitors.ts';
import { refuse } from '../errors.ts';
import { mailboxName } from '../lines.ts';
import { mainAddress } from '../mail/inbound-addresses.ts';
import { enqueueMail } from '../mail/outgoing.ts';
import { requireVersion } from '../preconditions.ts';
import { command } from '../runtime/command.ts';
import type { View } from '../runtime/context.ts';
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
    const newest = messagesBefore(ctx.db, {
      conversationId: conversation.id,
      before: undefined,
      limit: maxMessages + 1,
      withSystem: false,
    });
    const customer =
      conversation.visitorId === null || !params.namesCustomer
        ? undefined
        : ctx.state(visitorKind, conversation.visitorId);
    const { timezone, locale } = theWorkspace(ctx);
    const clock = clockFor({ timezone, locale });
    const parts: string[] = [];
    let chars = 0;
    for (const message of newest.slice(0, maxMessages)) {
      const part = partOf(message, {
        sender: senderName(ctx, message, customer?.name ?? null),
        time: clock(message.createdAt),
      });
      chars += part.length;
      if (chars > maxChars) break;
      parts.unshift(part);
    }
    if (parts.length < newest.length) parts.unshift('Earlier messages are left out.\n');
    const text = parts.join('\n');
    // Filed under the conversation, so that erasing its customer finds it, whoever received it.
    enqueueMail(
      ctx,
      {
        to: params.to,
        subject: params.subject,
        from: mainAddress(ctx),
        fromName: mailboxName(theWorkspace(ctx).name),
        text,
        html: htmlOf(text),
        // Generated, so machines must not answer it (RFC 3834).
        headers: { 'Auto-Submitted': 'auto-generated' },
      },
      { purpose: 'unasked', subjectId: conversation.id },
    );
    ctx.audit({
      action: 'conversation.transcript_mailed',
      targetKind: 'conversation',
      targetId: conversation.id,
      context: { to: params.to },
    });
    return { status: 'queued' };
  },
);

function partOf(message: MessageRecord, { sender, time }: { sender: string; time: string }): string {
  return `[${time}] ${sender}\n${message.body}\n${message.attachments.map(({ url }) => `${url}\n`).join('')}`;
}

function senderName(view: Pick<View, 'state'>, message: MessageRecord, customerName: string | null): string {
  if (message.senderType === 'visitor') return customerName ?? 'Customer';
  const agent = message.senderId === null ? undefined : theRoster(view).agents.get(message.senderId);
  return agent?.name ?? theWorkspace(view).name;
}
