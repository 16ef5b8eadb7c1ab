// The routes that both kinds of webhooks share: list, read, update, delete, test, secret rotation, and the delivery
// log. Creation differs: routes/webhooks.ts, routes/verification-webhooks.ts. Decisions 4.2, 4.21.

import Type from 'typebox';
import { refuse } from '../../engine/errors.ts';
import { listDeliveries, readDelivery, retryDelivery, testWebhook } from '../../engine/platform/webhook-outcomes.ts';
import {
  changeWebhook,
  listWebhooks,
  readWebhook,
  removeWebhook,
  rotateWebhookSecret,
  webhookSecretName,
} from '../../engine/platform/webhooks.ts';
import type { WebhookFeed } from '../../store/platform/webhooks.ts';
import { byCreated, pageOf } from '../pipeline/cursor.ts';
import { type Access, type Route, route } from '../route.ts';
import { Delivery, FullDelivery, Webhook } from '../schemas/records.ts';
import { CursorQuery, Id, NextCursor, nullable, Time, Url } from '../schemas/shared.ts';
import { freshWebhookSecret, readableBody } from './sending.ts';

export const Description = nullable(Type.String({ maxLength: 500 }));

const hourSeconds = 3600;
/** How long a previous secret keeps signing: the default and the maximum. */
const overlapSeconds = 24 * hourSeconds;
const maxOverlapSeconds = 7 * 24 * hourSeconds;

interface Of {
  readonly feed: WebhookFeed;
  /** `webhook` or `verifyWebhook`: the prefix of its operations. */
  readonly noun: string;
  readonly path: '/webhooks' | '/verify/webhooks';
  readonly tag: string;
  readonly access: Extract<Access, { kind: 'agent' }>;
  /** The allowed event types. */
  readonly eventNames: readonly string[];
  /** Shared by the routes of the area. */
  readonly shared: Pick<Route, 'httpOnly' | 'invalidSlug' | 'invalidQuerySlug'>;
}

