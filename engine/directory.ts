// The part of the service that no single workspace owns: unique subdomains and agent emails. A change that needs both this
// file and a workspace's reserves here, writes there, confirms here; a crash between leaves a reservation that the sweep at
// start confirms or removes by looking at the workspace's file.

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

export class Directory {
  readonly #db: Database;
  readonly #lane: Lane;
  readonly #clock: Clock;
  readonly #log: Log;

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

  /** Takes a subdomain like `wanted` and the owner's email for a workspace about to be made. Refuses email_taken. */
  reserveWorkspace(reservation: { workspaceId: string; agentId: string; name: string; wanted: string; email: string }): Promise<{ subdomain: string }> {
    return this.change((db, at) => {
      if (findDirectoryEmail(db, reservation.email) !== undefined) refuse('email_taken');
      let subdomain = reservation.wanted;
      for (let suffix = 2; subdomainTaken(db, subdomain); suffix += 1) subdomain = `${reservation.wanted}-${suffix}`;
      insertDirectoryWorkspace(db, { id: reservation.workspaceId, name: reservation.name, subdomain, reservedAt: at, createdAt: at });
      insertDirectoryEmail(db, { email: reservation.email, workspaceId: reservation.workspaceId, agentId: reservation.agentId, reservedAt: at });
      return { subdomain };
    });
  }

  confirmWorkspace(ids: { workspaceId: string; agentId: string; email: string }): Promise<void> {
    return this.change((db) => {
      confirmDirectoryWorkspace(db, ids.workspaceId);
      confirmDirectoryEmail(db, ids);
    });
  }

  releaseWorkspace(ids: { workspaceId: string; agentId: string; email: string }): Promise<void> {
    return this.change((db) => {
      deleteDirectoryEmail(db, ids);
      deleteDirectoryWorkspace(db, ids.workspaceId);
    });
  }

  /** Takes an address for an agent of a workspace. Refuses email_already_exists when anybody else has it. */
  reserveEmail(row: { email: string; workspaceId: string; agentId: string }): Promise<void> {
    return this.change((db, at) => {
      const present = findDirectoryEmail(db, row.email);
      if (present?.agentId === row.agentId) return;
      if (present !== undefined) refuse('email_already_exists');
      insertDirectoryEmail(db, { ...row, reservedAt: at });
    });
  }

  /** Takes an address, does the work that writes it to the workspace, and confirms or gives it back. */
  withEmail<Result>(row: { email: string; workspaceId: string; agentId: string }, work: () => Promise<Result>): Promise<Result> {
    return this.around({
      reserve: () => this.reserveEmail(row),
      work,
      confirm: () => this.change((db) => confirmDirectoryEmail(db, row)),
      giveBack: () =>
        this.change((db) => {
          if (findDirectoryEmail(db, row.email)?.reservedAt != null) deleteDirectoryEmail(db, row);
        }),
    });
  }

  /**
   * A change of both files: reserves here, does the work that writes the workspace, then confirms, or gives back when the
   * work was refused. What cannot be settled now stays reserved, and the sweep at the next start settles it.
   */
  async around<Result>(steps: { reserve(): Promise<void>; work(): Promise<Result>; confirm(): Promise<void>; giveBack(): Promise<void> }): Promise<Result> {
    await steps.reserve();
    const settle = (step: () => Promise<void>): Promise<void> => step().catch((error: unknown) => this.#log.error({ err: error }, 'a reservation could not be settled; the next start will'));
    let result: Result;
    try {
      result = await steps.work();
    } catch (error) {
      await settle(steps.giveBack);
      throw error;
    }
    await settle(steps.confirm);
    return result;
  }

  /** Settles what a crash left reserved. `emailOf` reads the agent's present address from its workspace's file; null: the file cannot be read now. */
  async sweep(emailOf: (workspaceId: string, agentId: string) => string | undefined | null): Promise<void> {
    const emails = reservedEmails(this.#db);
    const workspaces = reservedWorkspaces(this.#db);
    if (emails.length + workspaces.length === 0) return;
    const held = new Map(emails.map((row) => [row.email, emailOf(row.workspaceId, row.agentId)]));
    await this.change((db) => {
      const made = new Set<string>();
      const unreadable = new Set<string>();
      for (const row of emails) {
        if (held.get(row.email) === null) unreadable.add(row.workspaceId);
        else if (held.get(row.email)?.toLowerCase() === row.email.toLowerCase()) {
          confirmDirectoryEmail(db, row);
          made.add(row.workspaceId);
        } else deleteDirectoryEmail(db, row);
      }
      for (const workspace of workspaces) {
        if (unreadable.has(workspace.id)) continue;
        if (made.has(workspace.id)) confirmDirectoryWorkspace(db, workspace.id);
        else deleteDirectoryWorkspace(db, workspace.id);
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
    this.#db.close();
  }
}
