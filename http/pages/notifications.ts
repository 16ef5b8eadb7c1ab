// What reaches who looks elsewhere: a notification of the system and a ring. Both are off until they are asked for, are kept by
// this browser, and say nothing while the page is being looked at.

import { signal } from '@preact/signals';
import { navigate } from './location.ts';

const ringKey = 'switchboard.ringTone';
const noticesKey = 'switchboard.notifications';
const volume = 0.08;
const tones = [
  { hertz: 660, atSeconds: 0 },
  { hertz: 880, atSeconds: 0.18 },
];
const toneSeconds = 0.16;
const ringEveryMs = 3000;

export type Permission = NotificationPermission | 'unsupported';

export const permission = signal<Permission>(typeof Notification === 'undefined' ? 'unsupported' : Notification.permission);
/** Where the browser was allowed to, and nobody turned it off since. */
export const isNotifying = signal(permission.peek() === 'granted' && read(noticesKey) !== 'off');
export const isRinging = signal(read(ringKey) === 'on');

let audio: AudioContext | undefined;
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
  keep(noticesKey, isNotifying.value);
}

/** Sounds once as it is turned on, so that one knows how it will. */
export function setRinging(on: boolean): void {
  isRinging.value = on;
  keep(ringKey, on);
  if (on) sound();
}

export interface DesktopNotice {
  /** One with the same tag is replaced. */
  readonly tag: string;
  readonly title: string;
  readonly body: string;
  /** Where a click on it leads. */
  readonly href: string;
}

/** Answers how to take it back. */
export function showOnDesktop({ tag, title, body, href }: DesktopNotice): () => void {
  if (!isNotifying.peek() || permission.peek() !== 'granted' || isLookedAt()) return () => undefined;
  const notice = new Notification(title, { body: body.slice(0, 200), tag });
  notice.onclick = () => {
    window.focus();
    notice.close();
    navigate(href);
  };
  return () => notice.close();
}

function isLookedAt(): boolean {
  return document.visibilityState === 'visible' && document.hasFocus();
}

/** Rings until it is ended, by the answer; several at once ring as one. */
export function ring(): () => void {
  waiting += 1;
  if (isRinging.peek()) sound();
  cycle ??= setInterval(() => {
    if (isRinging.peek()) sound();
  }, ringEveryMs);
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

function sound(): void {
  audio ??= new AudioContext();
  // A browser lets nothing sound before somebody has touched the page.
  void audio.resume();
  for (const { hertz, atSeconds } of tones) {
    const at = audio.currentTime + atSeconds;
    const loudness = audio.createGain();
    loudness.gain.setValueAtTime(0, at);
    loudness.gain.linearRampToValueAtTime(volume, at + 0.02);
    loudness.gain.linearRampToValueAtTime(0, at + toneSeconds);
    loudness.connect(audio.destination);
    const tone = audio.createOscillator();
    tone.frequency.value = hertz;
    tone.connect(loudness);
    tone.start(at);
    tone.stop(at + toneSeconds);
  }
}
