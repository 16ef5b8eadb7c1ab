// Mail that was queued for a conversation: recorded, so that an answer to it is found.

import { insertMail } from '../../store/mail/mails.ts';
import type { Context } from '../runtime/context.ts';
import { mailIdOf } from './outgoing.ts';

export interface SentMail {
  readonly outboxId: string;
  readonly conversationId: string;
  /** The last message that it is about. */
  readonly messageId: string;
  readonly from: string;
  readonly fromName: string | null;
  readonly to: readonly string[];
  readonly subject: string;
  /** Apart from the customer's thread. */
  readonly isSide?: boolean;
}

export function recordSent(ctx: Context, { outboxId, from, to, isSide = false, ...sent }: SentMail): void {
  insertMail(ctx.db, {
    ...sent,
    mailId: mailIdOf(outboxId, from),
    direction: 'out',
    fromAddress: from,
    replyTo: null,
    toAddresses: to,
    text: null,
    html: null,
    authentication: null,
    droppedFor: null,
    isSide,
    createdAt: ctx.at,
  });
}
