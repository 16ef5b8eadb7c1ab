// The price of one-time codes and the remaining credit. A code is charged in the transaction that creates it, so only
// once however often delivery is retried, and refunded if delivery is given up. Decisions 4.21.

import { findVerifyCredits, putVerifyCredits, type VerifyCreditsRecord } from '../../store/verification/credits.ts';
import type { VerificationRecord } from '../../store/verification/verifications.ts';
import { refuse } from '../errors.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { requireAdmin } from '../workspace/access.ts';
import { auditChange } from '../workspace/audit.ts';

/** US cents per code, following usual carrier prices. */
export const codePriceCents: Readonly<Record<VerificationRecord['channel'], number>> = { email: 1, sms: 5, voice: 10 };

export interface CreditsView {
  readonly balanceCents: number | null;
  readonly spendCapCents: number | null;
  /** In this calendar month, UTC. */
  readonly spentCents: number;
}

/** Refuses admin_required. */
export function readCredits(view: View): CreditsView {
  requireAdmin(view);
  return viewOf(creditsNow(view));
}

/** Sets the named value and keeps the other. Refuses admin_required. */
export const changeCredits = command(
  'verifyCredits.update',
  (
    ctx,
    changes: { balanceCents?: number | null | undefined; spendCapCents?: number | null | undefined },
  ): CreditsView => {
    requireAdmin(ctx);
    const before = creditsNow(ctx);
    const after: VerifyCreditsRecord = {
      ...before,
      balanceCents: changes.balanceCents === undefined ? before.balanceCents : changes.balanceCents,
      spendCapCents: changes.spendCapCents === undefined ? before.spendCapCents : changes.spendCapCents,
    };
    putVerifyCredits(ctx.db, after);
    auditChange(ctx, {
      action: 'verify_credits.updated',
      targetKind: 'workspace',
      targetId: ctx.workspaceId,
      before: viewOf(before),
      after: viewOf(after),
    });
    return viewOf(after);
  },
);

/** Refuses insufficient_credits: the balance is used up, or the spend cap would be exceeded. */
export function requireCredit(view: Pick<View, 'db' | 'at'>, priceCents: number): void {
  const { balanceCents, spendCapCents, spentCents } = creditsNow(view);
  if (balanceCents !== null && balanceCents <= 0) refuse('insufficient_credits');
  if (spendCapCents !== null && spentCents + priceCents > spendCapCents)
    refuse('insufficient_credits', { message: "This month's spend cap is reached." });
}

/** The last code may make the balance negative. */
export function charge(ctx: Context, priceCents: number): void {
  const credits = creditsNow(ctx);
  putVerifyCredits(ctx.db, {
    ...credits,
    balanceCents: credits.balanceCents === null ? null : credits.balanceCents - priceCents,
    spentCents: credits.spentCents + priceCents,
  });
}

/** Refunds a code that was not sent. The spending of a past month is not corrected. */
export function refund(ctx: Context, paid: { cents: number; at: string }): void {
  const credits = creditsNow(ctx);
  const spentNow = paid.at.startsWith(credits.spentMonth) ? paid.cents : 0;
  putVerifyCredits(ctx.db, {
    ...credits,
    balanceCents: credits.balanceCents === null ? null : credits.balanceCents + paid.cents,
    spentCents: Math.max(0, credits.spentCents - spentNow),
  });
}

function creditsNow(view: Pick<View, 'db' | 'at'>): VerifyCreditsRecord {
  const month = view.at.slice(0, 'YYYY-MM'.length);
  const credits = findVerifyCredits(view.db) ?? {
    balanceCents: null,
    spendCapCents: null,
    spentCents: 0,
    spentMonth: month,
  };
  return credits.spentMonth === month ? credits : { ...credits, spentCents: 0, spentMonth: month };
}

function viewOf({ balanceCents, spendCapCents, spentCents }: VerifyCreditsRecord): CreditsView {
  return { balanceCents, spendCapCents, spentCents };
}
