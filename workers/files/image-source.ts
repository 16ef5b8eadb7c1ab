// Fetches an image from an address that somebody gave, to be kept here. Its own bytes say what it is, whatever the
// server calls it.

import { type Fetcher, FetchFailed } from '../providers/fetcher.ts';
import { type isPublicAddress, placeOf } from '../providers/host-resolver.ts';
import { recognise } from './file-types.ts';

export interface FetchedImage {
  readonly bytes: Uint8Array;
  /** As the bytes were recognised; undefined when they were not. */
  readonly contentType: string | undefined;
  /** The last part of its address. */
  readonly filename: string;
}

/**
 * `address`: it is malformed, not public, or answers with nothing of use. `message` goes on from the name of the field
 * that held it.
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

/** `allowPrivate` and `isPublic` as the fetcher's. */
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
