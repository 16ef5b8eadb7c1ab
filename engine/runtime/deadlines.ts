// Runs deadlines when they are due. A deadline is a row first and an alarm second: after a restart, those that passed
// meanwhile fire at once and the others on time. Its command deletes the row and acts in one transaction, so it fires
// exactly once. One that fails is postponed and does not delay the others.

import {
  type DeadlineRow,
  deleteDeadline,
  dueDeadlines,
  findDeadline,
  putDeadline,
} from '../../store/runtime/deadlines.ts';
import { Alarms } from './alarms.ts';
import { systemCaller } from './caller.ts';
import { type Clock, isoTime } from './clock.ts';
import { type CommandDefinition, command } from './command.ts';
import type { Context } from './context.ts';
import { Voided } from './lane.ts';
import type { Log } from './log.ts';
import type { Workspace } from './workspace.ts';

/** Parameters of a deadline's command. */
export interface DeadlineParams {
  readonly subjectId: string;
}

export type DeadlineCommand = CommandDefinition<DeadlineParams, void>;

/** By the name of the deadline. */
export type DeadlineCommands = Readonly<Record<string, DeadlineCommand>>;

/** Deadlines read at a time. The next page follows when these are done. */
const pageSize = 200;
/** Retry delay of a deadline whose command failed (a bug, a full disk). */
const retryMs = 30_000;

export class Deadlines {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #commands: DeadlineCommands;
  readonly #workspace: (workspaceId: string) => Workspace | undefined;
  readonly #whenOpen: (workspaceId: string) => Promise<void> | undefined;
  readonly #alarms: Alarms;
  readonly #firing = new Set<string>();
  #stopped = false;

  constructor(options: {
    clock: Clock;
    log: Log;
    commands: DeadlineCommands;
    workspace: (workspaceId: string) => Workspace | undefined;
    whenOpen: (workspaceId: string) => Promise<void> | undefined;
  }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#commands = options.commands;
    this.#workspace = options.workspace;
    this.#whenOpen = options.whenOpen;
    this.#alarms = new Alarms(options.clock, (workspaceId) => void this.#fire(workspaceId));
  }

  watch(workspaceId: string, dueMs: number): void {
    if (!this.#stopped) this.#alarms.set(workspaceId, dueMs);
  }

  /** Fires none of this workspace until the next watch(). */
  forget(workspaceId: string): void {
    this.#alarms.delete(workspaceId);
  }

  /** Workspaces with a deadline, the earliest first. */
  soonest(): string[] {
    return this.#alarms.inOrder();
  }

  stop(): void {
    this.#stopped = true;
    this.#alarms.clear();
  }

  async #fire(workspaceId: string): Promise<void> {
    if (this.#firing.has(workspaceId) || this.#stopped) return;
    this.#firing.add(workspaceId);
    try {
      // Queued: after a pause, thousands of workspaces may have something due at once.
      const opening = this.#whenOpen(workspaceId);
      if (opening !== undefined) await opening;
      if (this.#stopped) return;
      const workspace = this.#workspace(workspaceId);
      if (workspace === undefined) return;
      const due = dueDeadlines(workspace.db, isoTime(this.#clock.now()), pageSize);
      const outcomes = await Promise.all(due.map((row) => this.#run(workspace, row)));
      if (this.#workspace(workspaceId) !== workspace) return;
      const nextMs = workspace.earliest().deadlineMs;
      this.watch(workspaceId, outcomes.includes(false) ? Math.max(nextMs, this.#clock.now() + retryMs) : nextMs);
    } catch (error) {
      this.#log.error({ workspaceId, err: error }, 'deadlines could not be read');
      this.watch(workspaceId, this.#clock.now() + retryMs);
    } finally {
      this.#firing.delete(workspaceId);
    }
  }

  /** Returns false if the file accepts no writes at all, not even the postponement. */
  async #run(workspace: Workspace, row: DeadlineRow): Promise<boolean> {
    const { kind, subjectId } = row;
    const definition = this.#commands[kind];
    const error = await this.#submit(workspace, row, (ctx) => {
      if (definition === undefined) throw new Error('this program has no command for it');
      deleteDeadline(ctx.db, kind, subjectId);
      definition.handle(ctx, { subjectId });
    });
    // Voided: the node that serves the workspace now fires it.
    if (error === undefined || error instanceof Voided) return true;
    this.#log.error(
      { workspaceId: workspace.workspaceId, kind, subjectId, err: error },
      'a deadline failed; it is tried again',
    );
    return (
      (await this.#submit(workspace, row, (ctx) =>
        putDeadline(ctx.db, { kind, subjectId, dueAt: isoTime(ctx.nowMs + retryMs) }),
      )) === undefined
    );
  }

  /** Resolves to the error, if any. Skips a deadline that was moved, cleared or fired after it was read. */
  #submit(workspace: Workspace, { kind, subjectId }: DeadlineRow, act: (ctx: Context) => void): Promise<unknown> {
    const fire = command('deadline.fire', (ctx, _: object) => {
      const row = findDeadline(ctx.db, kind, subjectId);
      if (row !== undefined && row.dueAt <= ctx.at) act(ctx);
    });
    return new Promise((resolve) => {
      try {
        workspace.submit(fire, { caller: systemCaller, params: {} }, resolve);
      } catch (error) {
        // The lane is full.
        resolve(error);
      }
    });
  }
}
