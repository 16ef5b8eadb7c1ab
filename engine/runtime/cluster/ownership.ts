// Which workspaces this node serves, and how that changes: it takes what is its share and nobody serves, hands over
// what another should serve, and drops what another has taken. The log's fence alone keeps two owners apart; what is
// here makes it quick, and keeps reads from being stale: nobody serves before an entry of its own is in the log, nor
// without the lease.

import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Copies } from './copies.ts';
import { Gate } from './gate.ts';
import type { Lease } from './lease.ts';
import { Limited } from './limited.ts';
import {
  discardedOwner,
  type Files,
  LogUnreachable,
  type NodeRecord,
  type Nodes,
  noNodesSchema,
  type OwnerRecord,
  type Owners,
  type Ownership,
  type Peers,
  type WorkspaceLogs,
} from './ports.ts';
import type { Restorer } from './restore.ts';
import type { Rush } from './rush.ts';
import { SharedQuestions } from './shared-questions.ts';
import { canOpen, dutyOf, inLine, isTooNew } from './sharing.ts';
import { Turns } from './turns.ts';
import type { View } from './view.ts';

/** A dead node's workspaces: each waits for the log and the disk most of the time. */
const takingAtOnce = 32;
/** Before a hand-over the next owner reads its copy up to date, for up to seconds, which no client notices. */
const givingAtOnce = 16;
/**
 * Of these, so many are served by nobody for a moment: more would make the moment longer. For clients the order is all the
 * same: while others are handed over, this node answers as ever.
 */
const leavingAtOnce = 2;
const retryMs = 500;
/** After what is under way. */
const atOnceMs = 1;
const retryDamagedMs = 10_000;
/** Others need not wait for one whose outside work takes longer to end. */
const settleShortlyMs = 50;
/** What is left alone is told together, and not while records of a start come one by one. */
const tellLeftMs = 5000;
/** Of many, the first. */
const maxIdsTold = 10;

/** A workspace that this node serves, or is about to. */
export interface Holding {
  /** `abandoned`: it was being taken, and is let go of as soon as what is under way has ended. */
  state: 'taking' | 'abandoned' | 'serving' | 'leaving';
  /** Of the lease. */
  readonly term: number;
  epoch: number;
  /** Of the owner's record. */
  revision: number;
  isPinned: boolean;
  gate: Gate | undefined;
  /** Its outside work ends or has ended: it can only leave, or be dropped and taken again. */
  settling?: Promise<void>;
  /** Its turn to leave comes when that has ended. */
  isWaitedFor?: boolean;
}

/** `workspaceId`: of which alone the changes matter. */
interface Listener {
  readonly workspaceId: string | undefined;
  call(): void;
}

type ClaimOutcome = 'claimed' | 'not ours' | 'outdated';

export interface OwnershipOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly lease: Lease;
  readonly view: View;
  readonly logs: WorkspaceLogs;
  readonly owners: Owners;
  readonly nodes: Nodes;
  readonly peers: Peers;
  readonly files: Files;
  readonly restorer: Restorer;
  readonly copies: Copies;
  readonly rush: Rush;
  /** Every node keeps a copy of these: the directory. */
  readonly everywhere: ReadonlySet<string>;
  readonly newId: () => string;
  readonly counts?: OwnershipCounts | undefined;
}

/** What is counted when it happens. */
export interface OwnershipCounts {
  observeAppend(durationMs: number): void;
  observeVoided(): void;
  observeTakeOver(): void;
  observeHandOver(): void;
}

export class Ownerships {
  readonly #options: OwnershipOptions;
  readonly #node: string;
  readonly #holdings = new Map<string, Holding>();
  readonly #taking = new Limited(takingAtOnce, (workspaceId) => this.#takeAsDue(workspaceId));
  readonly #giving = new Limited(givingAtOnce, (workspaceId) => this.#giveAsDue(workspaceId));
  /** Those that could not be taken, and how many times in a row. */
  readonly #failures = new Map<string, number>();
  readonly #leaving = new Turns(leavingAtOnce);
  /** No longer served here, and not yet another's: their records are being changed. */
  #changingOwner = 0;
  readonly #leftAlone = new Set<string>();
  /** How many of them the log was told of. */
  #leftAloneTold = 0;
  #isTellingLeft = false;
  /** Of one that died, whoever takes one of its workspaces asks. */
  readonly #nodesNow: SharedQuestions<NodeRecord | undefined>;
  readonly #listeners = new Set<Listener>();
  #isOver = false;

