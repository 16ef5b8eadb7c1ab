// The title of the page, with what is unread in front of it, and with what cannot wait in front of that.

import { effect, signal } from '@preact/signals';

const title = signal('Switchboard');
/** Conversations of the agent's own with something unread; shown in the title and beside the inbox. */
export const unreadCount = signal(0);
/** What cannot wait, such as a ringing call. */
export const titleAlert = signal<string | undefined>(undefined);

export function setTitle(text: string): void {
  title.value = `${text} · Switchboard`;
}

effect(() => {
  const text = unreadCount.value === 0 ? title.value : `(${unreadCount.value}) ${title.value}`;
  document.title = titleAlert.value === undefined ? text : `${titleAlert.value} · ${text}`;
});
