// What the server knows of the other nodes: which requests they sent on, by the mark that they sign, and from which
// addresses they connect. Made by the composition of a cluster, used by http/edge.

import { BlockList, isIPv6 } from 'node:net';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { OtherNodes, ReceivedFrom } from '../request.ts';
import { type Marked, readMark } from './mark.ts';

export class KnownNodes implements OtherNodes {
  readonly #secret: string;
  readonly #clock: Pick<Clock, 'now'>;
  /** Compares addresses however they are written, also IPv4 within IPv6. */
  #addresses = new BlockList();

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

  /** From which the other nodes connect now, instead of those before. */
  setAddresses(addresses: Iterable<string>): void {
    const known = new BlockList();
    for (const address of addresses) known.addAddress(address, familyOf(address));
    this.#addresses = known;
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}
