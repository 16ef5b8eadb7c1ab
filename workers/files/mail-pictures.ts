// Fetches pictures that mails name, for agents who asked to see them. Their servers learn nothing about the reader: no
// cookie, no referrer, no name of this service. Nothing is kept. Workspaces take turns, since a server may be slow.

import { SenderTurns } from '../sender-turns.ts';
import type { ImageSource } from './image-source.ts';

export interface MailPictures {
  /** Resolves to the reason if it cannot be shown, `busy` while too many of the workspace wait. */
  fetch(workspaceId: string, address: string): Promise<MailPicture | { readonly problem: string } | 'busy'>;
}

export interface MailPicture {
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

/** A photograph for a newsletter has a tenth of this. */
const maxBytes = 5 * 1024 * 1024;
/**
 * While one is put together it is in memory twice: 120 MiB at worst. A page asks for as many as its workspace may have
 * at once; behind them others wait, at most as long as two of them take.
 */
const limits = { atOnce: 12, atOncePerSender: 3, perSender: 6, waiting: 60 };
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
  const turns = new SenderTurns(limits);
  const fetched = async (address: string): Promise<MailPicture | { readonly problem: string }> => {
    const found = await source.fetch(address, { maxBytes });
    if ('problem' in found) return { problem: `it ${found.message}` };
    const { bytes, contentType } = found;
    return contentType !== undefined && shownTypes.has(contentType)
      ? { bytes, contentType }
      : { problem: 'it is not a picture' };
  };
  return {
    fetch: (workspaceId, address) => turns.take(workspaceId, () => fetched(address)) ?? Promise.resolve('busy'),
  };
}
