// The credential that a request came with, kept for work that is answered later.

import type { Holder } from '../../engine/rights/rights.ts';

/** The credential of a request: a sign-in, a key or an app. Plain data, so that it can be stored. */
export interface Asker {
  readonly workspaceId: string;
  readonly holder: Holder;
  /**
   * The agent's at that time. Work that a sign-in requested ends with the sign-in; if the token names none, when the
   * agent's tokenVersion changes.
   */
  readonly tokenVersion: number;
  /** Undefined for a key, an app, and a token from before sign-ins were recorded. */
  readonly sessionId?: string | undefined;
}
