// Phone numbers across all workspaces: each leads to one workspace. Reserved before the workspace's file is written,
// settled after. Former holders are kept, because events about their calls may still arrive.

import type { PhoneNumberRecord } from '../../store/calls/phone-numbers.ts';
import { findDirectoryWorkspace } from '../../store/directory/directory.ts';
import {
  type DirectoryNumber,
  directoryNumberHolders,
  findDirectoryNumber,
  reservedNumbers,
} from '../../store/directory/numbers.ts';
import type { NumberClaim } from './changes.ts';
import type { Directory } from './directory.ts';

/**
 * Former holders checked for a late event. Events end within days of a call, and a number does not change hands that
 * often.
 */
const maxHolders = 10;

/**
 * Workspaces that an event about this number may concern: the holder, then former holders, the latest first. Throws
 * NeededFromElsewhere before it says that there is none.
 */
export function workspacesOfNumber(directory: Directory, e164: string): string[] {
  const holders = [...new Set(directoryNumberHolders(directory.db, e164, maxHolders).map((row) => row.workspaceId))];
  if (holders.length === 0) directory.requireCurrent();
  return holders;
}

export function isNumberHeld(directory: Directory, e164: string): boolean {
  return findDirectoryNumber(directory.db, e164) !== undefined;
}

/**
 * Reserves the number and runs the work that buys it and writes it to the workspace. `undo` undoes a purchase.
 * Refuses number_taken, and plan_limit for a workspace with `maxNumbers`, counting those being claimed and those
 * released within a month.
 */
export function aroundClaim<Result>(
  directory: Directory,
  claim: NumberClaim & { maxNumbers?: number },
  steps: { work(): Promise<Result>; undo(): Promise<void> },
): Promise<Result> {
  const { numberId } = claim;
  return directory.around([numberId], {
    reserve: () => directory.change('reserve-number', claim),
    work: steps.work,
    confirm: (reservedAt) => directory.change('settle-number', { numberId, reservedAt, isReleased: false }),
    async undo() {
      await steps.undo();
      await forgetNumber(directory, numberId);
    },
  });
}

/** Runs the work that releases the number in its workspace, and then frees it for others. */
export function aroundRelease<Result>(
  directory: Directory,
  numberId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  return directory.around([numberId], {
    reserve: () => directory.change('reserve-release', { numberId }),
    work,
    confirm: (reservedAt) => directory.change('settle-number', { numberId, reservedAt, isReleased: true }),
    undo: (reservedAt) => directory.change('settle-number', { numberId, reservedAt, isReleased: false }),
  });
}

export function forgetNumber(directory: Directory, numberId: string): Promise<void> {
  return directory.change('forget-number', { numberId });
}

/**
 * Settles leftover reservations by what the workspace's file says of the number; null: it cannot be read now. Resolves
 * to numbers that no workspace has, which may have been bought and must be released at the carrier before they are
 * forgotten.
 */
export async function sweepNumbers(
  directory: Directory,
  statusOf: (row: DirectoryNumber) => PhoneNumberRecord['status'] | undefined | null,
): Promise<NumberClaim[]> {
  const orphans: NumberClaim[] = [];
  for (const row of reservedNumbers(directory.db)) {
    const { numberId, reservedAt } = row;
    // What a workspace has is known once it is settled itself.
    const isSettled = typeof findDirectoryWorkspace(directory.db, row.workspaceId)?.reservedAt !== 'string';
    if (directory.isUnderWay(numberId) || !isSettled) continue;
    const status = statusOf(row);
    if (status === undefined) orphans.push(row);
    else if (status === 'active' || status === 'released')
      await directory.change('settle-number', { numberId, reservedAt, isReleased: status === 'released' });
  }
  return orphans;
}
