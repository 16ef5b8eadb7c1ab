// Which node should do what for a workspace, from who is there. Every node computes it alike, by rendezvous hashing, so
// there is no coordinator; when a node comes or goes, only its own share moves.

import { createHash } from 'node:crypto';
import { type NodeRecord, noNodesSchema, type Ownership } from './ports.ts';

/**
 * `serve`: it should own the workspace, and takes it if it does not serve it. `give`: it owns it, and another should.
 * `copy`: it is next in line, and keeps a copy that follows the log.
 */
export type Duty =
  | { readonly kind: 'serve' }
  | { readonly kind: 'give'; readonly to: NodeRecord }
  | { readonly kind: 'copy' }
  | { readonly kind: 'none' };

/** Whether the node's program knows the schema of the file: it would not open a newer one. */
export function canOpen(node: Pick<NodeRecord, 'schema'>, { schema }: Pick<Ownership, 'schema'>): boolean {
  return node.schema >= schema;
}

/** A newer program has changed the file, and nobody who is there can open it. */
export function isTooNew(ownership: Ownership, nodes: Iterable<NodeRecord>): boolean {
  return ownership.schema !== noNodesSchema && ![...nodes].some((one) => canOpen(one, ownership));
}

/** The nodes that may own it (ready, not draining, able to open it), the one that should first. */
export function inLine(workspaceId: string, nodes: Iterable<NodeRecord>, schema = 0): NodeRecord[] {
  return [...nodes]
    .filter((one) => one.isReady && !one.isDraining && canOpen(one, { schema }))
    .map((record) => ({ record, weight: weightOf(workspaceId, record.node) }))
    .sort((a, b) => b.weight - a.weight || (a.record.node < b.record.node ? -1 : 1))
    .map(({ record }) => record);
}

export function dutyOf(
  node: string,
  workspaceId: string,
  { ownership, nodes }: { ownership: Ownership; nodes: ReadonlyMap<string, NodeRecord> },
): Duty {
  const line = inLine(workspaceId, nodes.values(), ownership.schema);
  const [first] = line;
  const owner = nodes.get(ownership.node);
  // An owner that was started again with an older program is there, and cannot serve it.
  const isOwnerAble = owner !== undefined && canOpen(owner, ownership);
  if (ownership.node === node && isOwnerAble) {
    if (first === undefined || first.node === node) return { kind: 'serve' };
    if (ownership.isPinned && !owner.isDraining) return { kind: 'serve' };
    return { kind: 'give', to: first };
  }
  if (!isOwnerAble && first?.node === node) return { kind: 'serve' };
  return line.find((one) => one.node !== ownership.node)?.node === node ? { kind: 'copy' } : { kind: 'none' };
}

/** 48 bits: a whole number to JavaScript. */
function weightOf(workspaceId: string, node: string): number {
  return createHash('sha1').update(`${node}\n${workspaceId}`).digest().readUIntBE(0, 6);
}
