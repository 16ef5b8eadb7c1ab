// The connection to NATS: kept for ever, with a time limit on every question, and what is asked again after a failure.

import { setTimeout as pause } from 'node:timers/promises';
import {
  type ApiError,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
} from '@nats-io/jetstream';
import {
  connect,
  headers,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  type NodeConnectionOptions,
  RequestError,
} from '@nats-io/transport-node';
import { LogFull, LogUnreachable } from '../../engine/runtime/cluster/ports.ts';
import { connectionOptions, isFinal, type NatsSettings, refusalOf, wordsOf } from './address.ts';

/** One server's answer. A question that was taken may be left without one. */
const answerMs = 2000;
const betweenAttemptsMs = { least: 50, most: 500 };
/**
 * JetStream's answers that it has no room (server/errors.json of nats-server): the account's limit, a server's
 * max_file_store, memory or disk for a new stream, and the max_bytes of a stream, of which it also has no number.
 */
const fullCodes: readonly number[] = [10002, 10023, 10028, 10047, 10077];
const fullTexts = /maximum bytes exceeded|no space left on device/;

export class NatsLink {
  readonly #connection: NatsConnection;
  readonly #reconnects = new Set<() => void>();
  readonly jsm: JetStreamManager;
  #isConnected = true;
  #isFull = false;

  private constructor(connection: NatsConnection, jsm: JetStreamManager) {
    this.#connection = connection;
    this.jsm = jsm;
    void this.#followStatus();
  }

  /** Rejects with ClusterRefused. */
  static async open(settings: NatsSettings): Promise<NatsLink> {
    const connection = await firstConnection(await connectionOptions(settings), settings);
    return new NatsLink(connection, await jetstreamManager(connection, { timeout: answerMs, checkAPI: false }));
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /**
   * Whether NATS had no room for what was last published. Three servers that are full have no leaders soon, and say no
   * more why they take nothing.
   */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Of the server that it is connected to. */
  get server(): { readonly name: string; readonly version: string; readonly maxPayloadBytes: number } {
    const { server_name: name = '', version = '', max_payload: maxPayloadBytes = 0 } = this.#connection.info ?? {};
    return { name, version, maxPayloadBytes };
  }

  /**
   * One message to a stream. The sequence that it got; undefined for a part of a batch that goes on. Rejects with
   * JetStreamApiError.
   */
  async publish(
    subject: string,
    bytes: Uint8Array,
    fields: Readonly<Record<string, string>>,
  ): Promise<number | undefined> {
    const answer = await this.#connection.request(subject, bytes, { timeout: answerMs, headers: head(fields) });
    if (answer.data.byteLength === 0) return undefined;
    const { error, seq } = answer.json<{ readonly error?: ApiError; readonly seq?: number }>();
    if (error !== undefined) {
      const failure = new JetStreamApiError(error);
      this.#isFull ||= isFull(failure);
      throw failure;
    }
    this.#isFull = false;
    return seq;
  }

  /** Answers up to an empty one, which is the last, or for a limited time. */
  async *requestMany(subject: string, question: object, maxWaitMs: number): AsyncGenerator<Msg, void, void> {
    yield* await this.#connection.requestMany(subject, JSON.stringify(question), {
      strategy: 'sentinel',
      maxWait: maxWaitMs,
    });
  }

  /** The answer of whoever listens on `subject`; undefined: nobody does. Rejects with TimeoutError, among others. */
  async ask(subject: string, bytes: Uint8Array, timeoutMs: number): Promise<Uint8Array | undefined> {
    try {
      return (await this.#connection.request(subject, bytes, { timeout: timeoutMs })).data;
    } catch (error) {
      if (error instanceof RequestError && error.isNoResponders()) return undefined;
      throw error;
    }
  }

  /** Calls back for each message on `subject`, until the returned function is called. Some may be lost. */
  listen(subject: string, heard: (message: Msg) => void): () => void {
    const subscription = this.#connection.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) heard(message);
      },
    });
    return () => subscription.unsubscribe();
  }

  /** Calls back after each time that the connection was lost and is there again, until the returned function is called. */
  onReconnect(call: () => void): () => void {
    this.#reconnects.add(call);
    return () => this.#reconnects.delete(call);
  }

  /** Resolves when it is connected; nothing is queued for a server that is not there. Rejects when `signal` aborts. */
  async connected(signal: AbortSignal): Promise<void> {
    while (!this.#isConnected) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const stop = this.onReconnect(resolve);
      try {
        await abortable(promise, signal);
      } finally {
        stop();
      }
    }
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #followStatus(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type === 'disconnect' || type === 'close') this.#isConnected = false;
      if (type !== 'reconnect') continue;
      this.#isConnected = true;
      for (const call of [...this.#reconnects]) call();
    }
  }
}

