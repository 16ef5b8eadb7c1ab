// One workspace: its file, its lane, its states in memory and its alarms. Turns commands into jobs of the lane and,
// once they are durable, publishes events in order, arms deadlines and wakes the outbox. The object lives as long as
// the process, also while its file is parked, so references to it, or to a view of it, stay valid.

import type { Database } from '../../store/database.ts';
import { earliestDeadlineAt } from '../../store/runtime/deadlines.ts';
import { newestSeq } from '../../store/runtime/events.ts';
import { earliestOutboxAt } from '../../store/runtime/outbox.ts';
import { type Caller, clientOf } from './caller.ts';
import { type Clock, isoTime } from './clock.ts';
import type { CommandDefinition } from './command.ts';
import { type Ceilings, Context, type ContextHost, type Settings, type View } from './context.ts';
import type { Ids } from './ids.ts';
import { Lane, type LaneHooks, type Pass } from './lane.ts';
import type { Log } from './log.ts';
import type { PublishedEvent } from './published-event.ts';
import { type ActorKind, Registry } from './registry.ts';
import type { Slices } from './slices.ts';

export interface WorkspaceHooks {
  /** Durable events of one batch, in sequence. */
  publish(workspaceId: string, events: readonly PublishedEvent[]): void;
  deadlineSet(workspaceId: string, dueMs: number): void;
  outboxFilled(workspaceId: string, nextMs: number): void;
  /** The workspace is at rest, as far as it can tell. */
  atRest(): void;
  onSyncFailed: LaneHooks['onSyncFailed'];
  onBatch: NonNullable<LaneHooks['onBatch']>;
}

export class Workspace implements ContextHost {
  readonly workspaceId: string;
  readonly db: Database;
  readonly ids: Ids;
  readonly settings: Settings;
  readonly ceilings: Ceilings | undefined;
  readonly registry: Registry;
  readonly lane: Lane;
  /** The last number assigned, perhaps not durable yet. */
  lastSeq: number;
  /** The last number durable and published: sockets may receive up to here. */
  publishedSeq: number;
  readonly #clock: Clock;
  readonly #hooks: WorkspaceHooks;
  #seqAtBegin: number;
  #durableEvents: PublishedEvent[] = [];
  #earliestDeadlineMs = Number.POSITIVE_INFINITY;
  #earliestOutboxMs = Number.POSITIVE_INFINITY;
  #releasing = false;

  constructor(options: {
    workspaceId: string;
    db: Database;
    clock: Clock;
    ids: Ids;
    log: Log;
    slices: Slices;
    /** What a commit waits for besides the disk. */
    pass?: Pass | undefined;
    hooks: WorkspaceHooks;
    settings: Settings;
    ceilings?: Ceilings | undefined;
  }) {
    this.workspaceId = options.workspaceId;
    this.db = options.db;
    this.ids = options.ids;
    this.settings = options.settings;
    this.ceilings = options.ceilings;
    this.#clock = options.clock;
    this.#hooks = options.hooks;
    this.registry = new Registry(options.db);
    this.lastSeq = newestSeq(options.db);
    this.publishedSeq = this.lastSeq;
    this.#seqAtBegin = this.lastSeq;
    const hooks: LaneHooks = {
      onBegin: () => {
        this.#seqAtBegin = this.lastSeq;
      },
      onDurable: () => this.#releaseSoon(),
      onReleased: () => options.hooks.atRest(),
      onUndone: () => {
        this.registry.clear();
        // Kept in memory, because reading it could fail as the batch did.
        this.lastSeq = this.#seqAtBegin;
      },
      onBroken: (error) =>
        options.log.error({ workspaceId: this.workspaceId, err: error }, 'a batch could not be committed'),
      onSyncFailed: options.hooks.onSyncFailed,
      onBatch: options.hooks.onBatch,
    };
    this.lane = new Lane(options.db, hooks, options.slices, options.pass);
  }

  /** Queues a command. `settle` is called once, when the outcome is durable, with the result or with the error. */
  submit<Params, Result>(
    definition: CommandDefinition<Params, Result>,
    request: { caller: Caller; params: Params },
    settle: (error: unknown, result: Result | undefined) => void,
  ): void {
    let context: Context | undefined;
    let result: Result | undefined;
    this.lane.submit({
      from: clientOf(request.caller),
      run: () => {
        context = new Context(this, request.caller, this.#clock.now());
        result = definition.handle(context, request.params);
        context.commit();
      },
      undo: () => context?.rollback(),
      settle: (error) => {
        if (error === undefined && context !== undefined) this.#gather(context);
        settle(error, error === undefined ? result : undefined);
      },
    });
  }

  /** The state of an actor, as View.state(), for who needs nothing else of a view. */
  state<State>(kind: ActorKind<State>, id: string): State | undefined {
    return this.registry.get(kind, id);
  }

  /** Rows and states as they are now. A reply from them must wait for the lane's whenDurable(). */
  view(caller: Caller): View {
    const nowMs = this.#clock.now();
    return {
      workspaceId: this.workspaceId,
      db: this.db,
      caller,
      settings: this.settings,
      ceilings: this.ceilings,
      nowMs,
      at: isoTime(nowMs),
      state: (kind, id) => this.registry.get(kind, id),
    };
  }

  /** When the next deadline and the next outbox item are due, from the rows. Infinity if there is none. */
  earliest(): { deadlineMs: number; outboxMs: number } {
    return { deadlineMs: timeOr(earliestDeadlineAt(this.db)), outboxMs: timeOr(earliestOutboxAt(this.db)) };
  }

  /** Whether the lane is idle and every durable event has been published. */
  get idle(): boolean {
    return this.lane.idle && !this.#releasing;
  }

  /** Whether something waits for the disk or for being published. */
  get isBusy(): boolean {
    return this.lane.isBusy || this.#releasing;
  }

  /** Resolves when everything submitted so far is durable and published. */
  async drained(): Promise<void> {
    while (this.isBusy) {
      await this.lane.drained();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #gather(context: Context): void {
    this.#durableEvents.push(...context.events);
    this.#earliestDeadlineMs = Math.min(this.#earliestDeadlineMs, context.earliestDeadlineMs);
    this.#earliestOutboxMs = Math.min(this.#earliestOutboxMs, context.earliestOutboxMs);
  }

  /** Callers continue in microtasks. After those every reply is on its way, and the events may follow. */
  #releaseSoon(): void {
    if (this.#releasing) return;
    this.#releasing = true;
    setImmediate(() => this.#release());
  }

  #release(): void {
    this.#releasing = false;
    if (this.#durableEvents.length > 0) {
      const events = this.#durableEvents;
      this.#durableEvents = [];
      this.publishedSeq = events.at(-1)?.seq ?? this.publishedSeq;
      this.#hooks.publish(this.workspaceId, events);
    }
    if (this.#earliestDeadlineMs < Number.POSITIVE_INFINITY) {
      this.#hooks.deadlineSet(this.workspaceId, this.#earliestDeadlineMs);
      this.#earliestDeadlineMs = Number.POSITIVE_INFINITY;
    }
    if (this.#earliestOutboxMs < Number.POSITIVE_INFINITY) {
      this.#hooks.outboxFilled(this.workspaceId, this.#earliestOutboxMs);
      this.#earliestOutboxMs = Number.POSITIVE_INFINITY;
    }
    this.#hooks.atRest();
  }
}

function timeOr(at: string | undefined): number {
  return at === undefined ? Number.POSITIVE_INFINITY : Date.parse(at);
}
