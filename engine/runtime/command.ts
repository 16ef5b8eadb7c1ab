// What goes into the engine: a command is plain data (a name, who asks, parameters), its definition is the synchronous
// function that decides. A definition that returns a Promise does not compile.

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

/** Defines a command. `handle` reads and writes through its context only, and refuses by throwing. */
export function command<Params, Result>(
  name: string,
  handle: (ctx: Context, params: Params) => Synchronous<Result>,
): CommandDefinition<Params, Result> {
  return { name, handle };
}
