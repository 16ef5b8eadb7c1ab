// Webhooks and the log of their deliveries. Specification 6, decisions 4.2.

import Type from 'typebox';
import { refuse } from '../../engine/errors.ts';
import { listDeliveries, retryDelivery } from '../../engine/webhook-deliveries.ts';
import { createWebhook, eventTypes, listWebhooks, removeWebhook, webhookSecretName } from '../../engine/webhooks.ts';
import { byCreated, pageOf } from '../cursor.ts';
import { appSecret } from '../oauth-clients.ts';
import { Delivery, Webhook } from '../record-schemas.ts';
import { route } from '../route.ts';
import { CursorQuery, Id, NextCursor, nullable, Url } from '../schemas.ts';
import { freshWebhookSecret } from '../webhook-sending.ts';

const feed = 'events';

const EventName = Type.Enum([...eventTypes, '*']);
const access = { kind: 'agent', scope: 'webhooks:write', role: 'admin' } as const;

export const webhookRoutes = [
  route({
    operation: 'webhook.list',
    method: 'GET',
    path: '/webhooks',
    tag: 'Webhooks',
    summary: 'List webhooks',
    description: 'Newest first. An app sees its own.',
    access,
    reply: { status: 200, schema: Type.Object({ webhooks: Type.Array(Webhook) }) },
    refusals: [],
    read: (view, { grant }) => ({ webhooks: listWebhooks(view, { feed, grant }) }),
  }),

  route({
    operation: 'webhook.create',
    method: 'POST',
    path: '/webhooks',
    tag: 'Webhooks',
    summary: 'Subscribe to events',
    description:
      'Each event is POSTed as {type, timestamp, workspaceId, seq, conversationId?, data}, signed as Standard Webhooks says, with the secret that is in this answer and never again. ' +
      'Any 2xx within 10 seconds is taken for received; else it is tried again over a day, under the same webhook-id. Events of one conversation come in order. ' +
      'A receiver that takes nothing for five days is disabled. * is every event; a key or an app gets those that its scopes let it read. Up to 50.',
    access,
    body: Type.Object({ url: Url, events: Type.Array(EventName, { minItems: 1, maxItems: 100 }), description: Type.Optional(nullable(Type.String({ maxLength: 500 }))) }),
    reply: { status: 201, schema: Type.Object({ ...Webhook.properties, secret: Type.Optional(Type.String({ description: 'whsec_ and base64. An app has none: its client secret signs.' })) }) },
    refusals: ['forbidden_url', 'semantic_error'],
    async run({ workspaceId, caller, grant, body: { url, events, description = null } }, services) {
      const { engine, ids, secrets, webhookSender } = services;
      if (await webhookSender.isForbidden(url)) refuse('forbidden_url');
      const webhookId = ids.uuid();
      if (grant?.by === 'app' && appSecret(services, grant.id, workspaceId) === undefined) refuse('semantic_error', { message: 'An app without a secret has nothing to sign with.' });
      const secret = grant?.by === 'app' ? undefined : freshWebhookSecret(ids);
      const sealedSecret = secret === undefined ? null : secrets.seal(secret, webhookSecretName(workspaceId, webhookId));
      const webhook = await engine.execute(createWebhook, { workspaceId, caller, params: { webhookId, url, events, description, sealedSecret, grant } });
      return { ...webhook, ...(secret === undefined ? {} : { secret }) };
    },
  }),

  route({
    operation: 'webhook.delete',
    method: 'DELETE',
    path: '/webhooks/{webhookId}',
    tag: 'Webhooks',
    summary: 'End a subscription',
    description: 'What waits is not sent, and its log is gone.',
    access,
    params: Type.Object({ webhookId: Id }),
    reply: { status: 204, schema: null },
    refusals: [],
    run: ({ workspaceId, caller, grant, params }, { engine }) => engine.execute(removeWebhook, { workspaceId, caller, params: { ...params, feed, grant } }),
  }),

  route({
    operation: 'webhook.deliveries',
    method: 'GET',
    path: '/webhooks/{webhookId}/deliveries',
    tag: 'Webhooks',
    summary: 'List deliveries',
    description: 'Newest first; kept for seven days.',
    access,
    params: Type.Object({ webhookId: Id }),
    query: Type.Object(CursorQuery),
    reply: { status: 200, schema: Type.Object({ deliveries: Type.Array(Delivery), nextCursor: NextCursor }) },
    refusals: [],
    read(view, { params, query, grant }) {
      const { rows, nextCursor } = pageOf(query, (page) => listDeliveries(view, { ...params, feed, grant }, page), byCreated);
      return { deliveries: rows, nextCursor };
    },
  }),

  route({
    operation: 'webhook.retryDelivery',
    method: 'POST',
    path: '/webhooks/{webhookId}/deliveries/{deliveryId}/retry',
    tag: 'Webhooks',
    summary: 'Send a delivery again',
    description: 'Under the same webhook-id. What is over begins anew; what waits, and what waits before it in its conversation, goes out now. Not on a disabled webhook.',
    access,
    params: Type.Object({ webhookId: Id, deliveryId: Id }),
    reply: { status: 200, schema: Delivery },
    refusals: ['conflict'],
    run: ({ workspaceId, caller, grant, params }, { engine }) => engine.execute(retryDelivery, { workspaceId, caller, params: { ...params, feed, grant } }),
  }),
];