  constructor(options: OwnershipOptions) {
    this.#options = options;
    this.#node = options.lease.record.node;
    this.#nodesNow = new SharedQuestions((node) => options.nodes.of(node));
    options.view.onChange((workspaceId) => this.#look(workspaceId));
  }

  /** Workspaces served, or about to be. */
  get size(): number {
    return this.#holdings.size;
  }

  /** Of a node that drains, what is not handed over yet. `waiting`: those among them that act outside. */
  get left(): { readonly all: number; readonly waiting: number } {
    const waiting = [...this.#holdings.values()].filter(({ isWaitedFor }) => isWaitedFor === true).length;
    return { all: this.#holdings.size + this.#changingOwner, waiting };
  }

  held(): IterableIterator<[string, Holding]> {
    return this.#holdings.entries();
  }

  holding(workspaceId: string): Holding | undefined {
    return this.#holdings.get(workspaceId);
  }

  /** Whether new work for it may begin here now. */
  takes(workspaceId: string): boolean {
    return this.#holdings.get(workspaceId)?.state === 'serving' && this.epochServed(workspaceId) !== undefined;
  }

  /**
   * The epoch in which this node may answer from the workspace's file now. What was read may leave only if this is the
   * same after it was read, and after it was durable.
   */
  epochServed(workspaceId: string): number | undefined {
    const holding = this.#holdings.get(workspaceId);
    const isServed = holding?.state === 'serving' || holding?.state === 'leaving';
    return isServed && this.#isValid(holding) ? holding.epoch : undefined;
  }

  /** Whether a newer program has changed the file, and nobody who is there can open it. */
  isLeftAlone(workspaceId: string): boolean {
    return this.#leftAlone.has(workspaceId);
  }

  /** Calls back once, after the next change of what is served or known: of one workspace, or of any. */
  onceChanged(call: () => void, workspaceId?: string): { cancel(): void } {
    const listener = { workspaceId, call };
    this.#listeners.add(listener);
    return { cancel: () => void this.#listeners.delete(listener) };
  }

  /** Somebody waits for it: if it is to be taken, it is next. */
  hurry(workspaceId: string): void {
    this.#taking.hurry(workspaceId);
  }

  /** Takes a workspace that is new. Rejects if that failed; whether it has an owner is then unknown. */
  async begin(workspaceId: string): Promise<void> {
    await this.#take(workspaceId);
    if (this.epochServed(workspaceId) === undefined) throw new Error('the new workspace could not be taken');
  }

  /** For another node that is about to hand it over: resolves when this node's copy is up to date. */
  warm(workspaceId: string): Promise<void> {
    return this.#options.copies.warm(workspaceId);
  }

  /** Hands a workspace that this node serves to another, where it stays. Rejects if that is not possible now. */
  async move(workspaceId: string, node: string): Promise<void> {
    const { nodes, owners } = this.#options.view;
    const schema = owners.get(workspaceId)?.schema ?? 0;
    const to = inLine(workspaceId, nodes.values(), schema).find((one) => one.node === node);
    if (to === undefined) {
      const isTooOld = (nodes.get(node)?.schema ?? schema) < schema;
      throw new Error(
        isTooOld
          ? `node ${node} is of an older version, which cannot open the workspace any more`
          : `node ${node} takes no workspaces, or is not there`,
      );
    }
    await this.#give(workspaceId, { to, isPinned: true });
  }

  /**
   * Ends a workspace whose making failed: nobody takes it again. Rejects if it is another's, who may have made it, or with
   * LogUnreachable.
   */
  async discard(workspaceId: string): Promise<void> {
    const { owners } = this.#options;
    const holding = this.#holdings.get(workspaceId);
    const { epoch, revision } = holding ?? { epoch: 0, revision: 0 };
    if (holding !== undefined) this.#drop(workspaceId, holding, new Error('the workspace was not made'));
    const nobody = { node: discardedOwner, epoch: epoch + 1, schema: noNodesSchema, isPinned: false };
    if ((await owners.set(workspaceId, nobody, revision)) !== undefined) return;
    const owner = (await owners.of(workspaceId))?.ownership.node;
    if (owner !== discardedOwner) throw new Error(`the workspace is begun, or was: its owner is ${owner}`);
  }

  /** Takes its share from now on; before, only what every node needs. */
  async beReady(): Promise<void> {
    await this.#options.lease.update({ isReady: true });
    this.#look();
  }

  /** Resolves when everything is handed over. Never, if no other node can take it: the caller has a bound. */
  async drain(): Promise<void> {
    await this.#options.lease.update({ isDraining: true });
    this.#look();
    while (this.#holdings.size + this.#changingOwner > 0)
      await new Promise<void>((resolve) => void this.onceChanged(resolve));
  }

  /** The lease is held again: what was served before must be taken again. */
  onTerm(): void {
    for (const [workspaceId, holding] of [...this.#holdings])
      if (!this.#isValid(holding)) this.#drop(workspaceId, holding, new Error('the lease of this node had ended'));
    this.#look();
  }

  /** Drops everything at once. */
  end(cause: unknown): void {
    this.#isOver = true;
    this.#taking.clear();
    this.#giving.clear();
    this.#options.rush.end();
    this.#options.copies.stopAll();
    for (const [workspaceId, holding] of [...this.#holdings]) this.#drop(workspaceId, holding, cause);
  }

  #isValid(holding: Holding): boolean {
    return this.#options.lease.isHeld && holding.term === this.#options.lease.term;
  }

  #isCurrent(workspaceId: string, holding: Holding): boolean {
    const isHeld = this.#holdings.get(workspaceId) === holding && holding.state !== 'abandoned';
    return isHeld && this.#isValid(holding);
  }

  #look(workspaceId?: string): void {
    const ids = workspaceId === undefined ? [...this.#options.view.owners.keys()] : [workspaceId];
    for (const id of ids) this.#lookAt(id);
    this.#tell(workspaceId);
  }

  #lookAt(workspaceId: string): void {
    const { view, lease, copies, everywhere } = this.#options;
    const ownership = view.owners.get(workspaceId);
    const outdated = this.#holdings.get(workspaceId);
    if (outdated !== undefined && isOutdated(outdated, ownership))
      this.#drop(workspaceId, outdated, new Error('another node owns the workspace'));
    const holding = this.#holdings.get(workspaceId);
    if (ownership === undefined) this.#leftAlone.delete(workspaceId);
    if (ownership === undefined || !lease.isHeld || this.#isOver) return;
    const nodes = this.#nodes();
    this.#noteLeft(workspaceId, isTooNew(ownership, nodes.values()));
    const duty = dutyOf(this.#node, workspaceId, { ownership, nodes });
    if (holding !== undefined) {
      if (duty.kind === 'give' && holding.state === 'serving') this.#giving.add(workspaceId);
      // A node that is to hand over what it does not serve yet takes it first.
    } else if (duty.kind === 'serve' || duty.kind === 'give') {
      if (lease.record.isReady || everywhere.has(workspaceId)) this.#takeSoon(workspaceId);
    } else if (duty.kind === 'copy' || everywhere.has(workspaceId)) copies.keep(workspaceId);
    else if (view.nodes.has(ownership.node)) void copies.remove(workspaceId);
  }

  /** Who is there. This node knows best about itself. */
  #nodes(): ReadonlyMap<string, NodeRecord> {
    return new Map(this.#options.view.nodes).set(this.#node, this.#options.lease.record);
  }

  #noteLeft(workspaceId: string, isLeft: boolean): void {
    if (isLeft) this.#leftAlone.add(workspaceId);
    else this.#leftAlone.delete(workspaceId);
    if (this.#leftAlone.size === this.#leftAloneTold || this.#isTellingLeft) return;
    this.#isTellingLeft = true;
    this.#options.clock.after(tellLeftMs, () => this.#tellLeft());
  }

  #tellLeft(): void {
    const { log, lease } = this.#options;
    const before = this.#leftAloneTold;
    const { size } = this.#leftAlone;
    this.#isTellingLeft = false;
    this.#leftAloneTold = size;
    if (size === before || this.#isOver) return;
    const fields = { workspaces: size, workspaceIds: [...this.#leftAlone].slice(0, maxIdsTold) };
    if (size === 0) log.info(fields, 'what a newer version has changed is served by its nodes again');
    else
      log.warn(
        { ...fields, schema: lease.record.schema },
        'a newer version has changed these workspaces and none of its nodes is there: they are left alone, and answered with 503, until one is',
      );
  }

  #takeSoon(workspaceId: string): void {
    const wasFull = this.#taking.isFull;
    this.#taking.add(workspaceId);
    if (!wasFull && this.#taking.isFull) this.#options.rush.begin();
  }

  async #takeAsDue(workspaceId: string): Promise<void> {
    await this.#take(workspaceId);
    // When this is not under way any more.
    this.#options.clock.after(atOnceMs, () => {
      if (this.#taking.isIdle) this.#options.rush.endSoon();
    });
  }

  async #take(workspaceId: string): Promise<void> {
    const { lease, log, clock, files } = this.#options;
    if (this.#holdings.has(workspaceId) || !lease.isHeld || this.#isOver) return;
    const holding: Holding = {
      state: 'taking',
      term: lease.term,
      epoch: 0,
      revision: 0,
      isPinned: false,
      gate: undefined,
    };
    this.#holdings.set(workspaceId, holding);
    let againMs = retryMs;
    try {
      if (await this.#claim(workspaceId, holding)) await this.#ready(workspaceId, holding);
      if (this.#isCurrent(workspaceId, holding) && holding.gate !== undefined) {
        holding.state = 'serving';
        files.serve(workspaceId, holding.gate);
        this.#failures.delete(workspaceId);
        this.#options.counts?.observeTakeOver();
        // It may have become another's meanwhile.
        this.#look(workspaceId);
        return;
      }
    } catch (error) {
      log.warn({ workspaceId, err: error }, 'a workspace could not be taken over; it is tried again');
      // Its file may be damaged: that is this workspace's trouble alone.
      if (holding.state === 'serving') againMs = retryDamagedMs;
      else if (!(error instanceof LogUnreachable)) againMs = this.#pauseAfterFailure(workspaceId);
    }
    if (this.#holdings.get(workspaceId) === holding) {
      this.#holdings.delete(workspaceId);
      holding.gate?.break(new Error('the workspace could not be served'));
      files.release(workspaceId, undefined);
    }
    clock.after(againMs, () => this.#look(workspaceId));
  }

  /** Longer each time: what cannot be read now may not be readable for long. */
  #pauseAfterFailure(workspaceId: string): number {
    const failures = this.#failures.get(workspaceId) ?? 0;
    this.#failures.set(workspaceId, failures + 1);
    return Math.min(retryMs * 2 ** failures, retryDamagedMs);
  }

  /** Makes this node the owner, if nobody who is there can be. What it knows of the record is mostly still so. */
  async #claim(workspaceId: string, holding: Holding): Promise<boolean> {
    const { owners, view } = this.#options;
    const known = view.record(workspaceId);
    let outcome = known === undefined ? 'outdated' : await this.#claimAt(known, workspaceId, holding);
    if (outcome === 'outdated') outcome = await this.#claimAt(await owners.of(workspaceId), workspaceId, holding);
    return outcome === 'claimed';
  }

  async #claimAt(found: OwnerRecord | undefined, workspaceId: string, holding: Holding): Promise<ClaimOutcome> {
    const { owners, view, lease } = this.#options;
    const { schema } = lease.record;
    const before = found?.ownership;
    if (before !== undefined) {
      if (before.schema > schema) return 'not ours';
      // Asked after the record was read: an owner that comes back later changes the record, and set() fails.
      const owner = before.node === this.#node ? undefined : await this.#nodesNow.ask(before.node);
      if (owner !== undefined && canOpen(owner, before)) return 'not ours';
    }
    if (!this.#isCurrent(workspaceId, holding)) return 'not ours';
    holding.epoch = (before?.epoch ?? 0) + 1;
    holding.isPinned = before?.node === this.#node && before.isPinned;
    const ownership = { node: this.#node, epoch: holding.epoch, schema, isPinned: holding.isPinned };
    const revision = await owners.set(workspaceId, ownership, found?.revision ?? 0);
    if (revision === undefined) return 'outdated';
    holding.revision = revision;
    view.note(workspaceId, { ownership, revision });
    return 'claimed';
  }

  /** Reads the file, and appends before anything is served from it. Sets the gate if that went well. */
  async #ready(workspaceId: string, holding: Holding): Promise<void> {
    const { files, restorer, copies } = this.#options;
    await copies.stop(workspaceId);
    const sequence = await restorer.restore(workspaceId);
    if (!this.#isCurrent(workspaceId, holding)) return;
    const bytes = await files.open(workspaceId);
    const gate = this.#gateOf(workspaceId, { sequence, holding });
    try {
      if (!this.#isCurrent(workspaceId, holding)) throw new Error('the lease of this node ended meanwhile');
      await gate.open(bytes);
      // Whoever claims it after this reads the entry; whoever claimed it before is the owner.
      const now = await this.#options.owners.of(workspaceId);
      if (now?.revision !== holding.revision || !this.#isCurrent(workspaceId, holding))
        throw new Error('the workspace became another node’s meanwhile');
      holding.gate = gate;
    } catch (error) {
      files.release(workspaceId, bytes.length === 0 ? sequence : undefined);
      throw error;
    }
  }

  #gateOf(workspaceId: string, { sequence, holding }: { sequence: number; holding: Holding }): Gate {
    const { logs, clock, newId, restorer, counts } = this.#options;
    return new Gate({
      workspaceId,
      sequence,
      logs,
      clock,
      newId,
      isHeld: () => this.#isCurrent(workspaceId, holding),
      onBroken: (cause) => {
        if (holding.gate !== undefined) this.#drop(workspaceId, holding, cause);
      },
      onLogged: (bytes, durationMs) => {
        restorer.noteEntry(workspaceId, bytes);
        counts?.observeAppend(durationMs);
      },
      onVoided: () => counts?.observeVoided(),
    });
  }

  async #giveAsDue(workspaceId: string): Promise<void> {
    const { view, log, clock } = this.#options;
    const ownership = view.owners.get(workspaceId);
    // One whose outside work takes a while comes back by itself.
    if (ownership === undefined || this.#holdings.get(workspaceId)?.isWaitedFor === true) return;
    const duty = dutyOf(this.#node, workspaceId, { ownership, nodes: this.#nodes() });
    try {
      if (duty.kind === 'give') await this.#give(workspaceId, { to: duty.to, isPinned: false });
      else this.#dropSettling(workspaceId, new Error('the workspace stays after all'), { againMs: atOnceMs });
    } catch (error) {
      log.warn({ workspaceId, err: error }, 'a workspace could not be handed over; it is tried again');
      this.#dropSettling(workspaceId, error, { againMs: retryMs });
      clock.after(retryMs, () => this.#look(workspaceId));
    }
  }

  /** It does not stay half at rest: it is taken again. */
  #dropSettling(workspaceId: string, cause: unknown, { againMs }: { againMs: number }): void {
    const holding = this.#holdings.get(workspaceId);
    if (holding?.settling !== undefined) this.#drop(workspaceId, holding, cause, againMs);
  }

  #settlesShortly(settling: Promise<void>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const timer = this.#options.clock.after(settleShortlyMs, () => resolve(false));
      settling.then(() => resolve(true), reject).finally(() => timer.cancel());
    });
  }

  #giveLater(workspaceId: string, holding: Holding, settling: Promise<void>): void {
    holding.isWaitedFor = true;
    const again = (): void => {
      holding.isWaitedFor = false;
      this.#giving.add(workspaceId);
      this.#giving.hurry(workspaceId);
    };
    const later = (): void => void this.#options.clock.after(atOnceMs, again);
    settling.then(later, later);
  }

  /**
   * No batch under way, the last entry in the log, then the owner is changed. One that is to stay where it goes was asked
   * for by somebody who waits; any other has its turn later if its outside work takes a while.
   */
  async #give(workspaceId: string, { to, isPinned }: { to: NodeRecord; isPinned: boolean }): Promise<void> {
    const { peers, files } = this.#options;
    const holding = this.#holdings.get(workspaceId);
    if (holding?.state !== 'serving') return;
    await peers.warm(to, workspaceId);
    if (!this.#isCurrent(workspaceId, holding)) return;
    try {
      holding.settling ??= files.settle(workspaceId);
      if (!(await this.#settlesShortly(holding.settling))) {
        if (!isPinned) return this.#giveLater(workspaceId, holding, holding.settling);
        await holding.settling;
        await peers.warm(to, workspaceId);
      }
    } catch (error) {
      this.#drop(workspaceId, holding, error);
      throw error;
    }
    await this.#leaving.take(() => this.#leave(workspaceId, holding, { to, isPinned }));
  }

  async #leave(
    workspaceId: string,
    holding: Holding,
    { to, isPinned }: { to: NodeRecord; isPinned: boolean },
  ): Promise<void> {
    const { files, owners, view, lease } = this.#options;
    // It may have been given meanwhile, by turn or by hand.
    if (!this.#isCurrent(workspaceId, holding) || holding.state !== 'serving') return;
    try {
      holding.state = 'leaving';
      this.#tell(workspaceId);
      await files.rest(workspaceId);
      if (!this.#isCurrent(workspaceId, holding)) return;
    } catch (error) {
      this.#drop(workspaceId, holding, error);
      throw error;
    }
    const ownership: Ownership = {
      node: to.node,
      epoch: holding.epoch + 1,
      schema: lease.record.schema,
      isPinned,
    };
    this.#changingOwner += 1;
    try {
      this.#drop(workspaceId, holding, new Error('the workspace was handed over'));
      const revision = await owners.set(workspaceId, ownership, holding.revision);
      if (revision === undefined) return;
      view.note(workspaceId, { ownership, revision });
      this.#options.counts?.observeHandOver();
    } finally {
      this.#changingOwner -= 1;
      this.#tell(workspaceId);
    }
  }

  #drop(workspaceId: string, holding: Holding, cause: unknown, againMs = retryMs): void {
    if (this.#holdings.get(workspaceId) !== holding) return;
    if (holding.gate === undefined) {
      holding.state = 'abandoned';
      return;
    }
    this.#holdings.delete(workspaceId);
    const sequence = holding.gate.isAtRest ? holding.gate.sequence : undefined;
    holding.gate.break(cause);
    this.#options.files.release(workspaceId, sequence);
    if (!this.#isOver) this.#options.clock.after(againMs, () => this.#look(workspaceId));
    this.#tell(workspaceId);
  }

  /** Undefined: all may have changed. */
  #tell(workspaceId: string | undefined): void {
    for (const listener of [...this.#listeners]) {
      const isMeant = workspaceId === undefined || (listener.workspaceId ?? workspaceId) === workspaceId;
      if (isMeant && this.#listeners.delete(listener)) listener.call();
    }
  }
}

/** Whether another has changed the record since. One that is being taken may have no record yet. */
function isOutdated(holding: Holding, ownership: Ownership | undefined): boolean {
  if (holding.revision === 0) return false;
  return ownership === undefined || ownership.epoch > holding.epoch;
}
