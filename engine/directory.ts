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
import type { Checkpoints } from './runtime/checkpoints.ts';
import { Lane, type LaneHooks } from './runtime/lane.ts';
import type { Log } from './runtime/log.ts';
import { refuse } from './errors.ts';

export interface DirectoryOptions {
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly checkpoints: Checkpoints;
  readonly syncToDisk?: SyncToDisk;
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
}

/** What the sweep asks of the workspaces' own files. `null`: the file cannot be read now. */
export interface WorkspaceFiles {
  emailOf(workspaceId: string, agentId: string): string | undefined | null;
  /** Whether the workspace came to be; false when its file is missing or empty. */
  isMade(workspaceId: string): boolean | null;
  /** Removes the file of one that did not. */
  remove(workspaceId: string): Promise<void>;
}

export class Directory {
  /** For reads; what they see may be one sync from durable. */
  readonly db: Database;
  readonly lane: Lane;
  readonly #clock: Clock;
  readonly #log: Log;

  constructor(options: DirectoryOptions) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.db = Database.openWriter(join(options.dataDir, 'directory.db'), directoryMigrations, options.syncToDisk);
    this.lane = new Lane(this.db, {
      onBroken: (error) => options.log.error({ err: error }, 'a change of the directory could not be committed'),
      onSyncFailed: options.onSyncFailed,
      onBatch: (figures) => {
        options.checkpoints.watch(this);
        options.onBatch?.(figures);
      },
    });
  }

  /** Which agent of which workspace signs in with this address; compared without case. */
  findEmail(email: string): DirectoryEmail | undefined {
    return findDirectoryEmail(this.db, email);
  }

  /** Takes a subdomain like `wanted` and the owner's email, makes the workspace's file, and confirms, or undoes it all. Refuses email_taken. */
  withWorkspace<Result>(wanted: WantedWorkspace, file: { make(subdomain: string): Promise<Result>; remove(): Promise<void> }): Promise<Result> {
    const { workspaceId, agentId, name, email } = wanted;
    let subdomain = wanted.subdomain;
    return this.around({
      reserve: () =>
        this.change((db, at) => {
          if (findDirectoryEmail(db, email) !== undefined) refuse('email_taken');
          for (let suffix = 2; subdomainTaken(db, subdomain); suffix += 1) subdomain = `${wanted.subdomain}-${suffix}`;
          insertDirectoryWorkspace(db, { id: workspaceId, name, subdomain, reservedAt: at, createdAt: at });
          insertDirectoryEmail(db, { email, workspaceId, agentId, reservedAt: at });
        }),
      work: () => file.make(subdomain),
      confirm: () =>
        this.change((db) => {
          confirmDirectoryWorkspace(db, workspaceId);
          confirmDirectoryEmail(db, { email, agentId });
        }),
      // The file first: while it is there, the sweep must find the reservation that leads to it.
      giveBack: async () => {
        await file.remove();
        await this.change((db) => {
          deleteDirectoryEmail(db, { email, agentId });
          deleteDirectoryWorkspace(db, workspaceId);
        });
      },
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

  /** Settles what a crash left reserved, by what the workspaces' own files say. What cannot be read now stays reserved. */
  async sweep(files: WorkspaceFiles): Promise<void> {
    const emails = reservedEmails(this.db).map((row) => ({ row, present: files.emailOf(row.workspaceId, row.agentId) }));
    const workspaces = reservedWorkspaces(this.db).map((row) => ({ row, isMade: files.isMade(row.id) }));
    if (emails.length + workspaces.length === 0) return;
    for (const { row, isMade } of workspaces) if (isMade === false) await files.remove(row.id);
    await this.change((db) => {
      for (const { row, present } of emails) if (present !== null) (present?.toLowerCase() === row.email.toLowerCase() ? confirmDirectoryEmail : deleteDirectoryEmail)(db, row);
      for (const { row, isMade } of workspaces) if (isMade !== null) (isMade ? confirmDirectoryWorkspace : deleteDirectoryWorkspace)(db, row.id);
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
    this.db.close();
  }
}
