// Reports to the engine which agents have a socket: when the first socket of an agent opens and the last one closes,
// after a restart for the sockets that ended with the process, and again after a failed write. Other agents are
// notified once it is durable. Decisions "Presence of agents".

import { systemCaller } from '../../engine/runtime/caller.ts';
import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import type { Engine } from '../../engine/runtime/engine.ts';
import { ServedElsewhere } from '../../engine/runtime/placement.ts';
import { endLostSockets, noteSockets } from '../../engine/team/presence.ts';
import type { Place } from '../request.ts';

export interface PresenceOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  isThere(place: Place): boolean;
  /** The ids of the workspace's agents that have a socket now. */
  there(workspaceId: string): string[];
  /** Called once it is durable, to notify others. */
  send(place: Place, isOnline: boolean): void;
}

/** Clients return from a closed socket within seconds (http/pages/live-socket.ts). */
const returnMs = 10_000;

export class Presence {
  readonly #options: PresenceOptions;
  /** Failed writes by agent: at most one for each agent that has had a socket. */
  readonly #unwritten = new Map<string, Place>();
  /** Workspaces whose agents of the previous process or node are recorded as gone, or will be when the timer fires. */
  readonly #reviewed = new Map<string, Timer | undefined>();
  #isStopped = false;

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  /** The first socket of an agent opened, or its last one closed. */
  changed(place: Place): void {
    // For a socket that ends with the process, the next start records it.
    if (this.#isStopped) return;
    const { engine, isThere, send } = this.#options;
    const { workspaceId, personId } = place;
    const isOnline = isThere(place);
    engine.execute(noteSockets, { workspaceId, caller: systemCaller, params: { agentId: personId, isOnline } }).then(
      (isNew) => {
        if (isNew) send(place, isOnline);
      },
      (error: unknown) => {
        // The node that serves it now records who is there.
        if (!(error instanceof ServedElsewhere)) this.#unwritten.set(`${workspaceId} ${personId}`, place);
      },
    );
  }

  /**
   * Runs once per workspace and process, for the agents that had a socket when the previous process ended, or at the node
   * that served it before: those have a moment to return.
   */
  review(workspaceId: string, { wasAnyThere, isMoved }: { wasAnyThere: boolean; isMoved: boolean }): void {
    if (this.#reviewed.has(workspaceId)) return;
    const isLater = wasAnyThere && isMoved;
    const timer = isLater ? this.#options.clock.after(returnMs, () => this.#endLost(workspaceId)) : undefined;
    this.#reviewed.set(workspaceId, timer);
    if (wasAnyThere && !isLater) this.#endLost(workspaceId);
  }

  #endLost(workspaceId: string): void {
    const { engine, there, send } = this.#options;
    if (this.#isStopped) return;
    engine
      .execute(endLostSockets, { workspaceId, caller: systemCaller, params: { thereIds: there(workspaceId) } })
      .then(
        (agentIds) => agentIds.forEach((personId) => send({ workspaceId, namespace: 'agent', personId }, false)),
        () => this.#reviewed.delete(workspaceId),
      );
  }

  /** This node no longer serves the workspace: nothing of it is written, and it is reviewed when it comes back. */
  forget(workspaceId: string): void {
    this.#reviewed.get(workspaceId)?.cancel();
    this.#reviewed.delete(workspaceId);
    for (const [key, place] of this.#unwritten) if (place.workspaceId === workspaceId) this.#unwritten.delete(key);
  }

  /** Retries files that could not be read at start, and failed writes. */
  sweep(): void {
    for (const { workspaceId } of this.#options.engine.openWorkspaces())
      this.review(workspaceId, { wasAnyThere: true, isMoved: false });
    const again = [...this.#unwritten.values()];
    this.#unwritten.clear();
    for (const place of again) this.changed(place);
  }

  stop(): void {
    this.#isStopped = true;
    for (const timer of this.#reviewed.values()) timer?.cancel();
  }
}
