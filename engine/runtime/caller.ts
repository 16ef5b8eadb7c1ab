// The caller of a command.

/** The API key or app through which an agent calls, for the audit log. `id` is the key's id or the app's client id. */
export interface Through {
  readonly by: 'key' | 'app';
  readonly id: string;
  readonly name: string;
}

/** `agent` and `visitor` were authenticated at the edge. The command decides what they may do, on current state. */
export type Caller =
  | { readonly kind: 'agent'; readonly agentId: string; readonly through?: Through }
  | {
      readonly kind: 'visitor';
      readonly visitorId: string;
      /** The hash of the address that its token proves to be its own; undefined for a token that proves none. */
      readonly provedEmailHash?: string | undefined;
    }
  | { readonly kind: 'system' };

export const systemCaller: Caller = { kind: 'system' };

/** Whose commands are counted together: those of a person, through each key or app for itself. */
export function clientOf(caller: Caller): string | undefined {
  if (caller.kind === 'system') return undefined;
  if (caller.kind === 'visitor') return caller.visitorId;
  return caller.through === undefined ? caller.agentId : `${caller.through.id} ${caller.agentId}`;
}

/** A caller in its workspace. */
export interface Actor {
  readonly workspaceId: string;
  readonly caller: Caller;
}
