// Runs a range of seeds, one after another, and reports failures by seed.

import { Simulation, SimulationFailed } from './simulation.ts';

/** The setup of each run costs the same, so more seeds cost more than more steps; fewer find less. */
export const defaultSteps = 60;
/** Run with every `npm test`: each takes about a fifteenth of a second. */
export const defaultSeeds = 30;

export interface Tally {
  seeds: number;
  events: number;
  crashes: number;
  readonly failures: SimulationFailed[];
}

/** Runs `count` seeds from `first`. */
export async function runSeeds({
  first,
  count,
  steps,
  maxFailures = 3,
}: {
  first: number;
  count: number;
  steps: number;
  /** It stops after these. A few show what failures have in common. */
  maxFailures?: number;
}): Promise<Tally> {
  const tally: Tally = { seeds: 0, events: 0, crashes: 0, failures: [] };
  for (let seed = first; seed < first + count && tally.failures.length < maxFailures; seed += 1) {
    const simulation = new Simulation(seed);
    try {
      await simulation.run(steps);
    } catch (error) {
      if (!(error instanceof SimulationFailed)) throw error;
      tally.failures.push(error);
    }
    tally.seeds += 1;
    tally.events += simulation.eventCount;
    tally.crashes += simulation.lives;
  }
  return tally;
}
