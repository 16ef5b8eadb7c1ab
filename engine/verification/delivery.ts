// Delivers one-time codes: queued sealed in the outbox, retried while they are valid, and charged when a mail server or
// a carrier accepted them.

import { findVerification, setChargedCents, type VerificationRecord } from '../../store/verification/verifications.ts';
import type { Context } from '../runtime/context.ts';
import { outboxKind } from '../runtime/kinds.ts';
import type { OutboxItem, OutboxOutcome } from '../runtime/outbox.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { refund } from './credits.ts';

export interface CodeToSend {
  readonly channel: VerificationRecord['channel'];
  readonly to: string;
  readonly sealedCode: string;
  readonly workspaceName: string;
  readonly ttlMinutes: number;
  readonly expiresAt: string;
  /** The code's language; absent in items from before it existed. */
  readonly locale?: string;
}

export const codeKind = outboxKind<CodeToSend>('verification', {
  // A code is valid for minutes.
  retryDelaysMs: [2000, 10_000, 30_000, 120_000],
  /** Not the code. */
  kept: ({ channel, to }) => ({ channel, to }),
});

export function enqueueCode(
  ctx: Context,
  sending: { verification: VerificationRecord; sealedCode: string; ttlSeconds: number; locale: string | undefined },
): void {
  const { name, locale } = theWorkspace(ctx);
  const { id, channel, destination, expiresAt } = sending.verification;
  ctx.enqueue(codeKind, {
    target: `verification:${destination.toLowerCase()}`,
    subjectId: id,
    payload: {
      channel,
      to: destination,
      sealedCode: sending.sealedCode,
      workspaceName: name,
      ttlMinutes: Math.ceil(sending.ttlSeconds / 60),
      expiresAt,
      locale: sending.locale ?? locale,
    },
  });
}

/**
 * An undelivered code is free, but counts against the caps: otherwise an unreachable number could be tried without end.
 */
export function settleCode(ctx: Context, item: OutboxItem, outcome: OutboxOutcome): void {
  if (outcome.state !== 'failed' || item.subjectId === null) return;
  const verification = findVerification(ctx.db, { id: item.subjectId, isTest: false });
  if (verification === undefined || verification.chargedCents === 0) return;
  refund(ctx, { cents: verification.chargedCents, at: verification.createdAt });
  setChargedCents(ctx.db, verification.id, 0);
}
