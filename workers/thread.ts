// A worker thread that answers calls: started by the first one, restarted if it dies, with a bounded queue and a time
// limit per call. Every thread of the service is used through this; its own file defines its methods.

import { setPriority } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { parentPort, type Worker } from 'node:worker_threads';
import { CallOrder } from './call-order.ts';
import { Unavailable } from './failures.ts';
import { startThread } from './program-files.ts';

/** A thread's methods by name, from plain data to plain data. */
export type Methods = Readonly<Record<string, (params: never) => unknown>>;

type Params<Q extends Methods, Name extends keyof Q> = Parameters<Q[Name]>[0];
type Result<Q extends Methods, Name extends keyof Q> = Awaited<ReturnType<Q[Name]>>;

export interface Thread<Q extends Methods> {
  /**
   * `buffers`: those of `params` that the thread takes over instead of copying them. Rejects with ThreadBusy,
   * ThreadFailed (died or took too long), ThreadUnavailable, or the method's own error.
   */
  call<Name extends keyof Q & string>(
    name: Name,
    params: Params<Q, Name>,
    buffers?: readonly ArrayBuffer[],
  ): Promise<Result<Q, Name>>;
  readonly waiting: number;
  /** Whether it was started and has not ended: otherwise it has nothing in memory and nothing open. */
  readonly isRunning: boolean;
  stop(): Promise<void>;
}

/** The thread's queue is full. */
export class ThreadBusy extends Unavailable {
  override readonly name = 'ThreadBusy';
  override readonly isOverload = true;
}

const unavailableName = 'ThreadUnavailable';

/** The thread cannot read its data now. Thrown by a method, it arrives as this class. */
export class ThreadUnavailable extends Unavailable {
  override readonly name = unavailableName;
}

/** The thread died or did not answer in time; the next call starts a new one. */
export class ThreadFailed extends Unavailable {
  override readonly name = 'ThreadFailed';
}

/** Of a call that closes something: a thread that failed has nothing open. */
export async function closed(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof ThreadFailed)) throw error;
  }
}

interface Request {
  readonly id: number;
  readonly name: string;
  readonly params: unknown;
  readonly goesFirst: boolean;
}

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly name: string; readonly message: string };
}

interface Emitted {
  readonly event: unknown;
}

