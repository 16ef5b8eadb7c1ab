// Mail that commands leave in the outbox. Written here as plain parts; workers/providers/mail.ts makes the message of
// it.

import { dayMs, hourMs, takeIfRoom, takeRoom } from '../directory/ceilings.ts';
import { hostOf } from '../mail-addresses.ts';
import type { Context } from '../runtime/context.ts';

export interface Mail {
  /** Who gets it. */
  readonly to: string;
  /** Who else gets one of the same, each its own. */
  readonly cc?: readonly string[];
  /** Of one of those: the mail that it is a copy of, by its id in the outbox, and whom that is to. */
  readonly copyOf?: { readonly id: string; readonly to: string };
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  /** One of the workspace's own addresses; undefined is the service's. */
  readonly from?: string;
  /** The display name beside it. */
  readonly fromName?: string;
  /** Of the mail that this one answers, and of its whole thread; without brackets. */
  readonly inReplyTo?: string;
  readonly references?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** The text carries a link that lets somebody in. */
  readonly isSecret?: true;
  /** It invites this agent, on behalf of the other. */
  readonly invitation?: { readonly agentId: string; readonly invitedBy: string | null };
}

export const mailKind = 'mail';

/** A minute, then longer, for about a day. */
export const mailRetryDelaysMs: readonly number[] = [
  60_000,
  5 * 60_000,
  15 * 60_000,
  3600_000,
  3 * 3600_000,
  6 * 3600_000,
  12 * 3600_000,
];

/**
 * What the outbox remembers of a mail: its text only while somebody may want to send it again, and never a secret one.
 */
export function keptOfMail(mail: Mail, state: 'sent' | 'failed'): Partial<Mail> {
  const { to, cc, copyOf, invitation, subject } = mail;
  return state === 'sent' || mail.isSecret === true
    ? {
        to,
        ...(cc === undefined ? {} : { cc }),
        ...(copyOf === undefined ? {} : { copyOf }),
        ...(invitation === undefined ? {} : { invitation }),
        subject,
      }
    : mail;
}

/**
 * What a mail is written for. `unasked`: to an address of somebody's choosing, from where nobody wrote yet; `account`:
 * of an agent's own, which is never refused.
 */
export type MailPurpose = 'answer' | 'unasked' | 'invitation' | 'account';

/** To one address, in an hour. An agent who answers in many short messages does not get there. */
const perHour = { answer: 60, unasked: 30, invitation: 5 } as const;
/**
 * Of the mails of a day, those to addresses of somebody's choosing: who sells to strangers does not do it from here.
 */
const unaskedShare = 0.1;
const noticesPerDay = 50;

/**
 * Queues a mail; it leaves after the commit, in order per recipient. Returns its id. Refuses rate_limited when the
 * workspace, or this address, has had its mails.
 */
export function enqueueMail(
  ctx: Context,
  mail: Mail,
  { purpose, subjectId }: { purpose: MailPurpose; subjectId?: string },
): string {
  if (purpose !== 'account') requireRoomForMail(ctx, mail.to, purpose);
  return ctx.enqueue({
    kind: mailKind,
    target: `mail:${mail.to.toLowerCase()}`,
    payload: mail,
    ...(subjectId === undefined ? {} : { subjectId }),
  });
}

/**
 * Queues what an agent is told of its own account. Of a flood of it only so much is told, and then this is false; the
 * audit log has the rest.
 */
export function enqueueNotice(ctx: Context, mail: Mail): boolean {
  const isTold = takeIfRoom(ctx, { ceiling: 'notices_to_address', of: mail.to, limit: noticesPerDay, perMs: dayMs });
  if (isTold) enqueueMail(ctx, mail, { purpose: 'account' });
  return isTold;
}

function requireRoomForMail(ctx: Context, to: string, purpose: Exclude<MailPurpose, 'account'>): void {
  takeRoom(ctx, {
    ceiling: `${purpose}_mails_to_address`,
    of: to,
    limit: perHour[purpose],
    perMs: hourMs,
    message: `${to} has been sent so many mails in an hour that more must wait.`,
  });
  const perDay = ctx.ceilings?.['mailsPerDay'] ?? Number.POSITIVE_INFINITY;
  if (purpose !== 'answer') {
    const limit = Math.max(1, Math.floor(perDay * unaskedShare));
    takeRoom(ctx, {
      ceiling: 'unasked_mails',
      limit,
      perMs: dayMs,
      message: `This workspace has written first to ${limit} addresses in a day, as many as whoever runs this server allows.`,
    });
  }
  takeRoom(ctx, {
    ceiling: 'mails',
    limit: perDay,
    perMs: dayMs,
    message: `This workspace has sent ${perDay} mails in a day, as many as whoever runs this server allows.`,
  });
}

/** The Message-ID, without brackets, of a queued mail: its own id at the host it is sent from. */
export function mailIdOf(outboxId: string, from: string): string {
  return `${outboxId}@${hostOf(from)}`;
}

/** The queued mail that a Message-ID of ours names. */
export function outboxIdIn(mailId: string): string | undefined {
  return /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})@/.exec(mailId)?.[1];
}
