// Who owned each workspace, as `switchboard cluster status` said from time to time: an epoch has one owner, and neither
// epochs nor the log go back.

import type { Fault } from '../../support/event-order.ts';
import type { ClusterStatus } from '../processes/service-cluster.ts';

type Owned = ClusterStatus['workspaces'][number];

export class Owners {
  readonly #say: (fault: Fault) => void;
  readonly #newest = new Map<string, Owned>();
  #changes = 0;

  constructor(say: (fault: Fault) => void) {
    this.#say = say;
  }

  /** Of owners, as far as they were seen. */
  get changes(): number {
    return this.#changes;
  }

  take({ workspaces }: Pick<ClusterStatus, 'workspaces'>): void {
    for (const now of workspaces) {
      const before = this.#newest.get(now.workspaceId);
      this.#newest.set(now.workspaceId, now);
      if (before === undefined) continue;
      const say = (kind: Fault['kind'], text: string): void =>
        this.#say({ kind, text: `workspace ${now.workspaceId}: ${text}` });
      if (now.epoch < before.epoch) say('unordered', `epoch ${now.epoch} came after ${before.epoch}`);
      if (now.epoch === before.epoch && now.owner !== before.owner)
        say('doubled', `${before.owner} and ${now.owner} both own epoch ${now.epoch}`);
      if (now.sequence < before.sequence)
        say('lost', `its log ends at ${now.sequence} and ended at ${before.sequence}`);
      if (now.owner !== before.owner) this.#changes += 1;
    }
  }
}
