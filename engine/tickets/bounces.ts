// Mail that came back. A report counts only when it names a mail that this workspace sent, whose id nobody can guess;
// so nobody can have somebody else's address suppressed. RFC 3464.

import { findOutbox } from '../../store/runtime/outbox.ts';
import type { Mail } from '../mail/outgoing.ts';
import { mailKind, outboxIdIn } from '../mail/outgoing.ts';
import { suppress } from '../mail/suppressions.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';
import { tellOfLostInvitation } from '../team/lost-invitations.ts';
import { failCopy, failDelivery } from './delivery.ts';

/** A delivery status report, as far as it matters. */
export interface Bounce {
  /** Message-IDs of the mail it is about, without brackets. */
  readonly mailIds: readonly string[];
  /** `failed` is the end of it; `delayed`, `relayed` and so on are not. */
  readonly action: string;
  /** RFC 3463, such as 5.1.1. */
  readonly status: string;
  readonly diagnostic: string;
  /** The address takes no mail at all; false when it was this mail that was not wanted. */
  readonly isOfAddress: boolean;
  /** Whom it did not reach, as far as the report says; another than it was sent to, where that one forwards. */
  readonly recipient: string | null;
}

/** Of a mail that the service wrote itself, whose return path names the workspace. */
export const receiveBounce = command('mail.receiveBounce', (ctx, { bounce }: { bounce: Bounce }): void =>
  takeBounce(ctx, bounce),
);

/** Marks the message that came back, and stops writing to the address when it will never take mail. */
export function takeBounce(ctx: Context, bounce: Bounce): void {
  if (bounce.action !== 'failed') return;
  for (const mailId of bounce.mailIds) {
    const outboxId = outboxIdIn(mailId);
    const sent = outboxId === undefined ? undefined : findOutbox(ctx.db, outboxId);
    if (sent === undefined || sent.kind !== mailKind) continue;
    // Written by enqueueMail() alone.
    const mail = JSON.parse(sent.payload) as Mail;
    const answer = `${bounce.status} ${bounce.diagnostic}`.trim();
    const to = recipientOf(mail, bounce);
    if (to !== undefined && bounce.isOfAddress) suppress(ctx, to, 'bounce', answer);
    if (sent.subjectId === null) return tellOfLostInvitation(ctx, mail, answer);
    if (to === mail.to) failDelivery(ctx, sent.subjectId, { to, answer });
    else failCopy(ctx, sent.subjectId, { to: to ?? bounce.recipient ?? 'somebody', answer });
    return;
  }
}

/**
 * Which of those that got the mail, all by the same Message-ID. Undefined when it cannot be told: none of several is
 * named.
 */
function recipientOf({ to, cc = [] }: Mail, { recipient }: Bounce): string | undefined {
  return cc.length === 0 ? to : [to, ...cc].find((address) => address.toLowerCase() === recipient?.toLowerCase());
}
