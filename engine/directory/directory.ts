// What no single workspace owns: unique subdomains, the addresses agents sign in with, and verified email domains. A
// change that needs both this file and a workspace's reserves here, writes there and confirms here. The workspace's
// file is authoritative: once it has the change, the change holds. Reservations left by a crash or a failing disk are
// swept: settled by what the workspace's file says.

import { join } from 'node:path';
import { Database, type SyncToDisk } from '../../store/database.ts';
import {
  confirmDirectoryEmail,
  confirmDirectoryWorkspace,
  type DirectoryDomain,
  type DirectoryEmail,
  deleteDirectoryDomain,
  deleteDirectoryEmails,
  deleteDirectoryWorkspace,
  directoryDomainsOf,
  findDirectoryDomain,
  findDirectoryEmail,
  findDirectoryWorkspace,
  findWorkspaceIdBySubdomain,
  insertDirectoryDomain,
  insertDirectoryEmail,
  insertDirectoryWorkspace,
  reserveDirectoryEmails,
  reservedEmails,
  reservedWorkspaces,
  subdomainTaken,
} from '../../store/directory/directory.ts';
import { deleteHelpHost, helpHostOf, helpHosts, putHelpHost } from '../../store/directory/help-hosts.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { refuse } from '../errors.ts';
import type { Checkpoints } from '../runtime/checkpoints.ts';
import { type Clock, isoTime } from '../runtime/clock.ts';
import { Lane, type LaneHooks } from '../runtime/lane.ts';
import type { Log } from '../runtime/log.ts';
import type { Slices } from '../runtime/slices.ts';
import { Turns } from '../runtime/turns.ts';
import { type Registration, requireAdmission } from './registration.ts';
import { isReservedName } from './reserved-names.ts';

export interface DirectoryOptions {
  readonly dataDir: string;
  /** The sender address of the service's own mail: its name is reserved. */
  readonly mailFrom: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly checkpoints: Checkpoints;
  readonly syncToDisk?: SyncToDisk;
  readonly slices?: Slices;
  onSyncFailed(error: Error): void;
  onBatch?: NonNullable<LaneHooks['onBatch']>;
}

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

/** Queries to the workspaces' own files. `null`: the file cannot be read now. */
export interface WorkspaceFiles {
  /**
   * The address that the agent signs in with; undefined for one who has not joined, was deactivated or does not exist.
   */
  emailOf(workspaceId: string, agentId: string): string | undefined | null;
  /** Whether the workspace's creation finished; false if its file is missing or empty. */
  isMade(workspaceId: string): boolean | null;
  /** Deletes the file of a workspace whose creation did not finish. */
  remove(workspaceId: string): Promise<void>;
}

/** Delay before unsettled reservations are swept. Doubles after each sweep that could not settle them. */
const sweepAfterMs = 30_000;
const longestSweepAfterMs = 10 * 60_000;
/** Workspaces of the same name distinguished by a number; later ones by a part of their id. */
const maxCounted = 20;

export class Directory {
  /** For reads, which may see changes one sync before they are durable. */
  readonly db: Database;
  readonly lane: Lane;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #mailFrom: string;
  /** Agents and workspaces with a change under way, which the sweep must leave alone. */
  readonly #underWay = new Set<string>();
  #files: WorkspaceFiles | undefined;
  /** Sweeps of reservations that other modules settle. */
  readonly #otherSweeps: (() => Promise<void>)[] = [];
  /** By this process. */
  readonly #claimedDomains = new Set<string>();
  /** Read at the first request and after each change. */
  #helpHosts: ReadonlyMap<string, string> | undefined;
  #failedSweeps = 0;
  #isSweepDue = false;
  /** Serialises changes of one agent's sign-in. */
  readonly #turns = new Turns();
  #stopped = false;

