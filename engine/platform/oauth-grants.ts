// Grants of agents to apps: listed for the agent and for admins, and withdrawn by either. Withdrawing one also ends its
// tokens, its unexchanged codes, and the app's webhooks unless another grant allows them. Specification 5.14.

import {
  deleteUnusedOAuthCodes,
  findOAuthGrant,
  liveOAuthGrants,
  liveScopesOfApp,
  type OAuthGrantRecord,
  revokeOAuthGrant,
} from '../../store/platform/oauth-grants.ts';
import { refuse } from '../errors.ts';
import { oneLine } from '../lines.ts';
import { mailAccountNotice } from '../mail/account-notices.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { callingAgent, requireAdmin } from '../workspace/access.ts';
import { theRoster } from '../workspace/roster.ts';
import { dropWebhooksOfApp } from './webhooks.ts';

/** Which grants: the caller's own or, for admins, all. */
export type WhoseGrants = 'own' | 'all';

/** The list is not paged; older ones appear when newer ones are withdrawn. */
export const maxListedGrants = 200;

/** Grants that are still in force, newest first. Refuses admin_required. */
export function listGrants(view: View, whose: WhoseGrants): OAuthGrantRecord[] {
  const caller = whose === 'own' ? callingAgent(view) : requireAdmin(view);
  return liveOAuthGrants(view.db, { agentId: whose === 'own' ? caller.id : null, at: view.at, limit: maxListedGrants });
}

/** `appName`: for the log and the mail. Refuses admin_required, not_found. */
export const withdrawGrant = command(
  'oauthGrant.withdraw',
  (ctx, params: { grantId: string; whose: WhoseGrants; appName: string | undefined }): void => {
    const caller = params.whose === 'own' ? callingAgent(ctx) : requireAdmin(ctx);
    const grant = findOAuthGrant(ctx.db, params.grantId);
    if (grant === undefined || grant.revokedAt !== null || (params.whose === 'own' && grant.agentId !== caller.id))
      refuse('not_found');
    const { clientId, agentId, scopes } = grant;
    revokeOAuthGrant(ctx.db, grant.id, ctx.at);
    deleteUnusedOAuthCodes(ctx.db, { clientId, agentId });
    const left = liveScopesOfApp(ctx.db, { clientId, agentId, at: ctx.at });
    if (!left.includes('webhooks:write')) dropWebhooksOfApp(ctx, { clientId, agentId });
    const name = params.appName ?? clientId;
    ctx.audit({
      action: 'oauth_app.withdrawn',
      targetKind: 'oauth_grant',
      targetId: grant.id,
      context: { clientId, name, agentId, scopes },
    });
    const agent = theRoster(ctx).agents.get(agentId);
    if (agent !== undefined && agent.id !== caller.id) {
      const text = `${oneLine(name)} can no longer act in your name: an admin has withdrawn your consent.`;
      mailAccountNotice(ctx, agent, {
        subject: 'An app can no longer act for you',
        text,
        advice: 'If you still need it, ask the admin first.',
      });
    }
  },
);

/**
 * The app revoked the grant, or a single-use token was used again: the app's webhooks pause until it is allowed again.
 */
export function endGrant(
  ctx: Context,
  grant: OAuthGrantRecord,
  reason: 'given_back' | 'code_used_twice' | 'refresh_token_used_twice',
): void {
  if (grant.revokedAt !== null) return;
  const { clientId, agentId } = grant;
  revokeOAuthGrant(ctx.db, grant.id, ctx.at);
  ctx.audit({
    action: 'oauth_app.ended',
    targetKind: 'oauth_grant',
    targetId: grant.id,
    context: { clientId, agentId, reason },
  });
}
