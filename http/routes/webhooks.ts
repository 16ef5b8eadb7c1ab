// Webhooks for the socket's events. Specification 6, decisions 4.2.

import Type from 'typebox';
import { refuse } from '../../engine/errors.ts';
import { webhookEventTypes } from '../../engine/events.ts';
import { createWebhook, webhookSecretName } from '../../engine/platform/webhooks.ts';
import { route } from '../route.ts';
import { Webhook } from '../schemas/records.ts';
import { Url } from '../schemas/shared.ts';
import { appSecret } from '../secrets/oauth-clients.ts';
import { commonWebhookRoutes, Description } from '../webhooks/routes.ts';
import { freshWebhookSecret } from '../webhooks/sending.ts';

const eventNames = [...webhookEventTypes, '*'] as const;
const EventName = Type.Enum([...eventNames]);
const access = { kind: 'agent', scope: 'webhooks:write', role: 'admin' } as const;
const tag = 'Webhooks';
const path = '/webhooks';

export const webhookRoutes = [
  route({
    operation: 'webhook.create',
    method: 'POST',
    path,
    tag,
    summary: 'Subscribe to events',
    description:
      'Each event is POSTed as {type, timestamp, workspaceId, seq, conversationId?, data}, ' +
      'signed according to Standard Webhooks with the secret that is returned here, once. ' +
      'Any 2xx within 10 seconds confirms receipt. ' +
      'Otherwise the event is retried for a day with the same webhook-id; ' +
      'after 429 and 503 no sooner than Retry-After says (at most 8 hours). ' +
      'Events of one conversation arrive in order. ' +
      'A receiver that accepts nothing for five days, or answers 410, is disabled. ' +
      'The type `*` subscribes to every event; keys and apps receive only the events and members that their scopes allow. ' +
      'A webhook depends on the rights of its creator at the time of each event: `pausedReason` says if they have ended. ' +
      'At most 50 webhooks.',
    access,
    body: Type.Object({
      url: Url,
      events: Type.Array(EventName, { minItems: 1, maxItems: 100 }),
      description: Type.Optional(Description),
    }),
    reply: {
      status: 201,
      schema: Type.Object({
        ...Webhook.properties,
        secret: Type.Optional(
          Type.String({ description: '`whsec_` followed by base64. Omitted for apps: their client secret signs.' }),
        ),
      }),
    },
    refusals: ['forbidden_url', 'semantic_error'],
    async run({ workspaceId, caller, grant, body: { url, events, description = null } }, services) {
      const { engine, ids, secrets, webhookSender } = services;
      if (await webhookSender.isForbidden(url)) refuse('forbidden_url');
      const webhookId = ids.uuid();
      if (grant?.by === 'app' && appSecret(services, grant.id) === undefined)
        refuse('semantic_error', { message: 'An app without a secret cannot sign webhooks.' });
      const secret = grant?.by === 'app' ? undefined : freshWebhookSecret(ids);
      const sealedSecret =
        secret === undefined ? null : secrets.seal(secret, webhookSecretName(workspaceId, webhookId));
      const webhook = await engine.execute(createWebhook, {
        workspaceId,
        caller,
        params: { webhookId, url, events, description, sealedSecret, grant },
      });
      return { ...webhook, ...(secret === undefined ? {} : { secret }) };
    },
  }),

  ...commonWebhookRoutes({ feed: 'events', noun: 'webhook', path, tag, access, eventNames, shared: {} }),
];
