// Does the work that commands left for the world outside (mail, SMS, webhooks): after the commit, in order per target, a
// bounded number at a time, again with growing pauses until the kind's schedule ends. At least once: a crash between the
// deed and the row that records it repeats the deed under the same id, by which the receiver can tell.

import { type OutboxRow, dueOutbox, findOutbox, updateOutbox } from '../../store/outbox.ts';
import { Alarms } from './alarms.ts';
import { type Clock, isoTime } from './clock.ts';
import { command, systemCaller } from './command.ts';
import type { Context } from './context.ts';
import type { Log } from './log.ts';
import type { Workspace } from './workspace.ts';

export interface OutboxItem {
  readonly workspaceId: string;
  /** Stays the same over every attempt. */
  readonly id: string;
  readonly target: string;
  readonly subjectId: string | null;
  readonly payload: unknown;
  /** Attempts before this one. */
  readonly attempts: number;
  readonly createdAt: string;
}

export type OutboxOutcome = { readonly state: 'sent'; readonly answer: string } | { readonly state: 'retry' | 'failed'; readonly answer: string };

export interface OutboxKind {
  /** Does it, within a time limit of its own. Resolves to what the other side answered; throws OutsideFailure or any error to be tried again. */
  deliver(item: OutboxItem): Promise<string>;
  /** Pauses between attempts. When they are used up the item is kept as failed. */
  readonly retryDelaysMs: readonly number[];
  /** In the transaction that records the outcome of an attempt. */
  settled?(ctx: Context, item: OutboxItem, outcome: OutboxOutcome): void;
}

export type OutboxKinds = Readonly<Record<string, OutboxKind>>;

/** The other side said no. `permanent`: asking again would change nothing. */
export class OutsideFailure extends Error {
  override readonly name = 'OutsideFailure';
  readonly permanent: boolean;

  constructor(message: string, options: { permanent: boolean; cause?: unknown }) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.permanent = options.permanent;
  }
}

/** Deeds under way at once, so that a slow receiver of one workspace does not hold up another's. */
const maxPerWorkspace = 8;
const maxInAll = 64;
/** Up to this share of a pause is added at random, so that what failed together does not come back together. */
const jitter = 0.2;
const maxAnswerChars = 500;
/** Before the outbox is looked at again when its own file failed. */
const pauseAfterFailureMs = 30_000;

export class Outbox {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #kinds: OutboxKinds;
  readonly #workspace: (workspaceId: string) => Workspace | undefined;
  readonly #random: () => number;
  readonly #alarms: Alarms;
  readonly #underWay = new Map<string, Set<string>>();
  /** Workspaces that found the whole budget taken, in the order they came. */
  readonly #waiting = new Set<string>();
  #countInAll = 0;
  #stopped = false;

  constructor(options: { clock: Clock; log: Log; kinds: OutboxKinds; workspace: (workspaceId: string) => Workspace | undefined; random: () => number }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#kinds = options.kinds;
    this.#workspace = options.workspace;
    this.#random = options.random;
    this.#alarms = new Alarms(options.clock, (workspaceId) => this.#drain(workspaceId));
  }

