// Webhooks for verify.failed. Decisions 4.21.

import Type from 'typebox';
import { refuse } from '../../engine/errors.ts';
import { webhookSecretName } from '../../engine/platform/webhooks.ts';
import { createVerifyWebhook, verifyEvents } from '../../engine/verification/webhooks.ts';
import { type Access, route } from '../route.ts';
import { Webhook } from '../schemas/records.ts';
import { Url } from '../schemas/shared.ts';
import { commonWebhookRoutes, Description } from '../webhooks/routes.ts';
import { freshWebhookSecret } from '../webhooks/sending.ts';

const access = { kind: 'agent', scope: 'verify', role: 'admin' } as const satisfies Access;
const tag = 'Verification';
const path = '/verify/webhooks';

const EventName = Type.Enum([...verifyEvents]);

export const verificationWebhookRoutes = [
  route({
    operation: 'verifyWebhook.create',
    method: 'POST',
    path,
    tag,
    summary: 'Subscribe to failed verifications',
    description:
      'Sends verify.failed, {type, timestamp, workspaceId, data: {verification, mode}}, once per verification, at its fifth wrong code. ' +
      'A webhook made with a test key only receives those of test keys. ' +
      'Deliveries are signed, retried, paused and disabled as for every webhook. Returns the secret, once.',
    access,
    httpOnly: true,
    invalidSlug: 'validation_error',
    body: Type.Object({
      url: Url,
      events: Type.Optional(Type.Array(EventName, { minItems: 1, maxItems: 10 })),
      description: Type.Optional(Description),
    }),
    reply: {
      status: 201,
      schema: Type.Object({
        ...Webhook.properties,
        secret: Type.String({ description: '`whsec_` followed by base64.' }),
      }),
    },
    refusals: ['forbidden_url', 'semantic_error'],
    async run(
      { workspaceId, caller, grant, body: { url, events = verifyEvents, description = null } },
      { engine, ids, secrets, webhookSender },
    ) {
      if (await webhookSender.isForbidden(url)) refuse('forbidden_url');
      const webhookId = ids.uuid();
      const secret = freshWebhookSecret(ids);
      const sealedSecret = secrets.seal(secret, webhookSecretName(workspaceId, webhookId));
      return {
        ...(await engine.execute(createVerifyWebhook, {
          workspaceId,
          caller,
          params: { webhookId, url, events, description, sealedSecret, grant },
        })),
        secret,
      };
    },
  }),

  ...commonWebhookRoutes({
    feed: 'verify',
    noun: 'verifyWebhook',
    path,
    tag,
    access,
    eventNames: verifyEvents,
    shared: { httpOnly: true, invalidSlug: 'validation_error', invalidQuerySlug: 'validation_error' },
  }),
];
