// A visitor of a shop for one round: a chat of its own, written to over HTTP and over its socket, which must tell it
// every acknowledged message of the chat once.

import { Line } from '../../support/line.ts';
import type { Random } from '../../support/seeded.ts';
import { within } from '../../support/within.ts';
import type { Doors } from './doors.ts';
import { send } from './sending.ts';
import type { Shop } from './shop.ts';

const connectMs = 10_000;
/** Conversations that agents write to. */
const maxCurrent = 4;

export class Visitor {
  readonly #shop: Shop;
  readonly #doors: Doors;
  readonly #door: number;
  readonly #token: string;
  readonly #name: string;
  readonly #line: Line;
  readonly #told = new Set<string>();
  #conversationId: string | undefined;

  private constructor(made: { shop: Shop; doors: Doors; door: number; token: string; name: string }) {
    ({ shop: this.#shop, doors: this.#doors, door: this.#door, token: this.#token, name: this.#name } = made);
    this.#line = new Line({
      host: made.doors.place(made.door),
      ledger: made.shop.findings,
      namespace: 'visitor',
      token: made.token,
      mayBeSilent: true,
      onEvent: ({ type, data }) => {
        if (type !== 'message.created') return;
        const { id } = data.message;
        if (this.#told.has(id)) made.shop.findings.surprise(`${made.name} was told of message ${id} twice`, 'doubled');
        this.#told.add(id);
      },
    });
  }

  /** Undefined if no node lets it in. */
  static async enter(
    shop: Shop,
    doors: Doors,
    { door, name }: { door: number; name: string },
  ): Promise<Visitor | undefined> {
    const session = await doors.ask({
      method: 'POST',
      path: '/widget/sessions',
      body: { siteId: shop.embedId, url: `https://${shop.name}.example/` },
      door,
      isRepeatable: true,
    });
    if (session.kind !== 'done') return undefined;
    const visitor = new Visitor({ shop, doors, door, token: session.body.visitorToken, name });
    if (await within(visitor.#line.ready(), connectMs)) return visitor;
    visitor.leave();
    return undefined;
  }

  async act(random: Random): Promise<void> {
    if (this.#conversationId === undefined) await this.#begin();
    else
      await send(this.#shop, this.#doors, {
        conversationId: this.#conversationId,
        writer: this.#name,
        token: this.#token,
        door: this.#door,
        side: 'visitor',
        line: random.chance(0.5) ? this.#line : undefined,
      });
  }

  /** Acknowledged messages of its chat that its socket has not told it. */
  untold(): string[] {
    const { acknowledged = [] } = this.#shop.conversations.get(this.#conversationId ?? '') ?? {};
    return acknowledged.flatMap(({ messageId, body }) => (this.#told.has(messageId) ? [] : [body]));
  }

  get name(): string {
    return this.#name;
  }

  leave(): void {
    this.#line.close();
  }

  async #begin(): Promise<void> {
    const shop = this.#shop;
    const sent = shop.newMessage(this.#name);
    const outcome = await this.#doors.ask({
      method: 'POST',
      path: '/widget/conversations',
      body: { body: sent.body, messageId: sent.messageId },
      token: this.#token,
      door: this.#door,
      isRepeatable: true,
    });
    // A chat that was begun all the same is nobody's.
    if (outcome.kind !== 'done') return;
    const { conversation, message } = outcome.body;
    shop.conversation(conversation.id).sent.set(sent.messageId, sent);
    shop.acknowledge(conversation.id, sent, message);
    shop.noteWrite(outcome.sentMs);
    shop.current.push(conversation.id);
    if (shop.current.length > maxCurrent) shop.current.shift();
    this.#conversationId = conversation.id;
  }
}
