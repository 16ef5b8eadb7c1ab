// Phone numbers and voice profiles. Specification 4.18, decisions 4.18.

import Type from 'typebox';
import { buyNumber, giveUpNumber, requireCarrier } from '../../engine/calls/number-claims.ts';
import { changeNumber, listNumbers } from '../../engine/calls/phone-numbers.ts';
import { createVoiceProfile, listVoiceProfiles } from '../../engine/calls/voice-profiles.ts';
import { isNumberHeld } from '../../engine/directory/numbers.ts';
import { refuseField } from '../../engine/errors.ts';
import { requireAdmin } from '../../engine/workspace/access.ts';
import { byCreated, pageOf } from '../pipeline/cursor.ts';
import { ceilingsOf } from '../process/config.ts';
import { route } from '../route.ts';
import { worded } from '../schemas/field-words.ts';
import { AvailableNumber, NumberStatus, PhoneNumber, RoutingStrategy, VoiceProfile } from '../schemas/records.ts';
import { CursorQuery, E164, Id, Name, NextCursor, nullable, prose, Url, WeeklyHours } from '../schemas/shared.ts';

const defaultSearchLimit = 10;
const RoutingTargetId = nullable(
  Type.String({ format: 'uuid', description: 'The department or the agent; none for all agents.' }),
);
const NumberKind = Type.Enum(['local', 'tollfree', 'international']);

const anyAgent = { kind: 'agent', scope: null, feature: 'calls', featureSlug: 'plan_limit' } as const;
const adminAlone = { ...anyAgent, role: 'admin', roleSlug: 'forbidden' } as const;

