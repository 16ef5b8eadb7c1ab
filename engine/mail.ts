// Mail that commands leave in the outbox. Written here as plain parts; workers/providers/mail.ts makes the message of it.

import type { Context } from './runtime/context.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
  /** The display name beside the service's own address. */
  readonly fromName?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The text carries a link that lets somebody in. */
  readonly isSecret?: true;
}

export const mailKind = 'mail';

/** A minute, then longer, for about a day. */
export const mailRetryDelaysMs: readonly number[] = [60_000, 5 * 60_000, 15 * 60_000, 3600_000, 3 * 3600_000, 6 * 3600_000, 12 * 3600_000];

/** What the outbox remembers of a mail: its text only while somebody may want to send it again, and never a secret one. */
export function keptOfMail(mail: Mail, state: 'sent' | 'failed'): Partial<Mail> {
  const { to, subject } = mail;
  return state === 'sent' || mail.isSecret === true ? { to, subject } : mail;
}

/** Queues a mail; it leaves after the commit, in order per recipient. Returns its id. */
export function enqueueMail(ctx: Context, mail: Mail, options: { subjectId?: string } = {}): string {
  return ctx.enqueue({ kind: mailKind, target: `mail:${mail.to.toLowerCase()}`, payload: mail, ...options });
}
