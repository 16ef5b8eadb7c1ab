// Domains in canonical form, and whether they can be registered. The only importer of tldts, whose list of public
// suffixes is loaded on first use.

import { domainToASCII } from 'node:url';

/** The domain in DNS form, in lower case, if it is an apex (example.com, example.co.uk); otherwise undefined. */
export async function apexDomain(text: string): Promise<string | undefined> {
  const written = text.trim().replace(/\.$/, '');
  // Characters that the library would silently drop as belonging to an address.
  if (/[\s/\\?#@:%]/.test(written)) return undefined;
  const name = domainToASCII(written);
  if (!/^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/.test(name)) return undefined;
  const { getDomain } = await import('tldts');
  return getDomain(name, { allowPrivateDomains: false }) === name ? name : undefined;
}
