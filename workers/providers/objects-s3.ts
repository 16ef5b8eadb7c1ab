// Stores files in a bucket of Amazon S3, MinIO or a compatible server. Only what isKey() accepts has a key here, so that
// no client can name what else is in the bucket (a cluster's snapshots).

import { isKey, type ObjectStore, StorageUnavailable } from './objects.ts';
import { S3Bucket, type S3Settings } from './s3-bucket.ts';

export function s3Objects(settings: S3Settings): ObjectStore {
  const bucket = new S3Bucket(settings);
  return {
    async put(key, { contentType, size }, content) {
      requireKey(key);
      await bucket.put(key, { contentType, size }, content);
    },
    async find(key) {
      const size = isKey(key) ? await bucket.sizeOf(key) : undefined;
      return size === undefined ? undefined : { size };
    },
    async *read(key, range) {
      requireKey(key);
      yield* bucket.readPart(key, range);
    },
    async remove(key) {
      if (isKey(key)) await bucket.remove(key);
    },
    async check() {
      if (!(await bucket.exists()))
        throw new StorageUnavailable(`the bucket ${bucket.name}, named by S3_BUCKET, does not exist; create it`);
    },
  };
}

function requireKey(key: string): void {
  if (!isKey(key)) throw new Error(`not the key of an object: ${key}`);
}
