// The built-in provider of email domains: creates DNS records that point a domain at this service, with a DKIM key pair
// of its own, and checks them by real DNS queries.

import { generateKeyPair, randomBytes } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { promisify } from 'node:util';
import type { DnsRecord } from '../../store/mail/email-domains.ts';
import type { NameResolver } from './resolver.ts';

export interface MadeDomain {
  readonly records: readonly Omit<DnsRecord, 'status'>[];
  readonly selector: string;
  /** PEM; must be sealed before it is stored. */
  readonly privateKey: string;
}

export interface EmailDomainProvider {
  /** Rejects if the provider fails. */
  register(domain: string): Promise<MadeDomain>;
  /** For each record, in order, whether it was found. Rejects if no server answered. */
  check(records: readonly DnsRecord[]): Promise<boolean[]>;
}

/** RFC 8301 §3.2. */
const modulusBits = 2048;
const tokenBytes = 16;
const mxPriority = 10;
const generate = promisify(generateKeyPair);

/**
 * `mailHost` receives mail for the domain; `bounceLabel` is the name below the domain that points there for bounces.
 */
export function selfProvider(options: {
  mailHost: string;
  bounceLabel: string;
  resolver: NameResolver;
}): EmailDomainProvider {
  const { mailHost, bounceLabel } = options;
  return {
    async register(domain) {
      const { publicKey, privateKey } = await generate('rsa', {
        modulusLength: modulusBits,
        publicKeyEncoding: { type: 'spki', format: 'der' },
        privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      });
      const selector = `sb${randomBytes(4).toString('hex')}`;
      return {
        selector,
        privateKey,
        records: [
          { type: 'MX', name: domain, value: mailHost, priority: mxPriority },
          { type: 'TXT', name: domain, value: `v=spf1 a:${mailHost} mx ~all` },
          {
            type: 'TXT',
            name: `${selector}._domainkey.${domain}`,
            value: `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`,
          },
          {
            type: 'TXT',
            name: `_switchboard.${domain}`,
            value: `switchboard-verification=${randomBytes(tokenBytes).toString('hex')}`,
          },
          { type: 'CNAME', name: `${bounceLabel}.${domain}`, value: mailHost },
        ],
      };
    },
    check: (records) => Promise.all(records.map((record) => stands(record, options))),
  };
}

type Ours = Parameters<typeof selfProvider>[0];

async function stands(record: DnsRecord, ours: Ours): Promise<boolean> {
  const { resolver } = ours;
  switch (record.type) {
    case 'MX':
      return (await resolver.mx(record.name)).some(({ exchange }) => sameName(exchange, record.value));
    case 'CNAME': {
      const targets = await resolver.cname(record.name);
      return targets.length > 0 ? targets.some((target) => sameName(target, record.value)) : leadsTo(record, resolver);
    }
    case 'TXT': {
      const found = await resolver.txt(record.name);
      return record.value.startsWith('v=spf1 ')
        ? allowsUs(found, record.name, ours)
        : found.some((text) => compact(text) === compact(record.value));
    }
  }
}

/** Some DNS hosts answer with a CNAME's addresses in its place. */
async function leadsTo({ name, value }: DnsRecord, resolver: NameResolver): Promise<boolean> {
  const [found, wanted] = await Promise.all([resolver.addresses(name), resolver.addresses(value)]);
  return found.length > 0 && found.every((address) => wanted.includes(address));
}

/**
 * A domain has one SPF record: ours may have been merged into an existing one, naming our host or an address of it. One
 * that names neither, such as a relay for our mail, is enough if the envelope's domain has its own, because receivers
 * check that one (RFC 7208 §2.4).
 */
async function allowsUs(
  texts: readonly string[],
  domain: string,
  { mailHost, bounceLabel, resolver }: Ours,
): Promise<boolean> {
  const records = texts.map(spfTerms).filter((terms) => terms !== undefined);
  if (records.length === 0) return false;
  const terms = records.flat();
  if (terms.includes(`a:${mailHost.toLowerCase()}`)) return true;
  const addresses = await resolver.addresses(mailHost);
  if (addresses.some((address) => terms.some((term) => covers(term, address)))) return true;
  return (await resolver.txt(`${bounceLabel}.${domain}`)).some((text) => spfTerms(text) !== undefined);
}

/** The terms of an SPF record, without the default +. */
function spfTerms(text: string): string[] | undefined {
  const [version = '', ...terms] = text.trim().toLowerCase().split(/\s+/);
  return version === 'v=spf1' ? terms.map((term) => term.replace(/^\+/, '')) : undefined;
}

function covers(term: string, address: string): boolean {
  const [, network = '', bits] = /^ip[46]:([0-9a-f.:]+)(?:\/(\d{1,3}))?$/.exec(term) ?? [];
  const family = isIP(network);
  if (family === 0 || family !== isIP(address)) return false;
  const [kind, most] = family === 4 ? (['ipv4', 32] as const) : (['ipv6', 128] as const);
  const list = new BlockList();
  list.addSubnet(network, Math.min(bits === undefined ? most : Number(bits), most), kind);
  return list.check(address, kind);
}

/** Key records are written with and without spaces. */
function compact(text: string): string {
  return text.replace(/[\s"]+/g, '');
}

function sameName(one: string, other: string): boolean {
  return one.replace(/\.$/, '').toLowerCase() === other.replace(/\.$/, '').toLowerCase();
}
