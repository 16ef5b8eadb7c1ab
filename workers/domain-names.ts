// What a domain is: its written form, and whether it is one that somebody can register. The only importer of tldts,
// whose list of public suffixes is loaded when it is first asked.

import { domainToASCII } from 'node:url';

/** The domain in the form of DNS, in lower case, when it is an apex (example.com, example.co.uk); else undefined. */
export async function apexDomain(text: string): Promise<string | undefined> {
  const written = text.trim().replace(/\.$/, '');
  // What would make it an address with more than a host in it is left out there without a word.
  if (/[\s/\\?#@:%]/.test(written)) return undefined;
  const name = domainToASCII(written);
  if (!/^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/.test(name)) return undefined;
  const { getDomain } = await import('tldts');
  return getDomain(name, { allowPrivateDomains: false }) === name ? name : undefined;
}
