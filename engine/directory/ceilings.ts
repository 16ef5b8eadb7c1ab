// What is counted over minutes, hours and days in rows, so that strangers cost whoever runs the service nothing, nor
// one customer the others, and a restart forgets nothing. A time begins with the first that is counted and holds so
// many; what is refused is not counted. RATE_LIMITS=off lifts all of it.

import { addToTally, findTally } from '../../store/workspace/tallies.ts';
import { refuse } from '../errors.ts';
import { isoTime } from '../runtime/clock.ts';
import type { View } from '../runtime/context.ts';
import { hashOf } from './locator.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** What has room for so many in a time. */
export interface Room {
  /** What is counted, as refusals and figures name it. */
  readonly ceiling: string;
  /** Whose it is, such as an address; left out: the workspace's. */
  readonly of?: string;
  readonly limit: number;
  readonly perMs: number;
  /** Told to who is refused: what there is too much of, and what to do. */
  readonly message: string;
}

type Counting = Pick<View, 'db' | 'ceilings' | 'nowMs'>;

/** Counts one. Refuses rate_limited when there is no room left. */
export function takeRoom(ctx: Counting, room: Room): void {
  requireRoom(ctx, room);
  count(ctx, room);
}

/** Counts one and says true, or false when there is no room left, for what nobody is to be told of. */
export function takeIfRoom(ctx: Counting, room: Omit<Room, 'message'>): boolean {
  if (endOfFull(ctx, room) !== undefined) return false;
  count(ctx, room);
  return true;
}

/** Refuses rate_limited when there is no room left, and counts nothing. */
export function requireRoom(view: Counting, room: Room): void {
  const endsAt = endOfFull(view, room);
  if (endsAt === undefined) return;
  const retryAfter = Math.max(1, Math.ceil((Date.parse(endsAt) - view.nowMs) / 1000));
  refuse('rate_limited', { message: room.message, detail: { ceiling: room.ceiling, limit: room.limit }, retryAfter });
}

function count(ctx: Counting, room: Omit<Room, 'message'>): void {
  if (ctx.ceilings === undefined) return;
  addToTally(ctx.db, keyOf(room), { at: isoTime(ctx.nowMs), endsAt: isoTime(ctx.nowMs + room.perMs) });
}

/** When the time of what is full ends; undefined where there is room. */
function endOfFull(view: Counting, room: Omit<Room, 'message'>): string | undefined {
  if (view.ceilings === undefined) return undefined;
  const tally = findTally(view.db, keyOf(room), isoTime(view.nowMs));
  return tally !== undefined && tally.count >= room.limit ? tally.endsAt : undefined;
}

function keyOf({ ceiling, of }: Omit<Room, 'message'>): { kind: string; subject: string } {
  return { kind: ceiling, subject: of === undefined ? '' : hashOf(of.toLowerCase()) };
}
