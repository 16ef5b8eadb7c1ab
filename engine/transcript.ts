// A conversation as a mail to read: its messages in order, without notes. Works in any status. Specification 4.5.

import type { MessageRecord } from '../store/messages.ts';
import { messagesBefore } from '../store/messages.ts';
import { requireReachable } from './conversation.ts';
import { enqueueMail } from './mail.ts';
import { theRoster } from './roster.ts';
import { command } from './runtime/command.ts';
import type { View } from './runtime/context.ts';
import { theWorkspace } from './workspace.ts';
import { visitorKind } from './visitors.ts';

/** Messages in a transcript at the most; the newest. At 10,000 characters each it stays below what mail servers take. */
const maxMessages = 500;
const maxChars = 2_000_000;

/** Queues the mail. Refuses not_found, forbidden. */
export const mailTranscript = command('conversation.emailTranscript', (ctx, params: { conversationId: string; to: string; subject: string }): { status: 'queued' } => {
  const { conversation } = requireReachable(ctx, params.conversationId);
  const newest = messagesBefore(ctx.db, { conversationId: conversation.id, before: undefined, limit: maxMessages + 1, withSystem: false });
  const shown = newest.slice(0, maxMessages).reverse();
  const customer = conversation.visitorId === null ? undefined : ctx.state(visitorKind, conversation.visitorId);
  const lines = shown.map((message) => `[${message.createdAt}] ${senderName(ctx, message, customer?.name ?? null)}\n${message.body}\n${message.attachments.map(({ url }) => `${url}\n`).join('')}`);
  const left = newest.length > maxMessages ? 'Earlier messages are left out.\n\n' : '';
  enqueueMail(ctx, { to: params.to, subject: params.subject, fromName: theWorkspace(ctx).name, text: (left + lines.join('\n')).slice(-maxChars) });
  return { status: 'queued' };
});

function senderName(view: Pick<View, 'state'>, message: MessageRecord, customerName: string | null): string {
  if (message.senderType === 'visitor') return customerName ?? 'Customer';
  const agent = message.senderId === null ? undefined : theRoster(view).agents.get(message.senderId);
  return agent?.name ?? theWorkspace(view).name;
}
