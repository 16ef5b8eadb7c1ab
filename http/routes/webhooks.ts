// Webhooks of the socket's events. Specification 6, decisions 4.2.

import Type from 'typebox';
import { refuse } from '../../engine/errors.ts';
import { createWebhook, eventTypes, webhookSecretName } from '../../engine/platform/webhooks.ts';
import { route } from '../route.ts';
import { Webhook } from '../schemas/records.ts';
import { Url } from '../schemas/shared.ts';
import { appSecret } from '../secrets/oauth-clients.ts';
import { commonWebhookRoutes, Description } from '../webhooks/routes.ts';
import { freshWebhookSecret } from '../webhooks/sending.ts';

const eventNames = [...eventTypes, '*'] as const;
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
      'Each event is POSTed as {type, timestamp, workspaceId, seq, conversationId?, data}, signed as Standard Webhooks says, with the secret that is in this answer and never again. ' +
      'Any 2xx within 10 seconds is taken for received; else it is tried again over a day, under the same webhook-id, after 429 and 503 no sooner than Retry-After says (8 hours at the most). Events of one conversation come in order. ' +
      'A receiver that takes nothing for five days, or answers 410, is disabled. * is every event; a key or an app gets those that its scopes let it read, each with the members that its scopes let it read. ' +
      'It lives by the rights of who made it, as they are when each event is sent: pausedReason says when they have ended. Up to 50.',
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
          Type.String({ description: 'whsec_ and base64. An app has none: its client secret signs.' }),
        ),
      }),
    },
    refusals: ['forbidden_url', 'semantic_error'],
    async run({ workspaceId, caller, grant, body: { url, events, description = null } }, services) {
      const { engine, ids, secrets, webhookSender } = services;
      if (await webhookSender.isForbidden(url)) refuse('forbidden_url');
      const webhookId = ids.uuid();
      if (grant?.by === 'app' && appSecret(services, grant.id) === undefined)
        refuse('semantic_error', { message: 'An app without a secret has nothing to sign with.' });
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
