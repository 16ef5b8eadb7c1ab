// The object store, by key: `<workspaceId>/<kind>/<id>/<safe filename>`. On disk below the data folder or in an S3
// bucket; either way this process receives and serves the files, so that every rule about sizes, types and headers
// applies to both. An object is complete or not there, and never changes.

import { Unavailable } from '../failures.ts';

export interface ObjectStore {
  /**
   * Stores exactly `size` bytes. If `content` is shorter, longer or fails, nothing is stored. `content` may never be
   * read, so it should open nothing before. Senders take turns at the disk: `sender` is the network that the bytes come
   * from, by default the key's workspace. Rejects with its error or StorageUnavailable.
   */
  put(
    key: string,
    about: { readonly contentType: string; readonly size: number; readonly sender?: string },
    content: AsyncIterable<Uint8Array>,
  ): Promise<void>;
  /** Undefined for an invalid key, too. Rejects with StorageUnavailable. */
  find(key: string): Promise<{ readonly size: number } | undefined>;
  /** The bytes from `start` to `end`, both inclusive. Opens nothing before the first chunk is requested. */
  read(key: string, range: { readonly start: number; readonly end: number }): AsyncIterable<Uint8Array>;
  /** No effect if it does not exist. Rejects with StorageUnavailable. */
  remove(key: string): Promise<void>;
  /** Checks at start whether files can be stored. Rejects with StorageUnavailable and the reason. */
  check?(): Promise<void>;
}

/** The disk is full or broken, or the bucket cannot be reached. May be temporary. */
export class StorageUnavailable extends Unavailable {
  override readonly name = 'StorageUnavailable';
}

/** The content had more or fewer bytes than announced. */
export class WrongSize extends Error {
  override readonly name = 'WrongSize';
}

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const keyShape = new RegExp(`^${uuid}/[a-z_]{1,32}/${uuid}/[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`);

/** Rejects everything else, so that no key leads out of the folder or the bucket. */
export function isKey(text: string): boolean {
  return keyShape.test(text);
}

/** Throws WrongSize as soon as it is certain. */
export async function* exactly(
  content: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<Uint8Array, void, void> {
  let length = 0;
  for await (const part of content) {
    length += part.byteLength;
    if (length > size) throw new WrongSize(`there are more than ${size} bytes`);
    yield part;
  }
  if (length < size) throw new WrongSize(`there are ${length} bytes, not ${size}`);
}
