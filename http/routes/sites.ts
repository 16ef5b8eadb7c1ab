// Sites. Specification 4.16.

import Type from 'typebox';
import { changeSite, createSite, listSites, requireSite } from '../../engine/workspace/sites.ts';
import { byCreated, pageOf } from '../pipeline/cursor.ts';
import { route } from '../route.ts';
import {
  CursorQuery,
  ExpectedVersion,
  Hex,
  Id,
  Name,
  NextCursor,
  nullable,
  Site,
  WeeklyHours,
} from '../schemas/shared.ts';

const Domain = Type.String({ minLength: 3, maxLength: 253, description: 'Only the host, such as example.com.' });
const WelcomeMessage = Type.String({ maxLength: 1000 });
const LauncherPosition = Type.Enum(['right', 'left']);
const AllowedOrigins = Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
  maxItems: 50,
  description: 'Hosts or origins; *.example.com matches every subdomain but not the apex.',
});

export const siteRoutes = [
  route({
    operation: 'site.list',
    method: 'GET',
    path: '/sites',
    tag: 'Sites',
    summary: 'List sites',
    access: { kind: 'agent', scope: 'agents:read', or: 'conversations:read' },
    query: Type.Object(CursorQuery),
    reply: { status: 200, schema: Type.Object({ sites: Type.Array(Site), nextCursor: NextCursor }) },
    refusals: [],
    read(view, { query }) {
      const { rows, nextCursor } = pageOf(query, (page) => listSites(view, page), byCreated);
      return { sites: rows, nextCursor };
    },
  }),

  route({
    operation: 'site.create',
    method: 'POST',
    path: '/sites',
    tag: 'Sites',
    summary: 'Create a site',
    description:
      'Use its `embedId` in the install snippet. `allowedOrigins` defaults to the domain and its www variant.',
    access: { kind: 'agent', scope: null, role: 'admin', roleSlug: 'forbidden' },
    body: Type.Object({
      name: Name,
      domain: Domain,
      primaryColor: Type.Optional(Hex),
      launcherPosition: Type.Optional(LauncherPosition),
      welcomeMessage: Type.Optional(WelcomeMessage),
      allowedOrigins: Type.Optional(AllowedOrigins),
    }),
    reply: { status: 201, schema: Site },
    refusals: ['conflict'],
    run: ({ workspaceId, caller, body }, { engine }) =>
      engine.execute(createSite, { workspaceId, caller, params: body }),
  }),

  route({
    operation: 'site.read',
    method: 'GET',
    path: '/sites/{siteId}',
    tag: 'Sites',
    summary: 'Get a site',
    access: { kind: 'agent', scope: 'agents:read', or: 'conversations:read' },
    params: Type.Object({ siteId: Id }),
    reply: { status: 200, schema: Site },
    refusals: [],
    read: (view, { params }) => requireSite(view, params.siteId),
  }),

  route({
    operation: 'site.update',
    method: 'PATCH',
    path: '/sites/{siteId}',
    tag: 'Sites',
    summary: 'Update a site',
    access: { kind: 'agent', scope: null, role: 'admin', roleSlug: 'forbidden' },
    params: Type.Object({ siteId: Id }),
    body: Type.Object({
      expectedVersion: ExpectedVersion,
      name: Type.Optional(Name),
      domain: Type.Optional(Domain),
      primaryColor: Type.Optional(Hex),
      launcherPosition: Type.Optional(LauncherPosition),
      welcomeMessage: Type.Optional(WelcomeMessage),
      businessHoursOverride: Type.Optional(nullable(WeeklyHours)),
      allowedOrigins: Type.Optional(AllowedOrigins),
    }),
    reply: { status: 200, schema: Site },
    refusals: ['conflict', 'stale_version'],
    run({ workspaceId, caller, params, body }, { engine }) {
      const {
        expectedVersion,
        name,
        domain,
        primaryColor,
        launcherPosition,
        welcomeMessage,
        businessHoursOverride,
        allowedOrigins,
      } = body;
      const changes = {
        name,
        domain,
        primaryColor,
        launcherPosition,
        welcomeMessage,
        businessHoursOverride,
        allowedOrigins,
      };
      return engine.execute(changeSite, { workspaceId, caller, params: { ...params, expectedVersion, changes } });
    },
  }),
];