const ById = Type.Object({ webhookId: Id });
const ByDelivery = Type.Object({ webhookId: Id, deliveryId: Id });

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table, one route after the other
export function commonWebhookRoutes({ feed, noun, path, tag, access, eventNames, shared }: Of): Route[] {
  const EventName = Type.Unsafe<string>(Type.Enum([...eventNames]));
  const common = { ...shared, tag, access } as const;
  const one = `${path}/{webhookId}`;
  return [
    route({
      ...common,
      operation: `${noun}.list`,
      method: 'GET',
      path,
      summary: 'List webhooks',
      description: 'Newest first. An app sees only its own.',
      reply: { status: 200, schema: Type.Object({ webhooks: Type.Array(Webhook) }) },
      refusals: [],
      read: (view, { grant }) => ({ webhooks: listWebhooks(view, { feed, grant }) }),
    }),

    route({
      ...common,
      operation: `${noun}.read`,
      method: 'GET',
      path: one,
      summary: 'Get a webhook',
      params: ById,
      reply: { status: 200, schema: Webhook },
      refusals: [],
      read: (view, { params, grant }) => readWebhook(view, { ...params, feed, grant }),
    }),

    route({
      ...common,
      operation: `${noun}.update`,
      method: 'PATCH',
      path: one,
      summary: 'Update a webhook',
      description:
        'Pending deliveries go to the new URL. ' +
        'The status `active` resumes a disabled webhook, `disabled` stops it; events in between are not sent later. ' +
        "Whoever saves a workspace's webhook becomes responsible for it: it then depends on that admin's, or the key's, rights. " +
        "An app's webhook stays the app's; only a key with the scope `*` can change its URL.",
      params: ById,
      body: Type.Object(
        {
          url: Type.Optional(Url),
          events: Type.Optional(Type.Array(EventName, { minItems: 1, maxItems: 100 })),
          description: Type.Optional(Description),
          status: Type.Optional(Type.Enum(['active', 'disabled'])),
        },
        { minProperties: 1 },
      ),
      reply: { status: 200, schema: Webhook },
      refusals: ['forbidden_url'],
      async run(
        { workspaceId, caller, grant, params, body: { url, events, description, status } },
        { engine, webhookSender },
      ) {
        if (url !== undefined && (await webhookSender.isForbidden(url))) refuse('forbidden_url');
        return engine.execute(changeWebhook, {
          workspaceId,
          caller,
          params: { ...params, feed, grant, changes: { url, events, description, status } },
        });
      },
    }),

    route({
      ...common,
      operation: `${noun}.delete`,
      method: 'DELETE',
      path: one,
      summary: 'Delete a webhook',
      description: 'Drops pending deliveries and its delivery log.',
      params: ById,
      reply: { status: 204, schema: null },
      refusals: [],
      run: ({ workspaceId, caller, grant, params }, { engine }) =>
        engine.execute(removeWebhook, { workspaceId, caller, params: { ...params, feed, grant } }),
    }),

    route({
      ...common,
      operation: `${noun}.rotateSecret`,
      method: 'POST',
      path: `${one}/rotate-secret`,
      summary: "Rotate a webhook's secret",
      description:
        'Returns the new secret, once. ' +
        'Until `formerSecretUntil` each delivery carries two signatures, separated by a space, ' +
        'the second with the previous secret, so that receivers can be updated. ' +
        "Returns 422 `semantic_error` for an app's webhook, which is signed with its client secret.",
      params: ById,
      body: Type.Object({
        overlapSeconds: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: maxOverlapSeconds,
            default: overlapSeconds,
            description: '0 ends the previous secret immediately.',
          }),
        ),
      }),
      reply: {
        status: 200,
        schema: Type.Object({
          ...Webhook.properties,
          secret: Type.String({ description: '`whsec_` followed by base64.' }),
          formerSecretUntil: nullable(Time),
        }),
      },
      refusals: ['semantic_error'],
      async run({ workspaceId, caller, grant, params, body }, { engine, ids, secrets }) {
        const secret = freshWebhookSecret(ids);
        const sealedSecret = secrets.seal(secret, webhookSecretName(workspaceId, params.webhookId));
        const overlapMs = (body.overlapSeconds ?? overlapSeconds) * 1000;
        return {
          ...(await engine.execute(rotateWebhookSecret, {
            workspaceId,
            caller,
            params: { ...params, feed, grant, sealedSecret, overlapMs },
          })),
          secret,
        };
      },
    }),

    route({
      ...common,
      operation: `${noun}.test`,
      method: 'POST',
      path: `${one}/test`,
      summary: 'Send a test event',
      description:
        'Sends webhook.test, {type, timestamp, workspaceId, data: {webhookId}}, signed and logged like every event, ' +
        'whether or not it is subscribed to. ' +
        'Returns its delivery, which shows the outcome. Returns 409 `conflict` if the webhook is disabled or paused.',
      params: ById,
      reply: { status: 201, schema: Delivery },
      refusals: ['conflict'],
      run: ({ workspaceId, caller, grant, params }, { engine }) =>
        engine.execute(testWebhook, { workspaceId, caller, params: { ...params, feed, grant } }),
    }),

    route({
      ...common,
      operation: `${noun}.deliveries`,
      method: 'GET',
      path: `${one}/deliveries`,
      summary: 'List deliveries',
      description: 'Newest first; kept for seven days.',
      params: ById,
      query: Type.Object(CursorQuery),
      reply: { status: 200, schema: Type.Object({ deliveries: Type.Array(Delivery), nextCursor: NextCursor }) },
      refusals: [],
      read(view, { params, query, grant }) {
        const { rows, nextCursor } = pageOf(
          query,
          (page) => listDeliveries(view, { ...params, feed, grant }, page),
          byCreated,
        );
        return { deliveries: rows, nextCursor };
      },
    }),

    route({
      ...common,
      operation: `${noun}.delivery`,
      method: 'GET',
      path: `${one}/deliveries/{deliveryId}`,
      summary: 'Get a delivery',
      description: 'Includes what is sent and what was answered.',
      params: ByDelivery,
      reply: { status: 200, schema: FullDelivery },
      refusals: [],
      read(view, { params, grant }) {
        const { delivery, body, responseBody } = readDelivery(view, { ...params, feed, grant });
        const told = readableBody(body, grant);
        return {
          ...delivery,
          ...(told === undefined ? {} : { payload: JSON.parse(told) as object }),
          ...(told === body ? { responseBody } : {}),
        };
      },
    }),

    route({
      ...common,
      operation: `${noun}.retryDelivery`,
      method: 'POST',
      path: `${one}/deliveries/{deliveryId}/retry`,
      summary: 'Retry a delivery',
      description:
        'Keeps the webhook-id. ' +
        'A finished delivery starts over; a pending one, and those before it in its conversation, are sent now. ' +
        'Returns 409 `conflict` if the webhook is disabled or paused.',
      params: ByDelivery,
      reply: { status: 200, schema: Delivery },
      refusals: ['conflict'],
      run: ({ workspaceId, caller, grant, params }, { engine }) =>
        engine.execute(retryDelivery, { workspaceId, caller, params: { ...params, feed, grant } }),
    }),
  ];
}
