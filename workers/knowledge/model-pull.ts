// Downloads an embedding model into a folder: run by hand, once, before the service is configured to use it. Nothing
// else in the service downloads a model.

import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ModelFolder, modelIn, neededFiles, weightFiles } from './models.ts';

export interface PullOptions {
  /** `owner/name`, as on the hub. */
  readonly name: string;
  /** The hub's address, without a trailing slash. */
  readonly hub: string;
  /** The folder that holds models by name. */
  readonly models: string;
  /** Called as a file arrives, with the share of its bytes from 0 to 1. */
  readonly onProgress?: (share: number, file: string) => void;
}

/** The message is for the user. */
export class PullFailed extends Error {
  override readonly name = 'PullFailed';
}

const nameShape = /^[A-Za-z0-9][\w.-]{0,95}\/[A-Za-z0-9][\w.-]{0,95}$/;
/** The download fails after this long without data. */
const silenceMs = 30_000;

/** The model is complete or not there at all. Rejects with PullFailed. */
export async function pullModel({ name, hub, models, onProgress }: PullOptions): Promise<ModelFolder> {
  if (!nameShape.test(name)) throw new PullFailed(`a model is named like Xenova/all-MiniLM-L6-v2, not ${name}`);
  const folder = join(models, name);
  const partial = `${folder}.part`;
  await rm(partial, { recursive: true, force: true });
  try {
    for (const file of neededFiles) {
      if (!(await download(`${hub}/${name}/resolve/main/${file}`, join(partial, file), onProgress)))
        throw new PullFailed(`${hub} has no ${file} of a model ${name}`);
    }
    let hasWeights = false;
    for (const { file } of weightFiles)
      hasWeights ||= await download(`${hub}/${name}/resolve/main/${file}`, join(partial, file), onProgress);
    if (!hasWeights) throw new PullFailed(`${name} has no ${weightFiles.map(({ file }) => file).join(' and ')}`);
    await rm(folder, { recursive: true, force: true });
    await rename(partial, folder);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  const model = modelIn(folder, name);
  if (model === undefined) throw new PullFailed(`the reply of ${hub} does not describe a model`);
  return model;
}

/** Returns false if the hub has no such file. */
async function download(url: string, path: string, onProgress: PullOptions['onProgress']): Promise<boolean> {
  const silent = new AbortController();
  const giveUp = setTimeout(() => silent.abort(new Error(`no answer for ${silenceMs / 1000} seconds`)), silenceMs);
  try {
    const response = await fetch(url, { signal: silent.signal });
    if (response.status === 404) return false;
    if (!response.ok || response.body === null) throw new PullFailed(`${url} answered ${response.status}`);
    const total = Number(response.headers.get('content-length') ?? 0);
    const file = url.slice(url.lastIndexOf('/') + 1);
    let length = 0;
    const counted = new Transform({
      transform(part: Buffer, _, done) {
        length += part.length;
        giveUp.refresh();
        if (total > 0) onProgress?.(Math.min(1, length / total), file);
        done(null, part);
      },
    });
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // The same stream class; only the two type packages differ.
    await pipeline(
      Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]),
      counted,
      createWriteStream(path, { flush: true }),
    );
    // A compressed transfer has another length than the file.
    if (total > 0 && length !== total && response.headers.get('content-encoding') === null)
      throw new PullFailed(`${url} broke off after ${length} of ${total} bytes`);
    return true;
  } catch (error) {
    if (error instanceof PullFailed) throw error;
    const cause = silent.signal.aborted ? silent.signal.reason : error;
    throw new PullFailed(`${url} cannot be had: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  } finally {
    clearTimeout(giveUp);
  }
}
