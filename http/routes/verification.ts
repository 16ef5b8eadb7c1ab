// One-time codes: sent and checked with a key. Specification 4.21, decisions 4.21. http/pipeline/error-shapes.ts
// defines the shape of its errors.

import Type from 'typebox';
import type { Grant } from '../../engine/rights/scopes.ts';
import { checkAuthenticator, enrolAuthenticator } from '../../engine/verification/authenticators.ts';
import { checkCode, requestCode } from '../../engine/verification/codes.ts';
import { factorView, listFactors, readFactor, removeFactor } from '../../engine/verification/factors.ts';
import { listVerifications, readVerification } from '../../engine/verification/verification.ts';
import { verifyChannels } from '../../store/verification/services.ts';
import { networkOf } from '../limits/network-address.ts';
import { byCreated, pageOf } from '../pipeline/cursor.ts';
import { type Access, actorOf, route } from '../route.ts';
import { worded } from '../schemas/field-words.ts';
import { SentVerification, Verification, VerifyFactor } from '../schemas/records.ts';
import { CursorQuery, Id, Locale, Name, NextCursor, nullable } from '../schemas/shared.ts';

const access = { kind: 'agent', scope: 'verify', credential: 'key' } as const satisfies Access;
const tag = 'Verification';

const VerifyChannel = Type.Enum([...verifyChannels]);
const ServiceId = Type.String({
  pattern: worded('^vs_[A-Za-z0-9_-]{1,64}$', 'an id that begins with vs_'),
  description: 'Begins with vs_. Default: the default service.',
});
const ClientIp = Type.String({
  minLength: 2,
  maxLength: 45,
  anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }],
  description:
    "Your customer's IP address, IPv4 or IPv6. At most ten codes a minute are sent per address; without it, " +
    "your own server's address counts.",
});
const Code = Type.String({ pattern: worded('^\\d{4,8}$', '4 to 8 digits') });

const Outcome = Type.Object({
  id: Type.String(),
  verified: Type.Boolean(),
  reason: nullable(Type.Enum(['bad_code', 'already_used', 'expired', 'too_many_attempts'])),
});

