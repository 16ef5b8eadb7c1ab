// What is in the cluster at this moment, for whoever looks at it. Nodes themselves watch instead.

import type { NodeRecord, Ownership } from '../../engine/runtime/cluster/ports.ts';
import type { NatsLink } from './connection.ts';
import { type Layout, logPlace } from './layout.ts';
import { newestOf } from './reading.ts';
import type { Records } from './records.ts';

/** Questions under way together. */
const atOnce = 32;
/** Of one answer: 260 KB of ids and sequences. */
export const copiesPerAnswer = 5000;

export class Inventory {
  readonly #link: NatsLink;
  readonly #layout: Layout;
  readonly #records: { readonly nodes: Records; readonly owners: Records };

  constructor(link: NatsLink, layout: Layout, records: { readonly nodes: Records; readonly owners: Records }) {
    this.#link = link;
    this.#layout = layout;
    this.#records = records;
  }

  /** By name. Rejects with LogUnreachable. */
  async nodes(): Promise<ReadonlyMap<string, NodeRecord>> {
    return (await this.#records.nodes.list()) as ReadonlyMap<string, NodeRecord>;
  }

  /** By workspace. Rejects with LogUnreachable. */
  async owners(): Promise<ReadonlyMap<string, Ownership>> {
    return (await this.#records.owners.list()) as ReadonlyMap<string, Ownership>;
  }

  /** The newest entry of each log; 0: there is none. Rejects with LogUnreachable. */
  async sequences(workspaceIds: Iterable<string>): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>();
    const waiting = [...workspaceIds].values();
    const ask = async (): Promise<void> => {
      // The workers share the iterator.
      for (const workspaceId of waiting)
        found.set(workspaceId, (await newestOf(this.#link, logPlace(this.#layout, workspaceId)))?.sequence ?? 0);
    };
    await Promise.all(Array.from({ length: atOnce }, ask));
    return found;
  }
}

/**
 * A node's answer to the call `copies`: sequences by workspace, in order of the ids, from the one after `after` in the
 * parameters. Whoever asked asks again after the last one, until an answer has fewer than copiesPerAnswer.
 */
export function answerCopies(copies: ReadonlyMap<string, number>, params: unknown): Record<string, number> {
  const { after } = (params ?? {}) as { after?: unknown };
  const ids = [...copies.keys()].filter((one) => typeof after !== 'string' || one > after).sort();
  return Object.fromEntries(ids.slice(0, copiesPerAnswer).map((one) => [one, copies.get(one) ?? 0]));
}
