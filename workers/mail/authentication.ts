// Whether a mail is from where it says: SPF, DKIM and DMARC, by the sender's DNS. Recorded with the mail; it keeps none
// out. The only importer of mailauth. Works in the mail thread, beside the reading of the parts, on a stream of the
// file.

import { createReadStream } from 'node:fs';
// By its parts: the whole also brings what looks for logos, and an HTTP client for them.
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { dmarc } from 'mailauth/lib/dmarc/index.js';
import { spf } from 'mailauth/lib/spf/index.js';
import type { NameResolver } from '../providers/resolver.ts';

/** Results as RFC 8601 §2.7 words them: pass, fail, none, neutral, softfail, temperror, permerror, … */
export interface Authentication {
  readonly spf: string;
  readonly dkim: string;
  readonly dmarc: string;
}

export interface Envelope {
  readonly remoteAddress: string;
  readonly helo: string;
  /** MAIL FROM; empty is the null sender. */
  readonly sender: string;
  /** The host that took the mail. */
  readonly receiver: string;
}

/** A mail waits no longer for its sender's DNS; what is not known by then is `temperror`. */
const timeLimitMs = 15_000;
const unknown: Authentication = { spf: 'temperror', dkim: 'temperror', dmarc: 'temperror' };

/** Never rejects: a mail whose proof cannot be read has none. */
export async function authenticateMail(
  path: string,
  envelope: Envelope,
  resolver: NameResolver,
): Promise<Authentication> {
  const stream = createReadStream(path);
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<Authentication>((resolve) => {
    timer = setTimeout(() => resolve(unknown), timeLimitMs);
  });
  try {
    return await Promise.race([judge(stream, envelope, resolver), timeUp]);
  } catch {
    // A signature or a record that the library cannot even read proves nothing.
    return unknown;
  } finally {
    clearTimeout(timer);
    stream.destroy();
  }
}

async function judge(
  stream: ReturnType<typeof createReadStream>,
  envelope: Envelope,
  names: NameResolver,
): Promise<Authentication> {
  const resolver = (name: string, type: string): Promise<string[] | string[][]> => names.records(name, type);
  const { remoteAddress: ip, helo, sender, receiver: mta } = envelope;
  const [signed, sent] = await Promise.all([
    dkimVerify(stream, { resolver, sender }),
    spf({ ip, helo, sender, mta, resolver }),
  ]);
  const good = signed.results.filter(({ status }) => status.result === 'pass');
  const aligned = await dmarc({
    headerFrom: signed.headerFrom,
    spfDomains: sent.status.result === 'pass' && sent.domain !== undefined ? [sent.domain] : [],
    dkimDomains: good.map(({ signingDomain = '', status }) => ({
      domain: signingDomain,
      aligned: status.aligned ?? false,
    })),
    resolver,
  });
  return {
    spf: sent.status.result,
    // One good signature is enough, whatever forwarders added.
    dkim: good.length > 0 ? 'pass' : dkimResultOf(signed.results[0]?.status),
    dmarc: aligned === false ? 'none' : aligned.status.result,
  };
}

/**
 * A body that is not the one that was signed is `fail` (RFC 8601 §2.7.1); the library says `neutral`, and why in words.
 */
function dkimResultOf(status: { readonly result: string; readonly comment?: unknown } | undefined): string {
  return status?.comment === 'body hash did not verify' ? 'fail' : (status?.result ?? 'none');
}
