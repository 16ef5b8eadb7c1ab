// The files of one life of a simulated node: served through the real lane, with a disk that takes its time, timers that
// fire deadlines, and copies that follow. What of it outlives the process is in the folder.

import type { CommitGate, Files, LogEntry, Snapshot, Snapshots } from '../../../engine/runtime/cluster/ports.ts';
import { Lane, Voided } from '../../../engine/runtime/lane.ts';
import { Slices } from '../../../engine/runtime/slices.ts';
import { firedOf, type Item, type Kind, Ledger } from './ledger.ts';
import type { Life } from './world.ts';

/** By workspace: the copy, and the entry that it equals. It outlives the process, unless it is removed. */
export type Folder = Map<string, { ledger: Ledger; sequence: number }>;

const itemBytes = 70;

/** It was refused by a rule of the workspace. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

interface Served {
  readonly ledger: Ledger;
  lane: Lane | undefined;
  isResting: boolean;
}

export interface Order {
  readonly id: string;
  readonly kind: Kind;
  readonly delayMs?: number;
  readonly name?: string;
}

export interface NodeFilesOptions {
  readonly node: string;
  readonly snapshots: () => Snapshots;
  readonly epochOf: (workspaceId: string) => number;
  /** A deadline has fired, and its effect left. */
  readonly onFired: (workspaceId: string, id: string) => void;
}

export class NodeFiles implements Files {
  readonly packed = new Map<string, string>();
  readonly #life: Life;
  readonly #folder: Folder;
  readonly #served = new Map<string, Served>();
  readonly #slices = new Slices({ turnMs: Number.POSITIVE_INFINITY, batchMs: Number.POSITIVE_INFINITY });
  readonly #options: NodeFilesOptions;

  constructor(life: Life, folder: Folder, options: NodeFilesOptions) {
    this.#life = life;
    this.#folder = folder;
    this.#options = options;
  }

  sequence(workspaceId: string): number {
    return this.#folder.get(workspaceId)?.sequence ?? 0;
  }

  async load(workspaceId: string, snapshot: Snapshot): Promise<void> {
    const path = `${workspaceId}.snapshot`;
    await this.#options.snapshots().get(workspaceId, snapshot, path);
    this.#folder.set(workspaceId, { ledger: new Ledger(this.packed.get(path)), sequence: snapshot.sequence });
    this.packed.delete(path);
  }

  async apply(workspaceId: string, entries: readonly LogEntry[]): Promise<void> {
    await this.#wait(0.02, 0.2);
    for (const { sequence, bytes } of entries) {
      const ledger = this.#ledgerOf(workspaceId);
      const wrong = ledger.apply(bytes);
      if (wrong !== undefined)
        this.#life.world.isWrong(`${workspaceId} in the log: ${wrong}, noticed by ${this.#options.node}`);
      this.#folder.set(workspaceId, { ledger, sequence });
    }
  }

  async open(workspaceId: string): Promise<Uint8Array> {
    await this.#wait(0.2, 2);
    const ledger = this.#ledgerOf(workspaceId);
    ledger.sync = (done) =>
      void this.#life.world.after(this.#life.world.between(0.3, 3), () => this.#life.deliver(() => done(null)));
    this.#served.set(workspaceId, { ledger, lane: undefined, isResting: false });
    this.#folder.set(workspaceId, { ledger, sequence: this.sequence(workspaceId) });
    this.doubt(workspaceId);
    return new Uint8Array();
  }

  /** From here on the file may hold what the log does not. */
  doubt(workspaceId: string): void {
    const copy = this.#folder.get(workspaceId);
    if (copy !== undefined) copy.sequence = 0;
  }

  serve(workspaceId: string, gate: CommitGate): void {
    const served = this.#served.get(workspaceId);
    if (served === undefined) throw new Error('it is not open');
    const { ledger } = served;
    served.lane = new Lane(
      ledger,
      {
        onBroken: (error) => this.#life.world.isWrong(`a batch broke: ${String(error)}`),
        onSyncFailed: (error) => this.#life.world.isWrong(`a sync failed: ${error.message}`),
      },
      this.#slices,
      (done) => {
        const bytes = ledger.takeChange();
        gate.pass({ bytes, sync: (synced) => ledger.sync(synced) }, done);
      },
    );
    for (const [id, dueMs] of ledger.deadlines) this.#arm(workspaceId, served, { id, dueMs });
  }

  current(): Promise<void> {
    return Promise.resolve();
  }

  /** Some have outside work that takes longer than the others wait for. */
  settle(_workspaceId: string): Promise<void> {
    return this.#wait(0, 120);
  }

