// What the server knows of the other nodes: which requests they sent on, by the mark that they sign, and from which
// addresses they connect. Made by the composition of a cluster, used by http/edge.

import { lookup } from 'node:dns/promises';
import { BlockList, isIPv6 } from 'node:net';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { NodeRecord } from '../../engine/runtime/cluster/ports.ts';
import type { OtherNodes, ReceivedFrom } from '../request.ts';
import { type Marked, readMark } from './mark.ts';

/** Of a name's addresses. */
const lookupTimeoutMs = 5000;

export class KnownNodes implements OtherNodes {
  readonly #secret: string;
  readonly #clock: Pick<Clock, 'now'>;
  /** Compares addresses however they are written, also IPv4 within IPv6. */
  #addresses = new BlockList();
  /** Counts the lists of nodes, since names are looked up side by side. */
  #lists = 0;

  constructor({ secret, clock }: { secret: string; clock: Pick<Clock, 'now'> }) {
    this.#secret = secret;
    this.#clock = clock;
  }

  receivedFrom(mark: string, request: Marked): ReceivedFrom | 'refused' {
    return readMark(mark, request, { secret: this.#secret, nowMs: this.#clock.now() }) ?? 'refused';
  }

  isNode(address: string): boolean {
    return this.#addresses.check(address, familyOf(address));
  }

  /**
   * Takes the addresses of these nodes' URLs for those that they connect from, instead of those before. One whose name
   * cannot be looked up has the limit of its network until the next list.
   */
  async follow(nodes: Iterable<NodeRecord>): Promise<void> {
    this.#lists += 1;
    const list = this.#lists;
    const addresses = await Promise.all([...nodes].map(addressesOf));
    if (list === this.#lists) this.setAddresses(addresses.flat());
  }

  /** From which the other nodes connect now, instead of those before. */
  setAddresses(addresses: Iterable<string>): void {
    const known = new BlockList();
    for (const address of addresses) known.addAddress(address, familyOf(address));
    this.#addresses = known;
  }
}

/** Empty if the name cannot be looked up now. */
async function addressesOf({ url }: NodeRecord): Promise<readonly string[]> {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(() => resolve([]), lookupTimeoutMs).unref();
  });
  const found = lookup(host, { all: true }).then(
    (all) => all.map(({ address }) => address),
    () => [],
  );
  return Promise.race([found, late]).finally(() => clearTimeout(timer));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}
