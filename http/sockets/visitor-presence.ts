// Reports to the engine which visitors have a socket: when the first one opens, and ten seconds after the last one
// closed, unless another opened meanwhile, as the next page does. After a restart, for those who did not return, and
// again after a failed write. Decisions "Presence of customers".

import { systemCaller } from '../../engine/runtime/caller.ts';
import { type Clock, isoTime, type Timer } from '../../engine/runtime/clock.ts';
import type { Engine } from '../../engine/runtime/engine.ts';
import { ServedElsewhere } from '../../engine/runtime/placement.ts';
import { endLostVisits, noteVisitorSockets } from '../../engine/widget/presence.ts';
import type { Place } from '../request.ts';

export interface VisitorPresenceOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  isThere(place: Place): boolean;
  /** The ids of the workspace's visitors that have a socket now. */
  there(workspaceId: string): Iterable<string>;
}

const graceMs = 10_000;
/** Browsers that lost their socket with the last process return within half a minute (http/widget/api.ts). */
const returnMs = 40_000;

export class VisitorPresence {
  readonly #options: VisitorPresenceOptions;
  /** Whose last socket closed less than the grace ago. */
  readonly #leaving = new Map<string, { readonly place: Place; readonly timer: Timer }>();
  /** Failed writes by visitor. */
  readonly #unwritten = new Map<string, { readonly place: Place; readonly goneAt: string | null }>();
  readonly #reviewed = new Map<string, Timer | undefined>();
  #isStopped = false;

  constructor(options: VisitorPresenceOptions) {
    this.#options = options;
  }

  /** The first socket of a visitor opened, or its last one closed. */
  changed(place: Place): void {
    if (this.#isStopped) return;
    const { clock, isThere } = this.#options;
    const key = keyOf(place);
    this.#leaving.get(key)?.timer.cancel();
    this.#leaving.delete(key);
    if (isThere(place)) {
      this.#note(place, null);
      return;
    }
    const goneAt = isoTime(clock.now());
    const timer = clock.after(graceMs, () => {
      this.#leaving.delete(key);
      this.#note(place, goneAt);
    });
    this.#leaving.set(key, { place, timer });
  }

  /** Runs once per workspace and process, for the visitors that had a socket when the previous process ended. */
  review(workspaceId: string, wasAnyThere: boolean): void {
    if (this.#reviewed.has(workspaceId)) return;
    const wait = (): Timer => this.#options.clock.after(returnMs, () => this.#endLost(workspaceId, ''));
    this.#reviewed.set(workspaceId, wasAnyThere ? wait() : undefined);
  }

  /** This node no longer serves the workspace: nothing of it is written, and it is reviewed when it comes back. */
  forget(workspaceId: string): void {
    this.#reviewed.get(workspaceId)?.cancel();
    this.#reviewed.delete(workspaceId);
    for (const [key, { place, timer }] of this.#leaving) {
      if (place.workspaceId !== workspaceId) continue;
      timer.cancel();
      this.#leaving.delete(key);
    }
    for (const [key, { place }] of this.#unwritten) if (place.workspaceId === workspaceId) this.#unwritten.delete(key);
  }

  /** Retries files that could not be read at start, and failed writes. */
  sweep(): void {
    for (const { workspaceId } of this.#options.engine.openWorkspaces()) this.review(workspaceId, true);
    const again = [...this.#unwritten.values()];
    this.#unwritten.clear();
    for (const { place, goneAt } of again) this.#note(place, goneAt);
  }

  stop(): void {
    this.#isStopped = true;
    for (const { timer } of this.#leaving.values()) timer.cancel();
    this.#leaving.clear();
  }

  #note(place: Place, goneAt: string | null): void {
    if (this.#isStopped) return;
    const { workspaceId, personId: visitorId } = place;
    const params = { visitorId, goneAt };
    const { engine } = this.#options;
    this.#unwritten.delete(keyOf(place));
    engine.execute(noteVisitorSockets, { workspaceId, caller: systemCaller, params }).catch((error: unknown) => {
      // The node that serves it now records who is there.
      if (!(error instanceof ServedElsewhere)) this.#unwritten.set(keyOf(place), { place, goneAt });
    });
  }

  #endLost(workspaceId: string, after: string): void {
    if (this.#isStopped) return;
    const { engine, there } = this.#options;
    const thereIds = new Set(there(workspaceId));
    engine.execute(endLostVisits, { workspaceId, caller: systemCaller, params: { thereIds, after } }).then(
      (next) => {
        if (next !== undefined) this.#endLost(workspaceId, next);
      },
      () => this.#reviewed.delete(workspaceId),
    );
  }
}

function keyOf({ workspaceId, personId }: Place): string {
  return `${workspaceId} ${personId}`;
}
