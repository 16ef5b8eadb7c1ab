// DNS queries, to the system's servers or those of DNS_SERVERS. Every query has a time limit.

import { Resolver } from 'node:dns/promises';

export interface NameResolver {
  /** Empty if the name or the record does not exist; rejects if no server said so. */
  mx(name: string): Promise<{ readonly exchange: string; readonly priority: number }[]>;
  /** Each record as one text, however it was split for transport. */
  txt(name: string): Promise<string[]>;
  cname(name: string): Promise<string[]>;
  /** IPv4 and IPv6. */
  addresses(name: string): Promise<string[]>;
  /** For libraries that query any record type. Rejects as node:dns does. */
  records(name: string, type: string): Promise<string[] | string[][]>;
}

const timeoutMs = 3000;
const tries = 2;
const absent: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

/** `servers` as `ip` or `ip:port`; undefined: the system's. */
export function createResolver(servers: readonly string[] | undefined): NameResolver {
  const resolver = new Resolver({ timeout: timeoutMs, tries });
  if (servers !== undefined) resolver.setServers(servers);
  return {
    mx: (name) => orNone(resolver.resolveMx(name)),
    txt: async (name) => (await orNone(resolver.resolveTxt(name))).map((parts) => parts.join('')),
    cname: (name) => orNone(resolver.resolveCname(name)),
    addresses: async (name) =>
      (await Promise.all([orNone(resolver.resolve4(name)), orNone(resolver.resolve6(name))])).flat(),
    // node:dns types each record's own shape; callers that query by type know it.
    records: (name, type) => resolver.resolve(name, type) as Promise<string[] | string[][]>,
  };
}

async function orNone<Found>(question: Promise<Found[]>): Promise<Found[]> {
  try {
    return await question;
  } catch (error) {
    if (absent.has((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}
