// Reports to the engine which agents have a socket: when the first socket of an agent opens and the last one closes,
// after a restart for the sockets that ended with the process, and again after a failed write. Other agents are
// notified once it is durable. Decisions "Presence of agents".

import { systemCaller } from '../../engine/runtime/caller.ts';
import type { Engine } from '../../engine/runtime/engine.ts';
import { endLostSockets, noteSockets } from '../../engine/team/presence.ts';
import type { Place } from '../request.ts';

export interface PresenceOptions {
  readonly engine: Engine;
  isThere(place: Place): boolean;
  /** The ids of the workspace's agents that have a socket now. */
  there(workspaceId: string): string[];
  /** Called once it is durable, to notify others. */
  send(place: Place, isOnline: boolean): void;
}

export class Presence {
  readonly #options: PresenceOptions;
  /** Failed writes by agent: at most one for each agent that has had a socket. */
  readonly #unwritten = new Map<string, Place>();
  /** Workspaces whose agents of the previous process are recorded as gone. */
  readonly #reviewed = new Set<string>();
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
      () => this.#unwritten.set(`${workspaceId} ${personId}`, place),
    );
  }

  /** Runs once per workspace and process, for the agents that had a socket when the previous process ended. */
  review(workspaceId: string, wasAnyThere: boolean): void {
    if (this.#reviewed.has(workspaceId)) return;
    this.#reviewed.add(workspaceId);
    if (!wasAnyThere) return;
    const { engine, there, send } = this.#options;
    engine
      .execute(endLostSockets, { workspaceId, caller: systemCaller, params: { thereIds: there(workspaceId) } })
      .then(
        (agentIds) => agentIds.forEach((personId) => send({ workspaceId, namespace: 'agent', personId }, false)),
        () => this.#reviewed.delete(workspaceId),
      );
  }

  /** Retries files that could not be read at start, and failed writes. */
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
