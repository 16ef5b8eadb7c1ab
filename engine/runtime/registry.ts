// The in-memory cache of actors' states. Bounded: a state can be evicted at any time between two batches and is read
// again from its rows. Two generations approximate least-recently-used: a state not used while the young generation
// fills, or between two calls of age(), is evicted with the old one.

import type { Database } from '../../store/database.ts';

/** One kind of actor: how to load its state from its rows. `undefined`: it does not exist. */
export interface ActorKind<State> {
  readonly name: string;
  load(db: Database, id: string): State | undefined;
}

/** States of one kind kept: at least this many, at most twice as many. A conversation's is about 1 KiB. */
const generationSize = 2000;

interface Generations {
  young: Map<string, unknown>;
  old: Map<string, unknown>;
}

export class Registry {
  readonly #db: Database;
  readonly #kinds = new Map<ActorKind<unknown>, Generations>();

  constructor(db: Database) {
    this.#db = db;
  }

  get<State>(kind: ActorKind<State>, id: string): State | undefined {
    const known = this.peek(kind, id);
    if (known !== undefined) return known;
    const state = kind.load(this.#db, id);
    if (state !== undefined) this.set(kind, id, state);
    return state;
  }

  /** The state if it is in memory. */
  peek<State>(kind: ActorKind<State>, id: string): State | undefined {
    const generations = this.#generationsOf(kind);
    // set() is the only writer and is typed by the kind, so what is stored under a kind is that kind's state.
    const young = generations.young.get(id) as State | undefined;
    if (young !== undefined) return young;
    const old = generations.old.get(id) as State | undefined;
    if (old !== undefined) this.set(kind, id, old);
    return old;
  }

  set<State>(kind: ActorKind<State>, id: string, state: State): void {
    const generations = this.#generationsOf(kind);
    if (generations.young.size >= generationSize && !generations.young.has(id)) swap(generations);
    generations.young.set(id, state);
    generations.old.delete(id);
  }

  /** Forgets everything: after a failed commit, memory may be ahead of the disk. */
  clear(): void {
    this.#kinds.clear();
  }

  /** Called periodically. Evicts what was not used since the call before the last. */
  age(): void {
    for (const generations of this.#kinds.values()) swap(generations);
  }

  get size(): number {
    let size = 0;
    for (const { young, old } of this.#kinds.values()) size += young.size + old.size;
    return size;
  }

  /** Rows that the states were made of, about: one each, and one for each member of a list. */
  get rows(): number {
    let rows = 0;
    for (const { young, old } of this.#kinds.values())
      for (const states of [young, old]) for (const state of states.values()) rows += rowsOf(state);
    return rows;
  }

  #generationsOf(kind: ActorKind<unknown>): Generations {
    let generations = this.#kinds.get(kind);
    if (generations === undefined) {
      generations = { young: new Map(), old: new Map() };
      this.#kinds.set(kind, generations);
    }
    return generations;
  }
}

function rowsOf(state: unknown): number {
  if (typeof state !== 'object' || state === null) return 1;
  return Math.max(
    1,
    [state, ...Object.values(state)].reduce<number>((sum, part) => sum + membersOf(part), 0),
  );
}

function membersOf(part: unknown): number {
  if (Array.isArray(part)) return part.length;
  return part instanceof Map || part instanceof Set ? part.size : 0;
}

function swap(generations: Generations): void {
  generations.old = generations.young;
  generations.young = new Map();
}
