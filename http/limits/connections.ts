// Limits open connections: per network, so that one network cannot take them all, and in total, so that file
// descriptors are left for files. The library reports the address when a connection opens, but not when it closes. So a
// network is refused only if it is over the limit even when every unattributed close is counted as its own, or when the
// kernel's count confirms it. Called by server.ts.

import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { networkOf } from './network-address.ts';

export interface ConnectionsOptions {
  /** Undefined: no limit. Behind a proxy, all connections are the proxy's. */
  readonly maxOfNetwork: number | undefined;
  readonly maxOfAll: number;
  /** New connections of one network in ten seconds; undefined: no limit. */
  readonly maxNew: number | undefined;
  readonly now: () => number;
  /** Open connections by network, from the kernel; undefined where it does not report them. */
  readonly count: () => Promise<ReadonlyMap<string, number> | undefined>;
}

interface Network {
  open: number;
  opened: number;
  spanEndsMs: number;
}

const spanMs = 10_000;
/** Asking costs a line for each connection of the machine. */
const countEveryMs = 250;
/** At most this many networks are kept; then those without connections are evicted. */
const maxNetworks = 20_000;

export class Connections {
  readonly #options: ConnectionsOptions;
  #networks = new Map<string, Network>();
  #open = 0;
  /** Closed connections of unknown network since the kernel was last asked. */
  #closed = 0;
  #isCounting = false;
  #countAgainMs = 0;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /**
   * Counts a new connection. False: close it; its closing is reported like any other. `network`: undefined for another
   * node of the cluster, which counts only among all.
   */
  opened(network: string | undefined): boolean {
    const { maxOfAll, maxOfNetwork, maxNew } = this.#options;
    this.#open += 1;
    if (network === undefined) return this.#open <= maxOfAll;
    const of = this.#of(network);
    of.open += 1;
    of.opened += 1;
    if (this.#networks.size > maxNetworks || of.open > (maxOfNetwork ?? Number.POSITIVE_INFINITY)) this.#count();
    if (this.#open > maxOfAll || of.opened > (maxNew ?? Number.POSITIVE_INFINITY)) return false;
    return maxOfNetwork === undefined || of.open - this.#closed <= maxOfNetwork;
  }

  /** A connection closed. `network`: its network, where known. */
  closed(network?: string): void {
    this.#open -= 1;
    const of = network === undefined ? undefined : this.#networks.get(network);
    if (of === undefined) this.#closed += 1;
    else of.open -= 1;
  }

  get open(): number {
    return this.#open;
  }

  /** The number of networks kept. */
  get size(): number {
    return this.#networks.size;
  }

  #of(network: string): Network {
    const nowMs = this.#options.now();
    let of = this.#networks.get(network);
    if (of === undefined) {
      of = { open: 0, opened: 0, spanEndsMs: nowMs + spanMs };
      this.#networks.set(network, of);
    } else if (of.spanEndsMs <= nowMs) {
      of.opened = 0;
      of.spanEndsMs = nowMs + spanMs;
    }
    return of;
  }

  #count(): void {
    const nowMs = this.#options.now();
    if (this.#isCounting || nowMs < this.#countAgainMs) return;
    this.#isCounting = true;
    this.#countAgainMs = nowMs + countEveryMs;
    const closedBefore = this.#closed;
    const countFailed = (): undefined => undefined;
    void this.#options
      .count()
      .catch(countFailed)
      .then((openByNetwork) => {
        this.#isCounting = false;
        this.#closed -= closedBefore;
        this.#take(openByNetwork ?? new Map<string, number>());
      });
  }

  /** Evicts networks that have no connections and opened none lately. */
  #take(openByNetwork: ReadonlyMap<string, number>): void {
    const nowMs = this.#options.now();
    const networks = new Map<string, Network>();
    for (const [network, of] of this.#networks)
      if (of.spanEndsMs > nowMs && networks.size < maxNetworks) networks.set(network, { ...of, open: 0 });
    this.#networks = networks;
    for (const [network, open] of openByNetwork) this.#of(network).open = open;
  }
}

/** Open connections to a local port by network, without those of other nodes. Only Linux reports them. */
export async function countConnections(
  port: number,
  isNode: (address: string) => boolean = () => false,
): Promise<ReadonlyMap<string, number> | undefined> {
  const tables = await Promise.all(
    ['/proc/self/net/tcp', '/proc/self/net/tcp6'].map((path) => readFile(path, 'latin1').catch(() => undefined)),
  );
  if (tables.every((table) => table === undefined)) return undefined;
  const counts = new Map<string, number>();
  for (const table of tables)
    for (const network of networksIn(table ?? '', port, isNode)) counts.set(network, (counts.get(network) ?? 0) + 1);
  return counts;
}

/**
 * `sl local_address rem_address st …`, with addresses in words of the machine's byte order (proc(5)). Open means
 * ESTABLISHED, or CLOSE_WAIT, where our side has not closed yet.
 */
const row = /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]{8}|[0-9A-F]{32}):[0-9A-F]{4} (?:01|08) /gm;

export function* networksIn(
  table: string,
  port: number,
  isNode: (address: string) => boolean = () => false,
): Generator<string> {
  const local = port.toString(16).toUpperCase().padStart(4, '0');
  for (const [, localPort, remote = ''] of table.matchAll(row)) {
    if (localPort !== local) continue;
    const address = addressOfWords(remote);
    if (!isNode(address)) yield networkOf(address);
  }
}

function addressOfWords(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, 'hex')].reverse());
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0)).toString(16),
  );
  return groups.join(':');
}

/** More would overload the process, even if it has descriptors for them. */
const mostConnections = 50_000;

/** Half of the process's file descriptors. The rest is for files and outgoing connections. */
export function mayBeOpen(limits = limitsOfProcess()): number {
  const [, most] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
  return most === undefined ? mostConnections : Math.min(mostConnections, Math.floor(Number(most) / 2));
}

function limitsOfProcess(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
