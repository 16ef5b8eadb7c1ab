// TOTP factors (RFC 6238): enrolled with a sealed secret, checked by time step. Each step's code is valid once; too
// many wrong ones in a row lock the factor for a while. The edge determines a code's step. Decisions 4.21.

import type { Cursor } from '../../store/cursor.ts';
import {
  deleteVerifyFactor,
  type FactorFilter,
  findVerifyFactor,
  insertVerifyFactor,
  updateVerifyFactor,
  type VerifyFactorRecord,
  verifyFactorPage,
} from '../../store/verification/factors.ts';
import { findVerifyService } from '../../store/verification/services.ts';
import { maxCheckAttempts } from '../constants.ts';
import { refuse } from '../errors.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { View } from '../runtime/context.ts';
import { requireVerifyService, resolveVerifyService } from './services.ts';
import type { CheckOutcome } from './verification.ts';

/**
 * RFC 6238 §5.2 requires throttling. The fifth wrong code in a row locks the factor for a minute, and each further one
 * for twice as long.
 */
const firstLockMs = 60_000;
const longestLockMs = 24 * 3600_000;

export interface EnrolParams {
  readonly factorId: string;
  readonly identity: string;
  readonly serviceId: string | undefined;
  readonly isTest: boolean;
  readonly sealedSecret: string;
}

/** Refuses service_not_found, no_default_service, totp_not_enabled. */
export const enrolFactor = command('verifyFactor.enrol', (ctx, params: EnrolParams): void => {
  const service = resolveVerifyService(ctx, params.serviceId);
  if (!service.enabledChannels.includes('totp')) refuse('totp_not_enabled', { detail: { channel: 'totp' } });
  const { factorId: id, identity, isTest, sealedSecret } = params;
  insertVerifyFactor(ctx.db, {
    id,
    serviceId: service.id,
    identity,
    isTest,
    sealedSecret,
    lastStep: null,
    failures: 0,
    lockedUntil: null,
    createdAt: ctx.at,
  });
});

/** Refuses not_found, totp_not_enabled if its service no longer offers it. */
export function requireFactor(view: Pick<View, 'db'>, key: { factorId: string; isTest: boolean }): VerifyFactorRecord {
  const { factorId: id, isTest } = key;
  const factor =
    findVerifyFactor(view.db, { id, isTest }) ??
    refuse('not_found', { detail: { id, verified: false, reason: 'not_found' } });
  if (findVerifyService(view.db, factor.serviceId)?.enabledChannels.includes('totp') !== true)
    refuse('totp_not_enabled', { detail: { channel: 'totp' } });
  return factor;
}

/** `step` is the code's time step; null if it matches none near now. Refuses as requireFactor(). */
export const checkFactor = command(
  'verifyFactor.check',
  (ctx, params: { factorId: string; isTest: boolean; step: number | null }): CheckOutcome => {
    const factor = requireFactor(ctx, params);
    const { id, lastStep } = factor;
    const { step } = params;
    if (factor.lockedUntil !== null && ctx.at < factor.lockedUntil)
      return { id, verified: false, reason: 'too_many_attempts' };
    if (step === null) {
      const failures = factor.failures + 1;
      const isLocked = failures >= maxCheckAttempts;
      const lockMs = Math.min(firstLockMs * 2 ** (failures - maxCheckAttempts), longestLockMs);
      updateVerifyFactor(ctx.db, { ...factor, failures, lockedUntil: isLocked ? isoTime(ctx.nowMs + lockMs) : null });
      return { id, verified: false, reason: isLocked ? 'too_many_attempts' : 'bad_code' };
    }
    // A test key's code has no step of its own and can be repeated.
    if (!params.isTest && lastStep !== null && step <= lastStep) return { id, verified: false, reason: 'already_used' };
    updateVerifyFactor(ctx.db, { ...factor, lastStep: step, failures: 0, lockedUntil: null });
    return { id, verified: true, reason: null };
  },
);

export interface FactorView {
  readonly factorId: string;
  readonly serviceId: string;
  readonly identity: string;
  readonly lockedUntil: string | null;
  readonly createdAt: string;
}

/** Newest first, without secrets. Refuses service_not_found. */
export function listFactors(
  view: View,
  page: { filter: FactorFilter; cursor: Cursor | undefined; limit: number },
): VerifyFactorRecord[] {
  if (page.filter.serviceId !== undefined) requireVerifyService(view, page.filter.serviceId);
  return verifyFactorPage(view.db, page);
}

/** Refuses not_found. */
export function readFactor(view: View, { factorId: id, isTest }: { factorId: string; isTest: boolean }): FactorView {
  return factorView(findVerifyFactor(view.db, { id, isTest }) ?? refuse('not_found'), view.at);
}

/** Its codes become invalid. Refuses not_found. */
export const removeFactor = command(
  'verifyFactor.delete',
  (ctx, { factorId: id, isTest }: { factorId: string; isTest: boolean }): void => {
    const { serviceId, identity } = findVerifyFactor(ctx.db, { id, isTest }) ?? refuse('not_found');
    deleteVerifyFactor(ctx.db, id);
    ctx.audit({
      action: 'verify_factor.deleted',
      targetKind: 'verify_factor',
      targetId: id,
      before: { serviceId, identity },
    });
  },
);

/** An expired lock is not shown. */
export function factorView(
  { id, serviceId, identity, lockedUntil, createdAt }: VerifyFactorRecord,
  at: string,
): FactorView {
  return {
    factorId: id,
    serviceId,
    identity,
    lockedUntil: lockedUntil !== null && at < lockedUntil ? lockedUntil : null,
    createdAt,
  };
}
