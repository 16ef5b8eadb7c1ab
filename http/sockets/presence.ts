// Which agents have a socket, as the engine knows it: told when an agent's first one comes and its last one ends, after
// the restart of the process for those that ended with it, and again while it could not be written. Others are told
// once it is durable. Decisions "Presence of agents".

import { systemCaller } from '../../engine/runtime/caller.ts';
import type { Engine } from '../../engine/runtime/engine.ts';
import { endLostSockets, noteSockets } from '../../engine/team/presence.ts';
import type { Place } from '../request.ts';

export interface PresenceOptions {
  readonly engine: Engine;
  isThere(place: Place): boolean;
  /** Ids of the workspace's agents that have a socket now. */
  there(workspaceId: string): string[];
  /** It is durable: others may know. */
  tell(place: Place, isOnline: boolean): void;
}

export class Presence {
  readonly #options: PresenceOptions;
  /** What could not be written, by agent. As many as have had a socket at the most. */
  readonly #unwritten = new Map<string, Place>();
  /** Workspaces whose agents of the life before are known to be gone. */
  readonly #reviewed = new Set<string>();
  #isStopped = false;

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  /** The first socket of an agent came, or its last one ended. */
  changed(place: Place): void {
    // A socket that ends with the process has ended: the next start says so.
    if (this.#isStopped) return;
    const { engine, isThere, tell } = this.#options;
    const { workspaceId, personId } = place;
    const isOnline = isThere(place);
    engine.execute(noteSockets, { workspaceId, caller: systemCaller, params: { agentId: personId, isOnline } }).then(
      (isNew) => {
        if (isNew) tell(place, isOnline);
      },
      () => this.#unwritten.set(`${workspaceId} ${personId}`, place),
    );
  }

  /** Once for each workspace and life of the process: who had a socket when the life before ended. */
  review(workspaceId: string, wasAnyThere: boolean): void {
    if (this.#reviewed.has(workspaceId)) return;
    this.#reviewed.add(workspaceId);
    if (!wasAnyThere) return;
    const { engine, there, tell } = this.#options;
    engine
      .execute(endLostSockets, { workspaceId, caller: systemCaller, params: { thereIds: there(workspaceId) } })
      .then(
        (agentIds) => agentIds.forEach((personId) => tell({ workspaceId, namespace: 'agent', personId }, false)),
        () => this.#reviewed.delete(workspaceId),
      );
  }

  /** Files that could not be looked into at start, and what could not be written. */
  sweep(): void {
    for (const { workspaceId } of this.#options.engine.openWorkspaces()) this.review(workspaceId, true);
    const again = [...this.#unwritten.values()];
    this.#unwritten.clear();
    for (const place of again) this.changed(place);
  }

  stop(): void {
    this.#isStopped = true;
  }
}
