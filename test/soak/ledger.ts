// What the clients of a soak were told: everything acknowledged, and everything that went wrong. It is compared with
// the service's data after each life.

import { createHash } from 'node:crypto';
import { type Answer, callApi } from '../support/api.ts';

export interface Acknowledged {
  readonly id: string;
  readonly body: string;
  readonly createdAt: string;
}

interface Conversation {
  readonly messages: Map<string, Acknowledged>;
  readonly notes: Map<string, string>;
  /** By writer, the ids of its messages in the order of the acknowledgements. */
  readonly orders: Map<string, string[]>;
}

/** At most this many faults of each kind are reported. */
const maxSurprises = 20;
const pageSize = 200;

export class Ledger {
  readonly #conversations = new Map<string, Conversation>();
  /** Since the last comparison. */
  readonly #touched = new Set<string>();
  readonly #texts = new Set<string>();
  readonly #uploads = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly surprises: string[] = [];
  #serial = 0;

  /** A unique text. Words have a fixed length, so that a search can ask for one. */
  newText(writer: string): string {
    this.#serial += 1;
    const text = `${writer} wrote ${wordOf(this.#serial)} about parcel ${this.#serial}`;
    this.#texts.add(text);
    return text;
  }

  get messages(): number {
    return this.of('messages');
  }

  count(what: string, by = 1): void {
    this.#counts.set(what, this.of(what) + by);
  }

  of(what: string): number {
    return this.#counts.get(what) ?? 0;
  }

  surprise(what: string): void {
    this.count('surprises');
    if (this.surprises.length < maxSurprises) this.surprises.push(what);
  }

  message(conversationId: string, writer: string, message: Acknowledged): void {
    this.count('messages');
    const { messages, orders } = this.#touch(conversationId);
    if (messages.has(message.id)) this.surprise(`message ${message.id} was acknowledged twice`);
    messages.set(message.id, { id: message.id, body: message.body, createdAt: message.createdAt });
    const order = orders.get(writer) ?? [];
    orders.set(writer, order);
    order.push(message.id);
  }

  note(conversationId: string, note: { readonly id: string; readonly body: string }): void {
    this.count('notes');
    this.#touch(conversationId).notes.set(note.id, note.body);
  }

  upload(path: string, bytes: Uint8Array): void {
    this.count('uploads');
    this.#uploads.set(path, hashOf(bytes));
  }

  /** The ids of all acknowledged messages. */
  messageIds(): Set<string> {
    return new Set([...this.#conversations.values()].flatMap(({ messages }) => [...messages.keys()]));
  }

  /**
   * Compares what was touched since the last comparison, or everything, with the service's present data, read by an
   * agent who may see everything.
   */
  async compare(
    service: { readonly url: string; readonly token: string },
    options: { everything: boolean },
  ): Promise<void> {
    const ids = options.everything ? [...this.#conversations.keys()] : [...this.#touched];
    this.#touched.clear();
    for (const id of ids) {
      const conversation = this.#conversations.get(id);
      if (conversation !== undefined) await this.#compareConversation(service, id, conversation);
    }
    for (const [path, hash] of this.#uploads) {
      const response = await fetch(`${service.url}${path}`);
      const found = hashOf(new Uint8Array(await response.arrayBuffer()));
      if (response.status !== 200 || found !== hash)
        this.surprise(`the upload ${path} is ${response.status === 200 ? 'another' : `lost (${response.status})`}`);
    }
  }

  async #compareConversation(
    service: { readonly url: string; readonly token: string },
    id: string,
    { messages, notes, orders }: Conversation,
  ): Promise<void> {
    const held = await allMessages(service, id);
    const written = held.filter(({ senderType }) => senderType !== 'system');
    const byId = new Map(written.map((message, index) => [message.id, { ...message, index }]));
    const say = (what: string): void => this.surprise(`conversation ${id}: ${what}`);
    if (byId.size < written.length) say('a message is there twice');
    if (new Set(written.map(({ body }) => body)).size < written.length) say('what was sent once is there twice');
    for (const { body } of written) if (!this.#texts.has(body)) say(`no one sent “${body}”`);
    for (const acknowledged of messages.values()) {
      const found = byId.get(acknowledged.id);
      if (found === undefined) say(`the acknowledged message “${acknowledged.body}” is lost`);
      else if (found.body !== acknowledged.body || found.createdAt !== acknowledged.createdAt)
        say(`“${acknowledged.body}” is no longer as it was acknowledged`);
    }
    for (const [index, { createdAt }] of held.entries())
      if (index > 0 && createdAt <= (held[index - 1]?.createdAt ?? ''))
        say(`what was written at ${createdAt} is not later than what comes before`);
    for (const [writer, order] of orders) {
      const places = order.flatMap((messageId) => byId.get(messageId)?.index ?? []);
      if (places.some((place, at) => at > 0 && place < (places[at - 1] ?? 0)))
        say(`what ${writer} wrote is in another order`);
    }
    if (notes.size > 0) {
      const { body } = await callApi(service.url, 'GET', `/conversations/${id}/notes`, { token: service.token });
      const found = new Map<string, string>(
        body.notes.map((note: { id: string; body: string }) => [note.id, note.body]),
      );
      for (const [noteId, text] of notes)
        if (found.get(noteId) !== text) say(`the acknowledged note “${text}” is lost`);
    }
  }

  #touch(id: string): Conversation {
    this.#touched.add(id);
    let conversation = this.#conversations.get(id);
    if (conversation === undefined) {
      conversation = { messages: new Map(), notes: new Map(), orders: new Map() };
      this.#conversations.set(id, conversation);
    }
    return conversation;
  }
}

async function allMessages(
  service: { readonly url: string; readonly token: string },
  id: string,
): Promise<(Acknowledged & { senderType: string })[]> {
  const all: (Acknowledged & { senderType: string })[] = [];
  for (let before: string | null = ''; before !== null; ) {
    const { status, body }: Answer = await callApi(
      service.url,
      'GET',
      `/conversations/${id}/messages?limit=${pageSize}${before === '' ? '' : `&before=${before}`}`,
      { token: service.token },
    );
    if (status !== 200) throw new Error(`the messages of ${id} cannot be read: ${status}`);
    all.unshift(...body.messages);
    before = body.nextCursor;
  }
  return all;
}

const syllables = ['ba', 'ce', 'di', 'fo', 'gu', 'ha', 'je', 'ki', 'lo', 'mu', 'na', 'pe', 'ri', 'so', 'tu', 'va'];

/** A unique word for each number: eight syllables, of which no two numbers share all. */
function wordOf(serial: number): string {
  let word = '';
  for (let rest = serial, count = 0; count < 8; count += 1, rest = Math.floor(rest / syllables.length))
    word += syllables[rest % syllables.length] ?? '';
  return word;
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