export const phoneNumberRoutes = [
  route({
    operation: 'phoneNumber.search',
    method: 'POST',
    path: '/phone-numbers/available',
    tag: 'Phone numbers',
    summary: 'Search numbers that can be claimed',
    description:
      "areaCode is three digits for the US, Canada and toll-free numbers (800, 833, …), and needed there; for international it is the country's calling code (44) and may be left out.",
    access: anyAgent,
    body: Type.Object(
      {
        areaCode: Type.Optional(Type.String({ maxLength: 10 })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: defaultSearchLimit })),
        kind: Type.Optional(NumberKind),
      },
      {
        if: { properties: { kind: { const: 'international' } }, required: ['kind'] },
        then: {
          properties: { areaCode: { pattern: worded('^[1-9]\\d{0,2}$', 'the calling code of a country, such as 44') } },
        },
        else: {
          properties: { areaCode: { pattern: worded('^[2-9]\\d\\d$', 'three digits, the first one 2 to 9') } },
          required: ['areaCode'],
        },
      },
    ),
    reply: { status: 200, schema: Type.Object({ available: Type.Array(AvailableNumber) }) },
    refusals: [],
    async run({ body }, { carrier, directory }) {
      const { areaCode, limit = defaultSearchLimit, kind = 'local' } = body;
      requireCarrier(carrier);
      return {
        available: await carrier.search({ kind, areaCode, limit, isHeld: (e164) => isNumberHeld(directory, e164) }),
      };
    },
  }),

  route({
    operation: 'phoneNumber.claim',
    method: 'POST',
    path: '/phone-numbers',
    tag: 'Phone numbers',
    summary: 'Claim a number',
    description:
      'Buys it at the carrier; calls come in from then on. Voicemail is on at first. A number that the carrier will not sell, such as one that needs an address: 422 semantic_error. One more than whoever runs the server allows a workspace: 402 plan_limit, with detail {ceiling: numbers, limit}.',
    access: adminAlone,
    body: Type.Object({
      e164: E164,
      displayName: Name,
      routingStrategy: RoutingStrategy,
      routingTargetId: Type.Optional(RoutingTargetId),
      recordCalls: Type.Optional(Type.Boolean({ description: 'Becomes recordingEnabled. Default false.' })),
      smartHoldEnabled: Type.Optional(Type.Boolean()),
      voiceProfileId: Type.Optional(nullable(Id)),
    }),
    reply: { status: 201, schema: PhoneNumber },
    refusals: ['number_taken', 'semantic_error'],
    async run({ workspaceId, caller, body }, services) {
      if (!(await services.numberingPlan.isPossible(body.e164)))
        refuseField('invalid_body', 'e164', 'must be a phone number in E.164, such as +14155550123');
      return buyNumber(services, {
        workspaceId,
        caller,
        fields: body,
        maxNumbers: ceilingsOf(services.config)?.numbers ?? Number.POSITIVE_INFINITY,
      });
    },
  }),

  route({
    operation: 'phoneNumber.list',
    method: 'GET',
    path: '/phone-numbers',
    tag: 'Phone numbers',
    summary: 'List numbers',
    description: 'Those in use; with status=released, those that were given up.',
    access: anyAgent,
    query: Type.Object({ status: Type.Optional(NumberStatus), ...CursorQuery }),
    reply: { status: 200, schema: Type.Object({ numbers: Type.Array(PhoneNumber), nextCursor: NextCursor }) },
    refusals: [],
    read(view, { query }) {
      const { rows, nextCursor } = pageOf(
        query,
        (page) => listNumbers(view, { status: query.status ?? 'active', ...page }),
        byCreated,
      );
      return { numbers: rows, nextCursor };
    },
  }),

  route({
    operation: 'phoneNumber.update',
    method: 'PATCH',
    path: '/phone-numbers/{phoneNumberId}',
    tag: 'Phone numbers',
    summary: 'Change a number',
    description:
      "The last writer wins. A new strategy forgets the target of the former one. businessHours null goes back to the department's or the workspace's. A released number: 410 gone.",
    access: adminAlone,
    params: Type.Object({ phoneNumberId: Id }),
    body: Type.Object({
      displayName: Type.Optional(Name),
      routingStrategy: Type.Optional(RoutingStrategy),
      routingTargetId: Type.Optional(RoutingTargetId),
      voicemailEnabled: Type.Optional(Type.Boolean()),
      recordingEnabled: Type.Optional(Type.Boolean()),
      smartHoldEnabled: Type.Optional(Type.Boolean()),
      voiceProfileId: Type.Optional(nullable(Id)),
      businessHours: Type.Optional(nullable(WeeklyHours)),
      welcomeAudioUrl: Type.Optional(nullable(Url)),
    }),
    reply: { status: 200, schema: PhoneNumber },
    refusals: ['gone', 'semantic_error'],
    run({ workspaceId, caller, params, body }, { engine }) {
      const {
        displayName,
        routingStrategy,
        routingTargetId,
        voicemailEnabled,
        recordingEnabled,
        smartHoldEnabled,
        voiceProfileId,
        businessHours,
        welcomeAudioUrl,
      } = body;
      const changes = {
        displayName,
        routingStrategy,
        routingTargetId,
        voicemailEnabled,
        recordingEnabled,
        smartHoldEnabled,
        voiceProfileId,
        businessHours,
        welcomeAudioUrl,
      };
      return engine.execute(changeNumber, { workspaceId, caller, params: { ...params, changes } });
    },
  }),

  route({
    operation: 'phoneNumber.release',
    method: 'DELETE',
    path: '/phone-numbers/{phoneNumberId}',
    tag: 'Phone numbers',
    summary: 'Release a number',
    description:
      'For good: it goes back to the carrier. Calls that still ring go to voicemail first. Answers with the record, which stays in the list of released numbers. Released before: 410 gone.',
    access: adminAlone,
    params: Type.Object({ phoneNumberId: Id }),
    reply: { status: 200, schema: PhoneNumber },
    refusals: ['gone'],
    run: ({ workspaceId, caller, params }, services) =>
      giveUpNumber(services, { workspaceId, caller, phoneNumberId: params.phoneNumberId }),
  }),

  route({
    operation: 'voiceProfile.list',
    method: 'GET',
    path: '/voice-profiles',
    tag: 'Phone numbers',
    summary: 'List voice profiles',
    access: { kind: 'agent', scope: null, role: 'admin', feature: 'calls' },
    reply: { status: 200, schema: Type.Object({ voiceProfiles: Type.Array(VoiceProfile) }) },
    refusals: [],
    read(view) {
      requireAdmin(view);
      return { voiceProfiles: listVoiceProfiles(view) };
    },
  }),

  route({
    operation: 'voiceProfile.create',
    method: 'POST',
    path: '/voice-profiles',
    tag: 'Phone numbers',
    summary: 'Create a voice profile',
    description: "What a number says to its callers before it rings, and in which of the carrier's voices.",
    access: { kind: 'agent', scope: null, role: 'admin', feature: 'calls' },
    body: Type.Object({
      name: Name,
      greetingText: prose(1000),
      voice: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 60,
          pattern: worded('^[A-Za-z0-9.-]+$', 'letters, digits, dots and hyphens'),
          description: "The carrier's name for it, such as alice or Polly.Joanna. Default alice.",
        }),
      ),
    }),
    reply: { status: 201, schema: VoiceProfile },
    refusals: ['semantic_error'],
    run: ({ workspaceId, caller, body }, { engine }) =>
      engine.execute(createVoiceProfile, { workspaceId, caller, params: body }),
  }),
];
