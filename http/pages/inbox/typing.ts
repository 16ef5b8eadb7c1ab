// Who types in which conversation, for as long as they were heard of a moment ago; and telling the others that this
// agent does.

import { signal } from '@preact/signals';
import { onEvent, sendTyping } from '../live.ts';
import type { Message } from '../records.ts';
import { me } from '../session.ts';

interface Typist {
  readonly conversationId: string;
  readonly senderType: 'visitor' | 'agent';
  readonly senderId: string;
}

export const typists = signal<readonly Typist[]>([]);

const shownMs = 6000;
const toldEveryMs = 3000;
const timers = new Map<string, ReturnType<typeof setTimeout>>();
let told = { conversationId: '', atMs: 0 };

/** At each key; told now and then. */
export function tellTyping(conversationId: string): void {
  if (told.conversationId === conversationId && Date.now() - told.atMs < toldEveryMs) return;
  told = { conversationId, atMs: Date.now() };
  sendTyping(conversationId);
}

function drop({ conversationId, senderId }: Pick<Typist, 'conversationId' | 'senderId'>): void {
  if (typists.peek().some((one) => one.conversationId === conversationId && one.senderId === senderId))
    typists.value = typists.peek().filter((one) => one.conversationId !== conversationId || one.senderId !== senderId);
}

onEvent(['typing'], ({ data }) => {
  // As the sockets' document gives it.
  const typist = data as unknown as Typist;
  if (typist.senderId === me.peek()?.agent.id) return;
  const key = `${typist.conversationId} ${typist.senderId}`;
  clearTimeout(timers.get(key));
  drop(typist);
  typists.value = [...typists.peek(), typist];
  timers.set(
    key,
    setTimeout(() => {
      timers.delete(key);
      drop(typist);
    }, shownMs),
  );
});
onEvent(['message.created'], ({ data }) => {
  const { message } = data as { message: Message };
  if (message.senderId !== null) drop({ conversationId: message.conversationId, senderId: message.senderId });
});
