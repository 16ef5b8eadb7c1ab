// What a site lets robots do (RFC 9309). The only importer of robots-parser.

import robotsParser from 'robots-parser';
import { FetchFailed, type Fetcher } from './providers/fetcher.ts';

export interface Robots {
  allows(url: URL): boolean;
  /** The pause that the site asks for between two requests. */
  readonly delayMs: number | undefined;
}

/** The module is the function; its types describe a default export that is not there. */
const parseRobots = robotsParser as unknown as typeof robotsParser.default;
/** RFC 9309 §2.5: at least 500 KiB are read. */
const maxBytes = 512 * 1024;
const timeoutMs = 10_000;
/** RFC 9309 §2.3.1.2: at least five. */
const maxRedirects = 5;
const everything: Robots = { allows: () => true, delayMs: undefined };
const nothing: Robots = { allows: () => false, delayMs: undefined };

/** A file that is not there allows everything, one that cannot be read nothing (§2.3.1.3, §2.3.1.4). `agent` is our name in it. */
export async function readRobots(fetcher: Fetcher, at: { origin: string; agent: string; signal: AbortSignal }): Promise<Robots> {
  const address = `${at.origin}/robots.txt`;
  try {
    const { status, body } = await fetcher.fetch({ url: address, maxBytes, timeoutMs, maxRedirects, signal: at.signal });
    if (status >= 500) return nothing;
    if (status >= 400) return everything;
    const robots = parseRobots(address, Buffer.from(body).toString('utf8'));
    const delaySeconds = robots.getCrawlDelay(at.agent);
    return {
      // Asked as of this origin: a link may name the other scheme of the same host.
      allows: (url) => robots.isDisallowed(`${at.origin}${url.pathname}${url.search}`, at.agent) !== true,
      delayMs: delaySeconds === undefined ? undefined : delaySeconds * 1000,
    };
  } catch (error) {
    if (error instanceof FetchFailed && !at.signal.aborted) return nothing;
    throw error;
  }
}
