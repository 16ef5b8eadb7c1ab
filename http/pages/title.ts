// The title of the page, with what is unread in front of it.

import { effect, signal } from '@preact/signals';

const title = signal('Switchboard');
/** Conversations of the agent's own with something unread; shown in the title and beside the inbox. */
export const unreadCount = signal(0);

export function setTitle(text: string): void {
  title.value = `${text} · Switchboard`;
}

effect(() => {
  document.title = unreadCount.value === 0 ? title.value : `(${unreadCount.value}) ${title.value}`;
});