/** Asks until there is an answer or `signal` aborts, and rejects with the last failure then. */
export async function persistently<Answer>(
  link: NatsLink,
  signal: AbortSignal,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  let failure: unknown = new Error('no answer in time');
  for (;;) {
    try {
      signal.throwIfAborted();
      // The first question leaves before this returns.
      if (!link.isConnected) await link.connected(signal);
      return await abortable(ask(), signal);
    } catch (error) {
      if (!signal.aborted) failure = error;
      await pauseBetweenAttempts(signal);
      if (signal.aborted) throw failure;
    }
  }
}

/**
 * Publishes one message to a stream, again after every failure, for a limited time. Its sequence; undefined if the
 * subject's last one is not the expected one, which may be by an earlier attempt of this very call.
 */
export async function publishWithin(
  link: NatsLink,
  ms: number,
  { subject, bytes, fields }: { subject: string; bytes: Uint8Array; fields: Readonly<Record<string, string>> },
): Promise<number | undefined> {
  try {
    return await persistently(link, within(ms), async () => {
      try {
        return await link.publish(subject, bytes, fields);
      } catch (error) {
        if (isOutdated(error)) return undefined;
        throw error;
      }
    });
  } catch (error) {
    throw unreachable(link, `${subject} cannot be changed`, error);
  }
}

/** The fence's word: the subject's last sequence is not the expected one. No other failure says that. */
export function isOutdated(error: unknown): boolean {
  return codeOf(error) === JetStreamApiCodes.StreamWrongLastSequence;
}

/** Whether the failure says that NATS has no room left. */
export function isFull(error: unknown): boolean {
  return error instanceof JetStreamApiError && (fullCodes.includes(error.code) || fullTexts.test(error.message));
}

/** What failed with `error`, however often it was asked. */
export function unreachable(link: NatsLink, what: string, error: unknown): LogUnreachable {
  const text = `${what}: ${wordsOf(error)}`;
  const isForRoom = isFull(error) || (link.isFull && link.isConnected);
  return isForRoom
    ? new LogFull(`NATS is full: ${text}`, { cause: error })
    : new LogUnreachable(text, { cause: error });
}

/** JetStream's number of the failure. */
export function codeOf(error: unknown): number | undefined {
  return error instanceof JetStreamApiError ? error.code : undefined;
}

/** A promise that rejects as soon as `signal` aborts. */
export function abortable<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort));
}

/** Aborts after a time, or sooner with `signal`. */
export function within(ms: number, signal?: AbortSignal): AbortSignal {
  const timeout = AbortSignal.timeout(ms);
  return signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
}

function head(fields: Readonly<Record<string, string | number>>): MsgHdrs {
  const made = headers();
  for (const [name, value] of Object.entries(fields)) made.set(name, String(value));
  return made;
}

/** Ends early, without an error, when `signal` aborts. */
export async function pauseBetweenAttempts(signal: AbortSignal): Promise<void> {
  const { least, most } = betweenAttemptsMs;
  await pause(least + Math.random() * (most - least), undefined, { signal }).catch(() => undefined);
}

async function firstConnection(options: NodeConnectionOptions, settings: NatsSettings): Promise<NatsConnection> {
  const patience = AbortSignal.timeout(settings.patienceMs);
  for (;;) {
    try {
      return await connect(options);
    } catch (error) {
      if (isFinal(error) || patience.aborted) throw refusalOf(error, settings);
      await pauseBetweenAttempts(patience);
    }
  }
}
