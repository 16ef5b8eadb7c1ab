// The commerce connector of a workspace: its address, and what it knows about a visitor. Decisions 4.12.

import Type from 'typebox';
import { noteEnrichment, setCommerce } from '../../engine/customers/enrichment.ts';
import { visitorKind } from '../../engine/customers/visitors.ts';
import { refuse } from '../../engine/errors.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { findCommerce } from '../../store/customers/commerce.ts';
import { route } from '../route.ts';
import { Commerce } from '../schemas/records.ts';
import { Id, line, nullable, Url } from '../schemas/shared.ts';
import type { Services } from '../services.ts';

const Secret = Type.String({
  minLength: 16,
  maxLength: 200,
  description: 'The key for X-Signature on our requests: `sha256=` followed by the hex HMAC-SHA256 of the body.',
});
const Source = line(60, "The name of the shop's software.");

const EnrichmentAnswer = Type.Object({
  enrichment: Type.Object({
    source: Type.String({ description: '`none` without a connector.' }),
    matched: Type.Boolean(),
    customer: nullable(Type.Object({ email: Type.String(), lifetimeValueCents: Type.Integer() })),
    orders: Type.Array(Type.Object({ id: Type.String(), total: Type.String(), status: Type.String() })),
  }),
});

export const commerceRoutes = [
  route({
    operation: 'commerce.read',
    method: 'GET',
    path: '/workspace/commerce',
    tag: 'Workspaces',
    summary: 'Get the commerce connector',
    description: 'All fields are null if none is set.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    reply: { status: 200, schema: Commerce },
    refusals: [],
    read: (_, { workspaceId }, services) =>
      connectorOf(services, workspaceId) ?? { url: null, secret: null, source: null },
  }),

  route({
    operation: 'commerce.set',
    method: 'PUT',
    path: '/workspace/commerce',
    tag: 'Workspaces',
    summary: 'Set the commerce connector',
    description:
      'Lookups send a signed POST with {"email"} to the url and expect, within 5 seconds, 200 {"matched", ' +
      '"customer": {"email", "lifetimeValueCents"}, "orders": [{"id", "total", "status"}]} or 404. ' +
      'A url of null removes the connector; any other requires `secret` and `source`.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    body: Type.Object(
      { url: nullable(Url), secret: Type.Optional(Secret), source: Type.Optional(Source) },
      { if: { properties: { url: { type: 'string' } } }, then: { required: ['secret', 'source'] } },
    ),
    reply: { status: 200, schema: Commerce },
    refusals: ['forbidden_url'],
    async run({ workspaceId, caller, body }, services) {
      const { url, secret, source } = body;
      if (url === null) {
        await services.engine.execute(setCommerce, { workspaceId, caller, params: { connector: null } });
        return { url: null, secret: null, source: null };
      }
      if (secret === undefined || source === undefined)
        throw new Error('the body has let a connector through without its secret or its source');
      if (!services.commerce.mayAsk(url)) refuse('forbidden_url');
      await services.engine.execute(setCommerce, {
        workspaceId,
        caller,
        params: { connector: { url, source, sealedSecret: services.secrets.seal(secret, sealedAs(workspaceId)) } },
      });
      return { url, secret, source };
    },
  }),

  route({
    operation: 'visitor.enrichment',
    method: 'GET',
    path: '/visitors/{visitorId}/enrichment',
    tag: 'Visitors',
    summary: 'Look up a visitor in the shop',
    description:
      "Looks up the visitor's email through the commerce connector. " +
      '`matched` is false without a connector or an email. Returns 503 if the shop does not answer.',
    access: { kind: 'agent', scope: 'visitors:read' },
    params: Type.Object({ visitorId: Id }),
    reply: { status: 200, schema: EnrichmentAnswer },
    refusals: [],
    async run({ workspaceId, caller, params }, services) {
      const visitor =
        services.engine.workspace(workspaceId)?.view(systemCaller).state(visitorKind, params.visitorId) ??
        refuse('not_found');
      const connector = connectorOf(services, workspaceId);
      if (connector === undefined || visitor.email === null)
        return { enrichment: { source: connector?.source ?? 'none', matched: false, customer: null, orders: [] } };
      const enrichment = await services.commerce.lookUp(connector, visitor.email);
      await services.engine.execute(noteEnrichment, {
        workspaceId,
        caller,
        params: { visitorId: visitor.id, enrichment },
      });
      return { enrichment };
    },
  }),
];

const sealedAs = (workspaceId: string): string => `${workspaceId}:commerce`;

function connectorOf(
  { engine, secrets }: Pick<Services, 'engine' | 'secrets'>,
  workspaceId: string,
): { url: string; secret: string; source: string } | undefined {
  const view = engine.workspace(workspaceId)?.view(systemCaller);
  const found = view === undefined ? undefined : findCommerce(view.db);
  return (
    found && { url: found.url, secret: secrets.open(found.sealedSecret, sealedAs(workspaceId)), source: found.source }
  );
}
