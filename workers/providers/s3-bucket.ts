// A bucket of Amazon S3, MinIO or a compatible server, under keys of its caller's choice. The only importer of minio, which
// signs and queries. Content is streamed to an address signed by minio, because its own upload holds a file in memory
// and hashes it on this thread.

import type * as http from 'node:http';
import type * as https from 'node:https';
import { pipeline } from 'node:stream/promises';
import type { Client } from 'minio';
import { exactly, StorageUnavailable, WrongSize } from './objects.ts';

export interface S3Settings {
  /** Without a path. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
  /** Silence after which a request fails. */
  readonly silenceMs?: number;
}

export interface PutOptions {
  readonly contentType: string;
  readonly size: number;
  /** Ends the request when it aborts; nothing is stored then. */
  readonly signal?: AbortSignal;
}

const defaultSilenceMs = 15_000;
/** The signed upload address is used at once. */
const putAddressSeconds = 300;
/** Of an error's text, which is XML. */
const maxErrorBytes = 4096;
const missingCodes = ['NotFound', 'NoSuchKey'];

/** Each call rejects with StorageUnavailable if the bucket does not answer or refuses. */
export class S3Bucket {
  readonly name: string;
  readonly #settings: S3Settings;
  readonly #transport: { request: typeof http.request };
  #loading: Promise<Client> | undefined;

  constructor(settings: S3Settings) {
    this.name = settings.bucket;
    this.#settings = settings;
    // Not by an import, which would load Node's whole client into every service.
    const library = process.getBuiltinModule(
      new URL(settings.endpoint).protocol === 'https:' ? 'node:https' : 'node:http',
    );
    this.#transport = impatient(library, settings.silenceMs ?? defaultSilenceMs);
  }

  /** Stores exactly `size` bytes, or nothing. Rejects with the error of `content`, or with WrongSize. */
  async put(key: string, options: PutOptions, content: AsyncIterable<Uint8Array>): Promise<void> {
    const source = watched(content);
    try {
      await this.#send(key, options, source.parts);
    } catch (error) {
      if (source.failure !== undefined) throw source.failure.error;
      throw error instanceof WrongSize ? error : asUnavailable(error);
    }
  }

  async sizeOf(key: string): Promise<number | undefined> {
    try {
      return (await (await this.#client()).statObject(this.name, key)).size;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw asUnavailable(error);
    }
  }

  /** The bytes from `start` to `end`, both inclusive. */
  async *readPart(key: string, { start, end }: { start: number; end: number }): AsyncGenerator<Uint8Array, void, void> {
    yield* await (await this.#client()).getPartialObject(this.name, key, start, end - start + 1);
  }

  /** Everything; undefined: it is not there. Reading it rejects with StorageUnavailable, too. */
  async read(key: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    try {
      return told(await (await this.#client()).getObject(this.name, key));
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw asUnavailable(error);
    }
  }

  /** The first keys below `prefix`, `most` at most. */
  async keys(prefix: string, most: number): Promise<string[]> {
    const found: string[] = [];
    try {
      for await (const { name } of (await this.#client()).listObjectsV2(this.name, prefix, true) as AsyncIterable<{
        name?: string;
      }>) {
        if (name !== undefined) found.push(name);
        if (found.length >= most) break;
      }
    } catch (error) {
      throw asUnavailable(error);
    }
    return found;
  }

  /** No effect if it is not there. */
  async remove(key: string): Promise<void> {
    try {
      await (await this.#client()).removeObject(this.name, key);
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  async exists(): Promise<boolean> {
    try {
      return await (await this.#client()).bucketExists(this.name);
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  #client(): Promise<Client> {
    return (this.#loading ??= load(this.#settings, this.#transport));
  }

  async #send(
    key: string,
    { contentType, size, signal }: PutOptions,
    content: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const client = await this.#client();
    const address = await client.presignedPutObject(this.name, key, putAddressSeconds);
    const request = this.#transport.request(address, {
      method: 'PUT',
      headers: { 'content-type': contentType, 'content-length': size },
      ...(signal === undefined ? {} : { signal }),
    });
    const answered = new Promise<http.IncomingMessage>((resolve, reject) =>
      request.on('response', resolve).on('error', reject),
    );
    // The pipeline below reports the same error; the first one counts.
    answered.catch(() => undefined);
    await pipeline(exactly(content, size), request);
    const response = await answered;
    const parts: Buffer[] = [];
    for await (const part of response as AsyncIterable<Buffer>)
      if (parts.length * part.length < maxErrorBytes) parts.push(part);
    if (response.statusCode !== 200)
      throw new StorageUnavailable(
        `the bucket answered ${response.statusCode}: ${Buffer.concat(parts).toString('utf8').slice(0, maxErrorBytes)}`,
      );
  }
}

async function load(settings: S3Settings, transport: { request: typeof http.request }): Promise<Client> {
  const { Client } = await import('minio');
  const endpoint = new URL(settings.endpoint);
  return new Client({
    endPoint: endpoint.hostname.replace(/^\[|\]$/g, ''),
    ...(endpoint.port === '' ? {} : { port: Number(endpoint.port) }),
    useSSL: endpoint.protocol === 'https:',
    accessKey: settings.accessKey,
    secretKey: settings.secretKey,
    region: settings.region,
    transport,
    // Callers retry if they want to.
    retryOptions: { disableRetry: true },
  });
}

/** The same chunks, with a flag for whether the source failed, which a stream's consumer cannot tell. */
function watched(content: AsyncIterable<Uint8Array>): {
  readonly parts: AsyncIterable<Uint8Array>;
  readonly failure: { readonly error: unknown } | undefined;
} {
  let failure: { error: unknown } | undefined;
  async function* parts(): AsyncGenerator<Uint8Array, void, void> {
    try {
      yield* content;
    } catch (error) {
      failure = { error };
      throw error;
    }
  }
  return {
    parts: parts(),
    get failure() {
      return failure;
    },
  };
}

/** The same chunks; what breaks off is the bucket's failure. */
async function* told(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  try {
    yield* parts;
  } catch (error) {
    throw asUnavailable(error);
  }
}

/** Every request ends when its connection has been silent for too long. */
function impatient(library: typeof http | typeof https, silenceMs: number): { request: typeof http.request } {
  // Node's two modules accept the same arguments.
  const begin = library.request as (...args: unknown[]) => http.ClientRequest;
  const request = (...args: unknown[]): http.ClientRequest => {
    const begun = begin(...args);
    begun.setTimeout(silenceMs, () => begun.destroy(new Error(`no answer for ${silenceMs} ms`)));
    return begun;
  };
  return { request: request as typeof http.request };
}

export function asUnavailable(error: unknown): StorageUnavailable {
  if (error instanceof StorageUnavailable) return error;
  return new StorageUnavailable(
    `the bucket could not be reached: ${error instanceof Error ? error.message : String(error)}`,
    { cause: error },
  );
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && missingCodes.includes(String((error as NodeJS.ErrnoException).code));
}
