// Sites. Specification 4.16.

import Type, { type Static } from 'typebox';
import type { View } from '../../engine/runtime/context.ts';
import { callingAgent } from '../../engine/workspace/access.ts';
import { changeSite, createSite, listSites, requireSite } from '../../engine/workspace/sites.ts';
import type { SiteRecord } from '../../store/workspace/sites.ts';
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
  SiteForAgents,
  Url,
  WeeklyHours,
} from '../schemas/shared.ts';
import type { Services } from '../services.ts';

const Domain = Type.String({ minLength: 3, maxLength: 253, description: 'Only the host, such as example.com.' });
const WelcomeMessage = Type.String({ maxLength: 1000 });
/** By the state of availability; empty: the widget's own sentence. */
const stateMessage = (when: string) =>
  Type.Optional(
    Type.String({
      maxLength: 200,
      description: `What the widget says ${when}, instead of its own sentence; empty for that.`,
    }),
  );
const LauncherPx = Type.Integer({ minimum: 0, maximum: 300 });
const widgetLook = {
  onlineMessage: stateMessage('while someone is there'),
  awayMessage: stateMessage('while no one is there'),
  closedMessage: stateMessage('outside of office hours'),
  theme: Type.Optional(
    Type.Enum(['auto', 'light', 'dark'], {
      description: "The widget's colours; `auto` follows the customer's system.",
    }),
  ),
  logoUrl: Type.Optional(nullable(Url)),
  launcherSidePx: Type.Optional(LauncherPx),
  launcherBottomPx: Type.Optional(LauncherPx),
  hiddenOnPhones: Type.Optional(
    Type.Boolean({ description: 'Whether phones have no button; a page can still open the widget by its script.' }),
  ),
  assistantTurns: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 20,
      description:
        'How many answers the assistant gives in a chat by itself before an agent takes over; 0 turns it off. ' +
        'It needs a language model, and answers from the knowledge base only.',
    }),
  ),
};
const LauncherPosition = Type.Enum(['right', 'left']);
const AllowedOrigins = Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
  maxItems: 50,
  description: 'Hosts or origins; *.example.com matches every subdomain but not the apex.',
});

function siteForAgents(view: View, site: SiteRecord, { identity }: Services): Static<typeof SiteForAgents> {
  const shown = { ...site, allowedOrigins: [...site.allowedOrigins] } as Static<typeof Site>;
  return callingAgent(view).role === 'admin' ? { ...shown, identitySecret: identity.secretOf(site.id) } : shown;
}

export const siteRoutes = [
  route({
    operation: 'site.list',
    method: 'GET',
    path: '/sites',
    tag: 'Sites',
    summary: 'List sites',
    access: { kind: 'agent', scope: 'agents:read', or: 'conversations:read' },
    query: Type.Object(CursorQuery),
    reply: { status: 200, schema: Type.Object({ sites: Type.Array(SiteForAgents), nextCursor: NextCursor }) },
    refusals: [],
    read(view, { query }, services) {
      const { rows, nextCursor } = pageOf(query, (page) => listSites(view, page), byCreated);
      return { sites: rows.map((site) => siteForAgents(view, site, services)), nextCursor };
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
      ...widgetLook,
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
    reply: { status: 200, schema: SiteForAgents },
    refusals: [],
    read: (view, { params }, services) => siteForAgents(view, requireSite(view, params.siteId), services),
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
      ...widgetLook,
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
        onlineMessage,
        awayMessage,
        closedMessage,
        theme,
        logoUrl,
        launcherSidePx,
        launcherBottomPx,
        hiddenOnPhones,
        assistantTurns,
        businessHoursOverride,
        allowedOrigins,
      } = body;
      const changes = {
        name,
        domain,
        primaryColor,
        launcherPosition,
        welcomeMessage,
        onlineMessage,
        awayMessage,
        closedMessage,
        theme,
        logoUrl,
        launcherSidePx,
        launcherBottomPx,
        hiddenOnPhones,
        assistantTurns,
        businessHoursOverride,
        allowedOrigins,
      };
      return engine.execute(changeSite, { workspaceId, caller, params: { ...params, expectedVersion, changes } });
    },
  }),
];
