// Whether a site's customers find someone: office hours first, then whether an agent who may take its chats is
// available. Agents at their limit are there. Decisions "Availability".

import type { SiteRecord } from '../../store/workspace/sites.ts';
import { callingVisitor } from '../customers/visitors.ts';
import type { View } from '../runtime/context.ts';
import { reaches } from '../workspace/access.ts';
import { siteHours } from '../workspace/office-hours.ts';
import { isActive, theRoster } from '../workspace/roster.ts';
import { requireSite } from '../workspace/sites.ts';
import { theWorkspace } from '../workspace/workspace.ts';

export interface Availability {
  /** `closed`: outside of office hours; `away`: within them, with no agent available. */
  readonly availability: 'online' | 'away' | 'closed';
  /** With the zone's offset; null while it is open, or if unknown. */
  readonly nextOpenAt: string | null;
}

export function availabilityOf(view: Pick<View, 'state' | 'nowMs'>, site: SiteRecord): Availability {
  const { officeHoursOpen, nextChange } = siteHours(view, site);
  if (!officeHoursOpen) return { availability: 'closed', nextOpenAt: nextChange };
  return { availability: isAnyoneThere(view) ? 'online' : 'away', nextOpenAt: null };
}

/** Of the calling visitor's site, whose id is returned, too. */
export function ownAvailability(view: View): Availability & { readonly siteId: string } {
  const { siteId } = callingVisitor(view);
  return { siteId, ...availabilityOf(view, requireSite(view, siteId)) };
}

/** New chats begin in the default department, if there is one. */
function isAnyoneThere(view: Pick<View, 'state'>): boolean {
  const chat = {
    channel: 'chat',
    departmentId: theWorkspace(view).settings.defaultDepartmentId,
    assignedAgentId: null,
    handshake: null,
  } as const;
  for (const agent of theRoster(view).agents.values())
    if (isActive(agent) && agent.status === 'available' && reaches(agent, chat)) return true;
  return false;
}
