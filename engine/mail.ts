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
}

export const mailKind = 'mail';

/** A minute, then longer, for about a day. */
export const mailRetryDelaysMs: readonly number[] = [60_000, 5 * 60_000, 15 * 60_000, 3600_000, 3 * 3600_000, 6 * 3600_000, 12 * 3600_000];

/** Queues a mail; it leaves after the commit, in order per recipient. Returns its id. */
export function enqueueMail(ctx: Context, mail: Mail, options: { subjectId?: string } = {}): string {
  return ctx.enqueue({ kind: mailKind, target: `mail:${mail.to.toLowerCase()}`, payload: mail, ...options });
}