  watch(workspaceId: string, nextMs: number): void {
    if (!this.#stopped) this.#alarms.set(workspaceId, nextMs);
  }

  get underWay(): number {
    return this.#countInAll;
  }

  /** Starts nothing more. What is under way is recorded if it ends in time, else done again after the restart. */
  stop(): void {
    this.#stopped = true;
    this.#alarms.clear();
  }

  #drain(workspaceId: string): void {
    if (this.#stopped) return;
    try {
      const workspace = this.#workspace(workspaceId);
      if (workspace === undefined) return;
      const mine = this.#underWay.get(workspaceId) ?? new Set();
      const now = this.#clock.now();
      const due = dueOutbox(workspace.db, isoTime(now), maxPerWorkspace + mine.size).filter((row) => !mine.has(row.id));
      for (const row of due) {
        if (mine.size >= maxPerWorkspace) break;
        if (this.#countInAll >= maxInAll) {
          this.#waiting.add(workspaceId);
          break;
        }
        mine.add(row.id);
        this.#underWay.set(workspaceId, mine);
        this.#countInAll += 1;
        void this.#attempt(workspaceId, row);
      }
      // Whatever is due and not started waits for one of those under way; what is due later, for its time.
      if (mine.size === 0) this.watch(workspaceId, Math.max(workspace.earliest().outboxMs, now + 1));
    } catch (error) {
      this.#log.error({ workspaceId, err: error }, 'the outbox could not be read');
      this.watch(workspaceId, this.#clock.now() + pauseAfterFailureMs);
    }
  }

  async #attempt(workspaceId: string, row: OutboxRow): Promise<void> {
    const kind = this.#kinds[row.kind];
    const item: OutboxItem = {
      workspaceId,
      id: row.id,
      target: row.target,
      subjectId: row.subjectId,
      payload: JSON.parse(row.payload),
      attempts: row.attempts,
      createdAt: row.createdAt,
    };
    let outcome: OutboxOutcome;
    try {
      if (kind === undefined) throw new OutsideFailure(`nothing here delivers ${row.kind}`, { permanent: true });
      outcome = { state: 'sent', answer: await kind.deliver(item) };
    } catch (error) {
      const permanent = (error instanceof OutsideFailure && error.permanent) || row.attempts >= (kind?.retryDelaysMs.length ?? 0);
      outcome = { state: permanent ? 'failed' : 'retry', answer: error instanceof Error ? error.message : String(error) };
      this.#log.warn({ workspaceId: item.workspaceId, outboxId: row.id, kind: row.kind, attempt: row.attempts + 1, outcome: outcome.state, err: error }, 'outside work failed');
    }
    const recorded = await this.#record(item, kind, outcome);
    // What was done but could not be recorded would be done again at once: give the disk time.
    if (recorded) this.#finish(workspaceId, row.id);
    else this.#clock.after(pauseAfterFailureMs, () => this.#finish(workspaceId, row.id));
  }

  #record(item: OutboxItem, kind: OutboxKind | undefined, outcome: OutboxOutcome): Promise<boolean> {
    const pauseMs = (kind?.retryDelaysMs[item.attempts] ?? 0) * (1 + jitter * this.#random());
    const record = command('outbox.record', (ctx, _: object) => {
      if (findOutbox(ctx.db, item.id)?.state !== 'queued') return;
      const retry = outcome.state === 'retry';
      updateOutbox(ctx.db, {
        id: item.id,
        state: outcome.state === 'retry' ? 'queued' : outcome.state,
        attempts: item.attempts + 1,
        nextAt: isoTime(ctx.nowMs + (retry ? pauseMs : 0)),
        lastAnswer: outcome.answer.slice(0, maxAnswerChars),
        settledAt: retry ? null : ctx.at,
      });
      kind?.settled?.(ctx, item, outcome);
    });
    return new Promise((resolve) => {
      const settle = (error: unknown): void => {
        if (error !== undefined) this.#log.error({ workspaceId: item.workspaceId, outboxId: item.id, err: error }, 'an outcome could not be recorded');
        resolve(error === undefined);
      };
      try {
        this.#workspace(item.workspaceId)?.submit(record, { caller: systemCaller, params: {} }, settle);
      } catch (error) {
        settle(error);
      }
    });
  }

  #finish(workspaceId: string, id: string): void {
    this.#countInAll -= 1;
    const mine = this.#underWay.get(workspaceId);
    mine?.delete(id);
    if (mine?.size === 0) this.#underWay.delete(workspaceId);
    const [next] = this.#waiting;
    if (next !== undefined) {
      this.#waiting.delete(next);
      this.#drain(next);
    }
    this.#drain(workspaceId);
  }
}
