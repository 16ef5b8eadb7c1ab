// Who is there: one record per node, which ends by itself unless its node renews it.

import { LogUnreachable, type NodeRecord, type Nodes } from '../../engine/runtime/cluster/ports.ts';
import type { Records } from './records.ts';

/** Changes of one record by one node can only meet its own, whose answer was lost, and another start's. */
const maxAttempts = 5;

export class JetStreamNodes implements Nodes {
  readonly #records: Records;
  /** NATS counts whole seconds. */
  readonly #leaseSeconds: number;
  readonly #revisions = new Map<string, number>();

  constructor(records: Records, leaseMs: number) {
    this.#records = records;
    this.#leaseSeconds = Math.ceil(leaseMs / 1000);
  }

  renew(record: NodeRecord): Promise<boolean> {
    return this.#change(record, (revision) =>
      this.#records.put(record.node, record, { revision, seconds: this.#leaseSeconds }),
    );
  }

  async leave(record: NodeRecord): Promise<void> {
    await this.#change(record, (revision) => this.#records.remove(record.node, { revision }));
    this.#revisions.delete(record.node);
  }

  async of(node: string): Promise<NodeRecord | undefined> {
    return (await this.#records.get(node)).value as NodeRecord | undefined;
  }

  async *watch(signal: AbortSignal): AsyncGenerator<{ node: string; record: NodeRecord | undefined }> {
    for await (const { key, value } of this.#records.watch(signal))
      yield { node: key, record: value as NodeRecord | undefined };
  }

  /** False if another incarnation is there. */
  async #change(
    { node, incarnation }: NodeRecord,
    change: (revision: number) => Promise<number | undefined>,
  ): Promise<boolean> {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const done = await change(this.#revisions.get(node) ?? 0);
      if (done !== undefined) {
        this.#revisions.set(node, done);
        return true;
      }
      const { value, revision } = await this.#records.get(node);
      const there = value as NodeRecord | undefined;
      if (there !== undefined && there.incarnation !== incarnation) return false;
      this.#revisions.set(node, revision);
    }
    throw new LogUnreachable(`the record of the node ${node} changes all the time`);
  }
}
