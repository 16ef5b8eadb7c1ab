// A server of the S3 protocol with one bucket, on a free loopback port.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from 's3rver';
import type { Teardown } from './service.ts';

export const bucket = 'files';
/** The server's only key. */
export const [accessKey, secretKey] = ['S3RVER', 'S3RVER'] as const;

/** Its address. */
export async function startBucket(t: Teardown): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'switchboard-s3-'));
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: bucket, configs: [] }],
  });
  const { port } = await server.run();
  t.teardown(async () => {
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return `http://127.0.0.1:${port}`;
}

/** Settings of a service that keeps its files there. */
export function bucketSettings(endpoint: string): Record<string, string> {
  return {
    STORAGE_PROVIDER: 's3',
    S3_ENDPOINT: endpoint,
    S3_BUCKET: bucket,
    S3_ACCESS_KEY: accessKey,
    S3_SECRET_KEY: secretKey,
  };
}
