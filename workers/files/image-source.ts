// Downloads an image from a given address, to be stored here. Its type is detected from its content, whatever the
// server declares.

import { type Fetcher, FetchFailed } from '../providers/fetcher.ts';
import { type isPublicAddress, placeOf } from '../providers/host-resolver.ts';
import { recognise } from './file-types.ts';

export interface FetchedImage {
  readonly bytes: Uint8Array;
  /** The detected type; undefined if unknown. */
  readonly contentType: string | undefined;
  /** The last segment of its path. */
  readonly filename: string;
}

/**
 * `address`: malformed, not public, or without a usable response. `message` continues after the name of the field that
 * held it.
 */
export interface NoImage {
  readonly problem: 'address' | 'type' | 'size';
  readonly message: string;
}

export interface ImageSource {
  fetch(url: string, options: { maxBytes: number }): Promise<FetchedImage | NoImage>;
}

const timeoutMs = 15_000;
const maxRedirects = 5;
const maxNameChars = 200;

/** `allowPrivate` and `isPublic`: see the fetcher. */
export function createImageSource({
  fetcher,
  allowPrivate,
  isPublic,
}: {
  fetcher: Fetcher;
  allowPrivate: boolean;
  isPublic?: typeof isPublicAddress;
}): ImageSource {
  return {
    async fetch(address, { maxBytes }) {
      const url = URL.parse(address);
      if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
        return { problem: 'address', message: 'must be an http or https address without a user name' };
      if (!allowPrivate && placeOf(url, isPublic) !== 'name')
        return { problem: 'address', message: 'must name a public host' };
      try {
        const fetched = await fetcher.fetch({
          url: address,
          headers: { accept: 'image/*' },
          contentTypes: ['image/', 'application/octet-stream'],
          maxBytes,
          timeoutMs,
          maxRedirects,
        });
        if (fetched.status !== 200) return { problem: 'address', message: `answered ${fetched.status}` };
        return { bytes: fetched.body, contentType: await recognise(fetched.body), filename: lastSegment(fetched.url) };
      } catch (error) {
        if (!(error instanceof FetchFailed)) throw error;
        return {
          problem: error.problem === 'type' || error.problem === 'size' ? error.problem : 'address',
          message: `cannot be fetched: ${error.message}`,
        };
      }
    },
  };
}

function lastSegment(url: string): string {
  const last =
    new URL(url).pathname
      .split('/')
      .filter((segment) => segment !== '')
      .at(-1) ?? '';
  try {
    return decodeURIComponent(last).slice(0, maxNameChars);
  } catch {
    // Not every percent sign begins an escape.
    return last.slice(0, maxNameChars);
  }
}
