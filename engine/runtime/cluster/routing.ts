// Where what is asked of a workspace is answered: here, at another node, or nowhere for the moment. While a workspace
// moves, who asks waits a little for its new owner, since that is sooner than coming back. Nothing leaves this node
// from a file that it did not serve all the while.

import type { Clock } from '../clock.ts';
import { NotServed } from '../placement.ts';
import type { Lease } from './lease.ts';
import type { Ownerships } from './ownership.ts';
import type { NodeRecord } from './ports.ts';
import { canOpen } from './sharing.ts';
import type { View } from './view.ts';

export type Way =
  | { readonly to: 'here'; readonly epoch: number }
  | { readonly to: 'node'; readonly node: NodeRecord }
  /** It has an owner soon. */
  | { readonly to: 'wait' }
  /** `why`: if it takes more than a moment. */
  | { readonly to: 'nowhere'; readonly why?: string };

/**
 * A planned hand-over takes a quarter of a second, a take-over from a warm copy little more: on nodes that hand over, or
 * take, hundreds at once, seconds. Whoever opens a socket at another node waits for 5 s.
 */
const waitMs = 4000;
/** In all, with what other nodes took to say that they do not serve it: one lets requests that act outside wait. */
const longestMs = 15_000;
/** Also asks again without a change, since another node's answer may have changed. */
const askAgainMs = 50;
/** Those who wait hold a request each. */
const maxWaiting = 2000;
const needsNewer =
  'A newer version of this service has upgraded this, and none of its nodes is running at the moment. Try again later.';

export interface Ways<Answer> {
  /** `read`: may be asked twice. `command`: its outcome left the lane when the log had it. */
  readonly kind: 'read' | 'command';
  here(): Promise<Answer>;
  /** Rejects with NotServed if the other node has done nothing. */
  there(node: NodeRecord): Promise<Answer>;
}

/** Of what another node sent on. */
type Received<Answer> = Omit<Ways<Answer>, 'there'> & { readonly there?: undefined };

export class Router {
  readonly #clock: Clock;
  readonly #lease: Lease;
  readonly #view: View;
  readonly #ownerships: Ownerships;
  #waiting = 0;

  constructor(options: { clock: Clock; lease: Lease; view: View; ownerships: Ownerships }) {
    this.#clock = options.clock;
    this.#lease = options.lease;
    this.#view = options.view;
    this.#ownerships = options.ownerships;
  }

  wayTo(workspaceId: string): Way {
    const holding = this.#ownerships.holding(workspaceId);
    // A node that the log cannot reach cannot know who owns what.
    if (!this.#lease.isHeld) return { to: 'nowhere' };
    if (holding !== undefined) {
      const epoch = this.#ownerships.epochServed(workspaceId);
      return holding.state === 'serving' && epoch !== undefined ? { to: 'here', epoch } : { to: 'wait' };
    }
    const ownership = this.#view.owners.get(workspaceId);
    if (ownership === undefined) return { to: 'nowhere' };
    if (this.#ownerships.isLeftAlone(workspaceId)) return { to: 'nowhere', why: needsNewer };
    const node = this.#view.nodes.get(ownership.node);
    const isThere = node !== undefined && node.node !== this.#lease.record.node && canOpen(node, ownership);
    return isThere ? { to: 'node', node } : { to: 'wait' };
  }

  /** For who came to this node. Rejects with NotServed, or as the answer does. */
  send<Answer>(workspaceId: string, ways: Ways<Answer>): Promise<Answer> {
    return this.#ask(workspaceId, ways);
  }

  /** For who was sent here by another node: never sends it on. */
  receive<Answer>(workspaceId: string, ways: Received<Answer>): Promise<Answer> {
    return this.#ask(workspaceId, ways);
  }

  async #ask<Answer>(workspaceId: string, ways: Ways<Answer> | Received<Answer>): Promise<Answer> {
    let untilMs = this.#clock.now() + waitMs;
    const lastMs = this.#clock.now() + longestMs;
    for (;;) {
      const way = this.wayTo(workspaceId);
      const askedMs = this.#clock.now();
      try {
        if (way.to === 'here') return await this.#answer(workspaceId, { ways, epoch: way.epoch });
        if (way.to === 'node' && ways.there !== undefined) return await ways.there(way.node);
      } catch (error) {
        if (!(error instanceof NotServed)) throw error;
        untilMs = Math.min(untilMs + this.#clock.now() - askedMs, lastMs);
      }
      // Whoever sent it here asks where it is now.
      if (way.to === 'node' && ways.there === undefined) throw new NotServed();
      if (way.to === 'nowhere') throw new NotServed(1, way.why);
      if (this.#clock.now() >= untilMs || this.#waiting >= maxWaiting) throw new NotServed();
      this.#ownerships.hurry(workspaceId);
      await this.#change(workspaceId);
    }
  }

  async #answer<Answer>(
    workspaceId: string,
    { ways, epoch }: { ways: Pick<Ways<Answer>, 'kind' | 'here'>; epoch: number },
  ): Promise<Answer> {
    const answer = await ways.here();
    // This node may have been paused since it read, and another may have acknowledged more.
    if (ways.kind === 'read' && this.#ownerships.epochServed(workspaceId) !== epoch) throw new NotServed();
    return answer;
  }

  /** Resolves with the next change, or after a moment. */
  #change(workspaceId: string): Promise<void> {
    this.#waiting += 1;
    return new Promise((resolve) => {
      const listener = this.#ownerships.onceChanged(() => {
        timer.cancel();
        this.#waiting -= 1;
        resolve();
      }, workspaceId);
      const timer = this.#clock.after(askAgainMs, () => {
        listener.cancel();
        this.#waiting -= 1;
        resolve();
      });
    });
  }
}
