// Grants that agents gave to apps. Specification 5.14.

import Type from 'typebox';
import { appScopes } from '../../engine/platform/oauth-apps.ts';
import { listGrants, maxListedGrants, type WhoseGrants, withdrawGrant } from '../../engine/platform/oauth-grants.ts';
import type { View } from '../../engine/runtime/context.ts';
import { findOAuthGrant, type OAuthGrantRecord } from '../../store/platform/oauth-grants.ts';
import { type Access, type Route, route } from '../route.ts';
import { OAuthGrant } from '../schemas/records.ts';
import { Id } from '../schemas/shared.ts';
import { clientOf, withinApp } from '../secrets/oauth-clients.ts';
import type { Services } from '../services.ts';

const tag = 'OAuth apps';
const Grant = Type.Object({ ...OAuthGrant.properties, scopes: Type.Array(Type.Enum([...appScopes])) });

interface Of {
  readonly whose: WhoseGrants;
  readonly path: string;
  readonly noun: string;
  readonly words: { readonly list: string; readonly withdraw: string };
  readonly access: Access;
}

function grantRoutes({ whose, path, noun, words, access }: Of): Route[] {
  return [
    route({
      operation: `${noun}.list`,
      method: 'GET',
      path,
      tag,
      summary: words.list,
      description: `The newest ${maxListedGrants} active grants, one per consent. \`scopes\` is what the grant allows now.`,
      access,
      httpOnly: true,
      reply: { status: 200, schema: Type.Object({ grants: Type.Array(Grant) }) },
      refusals: [],
      read: (view, _, services) => ({
        grants: listGrants(view, whose).flatMap((grant) => viewOf(services, view, grant) ?? []),
      }),
    }),

    route({
      operation: `${noun}.withdraw`,
      method: 'DELETE',
      path: `${path}/{grantId}`,
      tag,
      summary: words.withdraw,
      description:
        'Revokes its tokens immediately. ' +
        'Codes that were not exchanged yet become invalid, ' +
        'and its webhooks are removed unless another consent of the same agent allows them.',
      access,
      httpOnly: true,
      params: Type.Object({ grantId: Id }),
      reply: { status: 204, schema: null },
      refusals: [],
      run({ workspaceId, caller, params: { grantId } }, services) {
        const view = services.engine.workspace(workspaceId)?.view(caller);
        const clientId = view && findOAuthGrant(view.db, grantId)?.clientId;
        return services.engine.execute(withdrawGrant, {
          workspaceId,
          caller,
          params: { grantId, whose, appName: clientOf(services, clientId)?.app.name },
        });
      },
    }),
  ];
}

export const oauthGrantRoutes = [
  ...grantRoutes({
    whose: 'own',
    path: '/me/grants',
    noun: 'me.grant',
    words: { list: 'List apps you have allowed', withdraw: 'Withdraw your consent to an app' },
    access: { kind: 'agent', scope: null },
  }),
  ...grantRoutes({
    whose: 'all',
    path: '/oauth-grants',
    noun: 'oauthGrant',
    words: { list: 'List apps that agents have allowed', withdraw: "Withdraw an agent's consent to an app" },
    access: { kind: 'agent', scope: null, role: 'admin' },
  }),
];

/** Undefined for an app that was deleted or may no longer be used in the workspace: its tokens grant nothing. */
function viewOf(
  services: Services,
  view: View,
  { id, agentId, clientId, scopes, createdAt, lastUsedAt }: OAuthGrantRecord,
) {
  const client = clientOf(services, clientId);
  const inForce = client && withinApp(services, client, { workspaceId: view.workspaceId, scopes });
  if (client === undefined || inForce === undefined) return undefined;
  // An app can only register these.
  return {
    id,
    agentId,
    clientId,
    appName: client.app.name,
    scopes: inForce as readonly (typeof appScopes)[number][],
    createdAt,
    lastUsedAt,
  };
}
