// Every event of one workspace, as sockets on different nodes were told it. One number means one event, whichever node
// tells it: two nodes that both took commands for the workspace would tell two under the same number. Holds a number per
// event and an id per message of a run.

import { createHash } from 'node:crypto';
import type { Fault } from '../../support/event-order.ts';
import type { Frame } from '../../support/line.ts';

export class EventBook {
  readonly #say: (fault: Fault) => void;
  readonly #onFirst: (frame: Frame) => void;
  readonly #name: string;
  /** Of each event from `#from` on: the first 48 bits of its content's hash. */
  readonly #hashes: (number | undefined)[] = [];
  /** Until what comes before has been told. */
  readonly #ahead = new Map<number, Frame>();
  #from: number | undefined;
  readonly #messages = new Map<string, number>();

  /** `onFirst`: called with each event once, in the order of their numbers. */
  constructor(name: string, handlers: { say(fault: Fault): void; onFirst(frame: Frame): void }) {
    this.#name = name;
    this.#say = handlers.say;
    this.#onFirst = handlers.onFirst;
  }

  /** The number before its first event; undefined while there is none. */
  get since(): number | undefined {
    return this.#from === undefined ? undefined : this.#from - 1;
  }

  get count(): number {
    return this.#hashes.length;
  }

  hasTold(messageId: string): boolean {
    return this.#messages.has(messageId);
  }

  /** From a socket that sees everything. A gap is that socket's to report. */
  take(frame: Frame, node: string): void {
    const { seq = 0, type } = frame;
    this.#from ??= seq;
    const known = this.#hashes[seq - this.#from];
    if (known !== undefined && known !== hashOf(frame))
      this.#say({ kind: 'doubled', text: `${this.#name}: ${node} tells another event ${seq} (${type}) than was told` });
    if (known !== undefined || seq < this.#next) return;
    // Another node's socket may be ahead.
    this.#ahead.set(seq, frame);
    this.#readOn();
  }

  /** Nothing more is under way: what no socket told is left out. */
  settle(): void {
    while (this.#ahead.size > 0) {
      const seq = Math.min(...this.#ahead.keys());
      while (this.#next < seq) this.#hashes.push(undefined);
      this.#readOn();
    }
  }

  get #next(): number {
    return (this.#from ?? 0) + this.#hashes.length;
  }

  #readOn(): void {
    for (let frame = this.#ahead.get(this.#next); frame !== undefined; frame = this.#ahead.get(this.#next)) {
      const seq = this.#next;
      this.#ahead.delete(seq);
      this.#hashes.push(hashOf(frame));
      if (frame.type === 'message.created') this.#noteMessage(frame.data.message.id, seq);
      this.#onFirst(frame);
    }
  }

  #noteMessage(messageId: string, seq: number): void {
    const earlier = this.#messages.get(messageId);
    if (earlier !== undefined)
      this.#say({ kind: 'doubled', text: `${this.#name}: message ${messageId} is event ${earlier} and event ${seq}` });
    this.#messages.set(messageId, seq);
  }
}

function hashOf({ type, seq, at, conversationId, data }: Frame): number {
  const text = JSON.stringify([type, seq, at, conversationId, data]);
  return createHash('sha256').update(text).digest().readUIntBE(0, 6);
}
