// Copies attachments that an inbound provider keeps only for a while into our own storage, after the message that names
// them was written with their future address here.

import { findMessage } from '../../store/conversations/messages.ts';
import { settleMailed } from '../conversations/attachments.ts';
import { conversationKind } from '../conversations/conversation.ts';
import { appendSystemLine } from '../conversations/messages.ts';
import type { Context } from '../runtime/context.ts';
import { outboxKind } from '../runtime/kinds.ts';
import type { OutboxItem, OutboxOutcome } from '../runtime/outbox.ts';

export interface AttachmentCopy {
  readonly key: string;
  readonly sourceUrl: string;
  readonly contentType: string;
  readonly name: string;
}

export const copyKind = outboxKind<AttachmentCopy>('attachment-copy', {
  // Providers keep attachments for days. Retries go on for about nine hours.
  retryDelaysMs: [60_000, 5 * 60_000, 15 * 60_000, 3600_000, 8 * 3600_000],
});

/** Records a missing file where it is missed: in its conversation. */
export function settleCopy(ctx: Context, item: OutboxItem<AttachmentCopy>, outcome: OutboxOutcome): void {
  const { key, name } = item.payload;
  if (outcome.state !== 'retry') settleMailed(ctx, key, outcome.state === 'sent' ? Number(outcome.detail) : undefined);
  if (outcome.state !== 'failed' || item.subjectId === null) return;
  const message = findMessage(ctx.db, item.subjectId);
  const conversation = message === undefined ? undefined : ctx.state(conversationKind, message.conversationId);
  if (conversation !== undefined)
    appendSystemLine(ctx, conversation, `The attachment ${name} could not be fetched: ${outcome.answer}`);
}
