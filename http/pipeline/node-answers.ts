// Answers from node to node that no client sees: the workspace is not served here, and the mark of a request from
// another node is not valid. The node that asked recognises them by a header, which no handler writes.

import type { Reply } from '../request.ts';

export const nodeHeader = 'Switchboard-Node';
export type NodeAnswer = 'not-served' | 'refused';

/** The same reply, as an answer to the node that sent the request on. */
export function forNode(reply: Reply, answer: NodeAnswer): Reply {
  return { ...reply, headers: { ...reply.headers, [nodeHeader]: answer } };
}
