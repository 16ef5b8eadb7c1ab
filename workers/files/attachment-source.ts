// Downloads an attachment from an inbound mail provider. The address came with a request, so it goes through the
// fetcher, which connects only to public hosts.

import { Refused } from '../failures.ts';
import { type Fetcher, FetchFailed, type FetchProblem } from '../providers/fetcher.ts';

export interface AttachmentSource {
  /** Rejects with AttachmentRefused if a retry would not help, with any other error otherwise. */
  fetch(url: string): Promise<Uint8Array>;
}

/** Cannot be downloaded: a private address, too large, or not found. */
export class AttachmentRefused extends Refused {
  override readonly name = 'AttachmentRefused';
}

const timeoutMs = 60_000;
const maxRedirects = 5;
/** The limit for attachments (specification 8). */
const maxBytes = 25 * 1024 * 1024;
/** Temporary problems. */
const passing: ReadonlySet<FetchProblem> = new Set(['time', 'network']);

export function createAttachmentSource(fetcher: Fetcher): AttachmentSource {
  return {
    async fetch(url) {
      const { status, body } = await fetcher
        .fetch({ url, headers: { accept: '*/*' }, maxBytes, timeoutMs, maxRedirects })
        .catch((error: unknown) => {
          throw error instanceof FetchFailed && !passing.has(error.problem)
            ? new AttachmentRefused(error.message, { cause: error })
            : error;
        });
      if (status === 200) return body;
      const message = `${new URL(url).host} answered ${status}`;
      // A server error is temporary; an expired link is not.
      throw status >= 500 || status === 429 || status === 408 ? new Error(message) : new AttachmentRefused(message);
    },
  };
}
