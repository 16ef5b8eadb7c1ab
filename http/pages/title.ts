// The title of the page, with the number of what waits before it, and before that what cannot wait. The same number is on
// the icon of the tab and, where the pages are installed as an app, on the app's icon.

import { computed, effect, signal } from '@preact/signals';
import { type Stop, stopAll } from './subscriptions.ts';

const title = signal('Switchboard');
/** The agent's own conversations with unread messages, and those that wait for anyone. */
export const waitingCount = signal(0);
/** Missed calls and voicemails that no one has taken. */
export const callCount = signal(0);
const count = computed(() => waitingCount.value + callCount.value);
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
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  const plain = icon?.href ?? '';
  return stopAll([
    effect(() => {
      const number = count.value > 999 ? '999+' : count.value;
      const text = count.value === 0 ? title.value : `(${number}) ${title.value}`;
      const alert = alerts.value.at(-1);
      document.title = alert === undefined ? text : `${alert.text} · ${text}`;
    }),
    effect(() => {
      if (icon !== null) icon.href = count.value === 0 ? plain : badged(plain, count.value);
      // Only an installed app has a badge; it refuses while it is not one.
      if ('setAppBadge' in navigator) navigator.setAppBadge(count.value).catch(() => undefined);
    }),
  ]);
}

const maxShown = 9;

/** The icon, an SVG in its address, with the number in its corner. */
function badged(icon: string, number: number): string {
  const text = number > maxShown ? '+' : String(number);
  const badge = `<circle cx='23' cy='9' r='9' fill='#c8321f'/><text x='23' y='14' fill='#fff' font-family='sans-serif' font-size='14' font-weight='700' text-anchor='middle'>${text}</text>`;
  return icon.replace('%3C/svg%3E', `${encodeURIComponent(badge)}%3C/svg%3E`);
}
