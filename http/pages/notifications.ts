// Alerts for an agent who looks elsewhere: a desktop notification, a ring tone for urgent events, a sound for messages.
// All are off by default, stored in this browser, and shared by all pages. There are no notifications while the page is
// in use.

import { signal } from '@preact/signals';
import { navigate } from './location.ts';
import { playTones } from './tones.ts';
import { isInUse } from './visibility.ts';

const keys = {
  notices: 'switchboard.notifications',
  ring: 'switchboard.ringTone',
  sound: 'switchboard.sound',
} as const;
const ringTones = [
  { hertz: 660, atSeconds: 0 },
  { hertz: 880, atSeconds: 0.18 },
  { hertz: 660, atSeconds: 0.36 },
  { hertz: 880, atSeconds: 0.54 },
];
const messageTones = ringTones.slice(0, 2);
const ringEveryMs = 3000;
/** Why an agent is notified (API: /me/notifications). */
export type Reason = 'own_messages' | 'queue' | 'offers' | 'calls';

const maxBodyChars = 200;
const soundEveryMs = 1500;

export type Permission = NotificationPermission | 'unsupported';

export const permission = signal<Permission>(
  typeof Notification === 'undefined' ? 'unsupported' : Notification.permission,
);
/** If the browser allows it and the agent has not turned it off since. */
export const isNotifying = signal(permission.peek() === 'granted' && read(keys.notices) !== 'off');
/** For calls and offers. */
export const isRinging = signal(read(keys.ring) === 'on');
/** For messages. */
export const hasSound = signal(read(keys.sound) === 'on');

/** What the agent chose to see and hear, of all that it allowed in this browser. Everything until it is known. */
export const chosen = signal<{ readonly show: readonly Reason[]; readonly sound: readonly Reason[] } | undefined>(
  undefined,
);

let soundedAtMs = -Infinity;
let waiting = 0;
let cycle: ReturnType<typeof setInterval> | undefined;

function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function keep(key: string, isOn: boolean): void {
  try {
    localStorage.setItem(key, isOn ? 'on' : 'off');
  } catch {
    // Kept until the page is reloaded.
    return;
  }
}

/** Asks the browser for permission if needed. Stays off if it refuses. */
export async function setNotifying(on: boolean): Promise<void> {
  if (on && permission.peek() === 'default') permission.value = await Notification.requestPermission();
  isNotifying.value = on && permission.peek() === 'granted';
  keep(keys.notices, isNotifying.value);
}

/** Plays once when turned on, as a sample. */
export function setRinging(on: boolean): void {
  isRinging.value = on;
  keep(keys.ring, on);
  if (on) playTones(ringTones);
}

/** All three, with one sample to hear. */
export async function turnAllOn(): Promise<void> {
  setSound(true);
  isRinging.value = true;
  keep(keys.ring, true);
  if (permission.peek() === 'default' || permission.peek() === 'granted') await setNotifying(true);
}

/** The same for messages. */
export function setSound(on: boolean): void {
  hasSound.value = on;
  keep(keys.sound, on);
  if (on) playTones(messageTones);
}

/** Messages that arrive together, as after a break, play one sound. */
export function playMessage(reason: Reason): void {
  if (!hasSound.peek() || !isChosen('sound', reason) || performance.now() - soundedAtMs < soundEveryMs) return;
  soundedAtMs = performance.now();
  playTones(messageTones);
}

function isChosen(way: 'show' | 'sound', reason: Reason): boolean {
  return chosen.peek()?.[way].includes(reason) !== false;
}

export interface DesktopNotice {
  readonly reason: Reason;
  /** Replaces a notification with the same tag. */
  readonly tag: string;
  readonly title: string;
  readonly body: string;
  /** The address to open on a click; undefined keeps the page. */
  readonly href: string | undefined;
}

/** Returns a function that removes it. */
export function showOnDesktop({ reason, tag, title, body, href }: DesktopNotice): () => void {
  if (!isNotifying.peek() || !isChosen('show', reason) || isInUse.peek()) return () => undefined;
  const options = { body: body.slice(0, maxBodyChars), tag };
  const notice = makeNotice(title, options);
  if (notice === undefined) {
    showByWorker(title, { ...options, data: { url: href } });
    return () => undefined;
  }
  notice.onclick = () => {
    window.focus();
    notice.close();
    if (href !== undefined) navigate(href);
  };
  return () => notice.close();
}

/** Browsers on phones have the class, but let only a service worker show one. */
function makeNotice(title: string, options: NotificationOptions): Notification | undefined {
  try {
    return new Notification(title, options);
  } catch {
    return undefined;
  }
}

function showByWorker(title: string, options: NotificationOptions): void {
  navigator.serviceWorker
    ?.getRegistration()
    .then((registration) => registration?.showNotification(title, options))
    .catch(() => undefined);
}

/** Rings until the returned function is called; concurrent ones ring as one. */
export function ring(reason: Reason): () => void {
  if (!isChosen('sound', reason)) return () => undefined;
  waiting += 1;
  if (cycle === undefined) {
    ringOnce();
    cycle = setInterval(ringOnce, ringEveryMs);
  }
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    waiting -= 1;
    if (waiting > 0) return;
    clearInterval(cycle);
    cycle = undefined;
  };
}

function ringOnce(): void {
  if (isRinging.peek()) playTones(ringTones);
}
