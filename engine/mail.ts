// Mail that commands leave in the outbox. Written here as plain parts; workers/providers/mail.ts makes the message of it.

import { hostOf } from './mail-addresses.ts';
import type { Context } from './runtime/context.ts';

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
}

export const mailKind = 'mail';

/** A minute, then longer, for about a day. */
export const mailRetryDelaysMs: readonly number[] = [60_000, 5 * 60_000, 15 * 60_000, 3600_000, 3 * 3600_000, 6 * 3600_000, 12 * 3600_000];

/** What the outbox remembers of a mail: its text only while somebody may want to send it again, and never a secret one. */
export function keptOfMail(mail: Mail, state: 'sent' | 'failed'): Partial<Mail> {
  const { to, cc, copyOf, subject } = mail;
  return state === 'sent' || mail.isSecret === true ? { to, ...(cc === undefined ? {} : { cc }), ...(copyOf === undefined ? {} : { copyOf }), subject } : mail;
}

/** Queues a mail; it leaves after the commit, in order per recipient. Returns its id. */
export function enqueueMail(ctx: Context, mail: Mail, options: { subjectId?: string } = {}): string {
  return ctx.enqueue({ kind: mailKind, target: `mail:${mail.to.toLowerCase()}`, payload: mail, ...options });
}

/** The Message-ID, without brackets, of a queued mail: its own id at the host it is sent from. */
export function mailIdOf(outboxId: string, from: string): string {
  return `${outboxId}@${hostOf(from)}`;
}

/** The queued mail that a Message-ID of ours names. */
export function outboxIdIn(mailId: string): string | undefined {
  return /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})@/.exec(mailId)?.[1];
}
