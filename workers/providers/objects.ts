// Where files lie, by key: `<workspaceId>/<kind>/<id>/<safe filename>`. On the disk below the data folder or in an S3
// bucket; either way this process receives and serves them, so that every rule about sizes, types and headers holds for
// both. An object is complete or not there, and never changes.

export interface ObjectStore {
  /**
   * `size` is how many bytes `content` has; other than that many, or an error of it, and nothing is stored. It may
   * never be read, so it should open nothing before it is. Rejects with that error or StorageUnavailable.
   */
  put(
    key: string,
    about: { readonly contentType: string; readonly size: number },
    content: AsyncIterable<Uint8Array>,
  ): Promise<void>;
  /** Undefined for what is no key, too. Rejects with StorageUnavailable. */
  find(key: string): Promise<{ readonly size: number } | undefined>;
  /** The bytes from `start` to `end`, both included. Nothing is opened before the first part is asked for. */
  read(key: string, range: { readonly start: number; readonly end: number }): AsyncIterable<Uint8Array>;
  /** Nothing happens when there is none. Rejects with StorageUnavailable. */
  remove(key: string): Promise<void>;
  /**
   * Whether files can be kept at all, for who starts the service. Rejects with StorageUnavailable, which says why not.
   */
  check?(): Promise<void>;
}

/** The disk is full or broken, or the bucket cannot be reached. It may be well again in a moment. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';
}

/** The content had more or fewer bytes than was said. */
export class WrongSize extends Error {
  override readonly name = 'WrongSize';
}

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const keyShape = new RegExp(`^${uuid}/[a-z_]{1,32}/${uuid}/[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`);

/** Whatever else is asked for is nowhere: no key leads out of the folder or the bucket. */
export function isKey(text: string): boolean {
  return keyShape.test(text);
}

/** Ends with WrongSize as soon as it is certain. */
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