  async rest(workspaceId: string): Promise<void> {
    const served = this.#served.get(workspaceId);
    if (served?.lane === undefined) return;
    served.isResting = true;
    await served.lane.drained();
    await served.lane.hold();
  }

  release(workspaceId: string, sequence: number | undefined): void {
    const served = this.#served.get(workspaceId);
    this.#served.delete(workspaceId);
    served?.lane?.void(new Voided('the workspace is served here no more'));
    if (served !== undefined && sequence !== undefined)
      this.#folder.set(workspaceId, { ledger: served.ledger, sequence });
  }

  remove(workspaceId: string): void {
    if (!this.#served.has(workspaceId)) this.#folder.delete(workspaceId);
  }

  bytes(workspaceId: string): number {
    return (this.#served.get(workspaceId)?.ledger.items.length ?? 0) * itemBytes;
  }

  async pack(workspaceId: string, sequence: () => number): ReturnType<Files['pack']> {
    const served = this.#served.get(workspaceId);
    if (served?.lane === undefined || served.isResting) throw new Error('it is not served');
    await served.lane.hold();
    const { content } = served.ledger;
    const snapshot = { sequence: sequence(), sha256: '', bytes: content.length, version: 1, link: '' };
    if (this.#served.get(workspaceId) !== served) throw new Error('it was let go of meanwhile');
    served.lane.release();
    const path = `${workspaceId}.packed`;
    await this.#wait(1, 100);
    this.packed.set(path, content);
    return { snapshot, path, discard: () => void this.packed.delete(path) };
  }

  /** Resolves when the outcome is durable. Rejects with Refused, Voided, or as the lane does. */
  run(workspaceId: string, order: Order): Promise<Item> {
    const served = this.#served.get(workspaceId);
    return new Promise((resolve, reject) => {
      if (served?.lane === undefined || served.isResting) throw new Error('it is not served');
      const { ledger } = served;
      let item: Item | undefined;
      served.lane.submit({
        run: () => (item = this.#write(workspaceId, ledger, order)),
        undo: () => {},
        settle: (error) => {
          if (error !== undefined || item === undefined) {
            reject(error);
            return;
          }
          if (item.kind === 'arm' && ledger.deadlines.has(item.id))
            this.#arm(workspaceId, served, { id: item.id, dueMs: item.dueMs ?? 0 });
          resolve(item);
        },
      });
    });
  }

  /** Everything, once it is durable. */
  read(workspaceId: string): Promise<readonly string[]> {
    const served = this.#served.get(workspaceId);
    return new Promise((resolve, reject) => {
      if (served?.lane === undefined) throw new Error('it is not served');
      const ids = served.ledger.items.map(({ id }) => id);
      served.lane.whenDurable(
        () => resolve(ids),
        () => reject(new Voided('what was read is void')),
      );
    });
  }

  /** A copy that may hold what the log does not is none. */
  #ledgerOf(workspaceId: string): Ledger {
    const copy = this.#folder.get(workspaceId);
    return copy === undefined || copy.sequence === 0 ? new Ledger() : copy.ledger;
  }

  /** The same command twice is done once. */
  #write(workspaceId: string, ledger: Ledger, { id, kind, delayMs, name }: Order): Item {
    const before = ledger.items[(ledger.positions.get(id) ?? 0) - 1];
    if (before !== undefined) return before;
    const item = {
      id,
      kind,
      node: this.#options.node,
      epoch: this.#options.epochOf(workspaceId),
      ...(delayMs === undefined ? {} : { dueMs: this.#life.clock.now() + delayMs }),
      ...(name === undefined ? {} : { name }),
    };
    const isTaken = name !== undefined && ledger.names.has(name);
    // Some are refused only after they have written.
    if (isTaken && this.#life.world.random.chance(0.5)) throw new Refused(`${name} is taken`);
    const written = ledger.write(item);
    if (isTaken) throw new Refused(`${name} is taken`);
    return written;
  }

  #arm(workspaceId: string, served: Served, { id, dueMs }: { id: string; dueMs: number }): void {
    const { clock } = this.#life;
    clock.after(dueMs - clock.now(), () => {
      if (this.#served.get(workspaceId) !== served || served.isResting) return;
      served.lane?.submit({
        run: () => {
          if (served.ledger.deadlines.has(id))
            this.#write(workspaceId, served.ledger, { id: firedOf(id), kind: 'fired' });
        },
        undo: () => {},
        settle: (error) => {
          if (error === undefined) this.#options.onFired(workspaceId, id);
        },
      });
    });
  }

  #wait(leastMs: number, mostMs: number): Promise<void> {
    const { world } = this.#life;
    return new Promise(
      (resolve) => void world.after(world.between(leastMs, mostMs), () => this.#life.deliver(resolve)),
    );
  }
}
