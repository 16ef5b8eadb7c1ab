// Who asks for a command.

/** What an agent asks by, where it did not sign in: for the audit log. `id` of a key, or the client id of an app. */
export interface Through {
  readonly by: 'key' | 'app';
  readonly id: string;
  readonly name: string;
}

/**
 * Who asks. `agent` and `visitor` were authenticated at the edge; what they may do is decided inside, on current state.
 */
export type Caller =
  | { readonly kind: 'agent'; readonly agentId: string; readonly through?: Through }
  | { readonly kind: 'visitor'; readonly visitorId: string }
  | { readonly kind: 'system' };

export const systemCaller: Caller = { kind: 'system' };