  constructor(options: DirectoryOptions) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#mailFrom = options.mailFrom;
    this.db = Database.openWriter(join(options.dataDir, 'directory.db'), directoryMigrations, options.syncToDisk);
    const hooks: LaneHooks = {
      onBroken: (error) => options.log.error({ err: error }, 'a change of the directory could not be committed'),
      onSyncFailed: options.onSyncFailed,
      onBatch: (figures) => {
        options.checkpoints.watch(this);
        options.onBatch?.(figures);
      },
    };
    this.lane = new Lane(this.db, hooks, options.slices);
  }

  /**
   * The agent and workspace of an address that signs in, or is about to, ignoring case. Excludes agents who are only
   * invited.
   */
  findEmail(email: string): DirectoryEmail | undefined {
    return findDirectoryEmail(this.db, email);
  }

  /**
   * Reserves a subdomain similar to the wanted one and the owner's email, creates the workspace's file and confirms, or
   * undoes it all. Refuses email_taken, and callers who may not register.
   */
  withWorkspace<Result>(
    wanted: WantedWorkspace,
    file: { make(subdomain: string): Promise<Result>; remove(): Promise<void> },
  ): Promise<Result> {
    const { workspaceId, agentId, name, email } = wanted;
    let subdomain = wanted.subdomain;
    return this.around([agentId, workspaceId], {
      reserve: () =>
        this.change((db, at) => {
          if (findDirectoryEmail(db, email) !== undefined) refuse('email_taken');
          if (wanted.registration !== undefined) requireAdmission(db, wanted.registration, { workspaceId, at });
          subdomain = freeSubdomain(db, wanted, this.#mailFrom);
          insertDirectoryWorkspace(db, { id: workspaceId, name, subdomain, reservedAt: at, createdAt: at });
          insertDirectoryEmail(db, { email, workspaceId, agentId, reservedAt: at });
        }),
      work: () => file.make(subdomain),
      confirm: () =>
        this.change((db) => {
          confirmDirectoryWorkspace(db, workspaceId);
          confirmDirectoryEmail(db, wanted);
        }),
      // The file goes first: while it exists, the sweep must find the reservation that points to it.
      undo: async () => {
        await file.remove();
        await this.change((db) => {
          deleteDirectoryEmails(db, wanted);
          deleteDirectoryWorkspace(db, workspaceId);
        });
      },
    });
  }

  /**
   * Wraps a change of an agent's sign-in: joining, a new address, or leaving. Reserves the future address, runs the
   * work that writes the workspace, and then stores the address in the workspace's file, which is none for an agent who
   * has not joined. One at a time per agent. Refuses `taken` if another agent has the address.
   */
  changeSignIn<Result>(
    agent: { agentId: string; workspaceId: string; email?: string; taken?: 'email_taken' | 'email_already_exists' },
    work: () => Promise<Result>,
  ): Promise<Result> {
    const { agentId, workspaceId, email, taken = 'email_already_exists' } = agent;
    const settle = () =>
      this.change((db) => {
        if (!this.#settleSignIn(db, agent)) throw new Error(`workspace ${workspaceId} cannot be read`);
      });
    const steps = {
      reserve: () =>
        this.change((db, at) => {
          reserveDirectoryEmails(db, agent, at);
          if (email === undefined) return;
          const present = findDirectoryEmail(db, email);
          if (present === undefined) insertDirectoryEmail(db, { email, workspaceId, agentId, reservedAt: at });
          else if (present.agentId !== agentId) refuse(taken);
        }),
      work,
      confirm: settle,
      undo: settle,
    };
    return this.#turns.take(agentId, () => this.around([agentId], steps));
  }

  /** Of an agent's addresses, keeps only the one it signs in with. Returns false if its file cannot be read now. */
  #settleSignIn(db: Database, { agentId, workspaceId }: { agentId: string; workspaceId: string }): boolean {
    const email = this.#files === undefined ? null : this.#files.emailOf(workspaceId, agentId);
    if (email === null) return false;
    if (email === undefined) deleteDirectoryEmails(db, { agentId, workspaceId });
    else confirmDirectoryEmail(db, { email, agentId, workspaceId });
    return true;
  }

  /**
   * A change of both files: reserves here, runs the work that writes the workspace, then confirms, or releases if the
   * work was refused. By then the outcome is decided, so a failure to confirm or release does not fail the change.
   */
  async around<Result>(
    ids: readonly string[],
    steps: { reserve(): Promise<void>; work(): Promise<Result>; confirm(): Promise<void>; undo(): Promise<void> },
  ): Promise<Result> {
    for (const id of ids) this.#underWay.add(id);
    let settle = steps.undo;
    try {
      await steps.reserve();
      try {
        const result = await steps.work();
        settle = steps.confirm;
        return result;
      } finally {
        await settle().catch((error: unknown) => this.sweepLater(error));
      }
    } finally {
      for (const id of ids) this.#underWay.delete(id);
    }
  }

  /** Adds a sweep. It rejects if it could not settle everything. */
  alsoSweep(sweep: () => Promise<void>): void {
    this.#otherSweeps.push(sweep);
  }

  /**
   * Whether a change of this agent, workspace or number is under way, so that the sweep must leave its reservation
   * alone.
   */
  isUnderWay(id: string): boolean {
    return this.#underWay.has(id);
  }

  sweepLater(error: unknown): void {
    this.#log.error({ err: error }, 'reservations could not be settled; a later sweep does it');
    if (this.#isSweepDue) return;
    this.#isSweepDue = true;
    this.#clock.after(
      Math.min(sweepAfterMs * 2 ** this.#failedSweeps, longestSweepAfterMs),
      () => void this.#sweepAll(),
    );
  }

  async #sweepAll(): Promise<void> {
    this.#isSweepDue = false;
    if (this.#files === undefined || this.#stopped) return;
    try {
      await this.sweep(this.#files);
      for (const sweep of this.#otherSweeps) await sweep();
      this.#failedSweeps = 0;
    } catch (error) {
      this.#failedSweeps += 1;
      this.sweepLater(error);
    }
  }

  /** Settles leftover reservations by the workspaces' own files. Those of unreadable files stay reserved. */
  async sweep(files: WorkspaceFiles): Promise<void> {
    this.#files = files;
    const isMade = (workspaceId: string): boolean | null =>
      this.isUnderWay(workspaceId) ? null : files.isMade(workspaceId);
    if (reservedEmails(this.db).length + reservedWorkspaces(this.db).length === 0) return;
    for (const { id } of reservedWorkspaces(this.db)) if (isMade(id) === false) await files.remove(id);
    await this.change((db) => {
      for (const row of reservedEmails(db)) if (!this.isUnderWay(row.agentId)) this.#settleSignIn(db, row);
      for (const { id } of reservedWorkspaces(db)) {
        const made = isMade(id);
        if (made === null) continue;
        if (made) confirmDirectoryWorkspace(db, id);
        else deleteDirectoryWorkspace(db, id);
      }
    });
  }

  /** Whether the workspace exists and its creation has finished. */
  isWorkspace(workspaceId: string): boolean {
    return findDirectoryWorkspace(this.db, workspaceId)?.reservedAt === null;
  }

  /** The workspace of a subdomain. */
  findSubdomain(subdomain: string): string | undefined {
    return findWorkspaceIdBySubdomain(this.db, subdomain);
  }

  /** The path of the help centre that the host of this header shows. */
  helpPathAt(header = ''): string | undefined {
    this.#helpHosts ??= new Map(
      helpHosts(this.db).map(({ host: known, subdomain }) => [known, `/help/${encodeURIComponent(subdomain)}`]),
    );
    if (this.#helpHosts.size === 0) return undefined;
    return this.#helpHosts.get(header.toLowerCase().replace(/\.?(?::\d+)?$/, ''));
  }

  /** The host that leads to the workspace's help centre. */
  helpHostOf(workspaceId: string): string | undefined {
    return helpHostOf(this.db, workspaceId);
  }

  /** Resolves to the workspace that had it. */
  async claimHelpHost(claim: { workspaceId: string; host: string }): Promise<string | undefined> {
    const former = await this.change((db) => putHelpHost(db, claim));
    this.#helpHosts = undefined;
    return former;
  }

  async releaseHelpHost(claim: { workspaceId: string; host: string }): Promise<void> {
    await this.change((db) => deleteHelpHost(db, claim));
    this.#helpHosts = undefined;
  }

  /** The workspace that verified a domain. */
  findDomain(name: string): string | undefined {
    return findDirectoryDomain(this.db, name)?.workspaceId;
  }

  /** Claims a verified domain for a workspace. Returns false if another one has it. */
  claimDomain(domain: { name: string; workspaceId: string }): Promise<boolean> {
    this.#claimedDomains.add(domain.name);
    return this.change((db) => {
      const holder = findDirectoryDomain(db, domain.name);
      if (holder === undefined) insertDirectoryDomain(db, domain);
      return holder === undefined || holder.workspaceId === domain.workspaceId;
    });
  }

  /** Releases every domain that the workspace holds except the one that it has verified. */
  async releaseDomains({
    workspaceId,
    verified,
  }: {
    workspaceId: string;
    verified: string | undefined;
  }): Promise<void> {
    await this.#deleteDomains(directoryDomainsOf(this.db, workspaceId).filter(({ name }) => name !== verified));
  }

  /**
   * The same for claims left by an ended process. `verified` was read from the workspace's file some time after the
   * start, so claims made since then stay. Not called for a workspace whose file cannot be read: it keeps its claims.
   */
  async settleDomains({ workspaceId, verified }: { workspaceId: string; verified: string | undefined }): Promise<void> {
    await this.#deleteDomains(
      directoryDomainsOf(this.db, workspaceId).filter(
        ({ name }) => name !== verified && !this.#claimedDomains.has(name),
      ),
    );
  }

  async #deleteDomains(left: readonly DirectoryDomain[]): Promise<void> {
    if (left.length === 0) return;
    await this.change((db) => {
      for (const domain of left) deleteDirectoryDomain(db, domain);
    });
  }

  /** Runs one synchronous change of directory.db and resolves when it is durable. An exception rolls it back. */
  change<Result>(run: (db: Database, at: string) => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      let result: Result;
      this.lane.submit({
        run: () => {
          result = run(this.db, isoTime(this.#clock.now()));
        },
        undo: () => {},
        settle: (error) => (error === undefined ? resolve(result) : reject(error)),
      });
    });
  }

  async stop(): Promise<void> {
    await this.lane.drained();
    this.#stopped = true;
    this.db.close();
  }
}

function freeSubdomain(db: Database, { workspaceId, subdomain }: WantedWorkspace, mailFrom: string): string {
  const isFree = (name: string): boolean => !isReservedName(name, mailFrom) && !subdomainTaken(db, name);
  if (isFree(subdomain)) return subdomain;
  for (let suffix = 2; suffix <= maxCounted; suffix += 1) {
    const counted = `${subdomain}-${suffix}`;
    if (isFree(counted)) return counted;
  }
  return `${subdomain}-${workspaceId.slice(-12)}`;
}
