// The actors of a soak: customers who chat, agents on sockets who answer, hand over and solve, and an office that
// receives mail, writes tickets, searches, reads reports and shares files. All through the public API, like a shop's
// day.

import { Api } from '../../bench/api.ts';
import { addAgent, makeTenant } from '../../bench/scenario.ts';
import { signatureOf } from '../../http/signed/signatures.ts';
import { type Frame, Line } from '../support/line.ts';
import type { Random } from '../support/seeded.ts';
import type { Desk } from './desk.ts';

export interface CrowdSize {
  readonly agents: number;
  readonly customers: number;
}

interface Agent {
  readonly agentId: string;
  readonly token: string;
  readonly line: Line;
  /** Received messages that are not answered yet. */
  readonly inbox: string[];
  /** Pending offers to it. */
  readonly offers: string[];
}

interface Conversation {
  readonly id: string;
  version: number;
}

const maxOpenChats = 40;
/** The share of customers' messages that each agent answers. */
const answeredShare = 0.3;
const recentConversations = 200;
const fileBytes = 20_000;
const reports = [
  '/reports/chats/total?range=30d&granularity=hour',
  '/reports/tickets/by-status?range=7d',
  '/reports/tickets/response-times?range=7d',
  '/reports/agents/performance?range=30d',
  '/reports/customers?range=30d',
  '/reports/conversations?range=7d&limit=50',
];

export class Crowd {
  readonly #desk: Desk;
  readonly #random: Random;
  readonly ownerToken: string;
  readonly #embedId: string;
  readonly #agents: Agent[] = [];
  readonly #customerLines: Line[] = [];
  readonly #recorder: Line;
  readonly #mailbox: { readonly address: string; readonly secret: string };
  /** Ids of messages by event, as received by a client that may see everything. */
  readonly #told = new Map<string, number>();
  readonly #recent: Conversation[] = [];
  #people = 0;

