// Does the work that commands left for the world outside (mail, SMS, webhooks): after the commit, in order per target, a
// bounded number at a time, again with growing pauses until the kind's schedule ends. At least once: a crash between the
// deed and the row that records it repeats the deed under the same id, by which the receiver can tell.

import { isStorageFailure } from '../../store/database.ts';
import { type OutboxRow, dueOutbox, earliestOutboxAt, findOutbox, updateOutbox } from '../../store/outbox.ts';
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

export type OutboxOutcome =
  | { readonly state: 'sent'; readonly answer: string }
  /** `code` as the OutsideFailure named it. */
  | { readonly state: 'retry' | 'failed'; readonly answer: string; readonly code?: string };

export interface OutboxKind {
  /** Does it, within a time limit of its own. Resolves to what the other side answered; throws OutsideFailure or any error to be tried again. */
  deliver(item: OutboxItem): Promise<string>;
  /** Pauses between attempts. When they are used up the item is kept as failed. */
  readonly retryDelaysMs: readonly number[];
  /** What stays of the payload when nothing more will be done about it. All of it, unless this says otherwise. */
  kept?(payload: unknown, state: 'sent' | 'failed'): unknown;
  /** In the transaction that records the outcome of an attempt. */
  settled?(ctx: Context, item: OutboxItem, outcome: OutboxOutcome): void;
  /** For work that takes minutes: so many at once over all workspaces, counted apart, so that mail never waits for it. */
  readonly maxUnderWay?: number;
}

export type OutboxKinds = Readonly<Record<string, OutboxKind>>;

/** The other side said no. `permanent`: asking again would change nothing. `code`: for the kind's settled() to tell it by. */
export class OutsideFailure extends Error {
  override readonly name = 'OutsideFailure';
  readonly permanent: boolean;
  readonly code: string | undefined;

  constructor(message: string, options: { permanent: boolean; code?: string | undefined; cause?: unknown }) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.permanent = options.permanent;
    this.code = options.code;
  }
}

/** Deeds under way at once, so that a slow receiver of one workspace does not hold up another's. */
const maxPerWorkspace = 8;
const maxInAll = 64;
/** The budget of everything that has none of its own. */
const quick = 'quick';
/** Up to this share of a pause is added at random, so that what failed together does not come back together. */
const jitter = 0.2;
const maxAnswerChars = 500;
/** Before an outcome is recorded again, or the outbox looked at again, when its own file failed. */
const pauseAfterFailureMs = 30_000;

export class Outbox {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #kinds: OutboxKinds;
  readonly #workspace: (workspaceId: string) => Workspace | undefined;
  readonly #random: () => number;
  readonly #alarms: Alarms;
  /** By workspace, then by id: the budget that it counts against. */
  readonly #underWay = new Map<string, Map<string, string>>();
  readonly #counts = new Map<string, number>();
  /** By budget: the workspaces that found it used up, in the order they came. */
  readonly #waiting = new Map<string, Set<string>>();
  readonly #pauses = new Set<() => void>();
  #idle: (() => void)[] = [];
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
    let count = 0;
    for (const ofBudget of this.#counts.values()) count += ofBudget;
    return count;
  }

