// The servers of the log as one: entries by workspace in one stream, two buckets with revisions, and snapshots. What a
// majority has, it has; while they elect, nothing is answered. How it is reached is connection.ts.

import { leaseMs } from '../../../engine/runtime/cluster/lease.ts';
import {
  Fenced,
  type LogEntry,
  type NodeRecord,
  type OwnerRecord,
  type Ownership,
  type Snapshot,
} from '../../../engine/runtime/cluster/ports.ts';
import type { World } from './world.ts';

/** A bucket's changes, in order. */
class Changes<Value> {
  readonly list: { readonly key: string; readonly value: Value | undefined }[] = [];
  readonly #watchers = new Set<() => void>();

  add(key: string, value: Value | undefined): void {
    this.list.push({ key, value });
    for (const call of this.#watchers) call();
  }

  watch(call: () => void): () => void {
    this.#watchers.add(call);
    return () => void this.#watchers.delete(call);
  }
}

export class LogServers {
  readonly #world: World;
  readonly #entries = new Map<string, LogEntry[]>();
  /** Nothing is ever purged from these. */
  readonly history = new Map<string, LogEntry[]>();
  readonly #taken = new Map<string, number>();
  readonly #followers = new Map<string, Set<() => void>>();
  #sequence = 0;
  #revision = 0;
  readonly #owners = new Map<string, OwnerRecord>();
  readonly #nodes = new Map<string, { record: NodeRecord; renewals: number }>();
  readonly ownerChanges = new Changes<OwnerRecord>();
  readonly nodeChanges = new Changes<NodeRecord>();
  readonly #snapshots = new Map<string, Map<number, { snapshot: Snapshot; content: string }>>();
  /** Nothing is acknowledged, and no lease ends. */
  isElecting = false;

  constructor(world: World) {
    this.#world = world;
  }

  newest(workspaceId: string): number {
    return this.#entries.get(workspaceId)?.at(-1)?.sequence ?? 0;
  }

  isFenced(workspaceId: string, expected: number): boolean {
    return this.newest(workspaceId) !== expected;
  }

  append(workspaceId: string, { id, expected, bytes }: { id: string; expected: number; bytes: Uint8Array }): number {
    const before = this.#taken.get(id);
    if (before !== undefined) return before;
    if (this.isFenced(workspaceId, expected))
      throw new Fenced(`the last entry of ${workspaceId} is ${this.newest(workspaceId)}, not ${expected}`);
    this.#sequence += 1;
    const entry = { sequence: this.#sequence, previous: this.newest(workspaceId), bytes };
    for (const lists of [this.#entries, this.history]) {
      const list = lists.get(workspaceId) ?? [];
      list.push(entry);
      lists.set(workspaceId, list);
    }
    this.#taken.set(id, entry.sequence);
    for (const call of this.#followers.get(workspaceId) ?? []) call();
    return entry.sequence;
  }

  entriesAfter(workspaceId: string, after: number): LogEntry[] {
    return (this.#entries.get(workspaceId) ?? []).filter(({ sequence }) => sequence > after);
  }

  onEntry(workspaceId: string, call: () => void): () => void {
    const followers = this.#followers.get(workspaceId) ?? new Set();
    this.#followers.set(workspaceId, followers.add(call));
    return () => void followers.delete(call);
  }

  purge(workspaceId: string, upTo: number): void {
    const newest = this.newest(workspaceId);
    const left = (this.#entries.get(workspaceId) ?? []).filter(
      ({ sequence }) => sequence > upTo || sequence === newest,
    );
    this.#entries.set(workspaceId, left);
  }

  ownerOf(workspaceId: string): OwnerRecord | undefined {
    return this.#owners.get(workspaceId);
  }

  setOwner(workspaceId: string, ownership: Ownership, revision: number): number | undefined {
    if ((this.#owners.get(workspaceId)?.revision ?? 0) !== revision) return undefined;
    this.#revision += 1;
    const record = { ownership, revision: this.#revision };
    this.#owners.set(workspaceId, record);
    this.ownerChanges.add(workspaceId, record);
    return this.#revision;
  }

  node(node: string): NodeRecord | undefined {
    return this.#nodes.get(node)?.record;
  }

  get nodes(): NodeRecord[] {
    return [...this.#nodes.values()].map(({ record }) => record);
  }

  renew(record: NodeRecord): boolean {
    const known = this.#nodes.get(record.node);
    if (known !== undefined && known.record.incarnation !== record.incarnation) return false;
    const renewals = (known?.renewals ?? 0) + 1;
    this.#nodes.set(record.node, { record, renewals });
    if (JSON.stringify(known?.record) !== JSON.stringify(record)) this.nodeChanges.add(record.node, record);
    // Their clocks differ too, and an end is noticed a little late.
    this.#endLater(record, { renewals, ms: leaseMs + this.#world.between(-800, 340) });
    return true;
  }

  leave(record: NodeRecord): void {
    if (this.#nodes.get(record.node)?.record.incarnation !== record.incarnation) return;
    this.#nodes.delete(record.node);
    this.nodeChanges.add(record.node, undefined);
  }

  newestSnapshot(workspaceId: string): Snapshot | undefined {
    const sequences = [...(this.#snapshots.get(workspaceId)?.keys() ?? [])];
    return this.#snapshots.get(workspaceId)?.get(Math.max(...sequences))?.snapshot;
  }

  putSnapshot(workspaceId: string, snapshot: Snapshot, content: string): void {
    const stored = this.#snapshots.get(workspaceId) ?? new Map();
    this.#snapshots.set(workspaceId, stored.set(snapshot.sequence, { snapshot, content }));
    for (const sequence of [...stored.keys()]) if (sequence < snapshot.sequence) stored.delete(sequence);
  }

  snapshotContent(workspaceId: string, { sequence }: Snapshot): string {
    const found = this.#snapshots.get(workspaceId)?.get(sequence);
    if (found === undefined) throw new Error('the snapshot is no longer there');
    return found.content;
  }

  #endLater(record: NodeRecord, { renewals, ms }: { renewals: number; ms: number }): void {
    this.#world.after(ms, () => {
      const now = this.#nodes.get(record.node);
      if (now?.record.incarnation !== record.incarnation || now.renewals !== renewals) return;
      if (this.isElecting) this.#endLater(record, { renewals, ms: 200 });
      else this.leave(record);
    });
  }
}
