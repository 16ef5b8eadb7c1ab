// What this node knows of the others: who is there and who owns what, a moment late. Good for deciding what to try;
// whoever acts on it changes the record by compare-and-set.

import type { NodeRecord, Nodes, OwnerRecord, Owners, Ownership } from './ports.ts';

export class View {
  readonly nodes = new Map<string, NodeRecord>();
  readonly owners = new Map<string, Ownership>();
  readonly #revisions = new Map<string, number>();
  readonly #ports: { readonly nodes: Nodes; readonly owners: Owners };
  readonly #abort = new AbortController();
  readonly #listeners: ((workspaceId: string | undefined) => void)[] = [];

  constructor(ports: { nodes: Nodes; owners: Owners }) {
    this.#ports = ports;
  }

  /** Undefined: all may have changed. */
  onChange(call: (workspaceId: string | undefined) => void): void {
    this.#listeners.push(call);
  }

  start(): void {
    void this.#watchNodes();
    void this.#watchOwners();
  }

  stop(): void {
    this.#abort.abort();
  }

  record(workspaceId: string): OwnerRecord | undefined {
    const ownership = this.owners.get(workspaceId);
    const revision = this.#revisions.get(workspaceId);
    return ownership === undefined || revision === undefined ? undefined : { ownership, revision };
  }

  /** What this node has learned by itself. An older record changes nothing. */
  note(workspaceId: string, { ownership, revision }: OwnerRecord): void {
    const known = this.owners.get(workspaceId);
    if (known !== undefined && known.epoch >= ownership.epoch) return;
    this.owners.set(workspaceId, ownership);
    this.#revisions.set(workspaceId, revision);
    this.#tell(workspaceId);
  }

  #forget(workspaceId: string): void {
    this.#revisions.delete(workspaceId);
    if (this.owners.delete(workspaceId)) this.#tell(workspaceId);
  }

  async #watchNodes(): Promise<void> {
    for await (const { node, record } of this.#ports.nodes.watch(this.#abort.signal)) {
      // A node says the same again each time that it renews its lease.
      if (JSON.stringify(this.nodes.get(node)) === JSON.stringify(record)) continue;
      if (record === undefined) this.nodes.delete(node);
      else this.nodes.set(node, record);
      this.#tell(undefined);
    }
  }

  async #watchOwners(): Promise<void> {
    for await (const { workspaceId, record } of this.#ports.owners.watch(this.#abort.signal)) {
      if (record === undefined) this.#forget(workspaceId);
      else this.note(workspaceId, record);
    }
  }

  #tell(workspaceId: string | undefined): void {
    for (const call of this.#listeners) call(workspaceId);
  }
}
