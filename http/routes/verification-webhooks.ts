// Who is told of verify.failed. Decisions 4.21.

import Type from 'typebox';
import { refuse } from '../../engine/errors.ts';
import { createVerifyWebhook, verifyEvents } from '../../engine/verification-webhooks.ts';
import { listWebhooks, removeWebhook, webhookSecretName } from '../../engine/webhooks.ts';
import { Webhook } from '../record-schemas.ts';
import { type Access, route } from '../route.ts';
import { Id, nullable, Url } from '../schemas.ts';
import { freshWebhookSecret } from '../webhook-sending.ts';

const access = { kind: 'agent', scope: 'verify', role: 'admin' } as const satisfies Access;
const tag = 'Verification';
const feed = 'verify';

const EventName = Type.Enum([...verifyEvents]);

export const verificationWebhookRoutes = [
  route({
    operation: 'verifyWebhook.list',
    method: 'GET',
    path: '/verify/webhooks',
    tag,
    summary: 'List verification webhooks',
    access,
    httpOnly: true,
    reply: { status: 200, schema: Type.Object({ webhooks: Type.Array(Webhook) }) },
    refusals: [],
    read: (view, { grant }) => ({ webhooks: listWebhooks(view, { feed, grant }) }),
  }),

  route({
    operation: 'verifyWebhook.create',
    method: 'POST',
    path: '/verify/webhooks',
    tag,
    summary: 'Be told when a code was guessed at too often',
    description: 'verify.failed, {type, timestamp, workspaceId, data: {verification, mode}}, once per verification, at the fifth wrong code. Signed, tried again and disabled as every webhook is. The secret is in this answer and never again.',
    access,
    httpOnly: true,
    invalidSlug: 'validation_error',
    body: Type.Object({ url: Url, events: Type.Optional(Type.Array(EventName, { minItems: 1, maxItems: 10 })), description: Type.Optional(nullable(Type.String({ maxLength: 500 }))) }),
    reply: { status: 201, schema: Type.Object({ ...Webhook.properties, secret: Type.String({ description: 'whsec_ and base64.' }) }) },
    refusals: ['forbidden_url', 'semantic_error'],
    async run({ workspaceId, caller, body: { url, events = verifyEvents, description = null } }, { engine, ids, secrets, webhookSender }) {
      if (await webhookSender.isForbidden(url)) refuse('forbidden_url');
      const webhookId = ids.uuid();
      const secret = freshWebhookSecret(ids);
      const sealedSecret = secrets.seal(secret, webhookSecretName(workspaceId, webhookId));
      return { ...(await engine.execute(createVerifyWebhook, { workspaceId, caller, params: { webhookId, url, events, description, sealedSecret } })), secret };
    },
  }),

  route({
    operation: 'verifyWebhook.delete',
    method: 'DELETE',
    path: '/verify/webhooks/{webhookId}',
    tag,
    summary: 'End a verification webhook',
    access,
    httpOnly: true,
    params: Type.Object({ webhookId: Id }),
    reply: { status: 204, schema: null },
    refusals: [],
    run: ({ workspaceId, caller, grant, params }, { engine }) => engine.execute(removeWebhook, { workspaceId, caller, params: { ...params, feed, grant } }),
  }),
];
