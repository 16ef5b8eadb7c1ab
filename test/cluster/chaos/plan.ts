// The faults of a run, one per round, by a seeded generator: each kind comes before any comes again.

import type { Random } from '../../support/seeded.ts';
import type { Cut } from '../processes/nats-lines.ts';

export type RoundFault =
  | { readonly kind: 'kill node'; readonly node: number; readonly losesData: boolean }
  | { readonly kind: 'kill NATS server'; readonly server: number }
  | { readonly kind: 'pause node'; readonly node: number }
  | { readonly kind: 'cut off node'; readonly node: number; readonly how: Cut };

export interface Round {
  readonly fault: RoundFault;
  /** Before it. */
  readonly calmMs: number;
  /** Until it is mended: the process started again or resumed, the line mended. */
  readonly lastsMs: number;
}

export interface PlanOptions {
  readonly random: Random;
  readonly rounds: number;
  readonly nodes: number;
  /** 0: one ordinary node, which is killed and paused. */
  readonly nats: number;
  /** Longer than a lease. */
  readonly pausedMs: number;
  /** The shortest and the longest time that the other faults last: some end before they are noticed, others do not. */
  readonly lastsMs: { readonly least: number; readonly most: number };
}

const calmMs = { least: 1500, most: 4000 };

export function planRounds({ random, rounds, nodes, nats, pausedMs, lastsMs }: PlanOptions): Round[] {
  const node = (): number => random.below(nodes);
  const always: readonly (() => RoundFault)[] = [
    () => ({ kind: 'kill node', node: node(), losesData: false }),
    () => ({ kind: 'pause node', node: node() }),
  ];
  const ofCluster: readonly (() => RoundFault)[] = [
    () => ({ kind: 'kill node', node: node(), losesData: true }),
    () => ({ kind: 'kill NATS server', server: random.below(nats) }),
    () => ({ kind: 'cut off node', node: node(), how: 'refused' }),
    () => ({ kind: 'cut off node', node: node(), how: 'silent' }),
  ];
  const kinds = nats === 0 ? always : [...always, ...ofCluster];
  const between = ({ least, most }: { least: number; most: number }): number =>
    Math.round(least + random.next() * (most - least));
  let left: (() => RoundFault)[] = [];
  return Array.from({ length: rounds }, (): Round => {
    if (left.length === 0) left = random.shuffled(kinds);
    const [make = kinds[0], ...others] = left;
    left = others;
    if (make === undefined) throw new Error('there is no fault');
    const fault = make();
    return {
      fault,
      calmMs: between(calmMs),
      lastsMs: fault.kind === 'pause node' ? pausedMs + between({ least: 0, most: pausedMs / 3 }) : between(lastsMs),
    };
  });
}

export function wordsOf({ fault, lastsMs }: Round): string {
  const seconds = `${(lastsMs / 1000).toFixed(1)} s`;
  switch (fault.kind) {
    case 'kill node':
      return `kill -9 node-${fault.node + 1}${fault.losesData ? ', folder removed' : ''}, started after ${seconds}`;
    case 'kill NATS server':
      return `kill -9 NATS server ${fault.server + 1}, started after ${seconds}`;
    case 'pause node':
      return `SIGSTOP node-${fault.node + 1} for ${seconds}`;
    case 'cut off node':
      return `node-${fault.node + 1} cut off from NATS (${fault.how}) for ${seconds}`;
  }
}
