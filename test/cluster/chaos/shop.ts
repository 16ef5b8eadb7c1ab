// One workspace of a run: its people, what its clients were told, and the sockets that watch it, one at each node.

import { randomUUID } from 'node:crypto';
import { type Frame, Line } from '../../support/line.ts';
import type { Doors } from './doors.ts';
import { EventBook } from './event-book.ts';
import type { Findings } from './findings.ts';
import type { Conversation, Sent } from './messages.ts';
import { Offers } from './offers.ts';
import { hookKey, type Receivers } from './receivers.ts';

export interface Person {
  readonly agentId: string;
  readonly token: string;
}

export interface ShopOptions {
  readonly name: string;
  readonly workspaceId: string;
  readonly embedId: string;
  readonly owner: Person;
  readonly agents: readonly Person[];
}

/** For deliberate defects: what the first node's watcher sees of a frame. */
export type FrameTap = (frame: Frame) => readonly Frame[];

/** Their webhooks are awaited. */
export const hookedEvents: readonly string[] = ['message.created', 'assignment.expired'];

export class Shop {
  readonly name: string;
  readonly workspaceId: string;
  readonly embedId: string;
  readonly owner: Person;
  readonly agents: readonly Person[];
  readonly findings: Findings;
  readonly book: EventBook;
  readonly offers: Offers;
  readonly conversations = new Map<string, Conversation>();
  /** Since the last look. */
  readonly touched = new Set<string>();
  /** What agents answer to: the newest ones. */
  readonly current: string[] = [];
  /** The latest acknowledged setting, and all whose fate is unknown. */
  readonly settings: { acknowledged: number | undefined; readonly open: Set<number> } = {
    acknowledged: undefined,
    open: new Set(),
  };

  readonly #watchers: Line[] = [];
  readonly #hands: Line[] = [];
  #serial = 0;
  #faultMs = Number.POSITIVE_INFINITY;
  #firstMs: number | undefined;

  constructor(made: ShopOptions, { findings, receivers }: { findings: Findings; receivers: Receivers }) {
    ({
      name: this.name,
      workspaceId: this.workspaceId,
      embedId: this.embedId,
      owner: this.owner,
      agents: this.agents,
    } = made);
    this.findings = findings;
    this.offers = new Offers((fault) => findings.say([fault]));
    this.book = new EventBook(this.name, {
      say: (fault) => findings.say([fault]),
      onFirst: (frame) => {
        this.offers.take(frame);
        if (hookedEvents.includes(frame.type))
          receivers.webhooks.expect(hookKey({ workspaceId: this.workspaceId, seq: frame.seq ?? 0 }));
      },
    });
  }

  /** The people who write, each preferring another node. */
  get people(): readonly Person[] {
    return [this.owner, ...this.agents];
  }

  get watchers(): readonly Line[] {
    return this.#watchers;
  }

  /** Sockets by which a person writes, one of each. */
  get hands(): readonly Line[] {
    return this.#hands;
  }

  async connect(doors: Doors, tap?: FrameTap): Promise<void> {
    for (let door = 0; door < doors.count; door += 1)
      this.#watchers.push(this.watch(doors, { door, ...(tap !== undefined && door === 0 ? { tap } : {}) }));
    for (const [door, { token }] of this.people.entries())
      this.#hands.push(
        new Line({ host: doors.place(door), ledger: this.findings, namespace: 'agent', token, mayBeSilent: true }),
      );
    await Promise.all([...this.#watchers, ...this.#hands].map((line) => line.ready()));
  }

  /** A socket that sees everything, from now on or from an event on, and writes it into the book. */
  watch(doors: Doors, { door, ...more }: { door: number; since?: number; tap?: FrameTap }): Line {
    return new Line({
      host: doors.place(door),
      ledger: this.findings,
      namespace: 'agent',
      token: this.owner.token,
      seesEverything: true,
      onEvent: (frame) => this.book.take(frame, `a socket at ${doors.nameOf(door)}`),
      ...more,
    });
  }

  newText(writer: string): string {
    this.#serial += 1;
    return `${this.name}, ${writer}: parcel ${this.#serial}`;
  }

  newMessage(writer: string): Sent {
    return {
      messageId: randomUUID(),
      writer,
      body: this.newText(writer),
      outcome: 'open',
      createdAt: '',
    };
  }

  conversation(id: string): Conversation {
    const conversation = this.conversations.get(id) ?? { id, sent: new Map(), acknowledged: [] };
    this.conversations.set(id, conversation);
    this.touched.add(id);
    return conversation;
  }

  acknowledge(
    conversationId: string,
    sent: Sent,
    told: { readonly id: string; readonly body: string; readonly createdAt: string },
  ): void {
    sent.outcome = 'acknowledged';
    sent.createdAt = told.createdAt;
    this.conversation(conversationId).acknowledged.push(sent);
    this.findings.count('messages');
    if (told.id !== sent.messageId || told.body !== sent.body)
      this.findings.surprise(`“${sent.body}” was acknowledged as ${told.id} “${told.body}”`, 'wrong');
  }

  /** From here on the first acknowledged write counts that was sent later. */
  expectFault(faultMs: number): void {
    this.#faultMs = faultMs;
    this.#firstMs = undefined;
  }

  /** Any change that was acknowledged, by the time at which its request left. */
  noteWrite(sentMs: number): void {
    this.findings.count('acknowledged');
    if (sentMs >= this.#faultMs) this.#firstMs ??= performance.now() - this.#faultMs;
  }

  /** Milliseconds from the fault to the first acknowledged write; undefined: none yet. */
  get firstMs(): number | undefined {
    return this.#firstMs;
  }

  close(): void {
    for (const line of [...this.#watchers, ...this.#hands]) line.close();
  }
}
