// How many connections there may be: of one network, so that nobody takes them all, and of all, so that there are
// descriptors left for files. The library tells of each connection when it opens, with its address, and when it closes,
// without. So a network that seems to have too many is refused only if that many are left when all that closed since
// were its own; and the kernel, which knows, is asked. Called by server.ts.

import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { networkOf } from './network-address.ts';

export interface ConnectionsOptions {
  /** Undefined for no bound: behind a proxy all connections are the proxy's. */
  readonly maxOfNetwork: number | undefined;
  readonly maxOfAll: number;
  /** New ones of a network within ten seconds; undefined for no bound. */
  readonly maxNew: number | undefined;
  readonly now: () => number;
  /** By network, as the kernel counts them; undefined where it does not say. */
  readonly count: () => Promise<ReadonlyMap<string, number> | undefined>;
}

interface Network {
  open: number;
  opened: number;
  spanEndsMs: number;
}

const spanMs = 10_000;
/** The kernel writes a line for each connection of the machine when it is asked. */
const countEveryMs = 250;
/** Remembered at the most before those are forgotten that have no connections any more. */
const maxNetworks = 20_000;

export class Connections {
  readonly #options: ConnectionsOptions;
  #networks = new Map<string, Network>();
  #open = 0;
  /** Since the kernel was asked, of whom is not known. */
  #closed = 0;
  #isCounting = false;
  #countAgainMs = 0;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Counts a connection that opens. False when it is to be closed, which is to be told like that of any other. */
  opened(network: string): boolean {
    const { maxOfAll, maxOfNetwork, maxNew } = this.#options;
    this.#open += 1;
    const of = this.#of(network);
    of.open += 1;
    of.opened += 1;
    if (this.#networks.size > maxNetworks || of.open > (maxOfNetwork ?? Number.POSITIVE_INFINITY)) this.#count();
    if (this.#open > maxOfAll || of.opened > (maxNew ?? Number.POSITIVE_INFINITY)) return false;
    return maxOfNetwork === undefined || of.open - this.#closed <= maxOfNetwork;
  }

  /** Of this network, where that is known. */
  closed(network?: string): void {
    this.#open -= 1;
    const of = network === undefined ? undefined : this.#networks.get(network);
    if (of === undefined) this.#closed += 1;
    else of.open -= 1;
  }

  get open(): number {
    return this.#open;
  }

  /** Networks that are remembered. */
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

  /** Who has none and opened none lately is forgotten. */
  #take(openByNetwork: ReadonlyMap<string, number>): void {
    const nowMs = this.#options.now();
    const networks = new Map<string, Network>();
    for (const [network, of] of this.#networks)
      if (of.spanEndsMs > nowMs && networks.size < maxNetworks) networks.set(network, { ...of, open: 0 });
    this.#networks = networks;
    for (const [network, open] of openByNetwork) this.#of(network).open = open;
  }
}

/** Connections to a port of this machine that are open, by network: Linux tells, others do not. */
export async function countConnections(port: number): Promise<ReadonlyMap<string, number> | undefined> {
  const tables = await Promise.all(
    ['/proc/self/net/tcp', '/proc/self/net/tcp6'].map((path) => readFile(path, 'latin1').catch(() => undefined)),
  );
  if (tables.every((table) => table === undefined)) return undefined;
  const counts = new Map<string, number>();
  for (const table of tables)
    for (const network of networksIn(table ?? '', port)) counts.set(network, (counts.get(network) ?? 0) + 1);
  return counts;
}

/**
 * `sl local_address rem_address st …`, addresses in words of the machine's own byte order (proc(5)). Open is
 * ESTABLISHED, or CLOSE_WAIT, which waits for us.
 */
const row = /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]{8}|[0-9A-F]{32}):[0-9A-F]{4} (?:01|08) /gm;

export function* networksIn(table: string, port: number): Generator<string> {
  const local = port.toString(16).toUpperCase().padStart(4, '0');
  for (const [, localPort, remote = ''] of table.matchAll(row))
    if (localPort === local) yield networkOf(addressOfWords(remote));
}

function addressOfWords(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, 'hex')].reverse());
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0)).toString(16),
  );
  return groups.join(':');
}

/** A process that may have more would not bear them. */
const mostConnections = 50_000;

/** Half of the descriptors that the process may have: the others are for files, and for what goes out. */
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