  private constructor(made: {
    desk: Desk;
    random: Random;
    ownerToken: string;
    embedId: string;
    mailbox: { address: string; secret: string };
  }) {
    this.#desk = made.desk;
    this.#random = made.random;
    this.ownerToken = made.ownerToken;
    this.#embedId = made.embedId;
    this.#mailbox = made.mailbox;
    this.#recorder = new Line({
      host: made.desk.host,
      ledger: made.desk.ledger,
      namespace: 'agent',
      token: made.ownerToken,
      seesEverything: true,
      onEvent: (frame) => this.#record(frame),
    });
  }

  /** Sets up a shop on a new service, and connects everyone. */
  static async open(
    desk: Desk,
    random: Random,
    { dataDir, ...size }: CrowdSize & { readonly dataDir: string },
  ): Promise<Crowd> {
    const api = new Api({ url: desk.host.url, dataDir });
    const { owner, embedId } = await makeTenant(api);
    const { token } = owner;
    await api.call('PUT', '/workspace/settings', {
      token,
      body: { routing: { mode: 'auto', maxOpenChatsPerAgent: maxOpenChats } },
    });
    const { inboundEmail } = await api.call<{ inboundEmail: { address: string; secret: string } }>(
      'GET',
      '/workspace/integrations',
      { token },
    );
    const crowd = new Crowd({ desk, random, ownerToken: token, embedId, mailbox: inboundEmail });
    for (let index = 0; index < size.agents; index += 1) {
      const person = await addAgent(api, owner, {
        email: `agent${index}@soak.example`,
        name: `Agent ${index}`,
        role: index === 0 ? 'supervisor' : 'agent',
        channels: ['chats', 'tickets'],
      });
      crowd.#addAgent(person);
    }
    await Promise.all([crowd.#recorder, ...crowd.#agents.map(({ line }) => line)].map((line) => line.ready()));
    for (let index = 0; index < size.customers; index += 1) crowd.#addCustomer();
    desk.employ(random, () => crowd.#mail(), { pace: 4 });
    desk.employ(random, () => crowd.#writeTicket(), { pace: 12 });
    desk.employ(random, () => crowd.#search(), { pace: 4 });
    desk.employ(random, () => crowd.#read(), { pace: 6 });
    desk.employ(random, () => crowd.#shareFile(), { pace: 8 });
    return crowd;
  }

  /** Cuts this share of the connections; they reconnect. */
  tearLines(share: number): number {
    const torn = [this.#recorder, ...this.#agents.map(({ line }) => line), ...this.#customerLines].filter(() =>
      this.#random.chance(share),
    );
    for (const line of torn) line.tear();
    return torn.length;
  }

  /** Checks that every event was received, each message once. No actor may be active. */
  async requireAllTold(): Promise<void> {
    const { ledger, host } = this.#desk;
    // A new socket learns the newest number.
    const probe = new Line({ host, ledger, namespace: 'agent', token: this.ownerToken });
    await probe.ready();
    await this.#recorder.reaches(probe.lastSeq);
    probe.close();
    for (const id of ledger.messageIds()) {
      const times = this.#told.get(id) ?? 0;
      if (times !== 1) ledger.surprise(`message ${id} was acknowledged and told ${times} times`);
    }
  }

  close(): void {
    for (const line of [this.#recorder, ...this.#agents.map(({ line }) => line), ...this.#customerLines]) line.close();
  }

  #record({ type, data }: Frame): void {
    if (type === 'message.created') this.#told.set(data.message.id, (this.#told.get(data.message.id) ?? 0) + 1);
  }

  #addAgent({ agentId, token }: { agentId: string; token: string }): void {
    const inbox: string[] = [];
    const offers: string[] = [];
    const line = new Line({
      host: this.#desk.host,
      ledger: this.#desk.ledger,
      namespace: 'agent',
      token,
      onEvent: ({ type, conversationId = '', data }) => {
        if (
          type === 'message.created' &&
          data.message.senderType === 'visitor' &&
          inbox.length < maxOpenChats &&
          this.#random.chance(answeredShare)
        )
          inbox.push(conversationId);
        if (type === 'assignment.pending' && data.conversation.handshake?.toAgentId === agentId)
          offers.push(conversationId);
      },
    });
    const agent: Agent = { agentId, token, line, inbox, offers };
    this.#agents.push(agent);
    this.#desk.employ(this.#random, () => this.#work(agent));
  }

  /** An agent accepts its offers, answers the latest messages, and occasionally adds a note, hands over or solves. */
  async #work(agent: Agent): Promise<void> {
    const { ledger } = this.#desk;
    const offered = agent.offers.shift();
    if (offered !== undefined) {
      const answered = await this.#desk.call(
        'POST',
        `/conversations/${offered}/assignment/${this.#random.chance(0.7) ? 'accept' : 'decline'}`,
        { body: {}, token: agent.token },
      );
      if (answered !== undefined) ledger.count('handshakes');
      return;
    }
    const id = agent.inbox.shift();
    if (id === undefined) return;
    await this.#answer(agent, id);
    const dice = this.#random.next();
    if (dice < 0.15) {
      const note = await this.#desk.call('POST', `/conversations/${id}/notes`, {
        body: { body: ledger.newText('a colleague') },
        token: agent.token,
      });
      if (note !== undefined) ledger.note(id, note.body);
    } else if (dice < 0.35) await this.#handOver(agent, id);
    else if (dice < 0.6)
      await this.#desk.call('POST', `/conversations/${id}/status`, { body: { status: 'solved' }, token: agent.token });
    else if (dice < 0.7) await this.#desk.call('POST', `/conversations/${id}/read`, { token: agent.token });
  }

  /** Over the socket, like an inbox; over HTTP while the connection is cut. */
  async #answer({ agentId, token, line }: Agent, conversationId: string): Promise<void> {
    const { ledger } = this.#desk;
    const body = ledger.newText('an agent');
    const reply = this.#random.chance(0.8)
      ? this.#desk.replied('message.send', await line.call('message.send', { conversationId, body }))
      : await this.#desk.call('POST', `/conversations/${conversationId}/messages`, { body: { body }, token });
    if (reply !== undefined) ledger.message(conversationId, agentId, reply.body);
  }

  async #handOver(agent: Agent, id: string): Promise<void> {
    const queue = await this.#desk.call('GET', '/conversations/queue?limit=200', { token: agent.token });
    const conversation = queue?.body.conversations.find((one: Conversation) => one.id === id);
    if (conversation === undefined) return;
    const colleague = this.#random.pick(this.#agents.filter(({ agentId }) => agentId !== agent.agentId));
    const offered = await this.#desk.call('POST', `/conversations/${id}/assign-to-agent`, {
      body: { agentId: colleague.agentId, expectedVersion: conversation.version },
      token: agent.token,
    });
    if (offered !== undefined) this.#desk.ledger.count('offers');
  }

  /** One customer after another: a visit, a chat of some messages, sometimes a file and a rating. */
  #addCustomer(): void {
    const { ledger } = this.#desk;
    const writer = `customer ${(this.#people += 1)}`;
    let visit: { token: string; conversationId: string; left: number; line: Line } | undefined;
    this.#desk.employ(this.#random, async () => {
      if (visit === undefined) {
        const begun = await this.#begin(writer);
        if (begun === undefined) return;
        const line = new Line({ host: this.#desk.host, ledger, namespace: 'visitor', token: begun.token });
        this.#customerLines.push(line);
        visit = { ...begun, left: 1 + this.#random.below(8), line };
        return;
      }
      const { token, conversationId, line } = visit;
      if (visit.left > 0) {
        visit.left -= 1;
        await this.#writeAsCustomer({ writer, token, conversationId, line });
        return;
      }
      await this.#desk.call('POST', `/widget/conversations/${conversationId}/rating`, {
        body: { rating: 1 + this.#random.below(5) },
        token,
      });
      line.close();
      this.#customerLines.splice(this.#customerLines.indexOf(line), 1);
      visit = undefined;
    });
  }

  async #begin(writer: string): Promise<{ token: string; conversationId: string } | undefined> {
    const { ledger } = this.#desk;
    const session = await this.#desk.call('POST', '/widget/sessions', {
      body: { siteId: this.#embedId, url: 'https://shop.example/', name: writer },
    });
    if (session === undefined) return undefined;
    const token: string = session.body.visitorToken;
    await this.#desk.call('POST', '/widget/page-views', {
      body: { url: `https://shop.example/lamps/${this.#random.below(50)}` },
      token,
    });
    const body = ledger.newText(writer);
    const begun = await this.#desk.call('POST', '/widget/conversations', { body: { body }, token });
    if (begun === undefined) return undefined;
    const { conversation, message } = begun.body;
    ledger.count('chats');
    ledger.message(conversation.id, writer, message);
    this.#remember({ id: conversation.id, version: 1 });
    return { token, conversationId: conversation.id };
  }

  async #writeAsCustomer({
    writer,
    token,
    conversationId,
    line,
  }: {
    writer: string;
    token: string;
    conversationId: string;
    line: Line;
  }): Promise<void> {
    const { ledger } = this.#desk;
    const body = ledger.newText(writer);
    const reply = this.#random.chance(0.5)
      ? this.#desk.replied('widget.sendMessage', await line.call('widget.sendMessage', { conversationId, body }))
      : await this.#desk.call('POST', `/widget/conversations/${conversationId}/messages`, { body: { body }, token });
    if (reply !== undefined) ledger.message(conversationId, writer, reply.body);
  }

  /** A mail becomes a ticket. The answer is empty, so its text is only known as sent. */
  async #mail(): Promise<void> {
    const { ledger } = this.#desk;
    this.#people += 1;
    const mail = JSON.stringify({
      from: `Kim <kim${this.#people}@customer.example>`,
      to: [this.#mailbox.address],
      subject: `Order ${this.#people}`,
      text: ledger.newText('a mail'),
      messageId: `<soak-${this.#people}@customer.example>`,
    });
    const taken = await this.#desk.call('POST', '/email/inbound', {
      body: mail,
      headers: { 'X-Signature': signatureOf(mail, this.#mailbox.secret) },
    });
    if (taken !== undefined) ledger.count('mails in');
  }

  async #writeTicket(): Promise<void> {
    const { ledger } = this.#desk;
    const text = ledger.newText('the owner');
    const ticket = await this.#desk.call('POST', '/tickets', {
      body: {
        customerEmail: `kim${this.#random.below(this.#people + 1)}@customer.example`,
        subject: 'Your order',
        body: text,
      },
      token: this.ownerToken,
    });
    if (ticket === undefined) return;
    ledger.count('tickets');
    this.#remember(ticket.body);
  }

  /** A message is found as soon as it is acknowledged. */
  async #search(): Promise<void> {
    const { ledger } = this.#desk;
    const conversation = this.#recent.at(-1);
    if (conversation === undefined) return;
    const body = ledger.newText('the owner');
    const sent = await this.#desk.call('POST', `/conversations/${conversation.id}/messages`, {
      body: { body },
      token: this.ownerToken,
    });
    if (sent === undefined) return;
    ledger.message(conversation.id, 'the owner', sent.body);
    const [, word = ''] = /wrote (\w+)/.exec(body) ?? [];
    const found = await this.#desk.call('GET', `/conversations/search?q=${word}`, { token: this.ownerToken });
    if (found === undefined) return;
    ledger.count('searches');
    // An index that is far behind after a restart indexes the oldest messages first, and reports its progress.
    if (
      found.body.indexing === undefined &&
      !found.body.rows.some((row: { conversationId: string }) => row.conversationId === conversation.id)
    )
      ledger.surprise(`a search for ${word} does not find what was acknowledged before`);
  }

  async #read(): Promise<void> {
    const answer = await this.#desk.call(
      'GET',
      this.#random.pick([
        ...reports,
        '/conversations/recently-closed?limit=50',
        '/contacts?limit=50',
        '/workspace/audit-log?limit=50',
      ]),
      { token: this.ownerToken },
    );
    if (answer !== undefined) this.#desk.ledger.count('reports and lists');
  }

  async #shareFile(): Promise<void> {
    const bytes = new Uint8Array(1 + this.#random.below(fileBytes)).fill(97 + this.#random.below(26));
    const link = await this.#desk.call('POST', '/uploads/presigned', {
      body: { filename: 'notes.txt', contentType: 'text/plain', size: bytes.length },
      token: this.ownerToken,
    });
    if (link === undefined || !this.#desk.host.isUp) return;
    const path = (url: string): string => new URL(url).pathname + new URL(url).search;
    if (await this.#desk.put(`${this.#desk.host.url}${path(link.body.uploadUrl)}`, bytes, 'text/plain'))
      this.#desk.ledger.upload(path(link.body.publicUrl), bytes);
  }

  #remember(conversation: Conversation): void {
    this.#recent.push(conversation);
    if (this.#recent.length > recentConversations) this.#recent.shift();
  }
}
