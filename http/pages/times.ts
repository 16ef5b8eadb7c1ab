// Times and amounts in the reader's time zone and language.

import { effect, signal } from '@preact/signals';
import { aheadMs, serverNow } from './server-clock.ts';
import { type Stop, stopAll } from './subscriptions.ts';

/** The server's time, to 30 s. Everything that shows how long ago something was follows it. */
export const now = signal(serverNow());
/** A smaller difference is the event's delay, not another clock. */
const noticedMs = 2000;

export function startTimes(): Stop {
  let usedMs = aheadMs.peek();
  const timer = setInterval(() => {
    now.value = serverNow();
  }, 30_000);
  return stopAll([
    () => clearInterval(timer),
    effect(() => {
      if (Math.abs(aheadMs.value - usedMs) < noticedMs) return;
      usedMs = aheadMs.peek();
      now.value = serverNow();
    }),
  ]);
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

const clock = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: 'short' });
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const dayAndYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
const longDay = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

/** "now", "4 min", "14:05", "Tue", "3 Mar", "3 Mar 2024": the shortest unambiguous form. */
export function shortTime(at: string): string {
  const age = now.value - Date.parse(at);
  if (age < minuteMs) return 'now';
  if (age < hourMs) return `${Math.floor(age / minuteMs)} min`;
  if (isSameDay(at, now.value)) return clockTime(at);
  if (age < 6 * dayMs) return weekday.format(new Date(at));
  return dayOf(at);
}

/** "just now", "4 min ago", "today at 14:05", "on 3 Mar": within a sentence. */
export function timeInSentence(at: string): string {
  const age = now.value - Date.parse(at);
  if (age < minuteMs) return 'just now';
  if (age < hourMs) return `${Math.floor(age / minuteMs)} min ago`;
  return isSameDay(at, now.value) ? `today at ${clockTime(at)}` : `on ${dayOf(at)}`;
}

/** "14:05" */
export function clockTime(at: string): string {
  return clock.format(new Date(at));
}

/** "3 Mar", with the year if it is not the present one. */
export function dayOf(at: string): string {
  const date = new Date(at);
  return (date.getFullYear() === new Date(now.value).getFullYear() ? day : dayAndYear).format(date);
}

/** "Today", "Yesterday", "Tuesday, 3 March 2026": the heading of a day's messages. */
export function dayHeading(at: string): string {
  if (isSameDay(at, now.value)) return 'Today';
  if (isSameDay(at, now.value - dayMs)) return 'Yesterday';
  return longDay.format(new Date(at));
}

/** The complete time with its zone, shown on hover. */
export function exactTime(at: string): string {
  return exact.format(new Date(at));
}

export function isSameDay(at: string | number, other: string | number): boolean {
  return new Date(at).toDateString() === new Date(other).toDateString();
}

/** "0:42", "12:07", "1:02:07" */
export function durationOf(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [hours = 0, minutes = 0, rest = 0] = parts;
  const two = (value: number): string => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** "42 s", "12 min", "1 h 5 min", "3 d 2 h": for response times, where seconds do not matter after a minute. */
export function spanOf(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return hours % 24 === 0 ? `${Math.floor(hours / 24)} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** "1.4 MB", of 1,000,000 bytes. */
export function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${Math.round(bytes / 1000)} KB`;
  if (bytes < 1e9) return `${(bytes / 1e6).toFixed(1)} MB`;
  return `${(bytes / 1e9).toFixed(1)} GB`;
}

/** The currency's smallest units as an amount, US dollars by default. Yen, for example, have no hundredths. */
export function amountOf(cents: number, currency = 'USD'): string {
  const format = new Intl.NumberFormat(undefined, { style: 'currency', currency });
  return format.format(cents / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

/** "999+" for a thousand and more. */
export function cappedCountOf(value: number): string {
  return value < 1000 ? countOf(value) : `${countOf(999)}+`;
}

/** Made once: the inbox has a number beside each of its lists. */
const counting = new Intl.NumberFormat();

export function countOf(value: number): string {
  return counting.format(value);
}
