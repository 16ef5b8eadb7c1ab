// Runs the outside work that commands queued (mail, webhooks): after the commit, in order per target, with bounded
// concurrency, retried with growing delays until the kind's schedule ends. At least once: a crash between the delivery
// and the row that records it repeats the delivery under the same id, by which the receiver can deduplicate.

import { isStorageFailure } from '../../store/database.ts';
import { dueOutbox, earliestOutboxAt, findOutbox, type OutboxRow, updateOutbox } from '../../store/runtime/outbox.ts';
import { Alarms } from './alarms.ts';
import { systemCaller } from './caller.ts';
import { type Clock, isoTime } from './clock.ts';
import { command } from './command.ts';
import type { Context } from './context.ts';
import type { OutboxRules } from './kinds.ts';
import { Voided } from './lane.ts';
import type { Log } from './log.ts';
import type { Workspace } from './workspace.ts';

export interface OutboxItem<Payload = unknown> {
  readonly workspaceId: string;
  /** The same for every attempt. */
  readonly id: string;
  readonly target: string;
  readonly subjectId: string | null;
  readonly payload: Payload;
  /** Attempts before this one. */
  readonly attempts: number;
  readonly createdAt: string;
  /**
   * Aborted when the workspace is about to be served by another node, which performs the item again. Work that takes
   * minutes ends then, and rejects.
   */
  readonly signal: AbortSignal;
}

/** `detail`: what the other side sent besides its answer, only for the kind's settled(). */
export type OutboxOutcome =
  | { readonly state: 'sent'; readonly answer: string; readonly detail?: string }
  /** `code` of the DeliveryError. */
  | {
      readonly state: 'retry' | 'failed';
      readonly answer: string;
      readonly code?: string;
      readonly detail?: string;
      readonly retryAfterMs?: number;
    };

export interface Delivered {
  readonly answer: string;
  readonly detail: string;
}

/** How a kind of outside work is performed. */
export interface OutboxJob<Payload = unknown> extends OutboxRules<Payload> {
  /**
   * Performs one attempt, within a time limit of its own. Resolves to the other side's answer. Throws DeliveryError, or
   * any other error to be retried.
   */
  deliver(item: OutboxItem<Payload>): Promise<string | Delivered>;
  /** Runs in the transaction that records an attempt's outcome. */
  settled?(ctx: Context, item: OutboxItem<Payload>, outcome: OutboxOutcome): void;
}

/** By the name of the kind. */
export type OutboxJobs = Readonly<Record<string, OutboxJob>>;

/**
 * The other side refused. `permanent`: retrying would not help. `code`: identifies the failure for the kind's
 * settled(). `retryAfterMs`: do not retry sooner. `detail`: the other side's own words, which are never logged.
 */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  readonly permanent: boolean;
  readonly code: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly #detail: string | undefined;

  constructor(
    message: string,
    options: {
      permanent: boolean;
      code?: string | undefined;
      retryAfterMs?: number | undefined;
      detail?: string | undefined;
      cause?: unknown;
    },
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.permanent = options.permanent;
    this.code = options.code;
    this.retryAfterMs = options.retryAfterMs;
    this.#detail = options.detail;
  }

  get detail(): string | undefined {
    return this.#detail;
  }
}

/** Whether there will be no retry: the failure is permanent or the delays are used up. */
export function isLastAttempt(
  kind: Pick<OutboxJob, 'retryDelaysMs'> | undefined,
  { attempts }: Pick<OutboxItem, 'attempts'>,
  error: unknown,
): boolean {
  return (error instanceof DeliveryError && error.permanent) || attempts >= (kind?.retryDelaysMs.length ?? 0);
}

/** Concurrent deliveries per workspace, so that one workspace's slow receiver does not delay another's. */
const maxPerWorkspace = 8;
const maxInAll = 64;
/** Up to this share of a delay is added at random, so that items that failed together do not retry together. */
const jitter = 0.2;
const maxAnswerChars = 500;
/** How long a workspace that goes to another node waits for attempts under way. One that takes longer is repeated there. */
const settleForMs = 10_000;
/** Delay before an outcome is recorded again, or the outbox read again, after its file failed. */
const pauseAfterFailureMs = 30_000;

