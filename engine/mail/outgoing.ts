// Outgoing mail in the outbox, as plain parts; workers/providers/mail.ts builds the message.

import type { NotifyReason } from '../../store/workspace/notifications.ts';
import { countAgainst, countIfBelow, dayMs, hourMs } from '../directory/ceilings.ts';
import { hostOf } from '../mail-addresses.ts';
import type { Context } from '../runtime/context.ts';
import { outboxKind } from '../runtime/kinds.ts';

export interface Mail {
  /** The recipient. */
  readonly to: string;
  /** Further recipients; each gets a separate copy. `bcc` are in no header. */
  readonly alsoTo?: readonly string[];
  readonly cc?: readonly string[];
  readonly bcc?: readonly string[];
  /** On a copy: the outbox id and the recipient of the original mail. */
  readonly copyOf?: { readonly id: string; readonly to: string };
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  /** Of most of its words, such as `de-AT`; by default the workspace's, which is the agents', or English without `from`. */
  readonly language?: string;
  /** Of the words around `chatLink`. */
  readonly locale?: string;
  /** One of the workspace's own addresses; by default the service's. */
  readonly from?: string;
  /** The display name of the sender. */
  readonly fromName?: string;
  /** The mail that this one answers and its whole thread, without brackets. */
  readonly inReplyTo?: string;
  readonly references?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** A chat's answers: withdrawn if the customer sees them before the mail leaves. */
  readonly messageIds?: readonly string[];
  /** Ends with a link that proves the recipient's address to be this visitor's. */
  readonly chatLink?: { readonly visitorId: string; readonly email: string; readonly expiresAt: string };
  /** It tells this agent of work, and its header ends such mails for these reasons. */
  readonly notice?: { readonly agentId: string; readonly reasons: readonly NotifyReason[] };
  /** Someone only claimed the address, so it gets few such mails, from all workspaces together. */
  readonly isClaimed?: true;
  /** The text contains a link that grants access. */
  readonly isSecret?: true;
  /** The mail invites this agent on behalf of the other. */
  readonly invitation?: { readonly agentId: string; readonly invitedBy: string | null };
}

export const mailKind = outboxKind<Mail>('mail', {
  // From a minute up, for about a day.
  retryDelaysMs: [60_000, 5 * 60_000, 15 * 60_000, 3600_000, 3 * 3600_000, 6 * 3600_000, 12 * 3600_000],
  kept: keptOfMail,
});

/** The part of a mail that the outbox keeps: its text only while it may be resent, and never a secret one. */
function keptOfMail(mail: Mail, state: 'sent' | 'failed'): Partial<Mail> {
  const { to, alsoTo, cc, bcc, copyOf, invitation, messageIds, subject } = mail;
  return state === 'sent' || mail.isSecret === true
    ? {
        to,
        ...(alsoTo === undefined ? {} : { alsoTo }),
        ...(cc === undefined ? {} : { cc }),
        ...(bcc === undefined ? {} : { bcc }),
        ...(copyOf === undefined ? {} : { copyOf }),
        ...(invitation === undefined ? {} : { invitation }),
        ...(messageIds === undefined ? {} : { messageIds }),
        subject,
      }
    : mail;
}

/**
 * The purpose of a mail. `unasked`: to an address of the sender's choosing that has not written yet; `account`: to an
 * agent's own address, never refused.
 */
export type MailPurpose = 'answer' | 'unasked' | 'invitation' | 'account';

/** Per address and hour. An agent who answers in many short messages stays below it. */
const perHour = { answer: 60, unasked: 30, invitation: 5 } as const;
/** The share of a day's mails that may go to addresses of the sender's choosing, against unsolicited bulk mail. */
const unaskedShare = 0.1;
const noticesPerDay = 50;

/**
 * Queues a mail, to leave after the commit, in order per recipient. Returns its id. Refuses rate_limited at the limit
 * of the workspace or of this address.
 */
export function enqueueMail(
  ctx: Context,
  mail: Mail,
  { purpose, subjectId }: { purpose: MailPurpose; subjectId?: string },
): string {
  if (purpose !== 'account') countMail(ctx, mail.to, purpose);
  return ctx.enqueue(mailKind, {
    // Claimed ones may have to wait for hours, and other mail to the address does not wait for them.
    target: `${mail.isClaimed === true ? 'claimed-mail' : 'mail'}:${mail.to.toLowerCase()}`,
    payload: mail,
    ...(subjectId === undefined ? {} : { subjectId }),
  });
}

/** Queues a notice to an agent about its own account. Returns false beyond the limit; the audit log has them all. */
export function enqueueNotice(ctx: Context, mail: Mail): boolean {
  const isQueued = countIfBelow(ctx, {
    ceiling: 'notices_to_address',
    of: mail.to,
    limit: noticesPerDay,
    perMs: dayMs,
  });
  if (isQueued) enqueueMail(ctx, mail, { purpose: 'account' });
  return isQueued;
}

function countMail(ctx: Context, to: string, purpose: Exclude<MailPurpose, 'account'>): void {
  countAgainst(ctx, {
    ceiling: `${purpose}_mails_to_address`,
    of: to,
    limit: perHour[purpose],
    perMs: hourMs,
    message: `${to} was sent too many mails in an hour. Try again later.`,
  });
  const perDay = ctx.ceilings?.['mailsPerDay'] ?? Number.POSITIVE_INFINITY;
  if (purpose !== 'answer') {
    const limit = Math.max(1, Math.floor(perDay * unaskedShare));
    countAgainst(ctx, {
      ceiling: 'unasked_mails',
      limit,
      perMs: dayMs,
      message: `This workspace has started conversations with ${limit} addresses in a day, the limit set by the operator of this server.`,
    });
  }
  countAgainst(ctx, {
    ceiling: 'mails',
    limit: perDay,
    perMs: dayMs,
    message: `This workspace has sent ${perDay} mails in a day, the limit set by the operator of this server.`,
  });
}

/** The Message-ID, without brackets, of a queued mail: its own id at the host it is sent from. */
export function mailIdOf(outboxId: string, from: string): string {
  return `${outboxId}@${hostOf(from)}`;
}

/** The outbox id in a Message-ID of ours. */
export function outboxIdIn(mailId: string): string | undefined {
  return /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})@/.exec(mailId)?.[1];
}
