// Settings for one-time codes: services and credits. Decisions 4.21.

import Type from 'typebox';
import { refuseField } from '../../engine/errors.ts';
import { changeCredits, readCredits } from '../../engine/verification/credits.ts';
import {
  changeVerifyService,
  createVerifyService,
  listVerifyServices,
  readVerifyService,
  removeVerifyService,
} from '../../engine/verification/services.ts';
import { verifyChannels } from '../../store/verification/services.ts';
import type { NumberingPlan } from '../../workers/numbering-plan.ts';
import { type Access, route } from '../route.ts';
import { worded } from '../schemas/field-words.ts';
import { Cents, VerifyCredits, VerifyService } from '../schemas/records.ts';
import { Name, nullable } from '../schemas/shared.ts';

const access = { kind: 'agent', scope: 'verify', role: 'admin' } as const satisfies Access;
const tag = 'Verification';

const VerifyChannel = Type.Enum([...verifyChannels]);
const ServiceId = Type.String({ maxLength: 100, description: 'Begins with vs_.' });
/** Bounded, because counting sends in the window has to stay cheap. */
const maxPerMinute = 1000;
const maxPerDay = 10_000;

const Channels = Type.Array(VerifyChannel, {
  minItems: 1,
  maxItems: verifyChannels.length,
  description: 'Default: email, sms, voice, totp.',
});
const Countries = Type.Array(Type.String({ pattern: worded('^([A-Z]{2}|\\*)$', 'a country, such as US, or *') }), {
  maxItems: 300,
  description: 'ISO 3166 alpha-2, or * for every country that the operator allows. Default: US, CA.',
});
const Service = Type.Object({ ...VerifyService.properties, enabledChannels: Type.Array(VerifyChannel) });
const Settings = {
  enabledChannels: Type.Optional(Channels),
  allowedCountries: Type.Optional(Countries),
  perMinuteCap: Type.Optional(
    Type.Integer({ minimum: 1, maximum: maxPerMinute, description: 'Sends in 60 seconds. Default: 10.' }),
  ),
  perDayCap: Type.Optional(
    Type.Integer({ minimum: 1, maximum: maxPerDay, description: 'Sends in 24 hours. Default: 1000.' }),
  ),
  codeLength: Type.Optional(Type.Integer({ minimum: 4, maximum: 8, description: 'Digits. Default 6.' })),
  ttlSeconds: Type.Optional(
    Type.Integer({ minimum: 60, maximum: 3600, description: 'Lifetime of a code, in seconds. Default: 600.' }),
  ),
  isDefault: Type.Optional(
    Type.Boolean({ description: 'Used if a request names no service. The first service created is the default.' }),
  ),
};

export const verificationServiceRoutes = [
  route({
    operation: 'verifyService.list',
    method: 'GET',
    path: '/verify/services',
    tag,
    summary: 'List verification services',
    access,
    httpOnly: true,
    reply: { status: 200, schema: Type.Object({ services: Type.Array(Service) }) },
    refusals: [],
    read: (view) => ({ services: listVerifyServices(view) }),
  }),

  route({
    operation: 'verifyService.create',
    method: 'POST',
    path: '/verify/services',
    tag,
    summary: 'Create a verification service',
    description:
      'The first one becomes the default. whatsapp, push and sna are not available yet and return 422 `preview_not_available`.',
    access,
    httpOnly: true,
    invalidSlug: 'validation_error',
    body: Type.Object({ name: Name, ...Settings }),
    reply: { status: 201, schema: Service },
    refusals: ['preview_not_available', 'semantic_error'],
    async run({ workspaceId, caller, body }, { engine, numberingPlan, config }) {
      await requireCountries(numberingPlan, body.allowedCountries);
      return engine.execute(createVerifyService, {
        workspaceId,
        caller,
        params: { ...body, serverCountries: config.verifyCountries },
      });
    },
  }),

  route({
    operation: 'verifyService.read',
    method: 'GET',
    path: '/verify/services/{serviceId}',
    tag,
    summary: 'Get a verification service',
    access,
    httpOnly: true,
    params: Type.Object({ serviceId: ServiceId }),
    reply: { status: 200, schema: Service },
    refusals: [],
    read: (view, { params: { serviceId } }) => readVerifyService(view, serviceId),
  }),

  route({
    operation: 'verifyService.update',
    method: 'PATCH',
    path: '/verify/services/{serviceId}',
    tag,
    summary: 'Update a verification service',
    description: '`isDefault: true` replaces the current default.',
    access,
    httpOnly: true,
    invalidSlug: 'validation_error',
    params: Type.Object({ serviceId: ServiceId }),
    body: Type.Object({ name: Type.Optional(Name), ...Settings }),
    reply: { status: 200, schema: Service },
    refusals: ['preview_not_available', 'default_required'],
    async run({ workspaceId, caller, params: { serviceId }, body }, { engine, numberingPlan, config }) {
      await requireCountries(numberingPlan, body.allowedCountries);
      return engine.execute(changeVerifyService, {
        workspaceId,
        caller,
        params: { serviceId, changes: body, serverCountries: config.verifyCountries },
      });
    },
  }),

  route({
    operation: 'verifyService.delete',
    method: 'DELETE',
    path: '/verify/services/{serviceId}',
    tag,
    summary: 'Delete a verification service',
    description: 'Deletes its factors and expires codes that were sent with it.',
    access,
    httpOnly: true,
    params: Type.Object({ serviceId: ServiceId }),
    reply: { status: 204, schema: null },
    refusals: ['default_required'],
    run: ({ workspaceId, caller, params: { serviceId } }, { engine }) =>
      engine.execute(removeVerifyService, { workspaceId, caller, params: { serviceId } }),
  }),

  route({
    operation: 'verifyCredits.read',
    method: 'GET',
    path: '/verify/credits',
    tag,
    summary: 'Get the credits for one-time codes',
    // A key that sends codes must not be able to change the spend limits.
    access: { ...access, scope: null },
    httpOnly: true,
    reply: { status: 200, schema: VerifyCredits },
    refusals: [],
    read: (view) => readCredits(view),
  }),

  route({
    operation: 'verifyCredits.update',
    method: 'PUT',
    path: '/verify/credits',
    tag,
    summary: 'Set the credits for one-time codes',
    description:
      'Fields that are left out stay unchanged; null means unmetered. The cap applies to a calendar month in UTC. ' +
      'Codes that no mail server or carrier accepted are refunded. ' +
      'Sends return 402 `insufficient_credits` without a balance or above the cap.',
    access: { ...access, scope: null },
    httpOnly: true,
    invalidSlug: 'validation_error',
    body: Type.Object({
      balanceCents: Type.Optional(nullable(Type.Integer({ minimum: -1_000_000_000, maximum: 1_000_000_000 }))),
      spendCapCents: Type.Optional(nullable(Cents)),
    }),
    reply: { status: 200, schema: VerifyCredits },
    refusals: [],
    run: ({ workspaceId, caller, body }, { engine }) =>
      engine.execute(changeCredits, { workspaceId, caller, params: body }),
  }),
];

/** Refuses validation_error for two letters that are not a country with phone numbers. */
async function requireCountries(numberingPlan: NumberingPlan, named: readonly string[] = []): Promise<void> {
  const countries = await numberingPlan.countries();
  named.forEach((country, index) => {
    if (country !== '*' && !countries.has(country))
      refuseField(
        'validation_error',
        `allowedCountries.${index}`,
        'must be a country with phone numbers (ISO 3166 alpha-2), or *',
      );
  });
}
