// Registering apps. Decisions 4.2, "Fields".

import Type from 'typebox';
import { refuse } from '../../engine/errors.ts';
import {
  appScopes,
  changeApp,
  clientIdOf,
  createApp,
  listApps,
  removeApp,
  requireApp,
  rotateAppSecret,
} from '../../engine/platform/oauth-apps.ts';
import type { OAuthAppRecord } from '../../store/platform/oauth-apps.ts';
import { type Access, route } from '../route.ts';
import { worded } from '../schemas/field-words.ts';
import { OAuthApp } from '../schemas/records.ts';
import { Id, Name, nullable } from '../schemas/shared.ts';
import { freshClientSecret, isLive } from '../secrets/oauth-clients.ts';
import type { Services } from '../services.ts';

const access = { kind: 'agent', scope: null, role: 'admin' } as const satisfies Access;
const tag = 'OAuth apps';
/** Random part of a client id, beside the workspace's. */
const clientIdBytes = 12;

const RedirectUris = Type.Array(
  Type.String({
    minLength: 1,
    maxLength: 2000,
    pattern: worded('^[A-Za-z][A-Za-z0-9+.-]*:[!-\\[\\]-~]+$', 'an absolute URI in ASCII without spaces'),
  }),
  {
    minItems: 1,
    maxItems: 10,
    description:
      'Compared exactly, except for the port of loopback addresses: there any port matches (RFC 8252). https, http to a loopback address, or a scheme that is a reversed domain.',
  },
);
const Scopes = Type.Array(Type.Enum([...appScopes]), { minItems: 1, maxItems: appScopes.length });
const App = Type.Object({ ...OAuthApp.properties, scopes: Type.Array(Type.Enum([...appScopes])) });
const Params = Type.Object({ appId: Id });

export const oauthAppRoutes = [
  route({
    operation: 'oauthApp.list',
    method: 'GET',
    path: '/oauth-apps',
    tag,
    summary: 'List OAuth apps',
    access,
    httpOnly: true,
    reply: { status: 200, schema: Type.Object({ oauthApps: Type.Array(App) }) },
    refusals: [],
    read: (view, _, services) => ({ oauthApps: listApps(view).map((app) => viewOf(services, app)) }),
  }),

  route({
    operation: 'oauthApp.create',
    method: 'POST',
    path: '/oauth-apps',
    tag,
    summary: 'Register an OAuth app',
    description:
      'Returns `clientSecret`, once; a public app has none. Authorization goes through /oauth/authorize and /oauth/token. At most 100 apps.',
    access,
    httpOnly: true,
    body: Type.Object({
      name: Name,
      redirectUris: RedirectUris,
      scopes: Scopes,
      public: Type.Optional(Type.Boolean()),
    }),
    reply: { status: 201, schema: Type.Object({ ...App.properties, clientSecret: nullable(Type.String()) }) },
    refusals: ['semantic_error'],
    async run(
      { workspaceId, caller, ip, userAgent, body: { name, redirectUris, scopes, public: isPublic = false } },
      services,
    ) {
      const clientId = clientIdOf(workspaceId, services.ids.secret(clientIdBytes));
      const fresh = isPublic ? { clientSecret: null, sealedSecret: null } : freshClientSecret(services, clientId);
      const app = await services.engine.execute(createApp, {
        workspaceId,
        caller,
        params: {
          name,
          redirectUris,
          scopes,
          clientId,
          sealedSecret: fresh.sealedSecret,
          origin: { address: ip, userAgent },
        },
      });
      return { ...viewOf(services, app), clientSecret: fresh.clientSecret };
    },
  }),

  route({
    operation: 'oauthApp.read',
    method: 'GET',
    path: '/oauth-apps/{appId}',
    tag,
    summary: 'Get an OAuth app',
    access,
    httpOnly: true,
    params: Params,
    reply: { status: 200, schema: App },
    refusals: [],
    read: (view, { params: { appId } }, services) => viewOf(services, requireApp(view, appId)),
  }),

  route({
    operation: 'oauthApp.update',
    method: 'PATCH',
    path: '/oauth-apps/{appId}',
    tag,
    summary: 'Update an OAuth app',
    description: 'Removing a scope takes effect immediately, for existing tokens too.',
    access,
    httpOnly: true,
    params: Params,
    body: Type.Object({
      name: Type.Optional(Name),
      redirectUris: Type.Optional(RedirectUris),
      scopes: Type.Optional(Scopes),
    }),
    reply: { status: 200, schema: App },
    refusals: [],
    run: async ({ workspaceId, caller, ip, userAgent, params: { appId }, body }, services) =>
      viewOf(
        services,
        await services.engine.execute(changeApp, {
          workspaceId,
          caller,
          params: { appId, changes: body, origin: { address: ip, userAgent } },
        }),
      ),
  }),

  route({
    operation: 'oauthApp.delete',
    method: 'DELETE',
    path: '/oauth-apps/{appId}',
    tag,
    summary: 'Delete an OAuth app',
    description: 'Revokes all of its tokens.',
    access,
    httpOnly: true,
    params: Params,
    reply: { status: 204, schema: null },
    refusals: [],
    run: ({ workspaceId, caller, ip, userAgent, params: { appId } }, { engine }) =>
      engine.execute(removeApp, { workspaceId, caller, params: { appId, origin: { address: ip, userAgent } } }),
  }),

  route({
    operation: 'oauthApp.rotateSecret',
    method: 'POST',
    path: '/oauth-apps/{appId}/rotate-secret',
    tag,
    summary: "Rotate an OAuth app's secret",
    description: 'The previous secret stops working immediately; tokens stay valid.',
    access,
    httpOnly: true,
    params: Params,
    reply: { status: 200, schema: Type.Object({ ...App.properties, clientSecret: Type.String() }) },
    refusals: ['semantic_error'],
    async run({ workspaceId, caller, ip, userAgent, params: { appId } }, services) {
      const view = (services.engine.workspace(workspaceId) ?? refuse('unauthorized')).view(caller);
      const { clientId } = requireApp(view, appId);
      const { clientSecret, sealedSecret } = freshClientSecret(services, clientId);
      const app = await services.engine.execute(rotateAppSecret, {
        workspaceId,
        caller,
        params: { appId, sealedSecret, origin: { address: ip, userAgent } },
      });
      return { ...viewOf(services, app), clientSecret };
    },
  }),
];

function viewOf(services: Pick<Services, 'config'>, app: OAuthAppRecord) {
  const { id, clientId, name, redirectUris, scopes, sealedSecret, createdAt } = app;
  const status = isLive(services, clientId) ? ('live' as const) : ('development' as const);
  // Only createApp() and changeApp() write it.
  return {
    id,
    clientId,
    name,
    redirectUris,
    scopes: scopes as readonly (typeof appScopes)[number][],
    public: sealedSecret === null,
    status,
    createdAt,
  };
}
