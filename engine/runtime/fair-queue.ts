// A queue that is fair to those who fill it: the first item of each in turn, and the items of one in their order. So a
// client waits for one item of each other client and not for all that one of them sent.

export interface Queued {
  /** Who asked. Items without it are each of their own, so they keep their order among themselves. */
  readonly from?: string | undefined;
}

export class FairQueue<Item extends Queued> {
  /** In the order of their turns; none is empty. */
  readonly #waiting = new Map<unknown, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(item: Item): void {
    const from = item.from ?? item;
    const waiting = this.#waiting.get(from);
    if (waiting === undefined) this.#waiting.set(from, [item]);
    else waiting.push(item);
    this.#size += 1;
  }

  /** Removes the next one, after which the others have their turns. Undefined if it is empty. */
  shift(): Item | undefined {
    for (const [from, waiting] of this.#waiting) {
      const item = waiting.shift();
      this.#waiting.delete(from);
      if (waiting.length > 0) this.#waiting.set(from, waiting);
      this.#size -= 1;
      return item;
    }
    return undefined;
  }
}
