// Clients that write concurrently over HTTP and sockets and remember every message sent and every one acknowledged, to
// compare with the data of the service after a crash or a stop.

import type { Api, Workspace } from './api.ts';
import type { Frame, TestSocket } from './socket.ts';

export interface Acknowledged {
  readonly id: string;
  readonly body: string;
  readonly createdAt: string;
}

interface Place {
  readonly conversationId: string;
  readonly customerToken: string;
  readonly acknowledged: Acknowledged[];
}

export class Load {
  readonly #api: Api;
  readonly #owner: Workspace;
  readonly places: Place[] = [];
  /** Every text sent, with or without an answer. */
  readonly sent = new Set<string>();
  /** By writer, the acknowledged messages in the order of writing. */
  readonly orders = new Map<number, Acknowledged[]>();
  readonly #sockets: TestSocket[] = [];
  #listener: TestSocket | undefined;
  #writers: Promise<void>[] = [];
  #isStopped = false;
  #count = 0;
  #wake: (() => void)[] = [];
  /** Statuses other than 201. */
  readonly otherAnswers: number[] = [];

  constructor(api: Api, owner: Workspace) {
    this.#api = api;
    this.#owner = owner;
  }

  get acknowledged(): number {
    return this.places.reduce((sum, place) => sum + place.acknowledged.length, 0);
  }

  /** Events that the owner's socket received, in order. */
  get told(): readonly Frame[] {
    return (this.#listener?.frames ?? []).filter((frame) => frame.seq !== undefined && frame.type !== 'ready');
  }

  async open(options: { places: number }): Promise<void> {
    this.#listener = await this.#api.agentSocket(this.#owner.token, { since: 0 });
    for (let index = 0; index < options.places; index += 1) {
      const text = this.#text();
      const { conversationId, customerToken, message } = await this.#api.chat(this.#owner.embedId, text);
      this.places.push({
        conversationId,
        customerToken,
        acknowledged: [{ id: message.id, createdAt: message.createdAt, body: text }],
      });
    }
  }

  /** Per place: a customer over HTTP, an agent over HTTP, and one over a socket that does not wait for its answers. */
  async start(): Promise<void> {
    for (const place of this.places) {
      this.#writers.push(
        this.#overHttp(place, `/widget/conversations/${place.conversationId}/messages`, place.customerToken),
      );
      this.#writers.push(this.#overHttp(place, `/conversations/${place.conversationId}/messages`, this.#owner.token));
      const socket = await this.#api.agentSocket(this.#owner.token);
      this.#sockets.push(socket);
      for (let lane = 0; lane < 4; lane += 1) this.#writers.push(this.#overSocket(place, socket));
    }
  }

  /** Resolves when this many messages were acknowledged in all. */
  async reaches(count: number): Promise<void> {
    while (this.acknowledged < count) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  /** Resolves when this many calls were refused in all. */
  async refuses(count: number): Promise<void> {
    while (this.otherAnswers.length < count) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  /** Writes one message after another until one is refused: a group of them is refused where a few pages are left. */
  async writesUntilRefused(): Promise<void> {
    const [place] = this.places;
    if (place === undefined) throw new Error('open() makes the places to write to');
    const order = this.#newOrder();
    const refused = this.otherAnswers.length;
    while (this.otherAnswers.length === refused) {
      const body = this.#text();
      const path = `/conversations/${place.conversationId}/messages`;
      this.#note({ place, order, body, answer: await this.#api.post(path, { body }, this.#owner.token) });
    }
  }

  /** Resolves when every writer was disconnected, or ended after stop(). */
  async ended(): Promise<void> {
    await Promise.all(this.#writers);
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** The close codes of the sockets. */
  async closings(): Promise<number[]> {
    const sockets = this.#listener === undefined ? this.#sockets : [this.#listener, ...this.#sockets];
    return (await Promise.all(sockets.map((socket) => socket.closed))).map(({ code }) => code);
  }

  async #overHttp(place: Place, path: string, token: string): Promise<void> {
    const order = this.#newOrder();
    while (!this.#isStopped) {
      const body = this.#text();
      let answer: { status: number; body: any };
      try {
        answer = await this.#api.post(path, { body }, token);
      } catch {
        // Disconnected: it is unknown whether the message was stored.
        return;
      }
      this.#note({ place, order, body, answer });
    }
  }

  async #overSocket(place: Place, socket: TestSocket): Promise<void> {
    const order = this.#newOrder();
    while (!this.#isStopped) {
      const body = this.#text();
      let answer: { status: number; body: any };
      try {
        answer = await socket.call('message.send', { conversationId: place.conversationId, body });
      } catch {
        return;
      }
      this.#note({ place, order, body, answer });
    }
  }

  #newOrder(): Acknowledged[] {
    const order: Acknowledged[] = [];
    this.orders.set(this.orders.size, order);
    return order;
  }

  #note({
    place,
    order,
    body,
    answer,
  }: {
    place: Place;
    order: Acknowledged[];
    body: string;
    answer: { status: number; body: any };
  }): void {
    if (answer.status === 201) {
      const message: Acknowledged = { id: answer.body.id, createdAt: answer.body.createdAt, body };
      place.acknowledged.push(message);
      order.push(message);
    } else this.otherAnswers.push(answer.status);
    const wake = this.#wake;
    this.#wake = [];
    for (const call of wake) call();
  }

  #text(): string {
    const text = `message ${(this.#count += 1)}`;
    this.sent.add(text);
    return text;
  }
}
