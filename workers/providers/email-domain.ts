// The embedded provider of email domains: makes the DNS records that point a domain at this service, with a DKIM key pair of its
// own, and asks the real DNS whether they stand.

import { generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type { DnsRecord } from '../../store/email-domains.ts';
import type { NameResolver } from './resolver.ts';

export interface MadeDomain {
  readonly records: readonly Omit<DnsRecord, 'status'>[];
  readonly selector: string;
  /** PEM; to be sealed before it is written anywhere. */
  readonly privateKey: string;
}

export interface EmailDomainProvider {
  /** Rejects when the provider cannot do its part. */
  register(domain: string): Promise<MadeDomain>;
  /** Of each record, in order, whether it stands. Rejects when no server answered. */
  check(records: readonly DnsRecord[]): Promise<boolean[]>;
}

/** RFC 8301 §3.2. */
const modulusBits = 2048;
const tokenBytes = 16;
const mxPriority = 10;
const generate = promisify(generateKeyPair);

/** `mailHost` is where mail for the domain is taken; `bounceLabel` the name below the domain that leads there for what comes back. */
export function selfProvider(options: { mailHost: string; bounceLabel: string; resolver: NameResolver }): EmailDomainProvider {
  const { mailHost, bounceLabel, resolver } = options;
  return {
    async register(domain) {
      const { publicKey, privateKey } = await generate('rsa', { modulusLength: modulusBits, publicKeyEncoding: { type: 'spki', format: 'der' }, privateKeyEncoding: { type: 'pkcs8', format: 'pem' } });
      const selector = `sb${randomBytes(4).toString('hex')}`;
      return {
        selector,
        privateKey,
        records: [
          { type: 'MX', name: domain, value: mailHost, priority: mxPriority },
          { type: 'TXT', name: domain, value: `v=spf1 a:${mailHost} mx ~all` },
          { type: 'TXT', name: `${selector}._domainkey.${domain}`, value: `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}` },
          { type: 'TXT', name: `_switchboard.${domain}`, value: `switchboard-verification=${randomBytes(tokenBytes).toString('hex')}` },
          { type: 'CNAME', name: `${bounceLabel}.${domain}`, value: mailHost },
        ],
      };
    },
    check: (records) => Promise.all(records.map((record) => stands(record, resolver))),
  };
}

async function stands(record: DnsRecord, resolver: NameResolver): Promise<boolean> {
  switch (record.type) {
    case 'MX':
      return (await resolver.mx(record.name)).some(({ exchange }) => sameName(exchange, record.value));
    case 'CNAME':
      return (await resolver.cname(record.name)).some((target) => sameName(target, record.value));
    case 'TXT': {
      const found = await resolver.txt(record.name);
      return found.some((text) => (record.value.startsWith('v=spf1 ') ? allowsUs(text, record.value) : compact(text) === compact(record.value)));
    }
  }
}

/** A domain has one SPF record: ours may have been merged into one that was there. What counts is that it names our host. */
function allowsUs(text: string, ours: string): boolean {
  const [version = '', ...terms] = text.trim().toLowerCase().split(/\s+/);
  const wanted = ours.toLowerCase().split(/\s+/).find((term) => term.startsWith('a:')) ?? '';
  return version === 'v=spf1' && terms.some((term) => term.replace(/^\+/, '') === wanted);
}

/** Key records are written with and without spaces. */
function compact(text: string): string {
  return text.replace(/[\s"]+/g, '');
}

function sameName(one: string, other: string): boolean {
  return one.replace(/\.$/, '').toLowerCase() === other.replace(/\.$/, '').toLowerCase();
}
