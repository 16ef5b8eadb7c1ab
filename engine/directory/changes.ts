// Every change of directory.db, by name: plain data in, plain data out, so that any node may ask for one. Whichever node
// serves directory.db runs it, synchronously, in one transaction with nothing between its reads and its writes; an
// exception rolls it back. What a workspace's own file says is read before, by whoever asks. A settlement names the
// reservation that it settles by its time: come late, it leaves a newer one alone.

import type { Database } from '../../store/database.ts';
import {
  confirmDirectoryEmail,
  confirmDirectoryWorkspace,
  type DirectoryAgent,
  type DirectoryDomain,
  deleteDirectoryDomain,
  deleteDirectoryEmails,
  deleteDirectoryWorkspace,
  findDirectoryDomain,
  findDirectoryEmail,
  findDirectoryWorkspace,
  insertDirectoryDomain,
  insertDirectoryEmail,
  insertDirectoryWorkspace,
  isEmailReservedAt,
  reserveDirectoryEmails,
  subdomainTaken,
} from '../../store/directory/directory.ts';
import { type FolderKeyName, findFolderKey, putFolderKey } from '../../store/directory/folder-keys.ts';
import { deleteHelpHost, type HelpHostClaim, putHelpHost } from '../../store/directory/help-hosts.ts';
import {
  countDirectoryNumbers,
  deleteDirectoryNumber,
  findDirectoryNumber,
  insertDirectoryNumber,
  reserveDirectoryNumber,
  settleDirectoryNumber,
} from '../../store/directory/numbers.ts';
import { insertOperatorAudit, isOperatorAudited, type OperatorAuditRow } from '../../store/directory/operator-audit.ts';
import { refuse } from '../errors.ts';
import { isoTime } from '../runtime/clock.ts';
import { dayMs } from './ceilings.ts';
import { countClaimedMail } from './claimed-mails.ts';
import { type Registration, requireAdmission } from './registration.ts';
import { isReservedName } from './reserved-names.ts';
import { type EmailTaken, refuseTaken } from './taken-emails.ts';

export interface WantedWorkspace {
  readonly workspaceId: string;
  readonly agentId: string;
  readonly name: string;
  /** A number is appended if it is taken. */
  readonly subdomain: string;
  readonly email: string;
  /** By default, anyone may register. */
  readonly registration?: Registration;
}

export interface NumberClaim {
  readonly numberId: string;
  readonly e164: string;
  readonly workspaceId: string;
}

/** The outcome of a change of an agent's sign-in, by the workspace's file. */
export interface SettledSignIn extends DirectoryAgent {
  readonly reservedAt: string;
  /** What the agent signs in with; null: nothing. */
  readonly email: string | null;
}

export interface SettledWorkspace {
  readonly workspaceId: string;
  readonly isMade: boolean;
}

/** Workspaces of the same name distinguished by a number; later ones by a part of their id. */
const maxCounted = 20;
/** A carrier charges for at least a month, however soon a number is released. */
const paidForMs = 30 * dayMs;

