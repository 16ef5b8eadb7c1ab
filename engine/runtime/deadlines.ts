// Runs what is due. A deadline is a row first and an alarm second: after a restart the rows that ran out meanwhile fire at
// once, the others on time. Its command deletes the row and acts in one transaction, so it happens once or, if it fails, again.

import { deleteDeadline, dueDeadlines, findDeadline } from '../../store/deadlines.ts';
import { Alarms } from './alarms.ts';
import { type Clock, isoTime } from './clock.ts';
import { command, type CommandDefinition, systemCaller } from './command.ts';
import type { Log } from './log.ts';
import type { Workspace } from './workspace.ts';

/** What a deadline's command is told. */
export interface DeadlineParams {
  readonly subjectId: string;
}

/** By the kind that setDeadline() named. */
export type DeadlineCommands = Readonly<Record<string, CommandDefinition<DeadlineParams, void>>>;

/** Deadlines read at a time. The rest follow as soon as these are done. */
const pageSize = 200;
/** A deadline whose command failed (a bug, a full disk) is tried again after so long. */
const retryMs = 30_000;

export class Deadlines {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #commands: DeadlineCommands;
  readonly #workspace: (workspaceId: string) => Workspace | undefined;
  readonly #alarms: Alarms;
  readonly #firing = new Set<string>();
  #stopped = false;

  constructor(options: { clock: Clock; log: Log; commands: DeadlineCommands; workspace: (workspaceId: string) => Workspace | undefined }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#commands = options.commands;
    this.#workspace = options.workspace;
    this.#alarms = new Alarms(options.clock, (workspaceId) => void this.#fire(workspaceId));
  }

  watch(workspaceId: string, dueMs: number): void {
    if (!this.#stopped) this.#alarms.set(workspaceId, dueMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#alarms.clear();
  }

  async #fire(workspaceId: string): Promise<void> {
    if (this.#firing.has(workspaceId) || this.#stopped) return;
    this.#firing.add(workspaceId);
    let failed = false;
    try {
      const workspace = this.#workspace(workspaceId);
      if (workspace === undefined) return;
      const due = dueDeadlines(workspace.db, isoTime(this.#clock.now()), pageSize);
      const outcomes = await Promise.all(due.map((row) => this.#run(workspace, row.kind, row.subjectId)));
      failed = outcomes.includes(false);
      const nextMs = workspace.earliest().deadlineMs;
      this.watch(workspaceId, failed ? Math.max(nextMs, this.#clock.now() + retryMs) : nextMs);
    } catch (error) {
      this.#log.error({ workspaceId, err: error }, 'deadlines could not be read');
      this.watch(workspaceId, this.#clock.now() + retryMs);
    } finally {
      this.#firing.delete(workspaceId);
    }
  }

  /** False when it failed and must be tried again. */
  #run(workspace: Workspace, kind: string, subjectId: string): Promise<boolean> {
    const definition = this.#commands[kind];
    if (definition === undefined) {
      this.#log.error({ workspaceId: workspace.workspaceId, kind, subjectId }, 'a deadline of a kind that nobody handles');
      return Promise.resolve(false);
    }
    const fire = command('deadline.fire', (ctx, _: object) => {
      // What was put off, cleared or fired since it was read is no longer due.
      const row = findDeadline(ctx.db, kind, subjectId);
      if (row === undefined || row.dueAt > ctx.at) return;
      deleteDeadline(ctx.db, kind, subjectId);
      definition.handle(ctx, { subjectId });
    });
    return new Promise((resolve) => {
      workspace.submit(fire, { caller: systemCaller, params: {} }, (error) => {
        if (error !== undefined) this.#log.error({ workspaceId: workspace.workspaceId, kind, subjectId, err: error }, 'a deadline failed');
        resolve(error === undefined);
      });
    });
  }
}
