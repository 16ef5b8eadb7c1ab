// Whether a caller may use a route: its role, scopes and features, and for visitors their site. Refuses early what the
// command would refuse again on the state that it acts on. Called by the pipeline, and by credentials.ts for sockets.

import { visitorKind } from '../../engine/customers/visitors.ts';
import { refuse } from '../../engine/errors.ts';
import { allows, type Grant } from '../../engine/rights/scopes.ts';
import type { View } from '../../engine/runtime/context.ts';
import { mustEnrol } from '../../engine/team/second-factors.ts';
import { callingAgent, isSenior } from '../../engine/workspace/access.ts';
import { requireFeature } from '../../engine/workspace/entitlements.ts';
import { requireSite } from '../../engine/workspace/sites.ts';
import type { Config } from '../process/config.ts';
import type { Access, Call } from '../route.ts';
import { mayUseSite } from './own-origin.ts';

type AgentAccess = Extract<Access, { kind: 'agent' }>;

/** Refuses what the access declares. */
export function authorise(access: Access, view: View, { call, config }: { call: Call; config: Config }): void {
  if (access.kind === 'agent') authoriseAgent(access, view, call);
  else if (access.kind === 'visitor' && call.caller.kind === 'visitor')
    authoriseVisitor(view, { visitorId: call.caller.visitorId, origin: call.origin }, config);
}

function authoriseAgent(access: AgentAccess, view: View, { grant, sessionId }: Call): void {
  const agent = callingAgent(view);
  if (grant === undefined && access.beforeEnrolment === undefined && mustEnrol(view, agent.id, sessionId))
    refuse('second_factor_missing');
  const needsKey = access.credential === 'key' || (access.credential === 'keyOrAdmin' && agent.role !== 'admin');
  if (needsKey && grant === undefined) refuse('unauthorized', { message: 'A valid API key is required.' });
  if (access.credential === 'person' && grant !== undefined)
    refuse('insufficient_scope', { message: 'Only a signed-in agent can do this, not a key or an app.' });
  if (grant !== undefined) requireScopes(grant, access);
  if (access.role === 'admin' && agent.role !== 'admin') refuse(access.roleSlug ?? 'admin_required');
  if (access.role === 'senior' && !isSenior(agent)) refuse(access.roleSlug ?? 'admin_required');
  if (access.feature !== undefined) requireFeature(view, access.feature, access.featureSlug);
}

/** Refuses unauthorized for an unknown visitor, forbidden for a blocked one and for an origin that the site does not allow. */
export function authoriseVisitor(
  view: View,
  { visitorId, origin }: { visitorId: string; origin: string | undefined },
  config: Config,
): void {
  const visitor = view.state(visitorKind, visitorId) ?? refuse('unauthorized');
  if (visitor.blockedAt !== null) refuse('forbidden');
  if (!mayUseSite(requireSite(view, visitor.siteId), origin, config))
    refuse('forbidden', { message: 'This origin is not allowed for the site.' });
}

/** A test key gives access only to the verification API, whatever its scopes are. */
function requireScopes(grant: Grant, { scope, or, also = [] }: Pick<AgentAccess, 'scope' | 'or' | 'also'>): void {
  if (grant.mode === 'test' && scope !== 'verify')
    refuse('insufficient_scope', {
      message: 'A test key only gives access to the verification API.',
      detail: { scope: scope ?? '*' },
    });
  const hasAlternative = or !== undefined && allows(grant, or);
  const missing = [...(hasAlternative ? [] : [scope]), ...also].find((one) => !allows(grant, one));
  if (missing !== undefined) refuse('insufficient_scope', { detail: { scope: missing ?? '*' } });
}
