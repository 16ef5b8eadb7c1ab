// Fetches pictures that mails name, for agents who asked to see them. Their servers learn nothing about the reader: no
// cookie, no referrer, no name of this service. Nothing is kept.

import type { ImageSource } from './image-source.ts';

export interface MailPictures {
  /** Resolves to the reason if it cannot be shown, `busy` while too many are being fetched. */
  fetch(address: string): Promise<MailPicture | { readonly problem: string } | 'busy'>;
}

export interface MailPicture {
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

/** A photograph for a newsletter has a tenth of this. */
const maxBytes = 5 * 1024 * 1024;
/** Of all agents together: 160 MiB in memory at worst. */
const maxAtOnce = 32;
/** Detected in their bytes. None of them can run anything, as an SVG can. */
const shownTypes: ReadonlySet<string> = new Set([
  'image/png',
  'image/apng',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
]);

export function createMailPictures(source: ImageSource): MailPictures {
  let atOnce = 0;
  return {
    async fetch(address) {
      if (atOnce >= maxAtOnce) return 'busy';
      atOnce += 1;
      try {
        const found = await source.fetch(address, { maxBytes });
        if ('problem' in found) return { problem: `it ${found.message}` };
        const { bytes, contentType } = found;
        return contentType !== undefined && shownTypes.has(contentType)
          ? { bytes, contentType }
          : { problem: 'it is not a picture' };
      } finally {
        atOnce -= 1;
      }
    },
  };
}