/** Concurrency limits shared by some kinds. */
interface Budget {
  readonly maxInAll: number;
  readonly maxPerWorkspace: number;
  /** The kinds that count against it; with `isOthers`, all but these. */
  readonly kinds: readonly string[];
  readonly isOthers: boolean;
  /** Takes minutes: a stop does not wait for it. */
  readonly isLong: boolean;
  /** Workspaces that found it used up, first come first served. */
  readonly waiting: Set<string>;
  count: number;
}

export class Outbox {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #kinds: OutboxJobs;
  readonly #workspace: (workspaceId: string) => Workspace | undefined;
  readonly #whenOpen: (workspaceId: string) => Promise<void> | undefined;
  readonly #random: () => number;
  readonly #alarms: Alarms;
  readonly #budgets: readonly Budget[];
  /** By workspace, then by item id: the budget it counts against. */
  readonly #underWay = new Map<string, Map<string, Budget>>();
  readonly #pauses = new Set<() => void>();
  /** Workspaces about to be served by another node. */
  readonly #settling = new Set<string>();
  /** For as long as this node serves the workspace: aborted once it is about to leave. */
  readonly #terms = new Map<string, AbortController>();
  /** Called at the end of the next attempt. */
  readonly #finished: (() => void)[] = [];
  #idle: (() => void)[] = [];
  #stopped = false;

  constructor(options: {
    clock: Clock;
    log: Log;
    kinds: OutboxJobs;
    workspace: (workspaceId: string) => Workspace | undefined;
    whenOpen: (workspaceId: string) => Promise<void> | undefined;
    random: () => number;
  }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#kinds = options.kinds;
    this.#budgets = budgetsOf(options.kinds);
    this.#workspace = options.workspace;
    this.#whenOpen = options.whenOpen;
    this.#random = options.random;
    this.#alarms = new Alarms(options.clock, (workspaceId) => this.#drain(workspaceId));
  }

  watch(workspaceId: string, nextMs: number): void {
    if (!this.#stopped) this.#alarms.set(workspaceId, nextMs);
  }

  /**
   * Starts nothing more of this workspace, until forget(), and tells long work to end. Resolves when what is under way is
   * recorded or has ended, or after a while.
   */
  async settle(workspaceId: string): Promise<void> {
    this.#settling.add(workspaceId);
    this.#terms.get(workspaceId)?.abort(new Error('another node goes on'));
    let isTimeUp = false;
    const timer = this.#clock.after(settleForMs, () => {
      isTimeUp = true;
      this.#tellFinished();
    });
    while (this.#underWay.has(workspaceId) && !isTimeUp)
      await new Promise<void>((resolve) => this.#finished.push(resolve));
    timer.cancel();
  }

  /** The workspace is served here no more. What is under way ends, and its outcome is recorded by nobody. */
  forget(workspaceId: string): void {
    this.#alarms.delete(workspaceId);
    this.#settling.delete(workspaceId);
    this.#terms.get(workspaceId)?.abort(new Error('another node goes on'));
    this.#terms.delete(workspaceId);
  }

  #termOf(workspaceId: string): AbortController {
    const term = this.#terms.get(workspaceId) ?? new AbortController();
    this.#terms.set(workspaceId, term);
    return term;
  }

  #tellFinished(): void {
    for (const resolve of this.#finished.splice(0)) resolve();
  }

  /** Whether this workspace has items under way or scheduled. */
  isAtWork(workspaceId: string): boolean {
    return this.#underWay.has(workspaceId) || this.#alarms.isSet(workspaceId);
  }

