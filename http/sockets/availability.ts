// Tells the visitors of a site when its availability changes: an agent came or went, or office hours began or ended.
// Visitors are told what holds by `ready`, and each change once. Decisions "Availability".

import type { View } from '../../engine/runtime/context.ts';
import { type Availability, availabilityOf } from '../../engine/widget/availability.ts';
import { findSite } from '../../store/workspace/sites.ts';

interface Site<Session> {
  told: string;
  readonly sessions: Set<Session>;
}

export class AvailabilityNews<Session> {
  /** Sites with visitors, by workspace. */
  readonly #sites = new Map<string, Map<string, Site<Session>>>();
  readonly #siteOf = new Map<Session, { readonly workspaceId: string; readonly siteId: string }>();

  get workspaceIds(): Iterable<string> {
    return this.#sites.keys();
  }

  /** What the session is told now. */
  join(session: Session, place: { workspaceId: string; siteId: string }, now: Availability): void {
    const { workspaceId, siteId } = place;
    const sites = this.#sites.get(workspaceId) ?? new Map<string, Site<Session>>();
    this.#sites.set(workspaceId, sites);
    const site = sites.get(siteId) ?? { told: JSON.stringify(now), sessions: new Set() };
    sites.set(siteId, site);
    site.sessions.add(session);
    this.#siteOf.set(session, place);
  }

  leave(session: Session): void {
    const place = this.#siteOf.get(session);
    if (place === undefined) return;
    this.#siteOf.delete(session);
    const sites = this.#sites.get(place.workspaceId);
    const site = sites?.get(place.siteId);
    site?.sessions.delete(session);
    if (site?.sessions.size === 0) sites?.delete(place.siteId);
    if (sites?.size === 0) this.#sites.delete(place.workspaceId);
  }

  /** The sites whose availability differs from what their visitors were told, with these visitors. */
  *changed(view: View): Generator<{ readonly now: Availability; readonly sessions: ReadonlySet<Session> }> {
    for (const [siteId, site] of this.#sites.get(view.workspaceId) ?? []) {
      const record = findSite(view.db, siteId);
      if (record === undefined) continue;
      const now = availabilityOf(view, record);
      const told = JSON.stringify(now);
      if (told === site.told) continue;
      site.told = told;
      yield { now, sessions: site.sessions };
    }
  }
}
