// What draws somebody's eye or ear to a ringing call while they look elsewhere: the title, a notification of the system, a tone.
// The last two are off until they are asked for, and kept by this browser.

import { signal } from '@preact/signals';
import { titleAlert } from '../title.ts';

const toneKey = 'switchboard.ringTone';
const volume = 0.08;
/** As telephones ring: two tones at once, one second in three. */
const hertz = [440, 480];
const ringSeconds = 1;
const cycleMs = 3000;

export const isToneOn = signal(readTone());
export const notificationPermission = signal<NotificationPermission | 'unsupported'>(typeof Notification === 'undefined' ? 'unsupported' : Notification.permission);

let audio: AudioContext | undefined;
let cycle: ReturnType<typeof setInterval> | undefined;
const shown = new Map<string, Notification>();

function readTone(): boolean {
  try {
    return localStorage.getItem(toneKey) === 'on';
  } catch {
    return false;
  }
}

export function setTone(on: boolean): void {
  isToneOn.value = on;
  try {
    localStorage.setItem(toneKey, on ? 'on' : 'off');
  } catch {
    // Until the page is loaded again.
  }
  if (on) ringOnce();
  else stopTone();
}

export async function askForNotifications(): Promise<void> {
  if (typeof Notification === 'undefined') return;
  notificationPermission.value = await Notification.requestPermission();
}

/** Begins what was chosen for what rings now, and ends it with nothing ringing. */
export function alertOf(ringing: readonly { readonly id: string; readonly caller: string; readonly line: string }[]): void {
  const [first] = ringing;
  titleAlert.value = first === undefined ? undefined : ringing.length === 1 ? `${first.caller} calls` : `${ringing.length} calls ring`;
  for (const [id, notification] of shown) {
    if (ringing.some((one) => one.id === id)) continue;
    notification.close();
    shown.delete(id);
  }
  if (first === undefined) stopTone();
  else if (isToneOn.peek() && cycle === undefined) {
    ringOnce();
    cycle = setInterval(ringOnce, cycleMs);
  }
  if (notificationPermission.peek() !== 'granted' || document.visibilityState === 'visible') return;
  for (const { id, caller, line } of ringing) {
    if (shown.has(id)) continue;
    const notification = new Notification(`${caller} calls`, { body: line, tag: id });
    notification.onclick = () => {
      window.focus();
      notification.close();
    };
    shown.set(id, notification);
  }
}

function stopTone(): void {
  clearInterval(cycle);
  cycle = undefined;
}

function ringOnce(): void {
  audio ??= new AudioContext();
  // A browser lets nothing sound before somebody has touched the page.
  void audio.resume();
  const loudness = audio.createGain();
  const at = audio.currentTime;
  loudness.gain.setValueAtTime(0, at);
  loudness.gain.linearRampToValueAtTime(volume, at + 0.03);
  loudness.gain.setValueAtTime(volume, at + ringSeconds - 0.05);
  loudness.gain.linearRampToValueAtTime(0, at + ringSeconds);
  loudness.connect(audio.destination);
  for (const frequency of hertz) {
    const tone = audio.createOscillator();
    tone.frequency.value = frequency;
    tone.connect(loudness);
    tone.start(at);
    tone.stop(at + ringSeconds);
  }
}