export const changes = {
  /** Reserves a subdomain similar to the wanted one, which is returned, and the owner's email. */
  'reserve-workspace'(db, at, wanted: WantedWorkspace & { mailFrom: string }): string {
    const { workspaceId, agentId, name, email, registration } = wanted;
    const present = findDirectoryEmail(db, email);
    if (present !== undefined) refuseTaken('email_taken', present);
    if (registration !== undefined) requireAdmission(db, registration, { workspaceId, at });
    const subdomain = freeSubdomain(db, wanted);
    insertDirectoryWorkspace(db, { id: workspaceId, name, subdomain, reservedAt: at, createdAt: at });
    insertDirectoryEmail(db, { email, workspaceId, agentId, reservedAt: at });
    return subdomain;
  },

  'confirm-workspace'(db, _, owner: DirectoryAgent & { email: string }): void {
    confirmDirectoryWorkspace(db, owner.workspaceId);
    confirmDirectoryEmail(db, owner);
  },

  'cancel-workspace'(db, _, owner: DirectoryAgent): void {
    deleteDirectoryEmails(db, owner);
    deleteDirectoryWorkspace(db, owner.workspaceId);
  },

  /** Returns the reservation's time. Refuses `taken` if another agent has the future address. */
  'reserve-sign-in'(
    db,
    at,
    { email, taken, ...agent }: DirectoryAgent & { email?: string; taken: EmailTaken },
  ): string {
    reserveDirectoryEmails(db, agent, at);
    const present = email === undefined ? undefined : findDirectoryEmail(db, email);
    if (present !== undefined && present.agentId !== agent.agentId) refuseTaken(taken, present);
    if (email !== undefined && present === undefined) insertDirectoryEmail(db, { email, ...agent, reservedAt: at });
    return at;
  },

  'settle-sign-in': (db, _, signIn: SettledSignIn): void => settleSignIn(db, signIn),

  /** Those that were left. */
  'settle-reservations'(
    db,
    _,
    { signIns, workspaces }: { signIns: readonly SettledSignIn[]; workspaces: readonly SettledWorkspace[] },
  ): void {
    for (const signIn of signIns) settleSignIn(db, signIn);
    for (const { workspaceId, isMade } of workspaces) {
      if (isMade) confirmDirectoryWorkspace(db, workspaceId);
      else if (findDirectoryWorkspace(db, workspaceId)?.reservedAt !== null) deleteDirectoryWorkspace(db, workspaceId);
    }
  },

  /**
   * Returns the reservation's time. Refuses number_taken, and plan_limit for a workspace with `maxNumbers`, counting
   * those being claimed and those released within a month.
   */
  'reserve-number'(db, at, { maxNumbers, ...claim }: NumberClaim & { maxNumbers?: number }): string {
    if (findDirectoryNumber(db, claim.e164) !== undefined) refuse('number_taken');
    const { workspaceId } = claim;
    if (
      maxNumbers !== undefined &&
      countDirectoryNumbers(db, { workspaceId, at: isoTime(Date.parse(at) - paidForMs) }) >= maxNumbers
    )
      refuse('plan_limit', {
        message: `A workspace may have at most ${maxNumbers} numbers on this server, including those released in the last 30 days.`,
        detail: { ceiling: 'numbers', limit: maxNumbers },
      });
    insertDirectoryNumber(db, { ...claim, reservedAt: at, releasedAt: null });
    return at;
  },

  /** Returns the reservation's time. */
  'reserve-release'(db, at, { numberId }: { numberId: string }): string {
    reserveDirectoryNumber(db, numberId, at);
    return at;
  },

  'settle-number'(
    db,
    at,
    { numberId, reservedAt, isReleased }: { numberId: string; reservedAt: string; isReleased: boolean },
  ): void {
    settleDirectoryNumber(db, { numberId, reservedAt, releasedAt: isReleased ? at : null });
  },

  'forget-number'(db, _, { numberId }: { numberId: string }): void {
    deleteDirectoryNumber(db, numberId);
  },

  /** Returns whether the workspace has the domain now; another may have it. */
  'claim-domain'(db, _, domain: DirectoryDomain): boolean {
    const holder = findDirectoryDomain(db, domain.name);
    if (holder === undefined) insertDirectoryDomain(db, domain);
    return holder === undefined || holder.workspaceId === domain.workspaceId;
  },

  'release-domains'(db, _, { domains }: { domains: readonly DirectoryDomain[] }): void {
    for (const domain of domains) deleteDirectoryDomain(db, domain);
  },

  /** Returns the workspace that had it; null: none. */
  'claim-help-host'(db, _, claim: HelpHostClaim): string | null {
    return putHelpHost(db, claim) ?? null;
  },

  'release-help-host'(db, _, claim: HelpHostClaim): void {
    deleteHelpHost(db, claim);
  },

  /** Returns 0 if the mail may be sent, or the milliseconds until then. */
  'count-claimed-mail'(db, at, mail: { to: string; mailId: string }): number {
    return countClaimedMail(db, { ...mail, at });
  },

  /** Returns the former one; null: none. A former one stays, unless it is replaced. */
  'record-folder-key'(
    db,
    _,
    { name, fingerprint, replaces }: { name: FolderKeyName; fingerprint: string; replaces: boolean },
  ): string | null {
    const former = findFolderKey(db, name) ?? null;
    if (former === null || replaces) putFolderKey(db, { name, fingerprint });
    return former;
  },

  /** Once, however often it comes. */
  'note-operator-action'(db, at, entry: Omit<OperatorAuditRow, 'createdAt'>): void {
    if (!isOperatorAudited(db, entry.id)) insertOperatorAudit(db, { ...entry, createdAt: at });
  },

  /** Takes as long as any other. */
  nothing(_db, _at, _params: Record<string, never>): void {},
} satisfies Readonly<Record<string, (db: Database, at: string, params: never) => unknown>>;

export type ChangeName = keyof typeof changes;
export type ChangeParams<Name extends ChangeName> = Parameters<(typeof changes)[Name]>[2];
export type ChangeResult<Name extends ChangeName> = ReturnType<(typeof changes)[Name]>;

function settleSignIn(db: Database, { email, reservedAt, ...agent }: SettledSignIn): void {
  if (!isEmailReservedAt(db, agent, reservedAt)) return;
  if (email === null) deleteDirectoryEmails(db, agent);
  else confirmDirectoryEmail(db, { email, ...agent });
}

function freeSubdomain(
  db: Database,
  { workspaceId, subdomain, mailFrom }: WantedWorkspace & { mailFrom: string },
): string {
  const isFree = (name: string): boolean => !isReservedName(name, mailFrom) && !subdomainTaken(db, name);
  if (isFree(subdomain)) return subdomain;
  for (let suffix = 2; suffix <= maxCounted; suffix += 1) {
    const counted = `${subdomain}-${suffix}`;
    if (isFree(counted)) return counted;
  }
  return `${subdomain}-${workspaceId.slice(-12)}`;
}
