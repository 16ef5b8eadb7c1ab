// A queue in the order of arrival, in which no one has more than a few places: what one client sends beyond them moves up
// as its earlier items leave. So a client that sends hundreds at once delays the others by a few.

export interface Queued {
  /** Who sent it. Items without it are not counted. */
  readonly from?: string | undefined;
}

/** Places of one client. More than a person ever needs. */
const maxPlaces = 8;

export class FairQueue<Item extends Queued> {
  readonly #line: Item[] = [];
  /** Places taken, by client. */
  readonly #places = new Map<string, number>();
  /** Items without a place, by client; none is empty. */
  readonly #behind = new Map<string, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(item: Item): void {
    this.#size += 1;
    const { from } = item;
    const places = from === undefined ? 0 : (this.#places.get(from) ?? 0);
    if (from !== undefined && places >= maxPlaces) {
      const behind = this.#behind.get(from);
      if (behind === undefined) this.#behind.set(from, [item]);
      else behind.push(item);
      return;
    }
    if (from !== undefined) this.#places.set(from, places + 1);
    this.#line.push(item);
  }

  /** Removes the next one. Undefined if it is empty. */
  shift(): Item | undefined {
    const item = this.#line.shift();
    if (item === undefined) return undefined;
    this.#size -= 1;
    if (item.from !== undefined) this.#leave(item.from);
    return item;
  }

  #leave(from: string): void {
    const behind = this.#behind.get(from);
    const next = behind?.shift();
    if (next !== undefined) {
      this.#line.push(next);
      if (behind?.length === 0) this.#behind.delete(from);
      return;
    }
    const places = (this.#places.get(from) ?? 0) - 1;
    if (places > 0) this.#places.set(from, places);
    else this.#places.delete(from);
  }
}
