// Phone numbers across all workspaces: each leads to one workspace. Reserved before the workspace's file is written,
// settled after. Former holders are kept, because events about their calls may still arrive.

import type { PhoneNumberRecord } from '../../store/calls/phone-numbers.ts';
import {
  countDirectoryNumbers,
  type DirectoryNumber,
  deleteDirectoryNumber,
  directoryNumberHolders,
  findDirectoryNumber,
  insertDirectoryNumber,
  reservedNumbers,
  setDirectoryNumberReleased,
  setDirectoryNumberReserved,
} from '../../store/directory/numbers.ts';
import { refuse } from '../errors.ts';
import { isoTime } from '../runtime/clock.ts';
import { dayMs } from './ceilings.ts';
import type { Directory } from './directory.ts';

export interface NumberClaim {
  readonly numberId: string;
  readonly e164: string;
  readonly workspaceId: string;
}

/** A carrier charges for at least a month, however soon a number is released. */
const paidForMs = 30 * dayMs;

/**
 * Former holders checked for a late event. Events end within days of a call, and a number does not change hands that
 * often.
 */
const maxHolders = 10;

/** Workspaces that an event about this number may concern: the holder, then former holders, the latest first. */
export function workspacesOfNumber(directory: Directory, e164: string): string[] {
  return [...new Set(directoryNumberHolders(directory.db, e164, maxHolders).map((row) => row.workspaceId))];
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
  claim: NumberClaim & { maxNumbers: number },
  steps: { work(): Promise<Result>; undo(): Promise<void> },
): Promise<Result> {
  return directory.around([claim.numberId], {
    reserve: () =>
      directory.change((db, at) => {
        if (findDirectoryNumber(db, claim.e164) !== undefined) refuse('number_taken');
        const { maxNumbers, ...number } = claim;
        if (
          countDirectoryNumbers(db, { workspaceId: claim.workspaceId, at: isoTime(Date.parse(at) - paidForMs) }) >=
          maxNumbers
        )
          refuse('plan_limit', {
            message: `A workspace may have at most ${maxNumbers} numbers on this server, including those released in the last 30 days.`,
            detail: { ceiling: 'numbers', limit: maxNumbers },
          });
        insertDirectoryNumber(db, { ...number, reservedAt: at, releasedAt: null });
      }),
    work: steps.work,
    confirm: () => directory.change((db) => setDirectoryNumberReserved(db, claim.numberId, null)),
    async undo() {
      await steps.undo();
      await forgetNumber(directory, claim.numberId);
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
    reserve: () => directory.change((db, at) => setDirectoryNumberReserved(db, numberId, at)),
    work,
    confirm: () => directory.change((db, at) => setDirectoryNumberReleased(db, numberId, at)),
    undo: () => directory.change((db) => setDirectoryNumberReserved(db, numberId, null)),
  });
}

export function forgetNumber(directory: Directory, numberId: string): Promise<void> {
  return directory.change((db) => deleteDirectoryNumber(db, numberId));
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
  const left = reservedNumbers(directory.db).filter(({ numberId }) => !directory.isUnderWay(numberId));
  const rows = left.map((row) => ({ row, status: statusOf(row) }));
  const settled = rows.filter(({ status }) => status === 'active' || status === 'released');
  if (settled.length > 0) {
    await directory.change((db, at) => {
      for (const { row, status } of settled) {
        if (status === 'active') setDirectoryNumberReserved(db, row.numberId, null);
        else setDirectoryNumberReleased(db, row.numberId, at);
      }
    });
  }
  return rows.flatMap(({ row, status }) => (status === undefined ? [row] : []));
}