  get underWay(): number {
    let count = 0;
    for (const budget of this.#budgets) count += budget.count;
    return count;
  }

  /** Starts nothing more. Work under way is recorded if it ends in time, and repeated after the restart if not. */
  stop(): void {
    this.#stopped = true;
    this.#alarms.clear();
    for (const wake of this.#pauses) wake();
  }

  /** Resolves when nothing is under way, except long work. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isIdle) resolve();
      else this.#idle.push(resolve);
    });
  }

  /** Queues for the file if it has to be opened. */
  #drain(workspaceId: string): void {
    if (this.#stopped) return;
    const opening = this.#whenOpen(workspaceId);
    if (opening === undefined) this.#startDue(workspaceId);
    else void opening.then(() => this.#startDue(workspaceId));
  }

  #startDue(workspaceId: string): void {
    if (this.#stopped || this.#settling.has(workspaceId)) return;
    try {
      const workspace = this.#workspace(workspaceId);
      if (workspace === undefined) return;
      const at = isoTime(this.#clock.now());
      for (const budget of this.#budgets) this.#start(workspace, budget, at);
      // Due items that were not started follow when one under way ends; later items have their own time.
      const nextAt = earliestOutboxAt(workspace.db, at);
      if (nextAt !== undefined) this.watch(workspaceId, Date.parse(nextAt));
    } catch (error) {
      this.#log.error({ workspaceId, err: error }, 'the outbox could not be read');
      this.watch(workspaceId, this.#clock.now() + pauseAfterFailureMs);
    }
  }

  /** Starts as many due items as the budget allows. */
  #start(workspace: Workspace, budget: Budget, at: string): void {
    const { workspaceId } = workspace;
    const mine = this.#underWay.get(workspaceId) ?? new Map<string, Budget>();
    let ofBudget = 0;
    for (const one of mine.values()) if (one === budget) ofBudget += 1;
    // Items under way are still among the due ones.
    for (const row of dueOutbox(workspace.db, {
      at,
      kinds: budget.kinds,
      isOthers: budget.isOthers,
      limit: budget.maxPerWorkspace + ofBudget,
    })) {
      if (mine.has(row.id)) continue;
      if (ofBudget >= budget.maxPerWorkspace) return;
      if (budget.count >= budget.maxInAll) {
        budget.waiting.add(workspaceId);
        return;
      }
      mine.set(row.id, budget);
      this.#underWay.set(workspaceId, mine);
      budget.count += 1;
      ofBudget += 1;
      // Something else that was due led here, so the command that asked for this may not be durable yet.
      workspace.lane.whenDurable(
        () => void this.#attempt(workspaceId, { row, budget }),
        () => this.#finish(workspaceId, row.id),
      );
    }
  }

  async #attempt(workspaceId: string, { row, budget }: { row: OutboxRow; budget: Budget }): Promise<void> {
    const kind = this.#kinds[row.kind];
    const { id, target, subjectId, attempts, createdAt } = row;
    if (!this.#isStillDue(workspaceId, id)) {
      this.#finish(workspaceId, id);
      return;
    }
    const { signal } = this.#termOf(workspaceId);
    let item: OutboxItem = { workspaceId, id, target, subjectId, payload: null, attempts, createdAt, signal };
    let outcome: OutboxOutcome;
    try {
      item = { ...item, payload: JSON.parse(row.payload) };
      if (kind === undefined) throw new DeliveryError(`nothing here delivers ${row.kind}`, { permanent: true });
      const delivered = await kind.deliver(item);
      outcome = { state: 'sent', ...(typeof delivered === 'string' ? { answer: delivered } : delivered) };
    } catch (error) {
      if (signal.aborted && budget.isLong) {
        this.#finish(workspaceId, id);
        return;
      }
      const permanent = isLastAttempt(kind, item, error);
      const { code, retryAfterMs, detail } = error instanceof DeliveryError ? error : {};
      const said = {
        ...(code === undefined ? {} : { code }),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        ...(detail === undefined ? {} : { detail }),
      };
      outcome = {
        state: permanent ? 'failed' : 'retry',
        answer: error instanceof Error ? error.message : String(error),
        ...said,
      };
      this.#log.warn(
        { workspaceId, outboxId: id, kind: row.kind, attempt: attempts + 1, outcome: outcome.state, err: error },
        'outside work failed',
      );
    }
    await this.#recordUntilDone(item, kind, outcome);
    this.#finish(workspaceId, id);
  }

  /** It may have been cancelled while the disk was busy, and nothing starts after a stop. */
  #isStillDue(workspaceId: string, id: string): boolean {
    const workspace = this.#workspace(workspaceId);
    return !this.#stopped && workspace !== undefined && findOutbox(workspace.db, id)?.state === 'queued';
  }

  /**
   * An item counts as under way until its outcome is recorded: a delivery must not be repeated because a disk was full.
   */
  async #recordUntilDone(item: OutboxItem, kind: OutboxJob | undefined, outcome: OutboxOutcome): Promise<void> {
    let rules = kind;
    for (;;) {
      const failure = await this.#record(item, rules, outcome);
      // Voided: the node that serves the workspace now repeats it, under the same id.
      if (failure === undefined || failure.error instanceof Voided) return;
      this.#log.error(
        { workspaceId: item.workspaceId, outboxId: item.id, err: failure.error },
        'the outcome of outside work could not be recorded',
      );
      if (this.#stopped || failure.by === 'gone') return;
      // The kind's code would fail again, so the outcome is recorded without it.
      if (failure.by === 'rule')
        rules = kind && { deliver: kind.deliver, retryDelaysMs: kind.retryDelaysMs, kept: () => null };
      else await this.#pause();
    }
  }

  #record(
    item: OutboxItem,
    kind: OutboxJob | undefined,
    outcome: OutboxOutcome,
  ): Promise<{ by: 'file' | 'rule' | 'gone'; error: unknown } | undefined> {
    const askedMs = outcome.state === 'retry' ? (outcome.retryAfterMs ?? 0) : 0;
    const pauseMs = Math.max(askedMs, kind?.retryDelaysMs[item.attempts] ?? 0) * (1 + jitter * this.#random());
    let isRules = false;
    const record = command('outbox.record', (ctx, _: object) => {
      // May run twice, if its batch is rolled back.
      isRules = false;
      const row = findOutbox(ctx.db, item.id);
      if (row?.state !== 'queued') return;
      const isOver = outcome.state !== 'retry';
      isRules = true;
      const kept =
        isOver && kind?.kept !== undefined ? JSON.stringify(kind.kept(item.payload, outcome.state)) : row.payload;
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
      const settle = (error: unknown): void =>
        resolve(error === undefined ? undefined : { by: isRules && !isStorageFailure(error) ? 'rule' : 'file', error });
      try {
        const workspace = this.#workspace(item.workspaceId);
        if (workspace === undefined) resolve({ by: 'gone', error: new Error('its workspace is served here no more') });
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

  get #isIdle(): boolean {
    return this.#budgets.every((budget) => budget.isLong || budget.count === 0);
  }

  #finish(workspaceId: string, id: string): void {
    const mine = this.#underWay.get(workspaceId);
    const budget = mine?.get(id);
    mine?.delete(id);
    if (mine?.size === 0) this.#underWay.delete(workspaceId);
    if (budget !== undefined) {
      budget.count -= 1;
      const [next] = budget.waiting;
      if (next !== undefined) {
        budget.waiting.delete(next);
        this.#drain(next);
      }
    }
    this.#drain(workspaceId);
    this.#tellFinished();
    if (!this.#isIdle) return;
    for (const resolve of this.#idle) resolve();
    this.#idle = [];
  }
}

/** One for each kind that has its own, and one for all others. */
function budgetsOf(kinds: OutboxJobs): Budget[] {
  const own = Object.entries(kinds).filter(
    ([, { maxUnderWay, isApart }]) => maxUnderWay !== undefined || isApart === true,
  );
  const budgets = own.map(
    ([name, { maxUnderWay, maxPerWorkspace: ofOne }]): Budget => ({
      maxInAll: maxUnderWay ?? maxInAll,
      maxPerWorkspace: ofOne ?? maxUnderWay ?? maxPerWorkspace,
      kinds: [name],
      isOthers: false,
      isLong: maxUnderWay !== undefined,
      waiting: new Set(),
      count: 0,
    }),
  );
  return [
    {
      maxInAll,
      maxPerWorkspace,
      kinds: own.map(([name]) => name),
      isOthers: true,
      isLong: false,
      waiting: new Set(),
      count: 0,
    },
    ...budgets,
  ];
}
