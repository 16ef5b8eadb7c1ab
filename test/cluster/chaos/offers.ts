// Offers of a workspace, which end after 30 seconds by themselves, as its events tell of them: each is told once, ends
// once, and expires no sooner than it should. Fed with every event once, in order.

import type { Fault } from '../../support/event-order.ts';
import type { Frame } from '../../support/line.ts';

/** An offer, by its conversation and its end: only one is open in a conversation. */
export interface Offer {
  readonly conversationId: string;
  /** ISO. */
  readonly expiresAt: string;
}

const ends = new Set(['assignment.accepted', 'assignment.declined', 'assignment.cancelled', 'assignment.expired']);

export class Offers {
  readonly #say: (fault: Fault) => void;
  /** The end of each open one by its conversation. */
  readonly #open = new Map<string, string>();
  readonly #told = new Set<string>();
  readonly #acknowledged: Offer[] = [];
  #expired = 0;

  constructor(say: (fault: Fault) => void) {
    this.#say = say;
  }

  get expired(): number {
    return this.#expired;
  }

  get open(): number {
    return this.#open.size;
  }

  acknowledge(offer: Offer): void {
    this.#acknowledged.push(offer);
  }

  take({ type, at = '', conversationId = '', data }: Frame): void {
    const open = this.#open.get(conversationId);
    if (type === 'assignment.pending') {
      const { expiresAt } = data.conversation.handshake;
      if (open !== undefined)
        this.#say({ kind: 'wrong', text: `${conversationId} was offered anew before its offer had ended` });
      this.#open.set(conversationId, expiresAt);
      this.#told.add(keyOf({ conversationId, expiresAt }));
    }
    if (!ends.has(type)) return;
    this.#open.delete(conversationId);
    if (open === undefined) this.#say({ kind: 'doubled', text: `${type} of ${conversationId}, whose offer had ended` });
    if (type !== 'assignment.expired') return;
    this.#expired += 1;
    if (open !== undefined && at < open)
      this.#say({ kind: 'wrong', text: `the offer of ${conversationId} until ${open} expired at ${at}` });
  }

  /** At the end, when every event has arrived and the last offer should be over. */
  judge(nowMs: number): void {
    for (const offer of this.#acknowledged)
      if (!this.#told.has(keyOf(offer)))
        this.#say({
          kind: 'lost',
          text: `the offer of ${offer.conversationId} until ${offer.expiresAt} was acknowledged, and no event told of it`,
        });
    for (const [conversationId, expiresAt] of this.#open)
      if (Date.parse(expiresAt) < nowMs)
        this.#say({ kind: 'lost', text: `the offer of ${conversationId} until ${expiresAt} never expired` });
  }
}

function keyOf({ conversationId, expiresAt }: Offer): string {
  return `${conversationId} ${expiresAt}`;
}
