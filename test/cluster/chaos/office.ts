// The people of a shop at work: answers, offers that are accepted, declined or left to expire, tickets that are mailed,
// settings that change. Each action is one or two requests through the public API.

import type { Random } from '../../support/seeded.ts';
import type { Doors } from './doors.ts';
import type { Sent } from './messages.ts';
import { mailKey, type Receivers, trackedHosts } from './receivers.ts';
import { send } from './sending.ts';
import type { Person, Shop } from './shop.ts';

const readBackShare = 0.2;
const mostChats = { from: 1, to: 1000 };

export class Office {
  readonly #shop: Shop;
  readonly #doors: Doors;
  readonly #receivers: Receivers;
  readonly #random: Random;
  #tickets = 0;
  #setting = 0;

  constructor(options: { shop: Shop; doors: Doors; receivers: Receivers; random: Random }) {
    ({ shop: this.#shop, doors: this.#doors, receivers: this.#receivers, random: this.#random } = options);
  }

  /** `seat`: of the person, whose node it prefers. */
  async answer(seat: number): Promise<void> {
    const person = this.#shop.people[seat];
    const { current, hands } = this.#shop;
    if (person === undefined || current.length === 0) return;
    const conversationId = this.#random.pick(current);
    const sent = await send(this.#shop, this.#doors, {
      conversationId,
      writer: `person ${seat + 1}`,
      token: person.token,
      door: seat,
      side: 'agent',
      line: this.#random.chance(0.5) ? hands[seat] : undefined,
    });
    if (sent !== undefined && this.#random.chance(readBackShare)) await this.#readBack(conversationId, sent);
  }

  /** Whatever node answers, it knows what was acknowledged before it was asked. */
  async #readBack(conversationId: string, { messageId, body }: Sent): Promise<void> {
    const path = `/conversations/${conversationId}/messages?limit=200`;
    const read = await this.#ask({ method: 'GET', path, by: this.#shop.owner });
    if (read === undefined) return;
    this.#shop.findings.count('read back');
    if (!read.body.messages.some(({ id }: { id: string }) => id === messageId))
      this.#shop.findings.surprise(
        `${this.#shop.name}: a read after the acknowledgement of “${body}” lacks it`,
        'lost',
      );
  }

  /** Most offers are left to expire. */
  async offer(): Promise<void> {
    const { current, owner, agents, offers } = this.#shop;
    if (current.length === 0) return;
    const conversationId = this.#random.pick(current);
    const recipient = this.#random.pick(agents);
    const found = await this.#ask({ method: 'GET', path: `/conversations/${conversationId}`, by: owner });
    if (found === undefined) return;
    const { version, handshake, assignedAgentId } = found.body.conversation;
    // An offer to the assignee has no effect, and a second one ends the first.
    if (handshake !== null || assignedAgentId === recipient.agentId) return;
    const offered = await this.#ask({
      method: 'POST',
      path: `/conversations/${conversationId}/assign-to-agent`,
      body: { agentId: recipient.agentId, expectedVersion: version },
      by: owner,
    });
    if (offered === undefined) return;
    const { expiresAt } = offered.body.conversation.handshake;
    offers.acknowledge({ conversationId, expiresAt });
    this.#shop.findings.count('offers');
    if (this.#random.chance(0.7)) return;
    await this.#ask({
      method: 'POST',
      path: `/conversations/${conversationId}/assignment/${this.#random.chance(0.5) ? 'accept' : 'decline'}`,
      body: {},
      by: recipient,
    });
  }

  /** It is mailed to a customer of its own. */
  async writeTicket(): Promise<void> {
    const shop = this.#shop;
    this.#tickets += 1;
    const customerEmail = `${shop.name}.${this.#tickets}@${trackedHosts.customer}`;
    const subject = `Order ${this.#tickets} at ${shop.name}`;
    const body = shop.newText('the owner');
    const made = await this.#ask({
      method: 'POST',
      path: '/tickets',
      body: { customerEmail, subject, body },
      by: shop.owner,
    });
    if (made === undefined) return;
    shop.findings.count('tickets');
    this.#receivers.mails.expect(mailKey({ to: customerEmail, subject }));
  }

  /** Counts up, so that an older value is recognised. */
  async changeSettings(): Promise<void> {
    const { settings, owner } = this.#shop;
    this.#setting = (this.#setting % mostChats.to) + mostChats.from;
    const maxOpenChatsPerAgent = this.#setting;
    settings.open.add(maxOpenChatsPerAgent);
    const changed = await this.#ask({
      method: 'PUT',
      path: '/workspace/settings',
      body: { routing: { maxOpenChatsPerAgent } },
      by: owner,
    });
    if (changed === undefined) return;
    settings.open.delete(maxOpenChatsPerAgent);
    settings.acknowledged = maxOpenChatsPerAgent;
  }

  /** One attempt that may have had an effect; undefined unless it succeeded. */
  async #ask({
    by,
    ...request
  }: {
    method: 'GET' | 'POST' | 'PUT';
    path: string;
    body?: object;
    by: Person;
  }): Promise<{ body: any } | undefined> {
    const door = this.#random.below(this.#doors.count);
    const outcome = await this.#doors.ask({
      ...request,
      token: by.token,
      door,
      isRepeatable: request.method === 'GET',
    });
    if (outcome.kind !== 'done') return undefined;
    if (request.method !== 'GET') this.#shop.noteWrite(outcome.sentMs);
    return outcome;
  }
}
