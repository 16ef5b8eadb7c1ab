// How many requests to one node may be under way, in all and for one network, so that no network can take the way to
// that node from the others. Each has a connection of its own. Used by forwarding.ts.

export class Places {
  readonly #max: { readonly ofAll: number; readonly ofNetwork: number };
  readonly #taken = new Map<string, number>();
  #takenByAll = 0;

  constructor(max: { readonly ofAll: number; readonly ofNetwork: number }) {
    this.#max = max;
  }

  /** False if there is none. Otherwise give it back. */
  take(network: string): boolean {
    const taken = this.#taken.get(network) ?? 0;
    if (this.#takenByAll >= this.#max.ofAll || taken >= this.#max.ofNetwork) return false;
    this.#taken.set(network, taken + 1);
    this.#takenByAll += 1;
    return true;
  }

  giveBack(network: string): void {
    const left = (this.#taken.get(network) ?? 0) - 1;
    if (left > 0) this.#taken.set(network, left);
    else this.#taken.delete(network);
    this.#takenByAll -= 1;
  }

  get taken(): number {
    return this.#takenByAll;
  }
}