export const verificationRoutes = [
  route({
    operation: 'verification.create',
    method: 'POST',
    path: '/verify',
    tag,
    summary: 'Send a one-time code',
    description:
      'Each call sends a new code, which invalidates earlier ones for the same destination and service; there is no resend. ' +
      'Checks run in this order: request, channel, address, service, country, caps, credits, throttle. ' +
      'No codes are sent to premium, shared-cost, personal, pager, ' +
      'company or satellite numbers (`invalid_number`), to countries that the operator excludes, ' +
      'more than 20 times a day to one destination (10 times for codes of four digits), ' +
      'or where almost none of the last codes were checked: 20 to numbers that differ only in four digits, ' +
      '100 to one country. ' +
      'Test keys are counted separately. ' +
      "The language is that of `locale`, else the workspace's: English, German, French, " +
      'Spanish or Arabic (not by voice); otherwise English. ' +
      'Costs 1 cent by email, 5 by sms, 10 by voice. Test keys send nothing, cost nothing and always accept 000000.',
    access,
    httpOnly: true,
    invalidSlug: 'validation_error',
    body: Type.Object({
      to: Type.String({ minLength: 3, maxLength: 254 }),
      channel: VerifyChannel,
      serviceId: Type.Optional(ServiceId),
      clientIp: Type.Optional(ClientIp),
      locale: Type.Optional(Locale),
    }),
    reply: { status: 201, schema: SentVerification },
    refusals: [
      'bad_channel',
      'channel_not_available',
      'channel_not_sendable',
      'invalid_email',
      'invalid_number',
      'service_not_found',
      'no_default_service',
      'channel_not_enabled',
      'country_not_allowed',
      'insufficient_credits',
    ],
    async run(call, services) {
      const { ceilings, verifyCountries } = services.config;
      const { clientIp, serviceId, locale, ...wanted } = call.body;
      const {
        verified: _,
        attempts: __,
        consumedAt: ___,
        ...sent
      } = await requestCode(services, actorOf(call), {
        ...wanted,
        serviceId,
        locale,
        isTest: isTestKey(call.grant),
        sourceIp: networkOf(clientIp ?? call.ip),
        serverCountries: verifyCountries,
        workspacePerDay: ceilings.codesPerDay,
      });
      return sent;
    },
  }),

  route({
    operation: 'verification.check',
    method: 'POST',
    path: '/verify/check',
    tag,
    summary: 'Check a code',
    description:
      'Every outcome returns 200, except an unknown id, which returns 404 with the same body. A code works once. ' +
      'The fifth wrong code locks the verification permanently and emits verify.failed.',
    access,
    httpOnly: true,
    invalidSlug: 'validation_error',
    body: Type.Object(
      {
        id: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
        verifyId: Type.Optional(
          Type.String({ minLength: 1, maxLength: 100, description: 'An alias of `id`; one of the two is required.' }),
        ),
        code: Code,
      },
      { if: { not: { required: ['verifyId'] } }, then: { required: ['id'] } },
    ),
    reply: { status: 200, schema: Outcome },
    refusals: [],
    run(call, services) {
      const { id, verifyId, code } = call.body;
      const verificationId = (id ?? verifyId)?.toLowerCase();
      if (verificationId === undefined) throw new Error('the schema admitted a check without an id');
      return checkCode(services, actorOf(call), { verificationId, code, isTest: isTestKey(call.grant) });
    },
  }),

  route({
    operation: 'verification.list',
    method: 'GET',
    path: '/verify',
    tag,
    summary: 'List verifications',
    description:
      'Newest first; kept for 90 days. Live keys and signed-in admins see those of live keys, test keys those of test keys.',
    access: { ...access, credential: 'keyOrAdmin' },
    httpOnly: true,
    invalidQuerySlug: 'validation_error',
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
      serviceId: Type.Optional(ServiceId),
    }),
    reply: { status: 200, schema: Type.Object({ verifications: Type.Array(Verification) }) },
    refusals: ['service_not_found'],
    read: (view, { grant, query: { limit = 50, serviceId } }) => ({
      verifications: listVerifications(view, { isTest: isTestKey(grant), serviceId, limit }),
    }),
  }),

  route({
    operation: 'verification.read',
    method: 'GET',
    path: '/verify/{verificationId}',
    tag,
    summary: 'Get a verification',
    access,
    httpOnly: true,
    params: Type.Object({ verificationId: Id }),
    reply: { status: 200, schema: Verification },
    refusals: [],
    read: (view, { grant, params: { verificationId } }) =>
      readVerification(view, { verificationId, isTest: isTestKey(grant) }),
  }),

  route({
    operation: 'verifyFactor.enrol',
    method: 'POST',
    path: '/verify/totp/enroll',
    tag,
    summary: 'Enrol an authenticator app',
    description:
      'Returns the secret, once: show qrCode (a data URL) or secret to your user. RFC 6238: SHA-1, 30 seconds, 6 digits.',
    access,
    httpOnly: true,
    invalidSlug: 'validation_error',
    body: Type.Object({
      identity: Type.Intersect([Name, Type.String({ description: 'The account name that the app shows.' })]),
      serviceId: Type.Optional(ServiceId),
    }),
    reply: {
      status: 201,
      schema: Type.Object({
        factorId: Id,
        secret: Type.String({ description: 'Base32.' }),
        otpauthUrl: Type.String(),
        qrCode: Type.String({ description: 'A data URL.' }),
      }),
    },
    refusals: ['service_not_found', 'no_default_service', 'totp_not_enabled'],
    run(call, services) {
      const { identity, serviceId } = call.body;
      return enrolAuthenticator(services, actorOf(call), { identity, serviceId, isTest: isTestKey(call.grant) });
    },
  }),

  route({
    operation: 'verifyFactor.check',
    method: 'POST',
    path: '/verify/totp/check',
    tag,
    summary: "Check an authenticator app's code",
    description:
      'Accepts the current, the previous and the next code, each once. ' +
      'The fifth wrong code in a row locks the factor for a minute, each further one for twice as long: `too_many_attempts`.',
    access,
    httpOnly: true,
    invalidSlug: 'validation_error',
    body: Type.Object({ factorId: Type.String({ minLength: 1, maxLength: 100 }), code: Code }),
    reply: { status: 200, schema: Outcome },
    refusals: ['totp_not_enabled'],
    run(call, services) {
      const { factorId, code } = call.body;
      return checkAuthenticator(services, actorOf(call), {
        factorId: factorId.toLowerCase(),
        code,
        isTest: isTestKey(call.grant),
      });
    },
  }),

  route({
    operation: 'verifyFactor.list',
    method: 'GET',
    path: '/verify/totp/factors',
    tag,
    summary: 'List authenticator apps',
    description:
      'Newest first, without secrets. Live keys and signed-in admins see those of live keys, test keys those of test keys.',
    access: { ...access, credential: 'keyOrAdmin' },
    httpOnly: true,
    invalidQuerySlug: 'validation_error',
    query: Type.Object({
      ...CursorQuery,
      serviceId: Type.Optional(ServiceId),
      identity: Type.Optional(
        Type.String({ minLength: 1, maxLength: 200, description: 'As enrolled; case is ignored.' }),
      ),
    }),
    reply: { status: 200, schema: Type.Object({ factors: Type.Array(VerifyFactor), nextCursor: NextCursor }) },
    refusals: ['service_not_found'],
    read(view, { grant, query }) {
      const filter = { isTest: isTestKey(grant), serviceId: query.serviceId, identity: query.identity };
      const { rows, nextCursor } = pageOf(query, (page) => listFactors(view, { filter, ...page }), byCreated);
      return { factors: rows.map((factor) => factorView(factor, view.at)), nextCursor };
    },
  }),

  route({
    operation: 'verifyFactor.read',
    method: 'GET',
    path: '/verify/totp/factors/{factorId}',
    tag,
    summary: 'Get an authenticator app',
    access: { ...access, credential: 'keyOrAdmin' },
    httpOnly: true,
    params: Type.Object({ factorId: Id }),
    reply: { status: 200, schema: VerifyFactor },
    refusals: [],
    read: (view, { grant, params: { factorId } }) => readFactor(view, { factorId, isTest: isTestKey(grant) }),
  }),

  route({
    operation: 'verifyFactor.delete',
    method: 'DELETE',
    path: '/verify/totp/factors/{factorId}',
    tag,
    summary: 'Delete an authenticator app',
    description: 'For lost phones and erasure requests. Its codes stop working.',
    access: { ...access, credential: 'keyOrAdmin' },
    httpOnly: true,
    params: Type.Object({ factorId: Id }),
    reply: { status: 204, schema: null },
    refusals: [],
    run: ({ workspaceId, caller, grant, params: { factorId } }, { engine }) =>
      engine.execute(removeFactor, { workspaceId, caller, params: { factorId, isTest: isTestKey(grant) } }),
  }),
];

function isTestKey(grant: Grant | undefined): boolean {
  return grant?.mode === 'test';
}