  /** Starts nothing more. What is under way is recorded if it ends in time, else done again after the restart. */
  stop(): void {
    this.#stopped = true;
    this.#alarms.clear();
    for (const wake of this.#pauses) wake();
  }

  /** Resolves when nothing quick is under way. Long work is not waited for. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#countOf(quick) === 0) resolve();
      else this.#idle.push(resolve);
    });
  }

  #drain(workspaceId: string): void {
    if (this.#stopped) return;
    try {
      const workspace = this.#workspace(workspaceId);
      if (workspace === undefined) return;
      const mine = this.#underWay.get(workspaceId) ?? new Map<string, string>();
      const at = isoTime(this.#clock.now());
      for (const row of dueOutbox(workspace.db, at, maxPerWorkspace + mine.size)) {
        if (mine.has(row.id)) continue;
        const { budget, limit } = this.#budgetOf(row);
        if (budget === quick && countOf(mine, quick) >= maxPerWorkspace) continue;
        if (this.#countOf(budget) >= limit) {
          this.#waiting.set(budget, (this.#waiting.get(budget) ?? new Set()).add(workspaceId));
          continue;
        }
        mine.set(row.id, budget);
        this.#underWay.set(workspaceId, mine);
        this.#counts.set(budget, this.#countOf(budget) + 1);
        void this.#attempt(workspaceId, row);
      }
      // Whatever is due and not started follows one that is under way; what is due later has its own time.
      const nextAt = earliestOutboxAt(workspace.db, at);
      if (nextAt !== undefined) this.watch(workspaceId, Date.parse(nextAt));
    } catch (error) {
      this.#log.error({ workspaceId, err: error }, 'the outbox could not be read');
      this.watch(workspaceId, this.#clock.now() + pauseAfterFailureMs);
    }
  }

  async #attempt(workspaceId: string, row: OutboxRow): Promise<void> {
    const kind = this.#kinds[row.kind];
    const { id, target, subjectId, attempts, createdAt } = row;
    let item: OutboxItem = { workspaceId, id, target, subjectId, payload: null, attempts, createdAt };
    let outcome: OutboxOutcome;
    try {
      item = { ...item, payload: JSON.parse(row.payload) };
      if (kind === undefined) throw new OutsideFailure(`nothing here delivers ${row.kind}`, { permanent: true });
      outcome = { state: 'sent', answer: await kind.deliver(item) };
    } catch (error) {
      const permanent = (error instanceof OutsideFailure && error.permanent) || attempts >= (kind?.retryDelaysMs.length ?? 0);
      const code = error instanceof OutsideFailure ? error.code : undefined;
      outcome = { state: permanent ? 'failed' : 'retry', answer: error instanceof Error ? error.message : String(error), ...(code === undefined ? {} : { code }) };
      this.#log.warn({ workspaceId, outboxId: id, kind: row.kind, attempt: attempts + 1, outcome: outcome.state, err: error }, 'outside work failed');
    }
    await this.#recordUntilDone(item, kind, outcome);
    this.#finish(workspaceId, id);
  }

  /** Until its outcome is recorded an item counts as under way: what was done must not be done again because a disk was full. */
  async #recordUntilDone(item: OutboxItem, kind: OutboxKind | undefined, outcome: OutboxOutcome): Promise<void> {
    let rules = kind;
    for (;;) {
      const failure = await this.#record(item, rules, outcome);
      if (failure === undefined) return;
      this.#log.error({ workspaceId: item.workspaceId, outboxId: item.id, err: failure.error }, 'an outcome could not be recorded');
      if (this.#stopped || failure.by === 'gone') return;
      // A rule that cannot take the outcome will not take it later either; the outcome itself is recorded all the same.
      if (failure.by === 'rule') rules = kind && { deliver: kind.deliver, retryDelaysMs: kind.retryDelaysMs, kept: () => null };
      else await this.#pause();
    }
  }

  #record(item: OutboxItem, kind: OutboxKind | undefined, outcome: OutboxOutcome): Promise<{ by: 'file' | 'rule' | 'gone'; error: unknown } | undefined> {
    const pauseMs = (kind?.retryDelaysMs[item.attempts] ?? 0) * (1 + jitter * this.#random());
    let isRules = false;
    const record = command('outbox.record', (ctx, _: object) => {
      // It may be run twice, when its batch is undone.
      isRules = false;
      const row = findOutbox(ctx.db, item.id);
      if (row?.state !== 'queued') return;
      const isOver = outcome.state !== 'retry';
      isRules = true;
      const kept = isOver && kind?.kept !== undefined ? JSON.stringify(kind.kept(item.payload, outcome.state)) : row.payload;
      isRules = false;
      updateOutbox(ctx.db, {
        id: item.id,
        payload: kept,
        state: isOver ? outcome.state : 'queued',
        attempts: item.attempts + 1,
        nextAt: isoTime(ctx.nowMs + (isOver ? 0 : pauseMs)),
        lastAnswer: outcome.answer.slice(0, maxAnswerChars),
        settledAt: isOver ? ctx.at : null,
      });
      isRules = true;
      kind?.settled?.(ctx, item, outcome);
      isRules = false;
    });
    return new Promise((resolve) => {
      const settle = (error: unknown): void => resolve(error === undefined ? undefined : { by: isRules && !isStorageFailure(error) ? 'rule' : 'file', error });
      try {
        const workspace = this.#workspace(item.workspaceId);
        if (workspace === undefined) resolve({ by: 'gone', error: new Error('its workspace is closed for good') });
        else workspace.submit(record, { caller: systemCaller, params: {} }, settle);
      } catch (error) {
        settle(error);
      }
    });
  }

  /** Ends early when the service stops. */
  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        timer.cancel();
        this.#pauses.delete(wake);
        resolve();
      };
      const timer = this.#clock.after(pauseAfterFailureMs, wake);
      this.#pauses.add(wake);
    });
  }

  #countOf(budget: string): number {
    return this.#counts.get(budget) ?? 0;
  }

  #budgetOf(row: OutboxRow): { budget: string; limit: number } {
    const own = this.#kinds[row.kind]?.maxUnderWay;
    return own === undefined ? { budget: quick, limit: maxInAll } : { budget: row.kind, limit: own };
  }

  #finish(workspaceId: string, id: string): void {
    const mine = this.#underWay.get(workspaceId);
    const budget = mine?.get(id) ?? quick;
    mine?.delete(id);
    if (mine?.size === 0) this.#underWay.delete(workspaceId);
    this.#counts.set(budget, this.#countOf(budget) - 1);
    const waiting = this.#waiting.get(budget);
    const [next] = waiting ?? [];
    if (next !== undefined) {
      waiting?.delete(next);
      this.#drain(next);
    }
    this.#drain(workspaceId);
    if (this.#countOf(quick) > 0) return;
    for (const resolve of this.#idle) resolve();
    this.#idle = [];
  }
}

function countOf(underWay: ReadonlyMap<string, string>, budget: string): number {
  let count = 0;
  for (const one of underWay.values()) if (one === budget) count += 1;
  return count;
}
