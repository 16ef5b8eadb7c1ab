// The plan of a soak: the number and length of the service's lives, the faults during each, and how each ends, by a
// seeded generator. The last life is the longest; it is watched for memory growth, and ends cleanly.

import type { Random } from '../support/seeded.ts';

export type FaultKind = 'dropped sockets' | 'clock forward' | 'clock back' | 'full disk';

export interface Fault {
  /** Since the start of the life. */
  readonly atMs: number;
  readonly kind: FaultKind;
}

export interface Life {
  readonly seconds: number;
  readonly isDiskSlow: boolean;
  readonly faults: readonly Fault[];
  /** When memory is read, in milliseconds since the start of the life. */
  readonly readings: readonly number[];
  readonly end: 'kill' | 'stop';
}

export interface MemoryReading {
  /** Since the start of the life. */
  readonly seconds: number;
  readonly mb: number;
  /** Acknowledged by then. */
  readonly messages: number;
}

export interface PlanOptions {
  readonly random: Random;
  readonly seconds: number;
  readonly canFill: boolean;
  readonly canSlow: boolean;
}

/** The share of the time for the lives that end early. */
const shortShare = 0.5;
const shortestSeconds = 4;
const usualSeconds = 25;
const faultEverySeconds = 4;
/**
 * The warm-up of the last life before memory counts: code is compiled, and states unused for two minutes are evicted.
 */
const warmSeconds = 150;
const readings = 12;
/** A shorter life says nothing about memory: most of it is the start. */
const watchedSeconds = 240;

export function planLives({ random, seconds, canFill, canSlow }: PlanOptions): Life[] {
  const count = Math.max(2, Math.round((seconds * shortShare) / usualSeconds));
  const each = Math.max(shortestSeconds, (seconds * shortShare) / count);
  const kinds: FaultKind[] = [
    'dropped sockets',
    'dropped sockets',
    'clock forward',
    'clock back',
    ...(canFill ? (['full disk'] as const) : []),
  ];
  const faultsOf = (life: number, allowed: readonly FaultKind[]): Fault[] => {
    const times = Array.from(
      { length: Math.max(1, Math.floor(life / faultEverySeconds)) },
      () => random.next() * life * 1000 * 0.9,
    ).sort((a, b) => a - b);
    return times.map((atMs) => ({ atMs, kind: random.pick(allowed) }));
  };
  const short = Array.from({ length: count }, (_, index): Life => {
    const life = each * (0.6 + 0.8 * random.next());
    // Each kind occurs even in a short soak, in the first lives.
    const sure: Fault[] =
      canFill && index === 0
        ? [{ atMs: life * 500, kind: 'full disk' }]
        : index === 1
          ? [
              { atMs: life * 300, kind: 'clock forward' },
              { atMs: life * 600, kind: 'clock back' },
            ]
          : [];
    return {
      seconds: life,
      isDiskSlow: canSlow && index > 0 && (index === 1 || random.chance(0.2)),
      faults: [...sure, ...faultsOf(life, kinds)].sort((a, b) => a.atMs - b.atMs),
      readings: [],
      end: index % 3 === 2 ? 'stop' : 'kill',
    };
  });
  const long = Math.max(shortestSeconds, seconds * (1 - shortShare));
  const warmMs = warmSeconds * 1000;
  const last: Life = {
    seconds: long,
    isDiskSlow: false,
    faults: faultsOf(long / 2, ['dropped sockets', 'dropped sockets', 'clock forward', 'clock back']).map(
      ({ atMs, kind }) => ({ atMs: atMs * 2, kind }),
    ),
    readings:
      long < watchedSeconds
        ? []
        : Array.from({ length: readings }, (_, index) => warmMs + ((long * 1000 - warmMs) * (index + 0.5)) / readings),
    end: 'stop',
  };
  return [...short, last];
}

/**
 * The growth of memory from after the warm-up to the end, as a fraction: the medians of the first and the last three
 * readings.
 */
export function growthOf(memory: readonly MemoryReading[]): number | undefined {
  if (memory.length < 6) return undefined;
  const middle = (some: readonly MemoryReading[]): number =>
    some.map(({ mb }) => mb).toSorted((a, b) => a - b)[1] ?? Number.NaN;
  return middle(memory.slice(-3)) / middle(memory.slice(0, 3)) - 1;
}
