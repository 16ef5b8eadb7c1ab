// What goes into the engine: a command is plain data (a name, who asks, parameters), its definition is the synchronous
// function that decides. A definition that returns a Promise does not compile.

import type { Context } from './context.ts';

/** What an agent asks by, where it did not sign in: for the audit log. `id` of a key, or the client id of an app. */
export interface Through {
  readonly by: 'key' | 'app';
  readonly id: string;
  readonly name: string;
}

/** Who asks. `agent` and `visitor` were authenticated at the edge; what they may do is decided inside, on current state. */
export type Caller =
  | { readonly kind: 'agent'; readonly agentId: string; readonly through?: Through }
  | { readonly kind: 'visitor'; readonly visitorId: string }
  | { readonly kind: 'system' };

export const systemCaller: Caller = { kind: 'system' };

type Synchronous<Result> = Result extends PromiseLike<unknown> ? never : Result;

export interface CommandDefinition<Params, Result> {
  readonly name: string;
  handle(ctx: Context, params: Params): Synchronous<Result>;
}

export interface CommandRequest<Params> {
  readonly workspaceId: string;
  readonly caller: Caller;
  readonly params: Params;
}

/** Defines a command. `handle` reads and writes through its context only, and refuses by throwing. */
export function command<Params, Result>(name: string, handle: (ctx: Context, params: Params) => Synchronous<Result>): CommandDefinition<Params, Result> {
  return { name, handle };
}
