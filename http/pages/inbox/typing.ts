// Who is typing in which conversation, and sending that this agent is.

import { signal } from '@preact/signals';
import { onEvent, sendTyping } from '../live.ts';
import type { Message } from '../records.ts';
import { me } from '../session.ts';
import { type Stop, stopAll } from '../subscriptions.ts';

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

/** Called at each key press; sent every 3 s at most. */
export function tellTyping(conversationId: string): void {
  if (told.conversationId === conversationId && Date.now() - told.atMs < toldEveryMs) return;
  told = { conversationId, atMs: Date.now() };
  sendTyping(conversationId);
}

function drop({ conversationId, senderId }: Pick<Typist, 'conversationId' | 'senderId'>): void {
  if (typists.peek().some((one) => one.conversationId === conversationId && one.senderId === senderId))
    typists.value = typists.peek().filter((one) => one.conversationId !== conversationId || one.senderId !== senderId);
}

export function startTyping(): Stop {
  return stopAll([
    onEvent(['typing'], ({ data }) => show(data as unknown as Typist)),
    onEvent(['message.created'], ({ data }) => {
      const { message } = data as { message: Message };
      if (message.senderId !== null) drop({ conversationId: message.conversationId, senderId: message.senderId });
    }),
    () => {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      typists.value = [];
    },
  ]);
}

/** The data of this event, by the AsyncAPI document. */
function show(typist: Typist): void {
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
}
