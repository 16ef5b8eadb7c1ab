// The title of the page, with what is unread in front of it, and with what cannot wait in front of that.

import { effect, signal } from '@preact/signals';

const title = signal('Switchboard');
/** Conversations of the agent's own with something unread; shown in the title and beside the inbox. */
export const unreadCount = signal(0);
/** What cannot wait, such as a ringing call; the newest is shown. */
const alerts = signal<readonly { readonly text: string }[]>([]);

/** Answers how to take it back. */
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

effect(() => {
  const text = unreadCount.value === 0 ? title.value : `(${unreadCount.value}) ${title.value}`;
  const alert = alerts.value.at(-1);
  document.title = alert === undefined ? text : `${alert.text} · ${text}`;
});
