// Bounced mail. A report counts only if it names a mail that this workspace sent, whose id cannot be guessed, so an
// attacker cannot have another person's address suppressed. RFC 3464.

import { findOutbox } from '../../store/runtime/outbox.ts';
import type { Mail } from '../mail/outgoing.ts';
import { mailKind, outboxIdIn } from '../mail/outgoing.ts';
import { suppress } from '../mail/suppressions.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';
import { payloadOf } from '../runtime/kinds.ts';
import { notifyOfLostInvitation } from '../team/lost-invitations.ts';
import { failCopy, failDelivery } from './delivery.ts';

/** The parts of a delivery status report that are used. */
export interface Bounce {
  /** Message-IDs of the reported mail, without brackets. */
  readonly mailIds: readonly string[];
  /** `failed` is final; `delayed`, `relayed` and others are not. */
  readonly action: string;
  /** RFC 3463, such as 5.1.1. */
  readonly status: string;
  readonly diagnostic: string;
  /** The address accepts no mail at all; false if only this mail was refused. */
  readonly isOfAddress: boolean;
  /**
   * The recipient it did not reach, if the report says. Differs from the address it was sent to if that one forwards.
   */
  readonly recipient: string | null;
}

/** For mail that the service wrote itself, whose return path names the workspace. */
export const receiveBounce = command('mail.receiveBounce', (ctx, { bounce }: { bounce: Bounce }): void =>
  recordBounce(ctx, bounce),
);

/** Marks the message as bounced, and suppresses the address if it will never accept mail. */
export function recordBounce(ctx: Context, bounce: Bounce): void {
  if (bounce.action !== 'failed') return;
  for (const mailId of bounce.mailIds) {
    const outboxId = outboxIdIn(mailId);
    const sent = outboxId === undefined ? undefined : findOutbox(ctx.db, outboxId);
    const mail = sent && payloadOf(mailKind, sent);
    if (sent === undefined || mail === undefined) continue;
    const answer = `${bounce.status} ${bounce.diagnostic}`.trim();
    const to = recipientOf(mail, bounce);
    if (to !== undefined && bounce.isOfAddress) suppress(ctx, to, 'bounce', answer);
    if (sent.subjectId === null) return notifyOfLostInvitation(ctx, mail, answer);
    if (to === mail.to) failDelivery(ctx, mail.messageIds ?? [sent.subjectId], { to, answer });
    else failCopy(ctx, sent.subjectId, { to: to ?? bounce.recipient ?? 'one of its recipients', answer });
    return;
  }
}

/**
 * The recipient that bounced, among all who got the mail under one Message-ID. Undefined if the report names none of
 * several.
 */
function recipientOf({ to, alsoTo = [], cc = [], bcc = [] }: Mail, { recipient }: Bounce): string | undefined {
  const others = [...alsoTo, ...cc, ...bcc];
  return others.length === 0
    ? to
    : [to, ...others].find((address) => address.toLowerCase() === recipient?.toLowerCase());
}
