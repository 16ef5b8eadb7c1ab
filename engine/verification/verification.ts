// One-time codes: requested, sent after the commit, checked once. A code arrives as a hash and as sealed text that only
// its delivery opens; this file never sees one. A check is one command, so of several concurrent checks only one
// succeeds. Specification 3, 4.21, 7.

import { timingSafeEqual } from 'node:crypto';
import {
  findVerification,
  insertVerification,
  retireVerifications,
  updateVerification,
  type VerificationRecord,
  verificationPage,
} from '../../store/verification/verifications.ts';
import { maxCheckAttempts } from '../constants.ts';
import { refuse } from '../errors.ts';
import { canonicalAddress } from '../mail-addresses.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { charge } from './credits.ts';
import { enqueueCode } from './delivery.ts';
import { createGuards, priceOf, type WantedCode } from './guards.ts';
import { requireVerifyService, resolveVerifyService } from './services.ts';
import type { VerificationView } from './view.ts';
import { emitVerifyFailed } from './webhooks.ts';

export interface CreateCodeParams extends WantedCode {
  readonly verificationId: string;
  readonly codeHash: string;
  /** Null for a test key, whose code is public. */
  readonly sealedCode: string | null;
  /** The code's language; undefined: the workspace's. */
  readonly locale: string | undefined;
}

/** Refuses as the guards do. */
export const createVerification = command('verification.create', (ctx, wanted: CreateCodeParams): VerificationView => {
  const params = { ...wanted, to: wanted.channel === 'email' ? (canonicalAddress(wanted.to) ?? wanted.to) : wanted.to };
  for (const guard of createGuards) guard.require(ctx, params);
  const service = resolveVerifyService(ctx, params.serviceId);
  const priceCents = priceOf(params);
  const verification: VerificationRecord = {
    id: params.verificationId,
    serviceId: service.id,
    // The guards accept only channels that send.
    channel: params.channel as VerificationRecord['channel'],
    destination: params.to,
    country: params.country ?? null,
    sourceIp: params.sourceIp,
    isTest: params.isTest,
    codeHash: params.codeHash,
    status: 'pending',
    attempts: 0,
    chargedCents: priceCents,
    consumedAt: null,
    expiresAt: isoTime(ctx.nowMs + service.ttlSeconds * 1000),
    createdAt: ctx.at,
  };
  // Otherwise each request would add another code to guess. A check in the same millisecond must find them expired as
  // well.
  retireVerifications(ctx.db, verification, isoTime(ctx.nowMs - 1));
  insertVerification(ctx.db, verification);
  if (params.sealedCode !== null) {
    charge(ctx, priceCents);
    enqueueCode(ctx, {
      verification,
      sealedCode: params.sealedCode,
      ttlSeconds: service.ttlSeconds,
      locale: params.locale,
    });
  }
  return viewOf(verification, ctx.at);
});

export type CheckReason = 'bad_code' | 'already_used' | 'expired' | 'too_many_attempts';

export interface CheckOutcome {
  readonly id: string;
  readonly verified: boolean;
  /** Null when verified. */
  readonly reason: CheckReason | null;
}

/** A check's outcome and the resulting changes. */
type Verdict = {
  readonly reason: CheckReason | null;
  readonly next?: Partial<Pick<VerificationRecord, 'status' | 'attempts' | 'consumedAt'>>;
};

/** Decides a check, in this order: used, locked, expired, right, wrong. Specification 3, 7. */
export function judge(verification: VerificationRecord, check: { codeHash: string; at: string }): Verdict {
  if (verification.consumedAt !== null) return { reason: 'already_used' };
  // Locked for good; this takes precedence over expiry.
  if (verification.attempts >= maxCheckAttempts) return { reason: 'too_many_attempts' };
  if (check.at > verification.expiresAt) return { reason: 'expired', next: { status: 'expired' } };
  if (isSame(check.codeHash, verification.codeHash))
    return { reason: null, next: { status: 'verified', consumedAt: check.at } };
  const attempts = verification.attempts + 1;
  return attempts < maxCheckAttempts
    ? { reason: 'bad_code', next: { attempts } }
    : { reason: 'too_many_attempts', next: { attempts, status: 'failed' } };
}

/** Refuses not_found. */
export const checkVerification = command(
  'verification.check',
  (ctx, params: { verificationId: string; isTest: boolean; codeHash: string }): CheckOutcome => {
    const id = params.verificationId;
    const verification =
      findVerification(ctx.db, { id, isTest: params.isTest }) ??
      refuse('not_found', { detail: { id, verified: false, reason: 'not_found' } });
    const { reason, next } = judge(verification, { codeHash: params.codeHash, at: ctx.at });
    if (next !== undefined) settle(ctx, verification, { ...verification, ...next });
    return { id, verified: reason === null, reason };
  },
);

/** Refuses not_found. */
export function readVerification(view: View, key: { verificationId: string; isTest: boolean }): VerificationView {
  return viewOf(
    findVerification(view.db, { id: key.verificationId, isTest: key.isTest }) ?? refuse('not_found'),
    view.at,
  );
}

/** Newest first. Refuses service_not_found. */
export function listVerifications(
  view: View,
  page: { isTest: boolean; serviceId: string | undefined; limit: number },
): VerificationView[] {
  if (page.serviceId !== undefined) requireVerifyService(view, page.serviceId);
  return verificationPage(view.db, page).map((verification) => viewOf(verification, view.at));
}

function settle(ctx: Context, before: VerificationRecord, after: VerificationRecord): void {
  updateVerification(ctx.db, after);
  if (after.status === 'failed' && before.status !== 'failed')
    emitVerifyFailed(ctx, viewOf(after, ctx.at), after.isTest ? 'test' : 'live');
}

/** A verification that expired unchecked also reads as expired. */
function viewOf(verification: VerificationRecord, at: string): VerificationView {
  const { id, channel, destination, serviceId, attempts, consumedAt, expiresAt, createdAt } = verification;
  const status = verification.status === 'pending' && at > expiresAt ? 'expired' : verification.status;
  return {
    id,
    status,
    channel,
    to: destination,
    serviceId,
    verified: status === 'verified',
    attempts,
    consumedAt,
    expiresAt,
    createdAt,
  };
}

/** Compares in constant time. */
function isSame(given: string, stored: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(stored)];
  return a.length === b.length && timingSafeEqual(a, b);
}
