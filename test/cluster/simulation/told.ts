// What clients were told, and whether it is true: every acknowledged item is at its place, once; nobody reads less than
// was acknowledged before; what was read stays; one node writes in one epoch, and epochs only rise.

import type { Item } from './ledger.ts';
import type { Order } from './node-files.ts';
import type { World } from './world.ts';

interface Acknowledged {
  readonly id: string;
  readonly position: number;
  readonly epoch: number;
  readonly node: string;
}

export class Told {
  readonly #world: World;
  readonly #acknowledged = new Map<string, Acknowledged[]>();
  readonly #byPosition = new Map<string, Acknowledged>();
  readonly #asked = new Map<string, Set<string>>();
  /** By workspace: the longest that was read. */
  readonly #seen = new Map<string, readonly string[]>();
  readonly #fired = new Map<string, Set<string>>();

  constructor(world: World) {
    this.#world = world;
  }

  ask(workspaceId: string, { id }: Order): void {
    this.#asked.set(workspaceId, (this.#asked.get(workspaceId) ?? new Set()).add(id));
  }

  acknowledge(workspaceId: string, one: Acknowledged): void {
    const list = this.#acknowledged.get(workspaceId) ?? [];
    this.#acknowledged.set(workspaceId, list);
    const place = `${workspaceId} ${one.position}`;
    const other = this.#byPosition.get(place);
    this.#byPosition.set(place, one);
    if (other !== undefined && other.id !== one.id)
      this.#world.isWrong(`${other.node} and ${one.node} both acknowledged position ${one.position} of ${workspaceId}`);
    list.push(one);
  }

  /** The effect of a deadline has left. */
  fire(workspaceId: string, id: string): void {
    this.#fired.set(workspaceId, (this.#fired.get(workspaceId) ?? new Set()).add(id));
  }

  /** How much has been acknowledged so far. */
  count(workspaceId: string): number {
    return this.#acknowledged.get(workspaceId)?.length ?? 0;
  }

  /** `before`: count() when it was asked. */
  read(workspaceId: string, { before, ids }: { before: number; ids: readonly string[] }): void {
    for (const { id, position, node } of this.#acknowledged.get(workspaceId)?.slice(0, before) ?? [])
      if (ids[position - 1] !== id)
        this.#world.isWrong(`a read of ${workspaceId} is older than ${id}, which ${node} had acknowledged`);
    const seen = this.#seen.get(workspaceId) ?? [];
    const [short, long] = seen.length < ids.length ? [seen, ids] : [ids, seen];
    if (short.some((id, index) => long[index] !== id)) this.#world.isWrong(`two reads of ${workspaceId} do not agree`);
    this.#seen.set(workspaceId, long);
  }

  checkEnd(workspaceId: string, items: readonly Item[]): void {
    const wrong = (text: string): void => this.#world.isWrong(`${workspaceId}: ${text}`);
    const ids = new Set<string>();
    const names = new Set<string>();
    const writers = new Map<number, string>();
    let epoch = 0;
    for (const item of items) {
      if (ids.has(item.id)) wrong(`${item.id} is there twice`);
      ids.add(item.id);
      if (item.kind !== 'fired' && this.#asked.get(workspaceId)?.has(item.id) !== true)
        wrong(`nobody asked for ${item.id}`);
      if (item.name !== undefined) {
        if (names.has(item.name)) wrong(`${item.name} was granted twice`);
        names.add(item.name);
      }
      const writer = writers.get(item.epoch) ?? item.node;
      writers.set(item.epoch, writer);
      if (writer !== item.node) wrong(`${writer} and ${item.node} both wrote in epoch ${item.epoch}`);
      if (item.epoch < epoch) wrong(`${item.id} was written in epoch ${item.epoch}, after epoch ${epoch}`);
      epoch = item.epoch;
    }
    for (const { id, position } of this.#acknowledged.get(workspaceId) ?? [])
      if (items[position - 1]?.id !== id) wrong(`${id} was acknowledged at ${position}, and is not there`);
    for (const [index, id] of (this.#seen.get(workspaceId) ?? []).entries())
      if (items[index]?.id !== id) wrong(`${id} was read, and is not there`);
    for (const id of this.#fired.get(workspaceId) ?? [])
      if (!ids.has(`${id}!`)) wrong(`the effect of ${id} left, and it did not happen`);
  }
}
