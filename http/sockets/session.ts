// One socket from its upgrade to its end: what carries it, what came with it, and what is known of it by now.
// http/edge/server.ts makes the connection, http/sockets/sockets.ts moves the session from state to state.

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

/** One open connection, whatever carries it. */
export interface Connection {
  send(message: string | Uint8Array): void;
  /** Sends what `write` sends in one go. */
  together(write: () => void): void;
  /** Taken from us and not yet taken by the other side. */
  bufferedBytes(): number;
  end(code: number, reason: string): void;
}

/** What came with the upgrade. */
export interface Hello {
  readonly namespace: Namespace;
  readonly token: string | undefined;
  readonly since: string | undefined;
  readonly ip: string;
  /** What the address is counted by. */
  readonly network: string;
  readonly userAgent: string | null;
  readonly origin: string | undefined;
}

export type State =
  | { readonly name: 'unknown'; readonly timer: { cancel(): void } }
  | { readonly name: 'verifying' }
  | { readonly name: 'catchingUp'; readonly known: Known; cursor: number }
  | { readonly name: 'live'; readonly known: Known }
  | { readonly name: 'closed' };

export interface Session {
  readonly connection: Connection;
  readonly hello: Hello;
  state: State;
  callsUnderWay: number;
  /** Undefined for one that was refused at once. */
  readonly spent: SocketSpent | undefined;
}

export function isKnown(state: State): state is Extract<State, { known: Known }> {
  return state.name === 'live' || state.name === 'catchingUp';
}
