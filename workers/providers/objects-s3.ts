// Stores files in a bucket of Amazon S3, MinIO or a compatible server. The only importer of minio, which signs and
// queries. Uploads are streamed to an address signed by minio, because its own upload holds a file in memory and hashes
// it on this thread.

import type * as http from 'node:http';
import type * as https from 'node:https';
import { pipeline } from 'node:stream/promises';
import type { Client } from 'minio';
import { exactly, isKey, type ObjectStore, StorageUnavailable, WrongSize } from './objects.ts';

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

const defaultSilenceMs = 15_000;
/** The signed upload address is used at once. */
const putAddressSeconds = 300;
/** Of an error's text, which is XML. */
const maxErrorBytes = 4096;

export function s3Objects(settings: S3Settings): ObjectStore {
  return new S3Objects(settings);
}

class S3Objects implements ObjectStore {
  readonly #settings: S3Settings;
  readonly #transport: { request: typeof http.request };
  #loading: Promise<Client> | undefined;

  constructor(settings: S3Settings) {
    this.#settings = settings;
    // Not by an import, which would load Node's whole client into every service.
    const library = process.getBuiltinModule(
      new URL(settings.endpoint).protocol === 'https:' ? 'node:https' : 'node:http',
    );
    this.#transport = impatient(library, settings.silenceMs ?? defaultSilenceMs);
  }

  async put(
    key: string,
    about: { contentType: string; size: number },
    content: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    if (!isKey(key)) throw new Error(`not the key of an object: ${key}`);
    const source = watched(content);
    try {
      await this.#send(key, about, source.parts);
    } catch (error) {
      if (source.failure !== undefined) throw source.failure.error;
      throw error instanceof WrongSize ? error : asUnavailable(error);
    }
  }

  async find(key: string): Promise<{ size: number } | undefined> {
    if (!isKey(key)) return undefined;
    try {
      return { size: (await (await this.#client()).statObject(this.#settings.bucket, key)).size };
    } catch (error) {
      if (['NotFound', 'NoSuchKey'].includes(codeOf(error))) return undefined;
      throw asUnavailable(error);
    }
  }

  async *read(key: string, { start, end }: { start: number; end: number }): AsyncGenerator<Uint8Array, void, void> {
    yield* await (await this.#client()).getPartialObject(this.#settings.bucket, key, start, end - start + 1);
  }

  async check(): Promise<void> {
    const { bucket } = this.#settings;
    let isThere: boolean;
    try {
      isThere = await (await this.#client()).bucketExists(bucket);
    } catch (error) {
      throw asUnavailable(error);
    }
    if (!isThere) throw new StorageUnavailable(`the bucket ${bucket}, named by S3_BUCKET, does not exist; create it`);
  }

  async remove(key: string): Promise<void> {
    try {
      await (await this.#client()).removeObject(this.#settings.bucket, key);
    } catch (error) {
      throw asUnavailable(error);
    }
  }

  #client(): Promise<Client> {
    return (this.#loading ??= load(this.#settings, this.#transport));
  }

  async #send(
    key: string,
    about: { contentType: string; size: number },
    content: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const client = await this.#client();
    const address = await client.presignedPutObject(this.#settings.bucket, key, putAddressSeconds);
    const request = this.#transport.request(address, {
      method: 'PUT',
      headers: { 'content-type': about.contentType, 'content-length': about.size },
    });
    const answered = new Promise<http.IncomingMessage>((resolve, reject) =>
      request.on('response', resolve).on('error', reject),
    );
    // The pipeline below reports the same error; the first one counts.
    answered.catch(() => undefined);
    await pipeline(exactly(content, about.size), request);
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

function asUnavailable(error: unknown): StorageUnavailable {
  if (error instanceof StorageUnavailable) return error;
  return new StorageUnavailable(
    `the bucket could not be reached: ${error instanceof Error ? error.message : String(error)}`,
    { cause: error },
  );
}

function codeOf(error: unknown): string {
  return error instanceof Error ? String((error as NodeJS.ErrnoException).code) : '';
}
