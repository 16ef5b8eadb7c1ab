// What was said in the conversation that is open, as far as it is known here, oldest first. Messages come in any order
// and more than once, by answers and by events; they are told apart by their ids. Asks nobody for anything.

import type { Message } from './protocol.ts';

export interface MessagePage {
  readonly messages: readonly Message[];
  /** The time to pass for what was written before; null when there is nothing. */
  readonly nextCursor: string | null;
}

export class Messages {
  #list: readonly Message[] = [];
  #earlier: string | null = null;

  get list(): readonly Message[] {
    return this.#list;
  }

  /** Where the page before begins; null when there is none. */
  get earlier(): string | null {
    return this.#earlier;
  }

  get newestAt(): string {
    return this.#list.at(-1)?.createdAt ?? '';
  }

  get unread(): number {
    return this.#list.filter((message) => message.senderType !== 'visitor' && message.readAt === null).length;
  }

  clear(): void {
    this.#list = [];
    this.#earlier = null;
  }

  add(messages: readonly Message[]): void {
    const byId = new Map(this.#list.map((message) => [message.id, message]));
    for (const message of messages) byId.set(message.id, newerOf(byId.get(message.id), message));
    this.#list = [...byId.values()].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
  }

  /** The newest page. What is known stays, as long as there is no gap before it. */
  addNewest(page: MessagePage): void {
    const oldest = page.messages[0]?.createdAt ?? '';
    this.#list = this.#list.filter((message) => message.createdAt >= oldest);
    this.addEarlier(page);
  }

  addEarlier(page: MessagePage): void {
    this.#earlier = page.nextCursor;
    this.add(page.messages);
  }

  /** One side's messages were read, those up to that time. */
  read(side: 'visitor' | 'agent', readUpTo: string, readAt: string): void {
    const isOfSide = (message: Message): boolean => (message.senderType === 'visitor') === (side === 'visitor');
    this.#list = this.#list.map((message) =>
      message.readAt === null && isOfSide(message) && message.createdAt <= readUpTo ? { ...message, readAt } : message,
    );
  }
}

/** Messages never change but for being read. */
function newerOf(known: Message | undefined, heard: Message): Message {
  return known !== undefined && known.readAt !== null && heard.readAt === null ? known : heard;
}
