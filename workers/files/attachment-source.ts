// Fetches an attachment from where an inbound mail provider keeps it. The address came in with a request, so it goes by
// the fetcher, which reaches public hosts alone.

import { type Fetcher, FetchFailed, type FetchProblem } from '../providers/fetcher.ts';

export interface AttachmentSource {
  /** Its bytes. Rejects with AttachmentRefused when asking again would not help, with any error otherwise. */
  fetch(url: string): Promise<Uint8Array>;
}

/** Not to be had: a private address, too large, or the other side says that it is not there. */
export class AttachmentRefused extends Error {
  override readonly name = 'AttachmentRefused';
}

const timeoutMs = 60_000;
const maxRedirects = 5;
/** As large as an attachment may be (specification 8). */
const maxBytes = 25 * 1024 * 1024;
/** What passes by itself. */
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
      // A server's own trouble passes; a link that has run out does not come back.
      throw status >= 500 || status === 429 || status === 408 ? new Error(message) : new AttachmentRefused(message);
    },
  };
}
