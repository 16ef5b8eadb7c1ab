// The part of the service that no single workspace owns: unique subdomains, the addresses that agents sign in with, and
// verified email domains. A change that needs both this file and a workspace's reserves here, writes there, confirms
// here. The workspace's file is the truth: once it has the change the change holds, and what a crash or a failing disk
// leaves reserved is swept: settled by what the workspace's file says.

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
  /** What the service's own mail comes from: no workspace is given its name. */
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
  /** Numbered when it is taken. */
  readonly subdomain: string;
  readonly email: string;
  /** Left out: whoever asks may. */
  readonly registration?: Registration;
}

/** What the directory asks of the workspaces' own files. `null`: the file cannot be read now. */
export interface WorkspaceFiles {
  /** What the agent signs in with; undefined for who has not joined, was deactivated, or is not there. */
  emailOf(workspaceId: string, agentId: string): string | undefined | null;
  /** Whether the workspace came to be; false when its file is missing or empty. */
  isMade(workspaceId: string): boolean | null;
  /** Removes the file of one that did not. */
  remove(workspaceId: string): Promise<void>;
}

/**
 * Before reservations that could not be settled are swept; twice as long after each sweep that could not settle them
 * either.
 */
const sweepAfterMs = 30_000;
const longestSweepAfterMs = 10 * 60_000;
/** Workspaces of one name that are told apart by counting; the rest by a piece of their id. */
const maxCounted = 20;

export class Directory {
  /** For reads; what they see may be one sync from durable. */
  readonly db: Database;
  readonly lane: Lane;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #mailFrom: string;
  /** Agents and workspaces whose change is under way: their reservations are not the sweep's. */
  readonly #underWay = new Set<string>();
  #files: WorkspaceFiles | undefined;
  /** Of reservations that other files know how to settle. */
  readonly #otherSweeps: (() => Promise<void>)[] = [];
  /** By this process. */
  readonly #claimedDomains = new Set<string>();
  #failedSweeps = 0;
  #isSweepDue = false;
  /** Changes of what one agent signs in with. */
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
   * Which agent of which workspace signs in with this address, or is about to; compared without case. Who was only
   * invited does not.
   */
  findEmail(email: string): DirectoryEmail | undefined {
    return findDirectoryEmail(this.db, email);
  }

  /**
   * Takes a subdomain like the wanted one and the owner's email, makes the workspace's file, and confirms, or undoes it
   * all. Refuses email_taken, and who may not register.
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
      // The file first: while it is there, the sweep must find the reservation that leads to it.
      giveBack: async () => {
        await file.remove();
        await this.change((db) => {
          deleteDirectoryEmails(db, wanted);
          deleteDirectoryWorkspace(db, workspaceId);
        });
      },
    });
  }

  /**
   * Around a change of what an agent signs in with: that it joins, gets another address, or leaves. Takes the address
   * it will have, does
   * the work that writes the workspace, and leaves here what the workspace's file says then: no address, for who has
   * not joined. One at a
   * time per agent. Refuses `taken` when somebody else has the address.
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
      giveBack: settle,
    };
    return this.#turns.take(agentId, () => this.around([agentId], steps));
  }

  /** Leaves of an agent's addresses the one it signs in with. False when its file cannot be read now. */
  #settleSignIn(db: Database, { agentId, workspaceId }: { agentId: string; workspaceId: string }): boolean {
    const email = this.#files === undefined ? null : this.#files.emailOf(workspaceId, agentId);
    if (email === null) return false;
    if (email === undefined) deleteDirectoryEmails(db, { agentId, workspaceId });
    else confirmDirectoryEmail(db, { email, agentId, workspaceId });
    return true;
  }

  /**
   * A change of both files: reserves here, does the work that writes the workspace, then confirms, or gives back when
   * the work
   * was refused. Neither of the two decides anything any more, so neither fails the change.
   */
  async around<Result>(
    ids: readonly string[],
    steps: { reserve(): Promise<void>; work(): Promise<Result>; confirm(): Promise<void>; giveBack(): Promise<void> },
  ): Promise<Result> {
    for (const id of ids) this.#underWay.add(id);
    let settle = steps.giveBack;
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

  /** What else is swept when a reservation could not be settled. Rejects when it could not settle everything. */
  alsoSweep(sweep: () => Promise<void>): void {
    this.#otherSweeps.push(sweep);
  }

  /** Whether a change of this agent, workspace or number goes on, so that its reservation is not the sweep's. */
  isUnderWay(id: string): boolean {
    return this.#underWay.has(id);
  }

  sweepLater(error: unknown): void {
    this.#log.error({ err: error }, 'reservations could not be settled; they are swept later');
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

  /** Settles what was left reserved, by what the workspaces' own files say. What cannot be read now stays reserved. */
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

  /** Whether there is such a workspace, and no longer only on its way. */
  isWorkspace(workspaceId: string): boolean {
    return findDirectoryWorkspace(this.db, workspaceId)?.reservedAt === null;
  }

  /** The workspace of a subdomain. */
  findSubdomain(subdomain: string): string | undefined {
    return findWorkspaceIdBySubdomain(this.db, subdomain);
  }

  /** The workspace that verified a domain. */
  findDomain(name: string): string | undefined {
    return findDirectoryDomain(this.db, name)?.workspaceId;
  }

  /** Takes a verified domain for a workspace. False when another one has it. */
  claimDomain(domain: { name: string; workspaceId: string }): Promise<boolean> {
    this.#claimedDomains.add(domain.name);
    return this.change((db) => {
      const holder = findDirectoryDomain(db, domain.name);
      if (holder === undefined) insertDirectoryDomain(db, domain);
      return holder === undefined || holder.workspaceId === domain.workspaceId;
    });
  }

  /** Gives back every domain that the workspace holds but the one that it has verified. */
  async giveBackDomains({
    workspaceId,
    verified,
  }: {
    workspaceId: string;
    verified: string | undefined;
  }): Promise<void> {
    await this.#deleteDomains(directoryDomainsOf(this.db, workspaceId).filter(({ name }) => name !== verified));
  }

  /**
   * The same for what an ended process left: `verified` is what was seen of the workspace's file some time after the
   * start, so what was
   * claimed since then stays. Nobody asks for a workspace whose file cannot be read: what it has stays its.
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

  /** Runs one synchronous change of directory.db and resolves when it is durable. What it throws undoes it. */
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
