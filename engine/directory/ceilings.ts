// Limits over minutes, hours and days, counted in rows, so that they survive a restart. They keep strangers from
// running up the operator's costs and one customer from affecting the others. A window begins with its first use;
// refused uses are not counted. RATE_LIMITS=off disables them all.

import { addToTally, findTally } from '../../store/workspace/tallies.ts';
import { refuse } from '../errors.ts';
import { isoTime } from '../runtime/clock.ts';
import type { View } from '../runtime/context.ts';
import { hashOf } from './compact-ids.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** A limit over a window of time. */
export interface Budget {
  /** The limit's name, for errors and metrics. */
  readonly ceiling: string;
  /** The subject that is counted, such as an address; by default the workspace. */
  readonly of?: string;
  readonly limit: number;
  readonly perMs: number;
  /** The message of the refusal: what there is too much of, and what to do. */
  readonly message: string;
}

type Counting = Pick<View, 'db' | 'ceilings' | 'nowMs'>;

/** Counts one. Refuses rate_limited at the limit. */
export function countAgainst(ctx: Counting, budget: Budget): void {
  requireBelow(ctx, budget);
  count(ctx, budget);
}

/** Counts one and returns true, or false at the limit, for limits that no one is notified of. */
export function countIfBelow(ctx: Counting, budget: Omit<Budget, 'message'>): boolean {
  if (endOfFull(ctx, budget) !== undefined) return false;
  count(ctx, budget);
  return true;
}

/** Refuses rate_limited at the limit. Counts nothing. */
export function requireBelow(view: Counting, budget: Budget): void {
  const endsAt = endOfFull(view, budget);
  if (endsAt === undefined) return;
  const retryAfter = Math.max(1, Math.ceil((Date.parse(endsAt) - view.nowMs) / 1000));
  refuse('rate_limited', {
    message: budget.message,
    detail: { ceiling: budget.ceiling, limit: budget.limit },
    retryAfter,
  });
}

function count(ctx: Counting, budget: Omit<Budget, 'message'>): void {
  if (ctx.ceilings === undefined) return;
  addToTally(ctx.db, keyOf(budget), { at: isoTime(ctx.nowMs), endsAt: isoTime(ctx.nowMs + budget.perMs) });
}

/** When a full window ends; undefined below the limit. */
function endOfFull(view: Counting, budget: Omit<Budget, 'message'>): string | undefined {
  if (view.ceilings === undefined) return undefined;
  const tally = findTally(view.db, keyOf(budget), isoTime(view.nowMs));
  return tally !== undefined && tally.count >= budget.limit ? tally.endsAt : undefined;
}

function keyOf({ ceiling, of }: Omit<Budget, 'message'>): { kind: string; subject: string } {
  return { kind: ceiling, subject: of === undefined ? '' : hashOf(of.toLowerCase()) };
}
