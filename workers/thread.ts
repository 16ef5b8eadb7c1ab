// A worker thread that answers calls: started by the first one, restarted if it dies, with a bounded queue and a time
// limit per call. Every thread of the service is used through this; its own file defines its methods.

import { setPriority } from 'node:os';
import { parentPort, type Worker } from 'node:worker_threads';
import { startThread } from './program-files.ts';

/** A thread's methods by name, from plain data to plain data. */
export type Methods = Readonly<Record<string, (params: never) => unknown>>;

type Params<Q extends Methods, Name extends keyof Q> = Parameters<Q[Name]>[0];
type Result<Q extends Methods, Name extends keyof Q> = Awaited<ReturnType<Q[Name]>>;

export interface Thread<Q extends Methods> {
  /** Rejects with ThreadBusy, ThreadFailed (died or took too long), ThreadUnavailable, or the method's own error. */
  call<Name extends keyof Q & string>(name: Name, params: Params<Q, Name>): Promise<Result<Q, Name>>;
  readonly waiting: number;
  stop(): Promise<void>;
}

/** The thread's queue is full. */
export class ThreadBusy extends Error {
  override readonly name = 'ThreadBusy';
}

const unavailableName = 'ThreadUnavailable';

/** The thread cannot read its data now. Thrown by a method, it arrives as this class. */
export class ThreadUnavailable extends Error {
  override readonly name = unavailableName;
}

/** The thread died or did not answer in time; the next call starts a new one. */
export class ThreadFailed extends Error {
  override readonly name = 'ThreadFailed';
}

interface Request {
  readonly id: number;
  readonly name: string;
  readonly params: unknown;
}

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly name: string; readonly message: string };
}

interface Waiting {
  readonly timer: NodeJS.Timeout;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export interface ThreadOptions {
  /** The thread's file, which calls answerCalls(). */
  readonly file: URL;
  /** The thread's purpose, for messages. */
  readonly title: string;
  readonly maxWaiting: number;
  readonly timeoutMs: number;
  /** Plain data for the thread's workerData. */
  readonly data?: unknown;
  /**
   * Heap limits in megabytes: the young generation, if it matters, and the old one. A thread that exceeds the latter
   * dies.
   */
  readonly heapMb?: { readonly young?: number; readonly old: number };
  /** A thread that is unused for this long is stopped; the next call restarts it. */
  readonly idleMs?: number;
}

export function createThread<Q extends Methods>(options: ThreadOptions): Thread<Q> {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let lastId = 0;
  let stopped = false;

  function start(): Worker {
    const { heapMb } = options;
    const young = heapMb?.young === undefined ? {} : { maxYoungGenerationSizeMb: heapMb.young };
    const resourceLimits = heapMb === undefined ? {} : { ...young, maxOldGenerationSizeMb: heapMb.old };
    const started = startThread(options.file, { workerData: options.data, resourceLimits });
    // The thread must not keep the process alive; callers waiting for it do.
    started.unref();
    started.on('message', ({ id, result, error }: Answer) => {
      const one = take(id);
      if (error === undefined) one?.resolve(result);
      else
        one?.reject(
          error.name === unavailableName
            ? new ThreadUnavailable(error.message)
            : Object.assign(new Error(error.message), { name: error.name }),
        );
    });
    started.on('error', (error) => failAll(started, error));
    started.on('exit', () => failAll(started, new Error('it ended')));
    return started;
  }

  function take(id: number): Waiting | undefined {
    const one = waiting.get(id);
    waiting.delete(id);
    clearTimeout(one?.timer);
    if (waiting.size === 0 && options.idleMs !== undefined) idle = setTimeout(rest, options.idleMs).unref();
    return one;
  }

  function rest(): void {
    const resting = worker;
    worker = undefined;
    void resting?.terminate();
  }

  function failAll(died: Worker, cause: Error): void {
    if (worker !== died) return;
    worker = undefined;
    for (const id of [...waiting.keys()])
      take(id)?.reject(new ThreadFailed(`the ${options.title} thread failed`, { cause }));
  }

  return {
    get waiting() {
      return waiting.size;
    },
    call(name, params) {
      if (stopped) return Promise.reject(new ThreadFailed(`the ${options.title} thread is stopped`));
      if (waiting.size >= options.maxWaiting)
        return Promise.reject(
          new ThreadBusy(`${options.maxWaiting} calls wait for the ${options.title} thread already`),
        );
      const asked = (worker ??= start());
      clearTimeout(idle);
      lastId += 1;
      const id = lastId;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          // A stuck thread answers no one: stop it, which fails all other calls.
          failAll(asked, new Error(`${name} took longer than ${options.timeoutMs} ms`));
          void asked.terminate();
        }, options.timeoutMs);
        waiting.set(id, { timer, resolve: (result) => resolve(result as never), reject });
        try {
          asked.postMessage({ id, name, params } satisfies Request);
        } catch (error) {
          // Not plain data: it was never sent.
          take(id);
          throw error;
        }
      });
    },
    async stop() {
      stopped = true;
      clearTimeout(idle);
      const running = worker;
      if (running === undefined) return;
      failAll(running, new Error('it was stopped'));
      await running.terminate();
    },
  };
}

/** The nice(1) value for background work. */
const backgroundPriority = 10;

/**
 * For background threads: lowers this thread's priority. Only Linux has a priority per thread; elsewhere this does
 * nothing.
 */
export function giveWay(): void {
  if (process.platform === 'linux') setPriority(backgroundPriority);
}

/**
 * The thread's side: answers each call with its method's result or error. Errors for which `isUnavailable` is true
 * arrive as ThreadUnavailable.
 */
export function answerCalls(methods: Methods, isUnavailable: (error: unknown) => boolean = () => false): void {
  const port = parentPort;
  if (port === null) throw new Error('this only runs in a worker thread');
  port.on('message', ({ id, name, params }: Request) => {
    // Async, so that a throw and a rejection are handled alike.
    const answer = async (): Promise<unknown> => {
      const method = methods[name];
      if (method === undefined) throw new Error(`no method ${name}`);
      return method(params as never);
    };
    void answer()
      .then((result) => port.postMessage({ id, result } satisfies Answer))
      .catch((error: unknown) => {
        const { name: given, message } = error instanceof Error ? error : new Error(String(error));
        port.postMessage({
          id,
          error: { name: isUnavailable(error) ? unavailableName : given, message },
        } satisfies Answer);
      });
  });
}
