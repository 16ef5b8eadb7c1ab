// What a command of the program is: words, help, options, and what it does. One file per command in this folder, listed
// in program.ts. A command reports by its exit code and in plain lines; what an operator can mend is a ProgramError.

import type { ParseArgsConfig } from 'node:util';

/** Exit codes, the same for every command. */
export const exitCodes = {
  done: 0,
  /** It could not be done, or what was checked is not as it must be. */
  failed: 1,
  /** The command line was not understood. */
  misused: 2,
} as const;

export type OptionValues = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

export interface Command {
  /** Without the program's name: what follows the words, then a text of a few lines. */
  readonly usage: string;
  readonly description: string;
  readonly options: NonNullable<ParseArgsConfig['options']>;
  /** How many words may follow the command's own. */
  readonly operands: { readonly min: number; readonly max: number };
  /** Resolves to an exit code. */
  run(given: { values: OptionValues; operands: readonly string[] }): Promise<number>;
}

/** Something that an operator can mend, told in a line and without a stack. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Undefined when the option was not given. */
export function textOf(values: OptionValues, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}
