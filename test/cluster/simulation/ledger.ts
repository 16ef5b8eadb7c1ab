// The file of a simulated workspace: items, each at a position of its own, and deadlines. It is written in transactions
// like a database, and tells what each commit changed.

import type { LaneDatabase } from '../../../engine/runtime/lane.ts';

/** `fired`: the deadline of the item of that id was due. */
export type Kind = 'write' | 'arm' | 'claim' | 'fired';

export interface Item {
  readonly id: string;
  readonly kind: Kind;
  /** From 1, without a gap. */
  readonly position: number;
  /** Who wrote it. */
  readonly node: string;
  readonly epoch: number;
  readonly dueMs?: number;
  /** Of a claim: of those of one name, one is granted. */
  readonly name?: string;
}

export class Ledger implements LaneDatabase {
  readonly items: Item[] = [];
  readonly positions = new Map<string, number>();
  readonly names = new Map<string, string>();
  /** By item: when it is due. */
  readonly deadlines = new Map<string, number>();
  /** Of the disk that it lies on. */
  sync: LaneDatabase['sync'] = (done) => done(null);
  writeCount = 0;
  inTransaction = false;
  #begunAt = 0;
  #savedAt = 0;
  /** Up to here commit() has told. */
  #toldAt: number;

  constructor(content = '[]') {
    for (const item of JSON.parse(content) as Item[]) this.#add(item);
    this.#toldAt = this.items.length;
  }

  get content(): string {
    return JSON.stringify(this.items);
  }

  /** In a transaction. */
  write(item: Omit<Item, 'position'>): Item {
    const written = { ...item, position: this.items.length + 1 };
    this.writeCount += 1;
    this.#add(written);
    return written;
  }

  /** Returns what is wrong with it. */
  apply(bytes: Uint8Array): string | undefined {
    for (const item of itemsOf(bytes)) {
      if (item.position !== this.items.length + 1)
        return `position ${item.position} was written after ${this.items.length}`;
      this.#add(item);
    }
    this.#toldAt = this.items.length;
    return undefined;
  }

  /** What was committed since the last call. */
  takeChange(): Uint8Array {
    const items = this.items.slice(this.#toldAt);
    this.#toldAt = this.items.length;
    return bytesOf(items);
  }

  begin(): void {
    this.inTransaction = true;
    this.#begunAt = this.items.length;
  }

  commit(): void {
    this.inTransaction = false;
  }

  rollback(): void {
    this.#cutTo(this.#begunAt);
    this.inTransaction = false;
  }

  savepoint(): void {
    this.#savedAt = this.items.length;
  }

  rollbackToSavepoint(): void {
    this.#cutTo(this.#savedAt);
  }

  release(): void {}

  #add(item: Item): void {
    this.items.push(item);
    this.positions.set(item.id, item.position);
    if (item.name !== undefined && !this.names.has(item.name)) this.names.set(item.name, item.id);
    if (item.kind === 'arm') this.deadlines.set(item.id, item.dueMs ?? 0);
    if (item.kind === 'fired') this.deadlines.delete(armedBy(item.id));
  }

  #cutTo(length: number): void {
    for (const item of this.items.splice(length).reverse()) {
      this.positions.delete(item.id);
      if (item.name !== undefined && this.names.get(item.name) === item.id) this.names.delete(item.name);
      if (item.kind === 'arm') this.deadlines.delete(item.id);
      if (item.kind === 'fired') {
        const armed = this.items[(this.positions.get(armedBy(item.id)) ?? 0) - 1];
        if (armed !== undefined) this.deadlines.set(armed.id, armed.dueMs ?? 0);
      }
    }
  }
}

/** The id of the item that says that a deadline fired. */
export function firedOf(id: string): string {
  return `${id}!`;
}

function armedBy(firedId: string): string {
  return firedId.slice(0, -1);
}

export function itemsOf(bytes: Uint8Array): Item[] {
  return bytes.length === 0 ? [] : (JSON.parse(new TextDecoder().decode(bytes)) as Item[]);
}

export function bytesOf(items: readonly Item[]): Uint8Array {
  return items.length === 0 ? new Uint8Array() : new TextEncoder().encode(JSON.stringify(items));
}
