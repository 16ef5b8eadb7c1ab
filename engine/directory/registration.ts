// Who may register a workspace: anyone, holders of an operator's code, or no one. The first workspace is for whoever
// set the service up. Checked in the change of directory.db that reserves the workspace's name, so that two concurrent
// uses of one code cannot both succeed. Decisions, REGISTRATION.

import type { Database } from '../../store/database.ts';
import {
  findRegistrationCode,
  hasDirectoryWorkspaces,
  insertRegistrationCode,
} from '../../store/directory/directory.ts';
import { refuse, refuseField } from '../errors.ts';
import type { Ceilings } from '../runtime/context.ts';
import { countAgainst, dayMs } from './ceilings.ts';

export type RegistrationMode = 'open' | 'invite' | 'off';

export interface Registration {
  readonly mode: RegistrationMode;
  /** The service's limits; undefined: none. */
  readonly ceilings: Ceilings | undefined;
  /** The network of the request. */
  readonly network: string;
  /** The id of the operator's code; null for an invalid or expired code; undefined without one. */
  readonly codeId: string | null | undefined;
}

/** So that one network cannot use up the day's limit for all. */
const shareOfNetwork = 0.5;
const tooMany = 'Too many workspaces were registered today. Try again tomorrow, or ask the operator of this server.';

/** Checked before any work is done. Refuses forbidden if registration is closed, invalid_body without a valid code. */
export function requireMayRegister(db: Database, { mode, codeId }: Registration): void {
  const now = modeNow(db, mode);
  if (now === 'off') refuse('forbidden', { message: 'This server does not accept new workspaces.' });
  if (now === 'open') return;
  if (codeId === undefined)
    refuseField(
      'invalid_body',
      'inviteCode',
      'is required: registering on this server needs an invitation from its operator',
    );
  if (codeId === null || findRegistrationCode(db, codeId) !== undefined)
    refuseField('invalid_body', 'inviteCode', 'was used, has expired, or is not a code of this server');
}

/**
 * Counts the workspace, or uses up its code: an operator's code is exempt from the limits. Refuses as
 * requireMayRegister, and rate_limited.
 */
export function requireAdmission(
  db: Database,
  registration: Registration,
  { workspaceId, at }: { workspaceId: string; at: string },
): void {
  requireMayRegister(db, registration);
  const { mode, ceilings, network, codeId } = registration;
  if (modeNow(db, mode) === 'invite' && typeof codeId === 'string') {
    insertRegistrationCode(db, { id: codeId, workspaceId, usedAt: at });
    return;
  }
  const perDay = ceilings?.['workspacesPerDay'] ?? Number.POSITIVE_INFINITY;
  const counting = { db, ceilings, nowMs: Date.parse(at) };
  countAgainst(counting, { ceiling: 'workspaces', limit: perDay, perMs: dayMs, message: tooMany });
  countAgainst(counting, {
    ceiling: 'workspaces_of_network',
    of: network,
    limit: Math.max(1, Math.floor(perDay * shareOfNetwork)),
    perMs: dayMs,
    message: tooMany,
  });
}

/** The mode that currently applies. */
export function modeNow(db: Database, mode: RegistrationMode): RegistrationMode {
  return isEmptyServer(db) ? 'open' : mode;
}

/** The first workspace is yet to be made. */
export function isEmptyServer(db: Database): boolean {
  return !hasDirectoryWorkspaces(db);
}
