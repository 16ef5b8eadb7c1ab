// What reaches who looks elsewhere: a notification of the desktop, a ring for what cannot wait, a sound for a message.
// All are off until they are asked for, kept by this browser, and the same for every page; notifications say nothing
// while the page is looked at.

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
const maxBodyChars = 200;
const soundEveryMs = 1500;

export type Permission = NotificationPermission | 'unsupported';

export const permission = signal<Permission>(
  typeof Notification === 'undefined' ? 'unsupported' : Notification.permission,
);
/** Where the browser was allowed to, and nobody turned it off since. */
export const isNotifying = signal(permission.peek() === 'granted' && read(keys.notices) !== 'off');
/** For calls and offers. */
export const isRinging = signal(read(keys.ring) === 'on');
/** For messages. */
export const hasSound = signal(read(keys.sound) === 'on');

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
    // Until the page is loaded again.
    return;
  }
}

/** Asks the browser where it was not asked yet. Stays off when it says no. */
export async function setNotifying(on: boolean): Promise<void> {
  if (on && permission.peek() === 'default') permission.value = await Notification.requestPermission();
  isNotifying.value = on && permission.peek() === 'granted';
  keep(keys.notices, isNotifying.value);
}

/** Sounds once as it is turned on, so that one knows how it will. */
export function setRinging(on: boolean): void {
  isRinging.value = on;
  keep(keys.ring, on);
  if (on) playTones(ringTones);
}

/** The same for messages. */
export function setSound(on: boolean): void {
  hasSound.value = on;
  keep(keys.sound, on);
  playMessage();
}

/** Messages that come together, as after a break, sound as one. */
export function playMessage(): void {
  if (!hasSound.peek() || performance.now() - soundedAtMs < soundEveryMs) return;
  soundedAtMs = performance.now();
  playTones(messageTones);
}

export interface DesktopNotice {
  /** One with the same tag is replaced. */
  readonly tag: string;
  readonly title: string;
  readonly body: string;
  /** Where a click on it leads; undefined: to the page as it is. */
  readonly href: string | undefined;
}

/** Answers how to take it back. */
export function showOnDesktop({ tag, title, body, href }: DesktopNotice): () => void {
  if (!isNotifying.peek() || isInUse.peek()) return () => undefined;
  const notice = makeNotice(title, { body: body.slice(0, maxBodyChars), tag });
  if (notice === undefined) return () => undefined;
  notice.onclick = () => {
    window.focus();
    notice.close();
    if (href !== undefined) navigate(href);
  };
  return () => notice.close();
}

/** Browsers of phones have them, and let no page make one. */
function makeNotice(title: string, options: NotificationOptions): Notification | undefined {
  try {
    return new Notification(title, options);
  } catch {
    isNotifying.value = false;
    permission.value = 'unsupported';
    return undefined;
  }
}

/** Rings until it is ended, by the answer; several at once ring as one. */
export function ring(): () => void {
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
