// Sessions by workspace, namespace and person. An event for one customer then costs nothing for thousands of others,
// and permissions are checked once for all sockets of an agent.

import type { Namespace, Place } from '../request.ts';

/** By agent or visitor id. */
type People<Session> = Map<string, Set<Session>>;

interface Room<Session> {
  readonly agent: People<Session>;
  readonly visitor: People<Session>;
}

const noPeople: ReadonlyMap<string, never> = new Map<string, never>();
const nothing: ReadonlySet<never> = new Set<never>();

export class Rooms<Session> {
  readonly #rooms = new Map<string, Room<Session>>();
  readonly #counts = { agent: 0, visitor: 0 };

  /** The number of all sessions. */
  get counts(): Readonly<Record<Namespace, number>> {
    return this.#counts;
  }

  has(workspaceId: string): boolean {
    return this.#rooms.has(workspaceId);
  }

  people(workspaceId: string, namespace: Namespace): ReadonlyMap<string, ReadonlySet<Session>> {
    return this.#rooms.get(workspaceId)?.[namespace] ?? noPeople;
  }

  of(place: Place): ReadonlySet<Session> {
    return this.people(place.workspaceId, place.namespace).get(place.personId) ?? nothing;
  }

  *all(namespace: Namespace): Generator<Session> {
    for (const room of this.#rooms.values()) for (const sessions of room[namespace].values()) yield* sessions;
  }

  add(place: Place, session: Session): void {
    let room = this.#rooms.get(place.workspaceId);
    if (room === undefined) {
      room = { agent: new Map(), visitor: new Map() };
      this.#rooms.set(place.workspaceId, room);
    }
    const sessions = room[place.namespace].get(place.personId);
    if (sessions === undefined) room[place.namespace].set(place.personId, new Set([session]));
    else sessions.add(session);
    this.#counts[place.namespace] += 1;
  }

  delete(place: Place, session: Session): void {
    const room = this.#rooms.get(place.workspaceId);
    const sessions = room?.[place.namespace].get(place.personId);
    if (room === undefined || sessions?.delete(session) !== true) return;
    this.#counts[place.namespace] -= 1;
    if (sessions.size === 0) room[place.namespace].delete(place.personId);
    if (room.agent.size === 0 && room.visitor.size === 0) this.#rooms.delete(place.workspaceId);
  }
}
