// Who may make a workspace: anybody, who has a code of the operator, or nobody. The first workspace is for whoever set
// the service up. Asked in the change of directory.db that takes the workspace's name, so that of two at once for one
// code one has it. Decisions, REGISTRATION.

import type { Database } from '../../store/database.ts';
import {
  findRegistrationCode,
  hasDirectoryWorkspaces,
  insertRegistrationCode,
} from '../../store/directory/directory.ts';
import { refuse, refuseField } from '../errors.ts';
import type { Ceilings } from '../runtime/context.ts';
import { dayMs, takeRoom } from './ceilings.ts';

export type RegistrationMode = 'open' | 'invite' | 'off';

export interface Registration {
  readonly mode: RegistrationMode;
  /** Of the service; undefined: nothing is counted. */
  readonly ceilings: Ceilings | undefined;
  /** Where it comes from. */
  readonly network: string;
  /** Of the operator's code; null for a code that is none, or too old; undefined without one. */
  readonly codeId: string | null | undefined;
}

/** So that one network does not use up what a day allows to all. */
const shareOfNetwork = 0.5;
const tooMany = 'Enough workspaces were made today. Try again tomorrow, or ask whoever runs this server.';

/**
 * Before anything is done for whoever asks. Refuses forbidden where registration is closed, invalid_body without a code
 * that works.
 */
export function requireMayRegister(db: Database, { mode, codeId }: Registration): void {
  const now = modeNow(db, mode);
  if (now === 'off') refuse('forbidden', { message: 'This server takes no new workspaces.' });
  if (now === 'open') return;
  if (codeId === undefined)
    refuseField(
      'invalid_body',
      'inviteCode',
      'is needed: this server takes new workspaces by invitation of whoever runs it',
    );
  if (codeId === null || findRegistrationCode(db, codeId) !== undefined)
    refuseField('invalid_body', 'inviteCode', 'was used, is too old, or is no code of this server');
}

/**
 * Counts the workspace, or spends its code: who was invited by the operator is no stranger. Refuses as
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
  takeRoom(counting, { ceiling: 'workspaces', limit: perDay, perMs: dayMs, message: tooMany });
  takeRoom(counting, {
    ceiling: 'workspaces_of_network',
    of: network,
    limit: Math.max(1, Math.floor(perDay * shareOfNetwork)),
    perMs: dayMs,
    message: tooMany,
  });
}

/** What holds for who registers now. */
export function modeNow(db: Database, mode: RegistrationMode): RegistrationMode {
  return hasDirectoryWorkspaces(db) ? mode : 'open';
}
