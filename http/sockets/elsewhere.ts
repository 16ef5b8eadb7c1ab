// Sockets whose workspace another node serves: frames go both ways unchanged and in order, no faster than each side
// takes them. The other node knows the person; this one only counts the frames of the client's network. Types and rules
// of the way; http/cluster/peer-sockets.ts has the other end.

import { closeCodes, type Hello, type SocketElsewhere } from './session.ts';

/** What the other node is told of the client. */
export interface HelloElsewhere extends Pick<Hello, 'namespace' | 'ip' | 'userAgent' | 'origin'> {
  readonly token: string;
  /** As the client gave it. */
  readonly since: unknown;
}

/** What comes from the other node. */
export interface FromElsewhere {
  /** A text frame, which is read before this returns. */
  message(bytes: Uint8Array): void;
  /** Called once, with the other node's code and reason; 1006 if it is gone without a word. */
  closed(code: number, reason: string): void;
}

export interface Elsewhere {
  /**
   * A socket at the node that serves the workspace, opened and told who comes. `here`: this node serves it by now.
   * Rejects if no node does at the moment, or its node cannot be reached.
   */
  socketTo(workspaceId: string, hello: HelloElsewhere, to: FromElsewhere): Promise<SocketElsewhere | 'here'>;
}

/** Before the client has accepted more than this, the other node is not read. */
export const pauseAboveBytes = 256 * 1024;
/** A workspace that moves back and forth: the client asks again later. */
export const maxTurnsHere = 3;

/** The close of the client's socket for that of the other node's: a node that is gone means a restart. */
export function closeOf(code: number, reason: string): { readonly code: number; readonly reason: string } {
  const isOrdinary = code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code);
  return isOrdinary || (code >= 3000 && code <= 4999)
    ? { code, reason }
    : { code: closeCodes.restart, reason: 'restarting' };
}

const answer = Buffer.from('{"type":"reply"');
const complaint = Buffer.from('{"type":"error"');

/** Whether the frame answers a call. */
export function isAnswer(frame: Uint8Array): boolean {
  const front = frame.subarray(0, answer.length);
  return answer.equals(front) || complaint.equals(front);
}