interface Waiting {
  readonly goesFirst: boolean;
  readonly timer: NodeJS.Timeout;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export interface ThreadOptions {
  /** The thread's source, which calls answerCalls(), as a path from the project's folder. */
  readonly file: string;
  /** The thread's purpose, for messages. */
  readonly title: string;
  /** Calls without an answer; but for those that go first. */
  readonly maxWaiting: number;
  readonly timeoutMs: number;
  /** Short calls, by the names of their methods, that go before the others that wait; and how many of these may wait. */
  readonly first?: { readonly names: readonly string[]; readonly maxWaiting: number };
  /** Plain data for the thread's workerData. */
  readonly data?: unknown;
  /**
   * Heap limits in megabytes, in place of the defaults: the young generation and the old one. A thread that exceeds the
   * latter dies.
   */
  readonly heapMb?: { readonly young?: number; readonly old: number };
  /** A thread that is unused for this long is stopped; the next call restarts it. */
  readonly idleMs?: number;
  /** Whether an unused thread still does something; judged after each call. */
  readonly isNeeded?: () => boolean;
  /** Plain data that the thread emits by itself. */
  readonly onEvent?: (event: unknown) => void;
  /** The thread died or was stopped, also because it was idle. */
  readonly onEnd?: () => void;
}

export function createThread<Q extends Methods>(options: ThreadOptions): Thread<Q> {
  return new CalledThread<Q>(options);
}

/**
 * V8's own limits are 48 MB and 4 GB on a large machine, by which it chooses when to collect: a thread with 10 MB in use
 * grew to 37 MB, and kept as much for later. The young generation is three times what is collected at once.
 */
const defaultHeapMb = { young: 3, old: Math.min(1024, Math.ceil(getHeapStatistics().heap_size_limit / 2 ** 20)) };
/** The longest that a thread is expected to take until it answers its first call. */
const loadMs = 5000;

class CalledThread<Q extends Methods> implements Thread<Q> {
  readonly #options: ThreadOptions;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #loaded: Promise<void> | undefined;
  #idle: NodeJS.Timeout | undefined;
  #lastId = 0;
  #isStopped = false;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  call<Name extends keyof Q & string>(
    name: Name,
    params: Params<Q, Name>,
    buffers: readonly ArrayBuffer[] = [],
  ): Promise<Result<Q, Name>> {
    const { title, timeoutMs, first } = this.#options;
    if (this.#isStopped) return Promise.reject(new ThreadFailed(`the ${title} thread is stopped`));
    const goesFirst = first?.names.includes(name) === true;
    const maxWaiting = goesFirst ? first.maxWaiting : this.#options.maxWaiting;
    if (this.#countWaiting(goesFirst) >= maxWaiting)
      return Promise.reject(new ThreadBusy(`${maxWaiting} calls wait for the ${title} thread already`));
    const worker = (this.#worker ??= this.#start());
    clearTimeout(this.#idle);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        // A stuck thread answers no one: stop it, which fails all other calls.
        this.#failAll(worker, new Error(`${name} took longer than ${timeoutMs} ms`));
        void worker.terminate();
      }, timeoutMs);
      this.#waiting.set(id, { goesFirst, timer, resolve: (result) => resolve(result as never), reject });
      try {
        worker.postMessage({ id, name, params, goesFirst } satisfies Request, buffers);
      } catch (error) {
        // Not plain data: it was never sent.
        this.#remove(id);
        throw error;
      }
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#idle);
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#failAll(worker, new Error('it was stopped'));
    // To terminate a thread while it loads a native module ends the whole process.
    await this.#loaded;
    await worker.terminate();
  }

  #countWaiting(goesFirst: boolean): number {
    let count = 0;
    for (const call of this.#waiting.values()) if (call.goesFirst === goesFirst) count += 1;
    return count;
  }

  #start(): Worker {
    const { file, data, heapMb } = this.#options;
    const { young, old } = { ...defaultHeapMb, ...heapMb };
    const resourceLimits = { maxYoungGenerationSizeMb: young, maxOldGenerationSizeMb: old };
    const started = startThread(file, { workerData: data, resourceLimits });
    // The thread must not keep the process alive; callers waiting for it do.
    started.unref();
    this.#loaded = firstSign(started);
    started.on('message', (message: Answer | Emitted) => {
      if ('event' in message) return this.#options.onEvent?.(message.event);
      const { id, result, error } = message;
      const call = this.#remove(id);
      if (error === undefined) call?.resolve(result);
      else call?.reject(errorFrom(error));
    });
    started.on('error', (error) => this.#failAll(started, error));
    started.on('exit', () => this.#failAll(started, new Error('it ended')));
    return started;
  }

  #remove(id: number): Waiting | undefined {
    const call = this.#waiting.get(id);
    this.#waiting.delete(id);
    clearTimeout(call?.timer);
    const { idleMs, isNeeded } = this.#options;
    clearTimeout(this.#idle);
    if (this.#waiting.size === 0 && idleMs !== undefined && isNeeded?.() !== true)
      this.#idle = setTimeout(() => this.#stopIdle(), idleMs).unref();
    return call;
  }

  #stopIdle(): void {
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#failAll(worker, new Error('it was idle'));
    void worker.terminate();
  }

  #failAll(died: Worker, cause: Error): void {
    if (this.#worker !== died) return;
    this.#worker = undefined;
    for (const id of [...this.#waiting.keys()])
      this.#remove(id)?.reject(new ThreadFailed(`the ${this.#options.title} thread failed`, { cause }));
    this.#options.onEnd?.();
  }
}

/** Resolves when the thread has sent something or ended; or after a while, when nothing is to be expected any more. */
function firstSign(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, loadMs);
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    worker.once('message', end);
    worker.once('exit', end);
  });
}

function errorFrom({ name, message }: NonNullable<Answer['error']>): Error {
  return name === unavailableName ? new ThreadUnavailable(message) : Object.assign(new Error(message), { name });
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

/** In the thread: plain data for `onEvent`. */
export function emit(event: unknown): void {
  parentPort?.postMessage({ event } satisfies Emitted);
}

/**
 * The thread's side: answers each call with its method's result or error. One call is begun per turn of the event loop,
 * so that a call that goes first finds the others still waiting, after a long one as well. Errors for which
 * `isUnavailable` is true arrive as ThreadUnavailable.
 */
export function answerCalls(methods: Methods, isUnavailable: (error: unknown) => boolean = () => false): void {
  const port = parentPort;
  if (port === null) throw new Error('this only runs in a worker thread');
  const calls = new CallOrder<Request>();
  const begin = (): void => {
    const call = calls.take();
    if (calls.size > 0) setImmediate(begin);
    if (call !== undefined) answerCall(call);
  };
  port.on('message', (call: Request) => {
    calls.add(call);
    if (calls.size === 1) setImmediate(begin);
  });
  const answerCall = ({ id, name, params }: Request): void => {
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
  };
}
