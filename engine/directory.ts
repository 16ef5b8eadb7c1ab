// The part of the service that no single workspace owns: unique subdomains and agent emails. A change that needs both this
// file and a workspace's reserves here, writes there, confirms here. The workspace's file is the truth: once it has the change
// the change holds, and confirming is tidying that is tried until it is done. What a crash leaves reserved is swept at start.

import { join } from 'node:path';
import { Database, type SyncToDisk } from '../store/database.ts';
import {
  confirmDirectoryEmail,
  confirmDirectoryWorkspace,
  deleteDirectoryEmail,
  deleteDirectoryWorkspace,
  type DirectoryEmail,
  findDirectoryEmail,
  insertDirectoryEmail,
  insertDirectoryWorkspace,
  reservedEmails,
  reservedWorkspaces,
  subdomainTaken,
} from '../store/directory.ts';
import { directoryMigrations } from '../store/migrations/directory.ts';
import { type Clock, isoTime } from './runtime/clock.ts';
import { Lane } from './runtime/lane.ts';
import type { Log } from './runtime/log.ts';
import { refuse } from './errors.ts';

export interface DirectoryOptions {
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly syncToDisk?: SyncToDisk;
  onSyncFailed(error: Error): void;
}

/** How the sweep learns what became of a reservation. */
export interface Reservations {
  /** Whether the workspace's file gives this address to this agent; undefined when the file cannot be read now. */
  isHeld(row: DirectoryEmail): boolean | undefined;
  /** Removes the file of a workspace that was never made. */
  discard(workspaceId: string): void;
}

/** Before tidying that the disk refused is tried again. */
const tidyAgainMs = 30_000;
/** Workspaces of one name that are told apart by counting; the rest by a piece of their id. */
const maxCounted = 20;

export class Directory {
  readonly #db: Database;
  readonly #lane: Lane;
  readonly #clock: Clock;
  readonly #log: Log;
  /** The last change of each agent's address that is under way. */
  readonly #turns = new Map<string, Promise<unknown>>();
  #stopped = false;

