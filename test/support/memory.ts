// What this process holds of memory, all of its threads together, as Linux counts it. In MB of 1,000,000 bytes.

import { readFileSync, writeFileSync } from 'node:fs';

export function residentMb(): number {
  return statusMb('VmRSS');
}

/** The most since forgetPeak(). */
export function peakMb(): number {
  return statusMb('VmHWM');
}

export function forgetPeak(): void {
  // proc(5): 5 resets the peak resident set size to what it is now.
  writeFileSync('/proc/self/clear_refs', '5');
}

function statusMb(name: 'VmRSS' | 'VmHWM'): number {
  const [, kb] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  if (kb === undefined) throw new Error(`/proc/self/status has no ${name}`);
  return (Number(kb) * 1024) / 1e6;
}
