// What the signed-in agent is notified about, and the browsers that push reaches. Decisions "Push".

import Type from 'typebox';
import { refuse, refuseField } from '../../engine/errors.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import {
  changeNotifyChoice,
  endNoticeMails,
  keepPushKey,
  listPushSubscriptions,
  readNotifyChoice,
  sealedPushKey,
  subscribeToPush,
  unsubscribeFromPush,
} from '../../engine/team/notifications.ts';
import { notifyReasons } from '../../store/workspace/notifications.ts';
import { Unavailable } from '../../workers/failures.ts';
import { pushKeyName } from '../delivery/push.ts';
import type { RawReply } from '../request.ts';
import { type Access, route } from '../route.ts';
import { worded } from '../schemas/field-words.ts';
import { Id, Time, Url } from '../schemas/shared.ts';
import type { Services } from '../services.ts';

const access = { kind: 'agent', scope: null, credential: 'person' } as const satisfies Access;
const tag = 'Notifications';

const PushSubscription = Type.Object({
  id: Id,
  isCurrent: Type.Boolean({ description: 'Of the sign-in that makes this request.' }),
  device: Type.String({ description: 'As its browser reports: "Firefox on Android".' }),
  endpoint: Type.String({ description: "The subscription's address at the browser's push service." }),
  createdAt: Time,
});

const reasons = (description: string) =>
  Type.Array(Type.Enum([...notifyReasons]), { maxItems: notifyReasons.length, description });
const Choice = Type.Object({
  push: reasons('Pushed to subscribed browsers while none of your pages is open. All by default.'),
  mail: reasons('Mailed when no one has looked for five minutes. None by default.'),
  show: reasons('Shown by an open page in the background, in browsers where you allowed it. All by default.'),
  sound: reasons('Heard from an open page in the background, in browsers where you turned sound on. All by default.'),
});
const aboutReasons =
  '`own_messages`: a customer writes in a conversation of yours. `queue`: one that no one has is waiting. ' +
  '`offers`: a conversation is offered or given to you. `calls`: a call rings, was missed or left a voicemail.';

/** A program of the reader's uses one now and then; mail scanners open them, too. */
const noticeLinksPerMinute = 60;

const base64Url = worded('^[A-Za-z0-9_-]+={0,2}$', 'base64url');
const NoticeToken = Type.Object({ token: Type.String({ maxLength: 200 }) });
/** Padded or not. */
const Bytes = (chars: number, example: string, description: string) =>
  Type.String({ minLength: chars, maxLength: chars + 2, pattern: base64Url, description, examples: [example] });

