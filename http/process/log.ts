// JSON lines on stdout. The only importer of pino. The writer of a line chooses its fields; these names are always
// redacted.

import pino from 'pino';
import type { Log } from '../../engine/runtime/log.ts';
import type { Config } from './config.ts';

const secrets = ['token', 'password', 'newPassword', 'authorization', 'secret', 'code', 'key', 'visitorToken'];

/**
 * The code of a Node error, such as ECONNREFUSED, which an operator searches for. Our own codes are digits or contain
 * small letters.
 */
const errorCode = /^[A-Z][A-Z0-9_]+$/;

/** For the last lines of a process. */
export const logTimeoutMs = 1000;
/** Of lines that wait for a slow reader; what comes then is dropped. */
const maxWaitingBytes = 4 * 1024 * 1024;

const outputs = new WeakMap<Log, Output>();

export function createLog(level: Config['logLevel']): Log {
  const output = new Output();
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: [...secrets, ...secrets.map((name) => `*.${name}`)],
        censor: (value: unknown, path) =>
          path.length === 2 && path[1] === 'code' && typeof value === 'string' && errorCode.test(value)
            ? value
            : '[secret]',
      },
    },
    output,
  );
  outputs.set(log, output);
  return log;
}

/**
 * Resolves when what was logged is written, or its reader is gone, or after a time limit. Call it before
 * process.exit(), which would wait for ever for a reader that is gone or reads no more.
 */
export async function logWritten(log: Log, limitMs: number): Promise<void> {
  await outputs.get(log)?.written(limitMs);
}

/** Stdout, written off the event loop. */
class Output {
  readonly #stream = pino.destination({ dest: 1, sync: false, maxLength: maxWaitingBytes });
  #isWritten = true;
  #isGone = false;
  #whenWritten: (() => void)[] = [];

  constructor() {
    this.#stream.on('drain', () => this.#end());
    this.#stream.on('error', ({ code }: NodeJS.ErrnoException) => {
      // A full disk may have room again.
      this.#isGone ||= code === 'EPIPE';
      this.#end();
    });
  }

  write(line: string): void {
    if (this.#isGone) return;
    this.#isWritten = false;
    this.#stream.write(line);
  }

  async written(limitMs: number): Promise<void> {
    if (!this.#isWritten) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#whenWritten.push(resolve);
      const timer = setTimeout(resolve, limitMs);
      await promise;
      clearTimeout(timer);
    }
    // Called when the process exits: it repeats what fails for ever.
    this.#stream.flushSync = () => {};
  }

  #end(): void {
    this.#isWritten = true;
    for (const resolve of this.#whenWritten.splice(0)) resolve();
  }
}
