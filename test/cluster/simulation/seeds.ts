// Runs a range of seeds of the cluster's simulation, one after another, and reports failures by seed.

import { ClusterFailed, ClusterSimulation } from './simulation.ts';

/** Of the cluster's time, in which things go wrong. */
export const defaultSeconds = 75;

export interface ClusterTally {
  seeds: number;
  acknowledged: number;
  faults: number;
  readonly failures: ClusterFailed[];
}

/** Runs `count` seeds from `first`. */
export async function runClusters({
  first,
  count,
  seconds,
  maxFailures = 3,
}: {
  first: number;
  count: number;
  seconds: number;
  /** It stops after these. */
  maxFailures?: number;
}): Promise<ClusterTally> {
  const tally: ClusterTally = { seeds: 0, acknowledged: 0, faults: 0, failures: [] };
  for (let seed = first; seed < first + count && tally.failures.length < maxFailures; seed += 1) {
    const simulation = new ClusterSimulation(seed);
    try {
      await simulation.run(seconds);
    } catch (error) {
      if (!(error instanceof ClusterFailed)) throw error;
      tally.failures.push(error);
    }
    tally.seeds += 1;
    tally.acknowledged += simulation.acknowledged;
    tally.faults += simulation.faults;
  }
  return tally;
}
