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
  Type.String({ format: 'uuid', description: "The department's or agent's id; none for all agents." }),
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
    summary: 'Search available numbers',
    description:
      '`areaCode` is three digits for US, Canadian and toll-free numbers (800, 833, …), where it is required; ' +
      "for `international` it is the country's calling code (44) and optional.",
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
          properties: { areaCode: { pattern: worded('^[2-9]\\d\\d$', 'three digits, the first from 2 to 9') } },
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
      'Buys the number from the carrier; calls arrive from then on. Voicemail is on by default. ' +
      'Returns 422 `semantic_error` if the carrier does not sell the number, ' +
      'for example because it requires an address, and 402 `plan_limit` with detail {ceiling: numbers, ' +
      "limit} above the operator's limit per workspace.",
    access: adminAlone,
    body: Type.Object({
      e164: E164,
      displayName: Name,
      routingStrategy: RoutingStrategy,
      routingTargetId: Type.Optional(RoutingTargetId),
      recordCalls: Type.Optional(Type.Boolean({ description: 'Sets `recordingEnabled`. Default: false.' })),
      smartHoldEnabled: Type.Optional(Type.Boolean()),
      voiceProfileId: Type.Optional(nullable(Id)),
    }),
    reply: { status: 201, schema: PhoneNumber },
    refusals: ['number_taken', 'semantic_error'],
    actsOutside: true,
    async run({ workspaceId, caller, body }, services) {
      if (!(await services.numberingPlan.isPossible(body.e164)))
        refuseField('invalid_body', 'e164', 'must be a phone number in E.164, such as +14155550123');
      const maxNumbers = ceilingsOf(services.config)?.numbers;
      return buyNumber(services, {
        workspaceId,
        caller,
        fields: body,
        ...(maxNumbers === undefined ? {} : { maxNumbers }),
      });
    },
  }),

  route({
    operation: 'phoneNumber.list',
    method: 'GET',
    path: '/phone-numbers',
    tag: 'Phone numbers',
    summary: 'List numbers',
    description: 'Lists the numbers in use; with `status=released`, those that were released.',
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
    summary: 'Update a number',
    description:
      'The last write wins. A new strategy clears the target of the previous one. ' +
      "`businessHours: null` goes back to the department's or the workspace's hours. " +
      'Returns 410 `gone` for a released number.',
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
      'Returns the number to the carrier for good. Calls that are still ringing go to voicemail first. ' +
      'Returns the record, which stays in the list of released numbers. Returns 410 `gone` if it was released before.',
    access: adminAlone,
    params: Type.Object({ phoneNumberId: Id }),
    reply: { status: 200, schema: PhoneNumber },
    refusals: ['gone'],
    actsOutside: true,
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
    description:
      "A voice profile is what a number says to callers before it rings, and in which of the carrier's voices.",
    access: { kind: 'agent', scope: null, role: 'admin', feature: 'calls' },
    body: Type.Object({
      name: Name,
      greetingText: prose(1000),
      voice: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 60,
          pattern: worded('^[A-Za-z0-9.-]+$', 'letters, digits, dots and hyphens'),
          description: "The carrier's name of the voice, such as alice or Polly.Joanna. Default: alice.",
        }),
      ),
    }),
    reply: { status: 201, schema: VoiceProfile },
    refusals: ['semantic_error'],
    run: ({ workspaceId, caller, body }, { engine }) =>
      engine.execute(createVoiceProfile, { workspaceId, caller, params: body }),
  }),
];
