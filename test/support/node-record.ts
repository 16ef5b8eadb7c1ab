import type { NodeRecord } from '../../engine/runtime/cluster/ports.ts';

/** What a node of this name says of itself: ready, and not draining. */
export function nodeRecord(node: string, change: Partial<NodeRecord> = {}): NodeRecord {
  return { node, url: '', version: '1', schema: 1, incarnation: '1', isReady: true, isDraining: false, ...change };
}
