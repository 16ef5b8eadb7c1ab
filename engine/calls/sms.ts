// Text messages that commands queue in the outbox; the carrier sends them.

import type { Context } from '../runtime/context.ts';

export interface Sms {
  /** E.164. */
  readonly to: string;
  readonly body: string;
}

export const smsKind = 'sms';

/** Most texts are codes that are valid for minutes. */
export const smsRetryDelaysMs: readonly number[] = [2000, 10_000, 30_000, 120_000];

/** Queues a text message; it leaves after the commit, in order per recipient. Returns its id. */
export function enqueueSms(ctx: Context, sms: Sms, options: { subjectId?: string } = {}): string {
  return ctx.enqueue({ kind: smsKind, target: `sms:${sms.to}`, payload: sms, ...options });
}
