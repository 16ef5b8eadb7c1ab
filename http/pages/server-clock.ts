// The service's time: a browser's clock may be minutes off, and deadlines are by the service's. Set by the socket;
// until then the browser's clock is used.

import { signal } from '@preact/signals';

/** The service's clock minus the browser's, in milliseconds. Views that show the time subscribe to it. */
export const aheadMs = signal(0);

/** The service's present time. */
export function setServerTime(at: string): void {
  const ms = Date.parse(at);
  if (!Number.isNaN(ms)) aheadMs.value = ms - Date.now();
}

/** A time of the service, now or earlier: its clock is at least that far. */
export function noteServerTime(at: string): void {
  const ms = Date.parse(at);
  if (!Number.isNaN(ms)) aheadMs.value = Math.max(aheadMs.peek(), ms - Date.now());
}

/** Does not subscribe. */
export function serverNow(): number {
  return Date.now() + aheadMs.peek();
}
