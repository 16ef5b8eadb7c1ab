// The form of a command: words, help, options and action. One file per command in this folder, listed in program.ts. A
// command reports through its exit code and plain lines; a problem that the operator can fix is a ProgramError.

import type { ParseArgsConfig } from 'node:util';

/** Exit codes, the same for every command. */
export const exitCodes = {
  done: 0,
  /** The command failed, or a check found a problem. */
  failed: 1,
  /** Usage error. */
  misused: 2,
} as const;

export type OptionValues = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

export interface Command {
  /** Without the program's name: the arguments, then a few lines of text. */
  readonly usage: string;
  readonly description: string;
  readonly options: NonNullable<ParseArgsConfig['options']>;
  /** How many arguments may follow the command's words. */
  readonly operands: { readonly min: number; readonly max: number };
  /** Resolves to an exit code. */
  run(given: { values: OptionValues; operands: readonly string[] }): Promise<number>;
}

/** A problem that the operator can fix, printed as one line without a stack. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
}

/**
 * A reader such as `head` ends early. The work of a command goes on without it, and its exit code is as ever; without a
 * listener, the process would die of the error.
 */
export function outliveReaders(): void {
  for (const output of [process.stdout, process.stderr])
    output.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
    });
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Undefined when the option was not given. */
export function textOf(values: OptionValues, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}