export const notificationRoutes = [
  route({
    operation: 'push.list',
    method: 'GET',
    path: '/me/push',
    tag,
    summary: 'List your subscribed browsers',
    description:
      'With the key that a browser subscribes with: `applicationServerKey` of `PushManager.subscribe()` (RFC 8292). It stays the same.',
    access,
    reply: {
      status: 200,
      schema: Type.Object({
        publicKey: Type.String({ description: 'P-256, uncompressed, base64url.' }),
        subscriptions: Type.Array(PushSubscription),
      }),
    },
    refusals: [],
    async run({ workspaceId, caller, sessionId }, services) {
      const publicKey = await publicKeyOf(services, workspaceId);
      const view = services.engine.workspace(workspaceId)?.view(caller) ?? refuse('unauthorized');
      return { publicKey, subscriptions: listPushSubscriptions(view, sessionId) };
    },
  }),

  route({
    operation: 'push.subscribe',
    method: 'POST',
    path: '/me/push',
    tag,
    summary: 'Subscribe this browser to push',
    description:
      "Takes `PushSubscription.toJSON()`. The subscription ends with this sign-in, and when the browser's push service no longer knows it. " +
      'An endpoint that is subscribed already keeps its id. The message is encrypted for the browser (RFC 8291) and is JSON: `{reason, title, body, tag, url}`, `url` being a path of the pages.',
    access,
    httpOnly: true,
    body: Type.Object({
      endpoint: Url,
      keys: Type.Object({
        p256dh: Bytes(
          87,
          'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
          "The browser's public key, P-256, uncompressed.",
        ),
        auth: Bytes(22, 'BTBZMqHH6r4Tts7J_aSIgg', 'The authentication secret, 16 bytes.'),
      }),
    }),
    reply: { status: 201, schema: PushSubscription },
    refusals: ['forbidden_url'],
    async run({ workspaceId, caller, sessionId, userAgent, body: { endpoint, keys } }, services) {
      const { engine, config, webhookSender, pushSender } = services;
      if (!config.allowPrivateWebhooks && !/^https:/i.test(endpoint))
        refuseField('invalid_body', 'endpoint', 'must be an https address');
      if (!pushSender.areKeys({ publicKey: keys.p256dh, authSecret: keys.auth }))
        refuseField('invalid_body', 'keys', 'must be those of a browser');
      if (await webhookSender.isForbidden(endpoint)) refuse('forbidden_url');
      await publicKeyOf(services, workspaceId);
      return engine.execute(subscribeToPush, {
        workspaceId,
        caller,
        params: {
          endpoint,
          publicKey: keys.p256dh,
          authSecret: keys.auth,
          // A token from before sign-ins were recorded gets one by POST /auth/refresh.
          sessionId: sessionId ?? refuse('unauthorized'),
          userAgent,
        },
      });
    },
  }),

  route({
    operation: 'push.unsubscribe',
    method: 'DELETE',
    path: '/me/push/{subscriptionId}',
    tag,
    summary: 'Unsubscribe a browser',
    access,
    params: Type.Object({ subscriptionId: Id }),
    reply: { status: 204, schema: null },
    refusals: [],
    run: ({ workspaceId, caller, params }, { engine }) =>
      engine.execute(unsubscribeFromPush, { workspaceId, caller, params }),
  }),

  route({
    operation: 'notifications.read',
    method: 'GET',
    path: '/me/notifications',
    tag,
    summary: 'Get what you are notified about',
    description: aboutReasons,
    access,
    reply: { status: 200, schema: Choice },
    refusals: [],
    read: (view) => readNotifyChoice(view),
  }),

  route({
    operation: 'notifications.update',
    method: 'PATCH',
    path: '/me/notifications',
    tag,
    summary: 'Change what you are notified about',
    description: `Replaces the lists that are given. ${aboutReasons}`,
    access,
    body: Type.Partial(Choice, { minProperties: 1 }),
    reply: { status: 200, schema: Choice },
    refusals: [],
    run({ workspaceId, caller, body: { push, mail, show, sound } }, { engine }) {
      const changes = {
        ...(push === undefined ? {} : { push }),
        ...(mail === undefined ? {} : { mail }),
        ...(show === undefined ? {} : { show }),
        ...(sound === undefined ? {} : { sound }),
      };
      if (Object.keys(changes).length === 0) refuse('invalid_body', { message: 'Give push, mail, show or sound.' });
      return engine.execute(changeNotifyChoice, { workspaceId, caller, params: { changes } });
    },
  }),

  route({
    operation: 'notifications.openLink',
    method: 'GET',
    path: '//notices/{token}',
    tag,
    summary: 'Open the link of a mail about work',
    description: 'The address of `List-Unsubscribe`. Leads to the account page and changes nothing.',
    access: { kind: 'public' },
    limit: { by: 'ip', perMinute: noticeLinksPerMinute },
    anyHeaders: true,
    httpOnly: true,
    params: NoticeToken,
    reply: { status: 302, schema: null },
    refusals: [],
    send: (_input, { config }): RawReply => ({
      status: 302,
      headers: { Location: `${config.baseUrl}/account`, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' },
      body: '',
    }),
  }),

  route({
    operation: 'notifications.endByLink',
    method: 'POST',
    path: '//notices/{token}',
    tag,
    summary: 'End mails about work',
    description:
      'One click in a mail program (RFC 8058): its agent is no longer mailed for the reasons of that mail. ' +
      'Needs no sign-in, and has no effect if it was done before. The body is ignored.',
    access: { kind: 'public' },
    limit: { by: 'ip', perMinute: noticeLinksPerMinute },
    anyHeaders: true,
    httpOnly: true,
    params: NoticeToken,
    reply: { status: 200, schema: null, contentType: 'text/plain' },
    refusals: [],
    async send({ params }, { engine, noticeLinks }): Promise<RawReply> {
      const { workspaceId, agentId, reasons } = noticeLinks.verify(params.token) ?? refuse('not_found');
      await engine.whenOpen(workspaceId);
      if (engine.workspace(workspaceId) === undefined) refuse('not_found');
      await engine.execute(endNoticeMails, { workspaceId, caller: systemCaller, params: { agentId, reasons } });
      return {
        status: 200,
        headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' },
        body: 'You are no longer mailed about this. Your account page has your choices.',
      };
    },
  }),
];

/** Makes the key when it is first needed, and again if the service's key that sealed it was lost. */
async function publicKeyOf(
  { engine, secrets, pushSender }: Pick<Services, 'engine' | 'secrets' | 'pushSender'>,
  workspaceId: string,
): Promise<string> {
  const caller = systemCaller;
  const about = pushKeyName(workspaceId);
  const view = engine.workspace(workspaceId)?.view(caller);
  const present = view && sealedPushKey(view);
  const key = present === undefined ? undefined : opened(() => secrets.open(present, about));
  if (key !== undefined) return pushSender.publicKeyOf(key);
  const sealed = await engine.execute(keepPushKey, {
    workspaceId,
    caller,
    params: { sealed: secrets.seal(pushSender.freshKey(), about), lost: present },
  });
  return pushSender.publicKeyOf(secrets.open(sealed, about));
}

function opened(open: () => string): string | undefined {
  try {
    return open();
  } catch (error) {
    if (error instanceof Unavailable) return undefined;
    throw error;
  }
}
