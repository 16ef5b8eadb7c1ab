// Authenticates a mail's sender by DNS: SPF, DKIM and DMARC. The result is recorded with the mail and keeps none out.
// The only importer of mailauth. Runs in the mail thread on a stream of the file, in parallel with parsing the parts.

import { createReadStream } from 'node:fs';
// Imported by parts: the whole also loads logo lookups and an HTTP client.
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { dmarc } from 'mailauth/lib/dmarc/index.js';
import { spf } from 'mailauth/lib/spf/index.js';
import type { NameResolver } from '../providers/resolver.ts';

/** Results by RFC 8601 §2.7: pass, fail, none, neutral, softfail, temperror, permerror, … */
export interface Authentication {
  readonly spf: string;
  readonly dkim: string;
  readonly dmarc: string;
}

export interface Envelope {
  /** Empty if another server received the mail: SPF cannot be judged then. */
  readonly remoteAddress: string;
  readonly helo: string;
  /** MAIL FROM; empty is the null sender. */
  readonly sender: string;
  /** The host that received the mail. */
  readonly receiver: string;
}

/** The longest wait for the sender's DNS; anything unknown by then is `temperror`. */
const timeLimitMs = 15_000;
const unknown: Authentication = { spf: 'temperror', dkim: 'temperror', dmarc: 'temperror' };

/** Never rejects: a mail whose signatures cannot be read has none. */
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
    // An unparsable signature or record proves nothing.
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
    ip === '' ? undefined : spf({ ip, helo, sender, mta, resolver }),
  ]);
  const good = signed.results.filter(({ status }) => status.result === 'pass');
  const aligned = await dmarc({
    headerFrom: signed.headerFrom,
    spfDomains: sent?.status.result === 'pass' && sent.domain !== undefined ? [sent.domain] : [],
    dkimDomains: good.map(({ signingDomain = '', status }) => ({
      domain: signingDomain,
      aligned: status.aligned ?? false,
    })),
    resolver,
  });
  const verdict = aligned === false ? 'none' : aligned.status.result;
  return {
    spf: sent?.status.result ?? 'none',
    // One valid signature is enough, whatever forwarders added.
    dkim: good.length > 0 ? 'pass' : dkimResultOf(signed.results[0]?.status),
    // Without SPF, that no signature is aligned proves nothing.
    dmarc: sent === undefined && verdict === 'fail' ? 'none' : verdict,
  };
}

/** A changed body is `fail` (RFC 8601 §2.7.1); the library says `neutral` and gives the reason in words. */
function dkimResultOf(status: { readonly result: string; readonly comment?: unknown } | undefined): string {
  return status?.comment === 'body hash did not verify' ? 'fail' : (status?.result ?? 'none');
}
