// The current rights of whoever made an earlier request: for links that are opened later, replies that are streamed,
// deliveries that are queued. Adds to engine/rights/rights.ts what only the edge knows: the app itself, wherever it is
// registered. Not cached; call it each time.

import { type Holder, holderOf, type Rights, rightsOf } from '../../engine/rights/rights.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import type { View } from '../../engine/runtime/context.ts';
import { findSession } from '../../engine/team/agent-sessions.ts';
import { callingAgent } from '../../engine/workspace/access.ts';
import type { Call } from '../route.ts';
import { clientOf, withinApp } from '../secrets/oauth-clients.ts';
import type { Services } from '../services.ts';
import type { Asker } from '../signed/asker.ts';

export function askerOf(
  view: View,
  { workspaceId, caller, grant, sessionId }: Pick<Call, 'workspaceId' | 'caller' | 'grant' | 'sessionId'>,
): Asker {
  return { workspaceId, holder: holderOf(caller, grant), tokenVersion: callingAgent(view).tokenVersion, sessionId };
}

/** Undefined when no rights are left: signed out, removed, revoked, withdrawn. */
export function rightsOfAsker(
  services: Pick<Services, 'engine' | 'config'>,
  { workspaceId, holder, tokenVersion, sessionId }: Asker,
): Rights | undefined {
  const rights = rightsNow(services, workspaceId, holder);
  if (rights === undefined || rights.grant !== undefined) return rights;
  if (sessionId === undefined) return rights.agent.tokenVersion === tokenVersion ? rights : undefined;
  const view = services.engine.workspace(workspaceId)?.view(systemCaller);
  const session = view && findSession(view, rights.agent.id, sessionId);
  return view === undefined || session === undefined || session.expiresAt <= view.at ? undefined : rights;
}

/** The holder's rights, limited to the app's; undefined when none are left. */
export function rightsNow(
  services: Pick<Services, 'engine' | 'config'>,
  workspaceId: string,
  holder: Holder,
): Rights | undefined {
  const view = services.engine.workspace(workspaceId)?.view(systemCaller);
  const rights = view && rightsOf(view, holder);
  if (rights?.grant?.by !== 'app') return rights;
  const client = clientOf(services, rights.grant.id);
  const scopes = client && withinApp(services, client, { workspaceId, scopes: rights.grant.scopes });
  return scopes && { agent: rights.agent, grant: { ...rights.grant, scopes } };
}
