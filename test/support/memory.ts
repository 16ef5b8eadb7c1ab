// The memory of a process with all its threads, as Linux counts it, in MB of 1,000,000 bytes.

import { readFileSync, writeFileSync } from 'node:fs';

export function residentMb(pid: number): number {
  return statusMb(pid, 'VmRSS');
}

/** The maximum since forgetPeak(). */
export function peakMb(pid: number): number {
  return statusMb(pid, 'VmHWM');
}

export function forgetPeak(pid: number): void {
  // proc(5): 5 resets the peak resident set size to its present value.
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function statusMb(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  const [, kb] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  if (kb === undefined) throw new Error(`process ${pid} tells no ${name}`);
  return (Number(kb) * 1024) / 1e6;
}
