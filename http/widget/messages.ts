// The loaded messages of the open conversation, oldest first. They arrive in any order and more than once, in answers and
// events; ids identify them. Makes no calls.

import type { Message } from './protocol.ts';

export interface MessagePage {
  readonly messages: readonly Message[];
  /** The time to pass for older messages; null if there are none. */
  readonly nextCursor: string | null;
}

export class Messages {
  #list: readonly Message[] = [];
  #earlier: string | null = null;

  get list(): readonly Message[] {
    return this.#list;
  }

  /** The cursor of the previous page; null if there is none. */
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

  /** Adds the newest page. Keeps the known messages unless there is a gap between them and the page. */
  addNewest(page: MessagePage): void {
    const oldest = page.messages[0]?.createdAt ?? '';
    this.#list = this.#list.filter((message) => message.createdAt >= oldest);
    this.addEarlier(page);
  }

  addEarlier(page: MessagePage): void {
    this.#earlier = page.nextCursor;
    this.add(page.messages);
  }

  /** Marks one side's messages up to this time as read. */
  read(side: 'visitor' | 'agent', readUpTo: string, readAt: string): void {
    const isOfSide = (message: Message): boolean => (message.senderType === 'visitor') === (side === 'visitor');
    this.#list = this.#list.map((message) =>
      message.readAt === null && isOfSide(message) && message.createdAt <= readUpTo ? { ...message, readAt } : message,
    );
  }
}

/** The only change to a message is that it is read. */
function newerOf(known: Message | undefined, heard: Message): Message {
  return known !== undefined && known.readAt !== null && heard.readAt === null ? known : heard;
}
