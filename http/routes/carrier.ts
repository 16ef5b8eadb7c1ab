// Webhooks of carriers: call events signed with the workspace's secret, and Twilio's own webhooks with Twilio's
// signature. The signer is verified before the content is read. Decisions 4.8.

import Type, { type Static } from 'typebox';
import { type CarrierAnswer, receiveCarrierEvent } from '../../engine/calls/carrier-events.ts';
import { workspacesOfNumber } from '../../engine/directory/numbers.ts';
import { refuse, refuseField } from '../../engine/errors.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { findCallIdByCarrier } from '../../store/calls/calls.ts';
import type { CarrierEvent, CarrierHooks, HookName } from '../../workers/providers/carrier.ts';
import type { RawRequest } from '../request.ts';
import { route, type Signer } from '../route.ts';
import { E164, Id, nullable, Url } from '../schemas/shared.ts';
import { openSecret } from '../secrets/workspace-secrets.ts';
import type { Services } from '../services.ts';

const Delivery = Type.Object({
  type: Type.Enum(['ringing', 'ended', 'voicemail_left', 'recording_ready']),
  callId: Type.String({ minLength: 1, maxLength: 200, description: "The carrier's id of the call." }),
  from: nullable(E164),
  to: E164,
  durationMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 7 * 24 * 3600_000 })),
  recordingUrl: Type.Optional(Url),
  transcript: Type.Optional(Type.String({ maxLength: 10_000 })),
});

const hookNames = ['voice', 'status', 'voicemail', 'transcription', 'recording'] as const satisfies readonly HookName[];

export const carrierRoutes = [
  route({
    operation: 'carrier.event',
    method: 'POST',
    path: '/carrier/events',
    tag: 'Carrier',
    summary: 'Receive a call event',
    description:
      'X-Signature is `sha256=` followed by the hex HMAC-SHA256 of the body, ' +
      'keyed with `carrier.secret` from GET /workspace/integrations. ' +
      'Each type counts once per `callId`: events may arrive twice, late and in any order. ' +
      '`from` is null if the caller withholds the number; recording_ready requires `recordingUrl`. ' +
      'Events for a released number are accepted and ignored, ' +
      'except for calls that were open when it was released; `conversationId` is then null.',
    access: {
      kind: 'signed',
      signers({ body }, services) {
        const to = (body as { to?: unknown } | null)?.to;
        const workspaceIds = typeof to === 'string' ? workspacesOfNumber(services.directory, to) : [];
        return workspaceIds.flatMap((workspaceId) => signerOf(services, workspaceId));
      },
    },
    anyHeaders: true,
    httpOnly: true,
    body: Delivery,
    reply: { status: 200, schema: Type.Object({ conversationId: nullable(Id) }) },
    refusals: [],
    async run({ workspaceId, body }, services) {
      if (body.from !== null && !(await services.numberingPlan.isPossible(body.from)))
        refuseField('invalid_body', 'from', 'must be a phone number in E.164, such as +14155550123');
      const { conversationId } = await take(services, workspaceId, eventOf(body));
      return { conversationId };
    },
  }),

  route({
    operation: 'carrier.twilio',
    method: 'POST',
    path: '/carrier/twilio/{hook}',
    tag: 'Carrier',
    summary: 'Receive a Twilio webhook',
    description:
      '`voice` and `status` are configured on a number when it is claimed; `voicemail`, ' +
      '`transcription` and `recording` are named in TwiML. ' +
      'Verified by X-Twilio-Signature over BASE_URL. Does not exist with another carrier.',
    access: { kind: 'public' },
    anyHeaders: true,
    httpOnly: true,
    params: Type.Object({ hook: Type.Enum(hookNames) }),
    rawBody: {
      contentType: 'application/x-www-form-urlencoded',
      schema: Type.Object({ CallSid: Type.String(), AccountSid: Type.String() }),
    },
    reply: { status: 200, schema: null, contentType: 'text/xml' },
    refusals: ['invalid_signature'],
    async send({ raw, params }, services) {
      const hooks = services.carrier.hooks ?? refuse('not_found');
      const { form, query } = verifiedForm(raw, hooks, services.config.baseUrl);
      const event = hooks.eventOf(params.hook, form, query);
      const answer = event === undefined ? undefined : await takeFromTwilio(services, event);
      const call = { carrierCallId: event?.callId ?? '', fromE164: event?.from ?? null, toE164: event?.to ?? '' };
      return {
        status: 200,
        headers: { 'Content-Type': 'text/xml; charset=utf-8' },
        body: hooks.answer(params.hook, call, answer?.order ?? { kind: 'hangup' }),
      };
    },
  }),
];

function take(services: Services, workspaceId: string, event: CarrierEvent): Promise<CarrierAnswer> {
  return services.engine.execute(receiveCarrierEvent, { workspaceId, caller: systemCaller, params: event });
}

function signerOf(services: Services, workspaceId: string): Signer[] {
  const secret = openSecret(services, workspaceId, 'carrier');
  return secret === undefined ? [] : [{ workspaceId, secret }];
}

function eventOf(delivery: Static<typeof Delivery>): CarrierEvent {
  const { type, callId, from, to, durationMs, recordingUrl, transcript } = delivery;
  const call = { callId, from, to };
  switch (type) {
    case 'ringing':
      return { ...call, type };
    case 'ended':
      return { ...call, type, durationMs };
    case 'voicemail_left':
      return { ...call, type, durationMs, recordingUrl, transcript };
    case 'recording_ready':
      return {
        ...call,
        type,
        recordingUrl: recordingUrl ?? refuseField('invalid_body', 'recordingUrl', 'is required'),
      };
  }
}

function verifiedForm(
  raw: RawRequest | undefined,
  hooks: CarrierHooks,
  baseUrl: string,
): { form: URLSearchParams; query: URLSearchParams } {
  if (raw === undefined) refuse('invalid_signature');
  const url = `${baseUrl}${raw.path}${raw.query === '' ? '' : `?${raw.query}`}`;
  const form =
    hooks.verify({ url, body: raw.body, signature: raw.headers['x-twilio-signature'] }) ?? refuse('invalid_signature');
  return { form, query: new URLSearchParams(raw.query) };
}

/**
 * Twilio signs the same way for all workspaces: the event belongs to the one that knows the call, otherwise to the one
 * that has the number. Calls to an unknown number ring nowhere.
 */
function takeFromTwilio(services: Services, event: CarrierEvent): Promise<CarrierAnswer> | undefined {
  const workspaceIds = workspacesOfNumber(services.directory, event.to);
  const knowsCall = (workspaceId: string): boolean => {
    const workspace = services.engine.workspace(workspaceId);
    return workspace !== undefined && findCallIdByCarrier(workspace.db, event.callId) !== undefined;
  };
  const workspaceId = workspaceIds.find(knowsCall) ?? workspaceIds[0];
  return workspaceId === undefined ? undefined : take(services, workspaceId, event);
}
