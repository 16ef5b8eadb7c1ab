// What time it is for the service: a browser's clock may be minutes off, and what ends at a given time ends by the
// service's. Told by the socket; until then the browser's own is believed.

import { signal } from '@preact/signals';

/**
 * By how much the service's clock is ahead of the browser's, in milliseconds. Whatever shows what time it is follows
 * it.
 */
export const aheadMs = signal(0);

/** The service says that it is this time now. */
export function setServerTime(at: string): void {
  const ms = Date.parse(at);
  if (!Number.isNaN(ms)) aheadMs.value = ms - Date.now();
}

/** Something happened at this time, now or earlier: the service is no further behind than that. */
export function noteServerTime(at: string): void {
  const ms = Date.parse(at);
  if (!Number.isNaN(ms)) aheadMs.value = Math.max(aheadMs.peek(), ms - Date.now());
}

/** Follows nothing. */
export function serverNow(): number {
  return Date.now() + aheadMs.peek();
}
