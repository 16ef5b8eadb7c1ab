// What is new, for who looks elsewhere: the count in the title, a notification of the desktop where the reader allowed it, a sound
// where it was asked for. Begun once per page, whatever page is shown.

import { effect, signal } from '@preact/signals';
import { onEvent } from '../live.ts';
import { navigate } from '../location.ts';
import type { Conversation, Message } from '../records.ts';
import { me } from '../session.ts';
import { unreadCount } from '../title.ts';
import { conversationOf, loadConversation } from './conversations.ts';
import { customerName } from './customers.ts';
import { isReachable, unreadOwn } from './lists.ts';
import { previewOf } from './merging.ts';
import { isLookedAt } from './reading.ts';

const soundKey = 'switchboard.sound';

export const permission = signal<NotificationPermission | 'impossible'>('Notification' in window ? Notification.permission : 'impossible');
export const hasSound = signal(readSound());

function readSound(): boolean {
  try {
    return localStorage.getItem(soundKey) === 'on';
  } catch {
    return false;
  }
}

/** Because somebody pressed a button that says so. */
export async function allowNotifications(): Promise<void> {
  permission.value = await Notification.requestPermission();
}

export function chooseSound(on: boolean): void {
  hasSound.value = on;
  try {
    localStorage.setItem(soundKey, on ? 'on' : 'off');
  } catch {
    // Until the page is loaded again.
  }
  if (on) play();
}

let context: AudioContext | undefined;

/** Two short soft tones. */
function play(): void {
  context ??= new AudioContext();
  const begins = context.currentTime;
  for (const [index, frequency] of [660, 880].entries()) {
    const tone = context.createOscillator();
    const loudness = context.createGain();
    tone.frequency.value = frequency;
    loudness.gain.setValueAtTime(0.06, begins + index * 0.12);
    loudness.gain.exponentialRampToValueAtTime(0.001, begins + index * 0.12 + 0.18);
    tone.connect(loudness).connect(context.destination);
    tone.start(begins + index * 0.12);
    tone.stop(begins + index * 0.12 + 0.2);
  }
}

function concerns(conversation: Conversation): boolean {
  const agent = me.peek()?.agent;
  if (agent === undefined || conversation.status === 'spam' || !isReachable(conversation, agent)) return false;
  return conversation.assignedAgentId === null || conversation.assignedAgentId === agent.id || conversation.handshake?.toAgentId === agent.id;
}

async function tell(message: Message): Promise<void> {
  const conversation = conversationOf(message.conversationId) ?? (await loadConversation(message.conversationId));
  if (isLookedAt.peek() || !concerns(conversation)) return;
  if (hasSound.peek()) play();
  if (permission.peek() !== 'granted') return;
  const shown = new Notification(customerName(conversation), { body: previewOf(message.body), tag: conversation.id });
  shown.onclick = () => {
    focus();
    navigate(`/inbox/${conversation.assignedAgentId === null ? 'unassigned' : 'mine'}/${conversation.id}`);
    shown.close();
  };
}

effect(() => {
  unreadCount.value = unreadOwn.value;
});
onEvent(['message.created'], ({ data }) => {
  // As the sockets' document gives it.
  const { message } = data as { message: Message };
  if (message.senderType === 'visitor') tell(message).catch(() => undefined);
});