  constructor(options: DirectoryOptions) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#db = Database.openWriter(join(options.dataDir, 'directory.db'), directoryMigrations, options.syncToDisk);
    this.#lane = new Lane(this.#db, {
      onBroken: (error) => options.log.error({ err: error }, 'a change of the directory could not be committed'),
      onSyncFailed: options.onSyncFailed,
    });
  }

  /** Which agent of which workspace signs in with this address; compared without case. */
  findEmail(email: string): DirectoryEmail | undefined {
    return findDirectoryEmail(this.#db, email);
  }

  /**
   * Takes a subdomain like `wanted` and the owner's address, does the work that makes the workspace, and confirms both or gives
   * them back. Refuses email_taken.
   */
  async withWorkspace<Result>(wish: { workspaceId: string; agentId: string; name: string; wanted: string; email: string }, work: (subdomain: string) => Promise<Result>): Promise<Result> {
    const { workspaceId, agentId, email } = wish;
    const subdomain = await this.change((db, at) => {
      if (findDirectoryEmail(db, email) !== undefined) refuse('email_taken');
      const free = freeSubdomain(db, wish);
      insertDirectoryWorkspace(db, { id: workspaceId, name: wish.name, subdomain: free, reservedAt: at, createdAt: at });
      insertDirectoryEmail(db, { email, workspaceId, agentId, reservedAt: at });
      return free;
    });
    let result: Result;
    try {
      result = await work(subdomain);
    } catch (error) {
      await this.#tidy((db) => {
        deleteDirectoryEmail(db, { email, agentId });
        deleteDirectoryWorkspace(db, workspaceId);
      });
      throw error;
    }
    await this.#tidy((db) => {
      confirmDirectoryWorkspace(db, workspaceId);
      confirmDirectoryEmail(db, { email, agentId });
    });
    return result;
  }

  /**
   * Takes an address for an agent, does the work that writes it to the workspace, and confirms it (which forgets the agent's
   * former one) or gives it back. One at a time per agent. Refuses email_already_exists when anybody else has it.
   */
  withEmail<Result>(row: { email: string; workspaceId: string; agentId: string }, work: () => Promise<Result>): Promise<Result> {
    return this.#inTurn(row.agentId, async () => {
      await this.change((db, at) => {
        const present = findDirectoryEmail(db, row.email);
        if (present === undefined) insertDirectoryEmail(db, { ...row, reservedAt: at });
        else if (present.agentId !== row.agentId) refuse('email_already_exists');
      });
      let result: Result;
      try {
        result = await work();
      } catch (error) {
        await this.#tidy((db) => {
          // An address that was the agent's before stays so.
          if (findDirectoryEmail(db, row.email)?.reservedAt != null) deleteDirectoryEmail(db, row);
        });
        throw error;
      }
      await this.#tidy((db) => confirmDirectoryEmail(db, row));
      return result;
    });
  }

  /** Settles what a crash left reserved; leaves what cannot be known yet. */
  async sweep(reservations: Reservations): Promise<void> {
    const emails = reservedEmails(this.#db).map((row) => ({ row, isHeld: reservations.isHeld(row) }));
    const unknown = new Set(emails.filter(({ isHeld }) => isHeld === undefined).map(({ row }) => row.workspaceId));
    const made = new Set(emails.filter(({ isHeld }) => isHeld === true).map(({ row }) => row.workspaceId));
    const workspaces = reservedWorkspaces(this.#db).filter(({ id }) => !unknown.has(id));
    if (emails.length + workspaces.length === 0) return;
    // The file goes first: a crash in between leaves a reservation, which is swept again.
    for (const { id } of workspaces) if (!made.has(id)) reservations.discard(id);
    await this.change((db) => {
      for (const { row, isHeld } of emails) {
        if (isHeld === true) confirmDirectoryEmail(db, row);
        else if (isHeld === false) deleteDirectoryEmail(db, row);
      }
      for (const { id } of workspaces) {
        if (made.has(id)) confirmDirectoryWorkspace(db, id);
        else deleteDirectoryWorkspace(db, id);
      }
    });
  }

  /** Runs one synchronous change of directory.db and resolves when it is durable. What it throws undoes it. */
  change<Result>(run: (db: Database, at: string) => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      let result: Result;
      this.#lane.submit({
        run: () => {
          result = run(this.#db, isoTime(this.#clock.now()));
        },
        undo: () => {},
        settle: (error) => (error === undefined ? resolve(result) : reject(error)),
      });
    });
  }

  /** For reads; what they see may be one sync from durable. */
  get db(): Database {
    return this.#db;
  }

  async stop(): Promise<void> {
    await this.#lane.drained();
    this.#stopped = true;
    this.#db.close();
  }

  /** What must come but decides nothing: tried again while the disk refuses it, and by the sweep at the next start at the latest. */
  async #tidy(run: (db: Database) => void): Promise<void> {
    if (this.#stopped) return;
    try {
      await this.change(run);
    } catch (error) {
      this.#log.error({ err: error }, 'a reservation could not be settled and is tried again');
      this.#clock.after(tidyAgainMs, () => void this.#tidy(run));
    }
  }

  async #inTurn<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const mine = (this.#turns.get(key) ?? Promise.resolve()).then(work, work);
    this.#turns.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#turns.get(key) === mine) this.#turns.delete(key);
    }
  }
}

function freeSubdomain(db: Database, wish: { workspaceId: string; wanted: string }): string {
  if (!subdomainTaken(db, wish.wanted)) return wish.wanted;
  for (let suffix = 2; suffix <= maxCounted; suffix += 1) {
    const counted = `${wish.wanted}-${suffix}`;
    if (!subdomainTaken(db, counted)) return counted;
  }
  return `${wish.wanted}-${wish.workspaceId.slice(-12)}`;
}
