// One socket from upgrade to close: its connection, the data of the upgrade, and its state. http/edge/server.ts makes
// the connection, http/sockets/sockets.ts moves the session from state to state.

import type { SocketSpent } from '../limits/frame-budget.ts';
import type { Known } from '../pipeline/credentials.ts';
import type { Namespace } from '../request.ts';

export const subprotocol = 'messaging.v1';
export const closeCodes = {
  tooBig: 1009,
  restart: 1012,
  unavailable: 1013,
  unauthorized: 4401,
  forbidden: 4403,
  tooSlow: 4408,
  tooMany: 4429,
} as const;

/** One open connection. */
export interface Connection {
  send(message: string | Uint8Array): void;
  /** Sends everything that `write` sends at once. */
  together(write: () => void): void;
  /** Bytes sent and not yet accepted by the other side. */
  bufferedBytes(): number;
  /** Runs `work` in a later turn of the loop, in which the client's network takes turns with others. */
  inTurn(work: () => void): void;
  end(code: number, reason: string): void;
}

/** A socket at another node. */
export interface SocketElsewhere {
  /** Copies the bytes. */
  send(bytes: Uint8Array, isBinary: boolean): void;
  /** Bytes sent and not yet accepted by the other node. */
  bufferedBytes(): number;
  /** Nothing more is read until resume(), so that the other node notices a slow client. */
  pause(): void;
  resume(): void;
  /** What was sent before still arrives. */
  close(): void;
}

/** The data of the upgrade request. */
export interface Hello {
  readonly namespace: Namespace;
  readonly token: string | undefined;
  readonly since: string | undefined;
  readonly ip: string;
  /** The network that the address is counted by. */
  readonly network: string;
  readonly userAgent: string | null;
  readonly origin: string | undefined;
  /** Another node sent it on, and counts the frames of its network. */
  readonly isForwarded?: boolean;
}

export type State =
  | { readonly name: 'unknown'; readonly timer: { cancel(): void } }
  | { readonly name: 'verifying' }
  /** Another node serves the workspace. */
  | { readonly name: 'elsewhere'; readonly socket: SocketElsewhere }
  | { readonly name: 'catchingUp'; readonly known: Known; cursor: number; hasAskedForTurn: boolean }
  | { readonly name: 'live'; readonly known: Known }
  | { readonly name: 'closed' };

export interface Session {
  readonly connection: Connection;
  readonly hello: Hello;
  state: State;
  /** Also those that another node has. */
  callsUnderWay: number;
  /** Undefined for a session that was refused at once. */
  readonly spent: SocketSpent | undefined;
}

export function isKnown(state: State): state is Extract<State, { known: Known }> {
  return state.name === 'live' || state.name === 'catchingUp';
}
