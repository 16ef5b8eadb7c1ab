// A command is plain data (name, caller, parameters). Its definition is the synchronous function that decides: one that
// returns a Promise does not compile.

import type { Caller } from './caller.ts';
import type { Context } from './context.ts';

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

/** Defines a command. `handle` reads and writes only through its context, and refuses by throwing. */
export function command<Params, Result>(
  name: string,
  handle: (ctx: Context, params: Params) => Synchronous<Result>,
): CommandDefinition<Params, Result> {
  return { name, handle };
}
