// The title of the page, with the number of unread conversations before it, and before that what cannot wait.

import { effect, signal } from '@preact/signals';
import type { Stop } from './subscriptions.ts';

const title = signal('Switchboard');
/** The agent's own conversations with unread messages; shown in the title and beside the inbox. */
export const unreadCount = signal(0);
/** Urgent events, such as a ringing call; the newest is shown. */
const alerts = signal<readonly { readonly text: string }[]>([]);

/** Returns how to remove it. */
export function addTitleAlert(text: string): () => void {
  const alert = { text };
  alerts.value = [...alerts.peek(), alert];
  return () => {
    alerts.value = alerts.peek().filter((one) => one !== alert);
  };
}

export function setTitle(text: string): void {
  title.value = `${text} · Switchboard`;
}

export function startTitle(): Stop {
  return effect(() => {
    const text = unreadCount.value === 0 ? title.value : `(${unreadCount.value}) ${title.value}`;
    const alert = alerts.value.at(-1);
    document.title = alert === undefined ? text : `${alert.text} · ${text}`;
  });
}
