// By what a request came, kept with what is answered later.

import type { Holder } from '../../engine/rights/rights.ts';

/** By what a request came: a sign-in, a key or an app. Plain data, to be kept. */
export interface Asker {
  readonly workspaceId: string;
  readonly holder: Holder;
  /**
   * Of the agent at that time. What signing in asked for ends with that sign-in; where the token names none, with its
   * agent's tokenVersion.
   */
  readonly tokenVersion: number;
  /** Undefined for a key or an app, and for a token of before there were sign-ins. */
  readonly sessionId?: string | undefined;
}
