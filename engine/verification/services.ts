// Verification services: the channels, countries, caps and code format under which codes are sent. One of them is the
// default for requests that name none. Specification 2, 4.21; decisions 4.21.

import { deleteVerifyFactorsOf } from '../../store/verification/factors.ts';
import {
  allVerifyServices,
  deleteVerifyService,
  findDefaultVerifyService,
  findVerifyService,
  insertVerifyService,
  updateVerifyService,
  type VerifyChannel,
  type VerifyServiceRecord,
} from '../../store/verification/services.ts';
import { expireVerificationsOf } from '../../store/verification/verifications.ts';
import {
  verifyCodeLength,
  verifyCountries,
  verifyPerDayCap,
  verifyPerMinuteCap,
  verifyTtlSeconds,
} from '../constants.ts';
import { refuse, refuseField } from '../errors.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { requireAdmin } from '../workspace/access.ts';
import { auditChange } from '../workspace/audit.ts';

/**
 * What a channel supports: `sent` sends codes to an address, `factor` checks codes from the customer's own device,
 * `preview` nothing yet.
 */
export const channelKinds: Readonly<Record<VerifyChannel, 'sent' | 'factor' | 'preview'>> = {
  email: 'sent',
  sms: 'sent',
  voice: 'sent',
  totp: 'factor',
  whatsapp: 'preview',
  push: 'preview',
  sna: 'preview',
};

/** Their list is not paged. */
const maxServices = 100;
const defaultChannels = ['email', 'sms', 'voice', 'totp'] as const;

export interface VerifyServiceFields {
  readonly name?: string | undefined;
  readonly enabledChannels?: readonly VerifyChannel[] | undefined;
  readonly allowedCountries?: readonly string[] | undefined;
  readonly perMinuteCap?: number | undefined;
  readonly perDayCap?: number | undefined;
  readonly codeLength?: number | undefined;
  readonly ttlSeconds?: number | undefined;
  readonly isDefault?: boolean | undefined;
}

/** Countries that the operator allows for codes by phone; undefined: all. */
type ServerCountries = readonly string[] | undefined;

/**
 * The first becomes the default. Refuses admin_required, preview_not_available, semantic_error, validation_error for
 * one that could never send or names a country the operator excludes.
 */
export const createVerifyService = command(
  'verifyService.create',
  (ctx, params: VerifyServiceFields & { name: string; serverCountries?: ServerCountries }): VerifyServiceRecord => {
    requireAdmin(ctx);
    requireLiveChannels(params.enabledChannels);
    if (allVerifyServices(ctx.db).length >= maxServices)
      refuse('semantic_error', {
        message: `A workspace may have at most ${maxServices} services.`,
        detail: { maxServices },
      });
    const service: VerifyServiceRecord = {
      id: `vs_${ctx.ids.uuid().replaceAll('-', '')}`,
      name: params.name,
      enabledChannels: [...new Set(params.enabledChannels ?? defaultChannels)],
      allowedCountries: [...new Set(params.allowedCountries ?? defaultsWithin(params.serverCountries))],
      perMinuteCap: params.perMinuteCap ?? verifyPerMinuteCap,
      perDayCap: params.perDayCap ?? verifyPerDayCap,
      codeLength: params.codeLength ?? verifyCodeLength,
      ttlSeconds: params.ttlSeconds ?? verifyTtlSeconds,
      isDefault: params.isDefault === true || findDefaultVerifyService(ctx.db) === undefined,
      createdAt: ctx.at,
    };
    requireSendable(service);
    requireOffered(service, { serverCountries: params.serverCountries, had: [] });
    if (service.isDefault) endDefault(ctx);
    insertVerifyService(ctx.db, service);
    ctx.audit({ action: 'verify_service.created', targetKind: 'verify_service', targetId: service.id, after: service });
    return service;
  },
);

/**
 * Refuses admin_required, not_found, validation_error if there are no changes or as createVerifyService,
 * preview_not_available, default_required.
 */
export const changeVerifyService = command(
  'verifyService.update',
  (
    ctx,
    params: { serviceId: string; changes: VerifyServiceFields; serverCountries?: ServerCountries },
  ): VerifyServiceRecord => {
    requireAdmin(ctx);
    const before = readVerifyService(ctx, params.serviceId);
    const { changes } = params;
    if (Object.values(changes).every((value) => value === undefined))
      refuseField('validation_error', 'body', 'must name a field that can be changed');
    requireLiveChannels(changes.enabledChannels);
    if (changes.isDefault === false && before.isDefault) refuse('default_required');
    const after: VerifyServiceRecord = {
      ...before,
      name: changes.name ?? before.name,
      enabledChannels: [...new Set(changes.enabledChannels ?? before.enabledChannels)],
      allowedCountries: [...new Set(changes.allowedCountries ?? before.allowedCountries)],
      perMinuteCap: changes.perMinuteCap ?? before.perMinuteCap,
      perDayCap: changes.perDayCap ?? before.perDayCap,
      codeLength: changes.codeLength ?? before.codeLength,
      ttlSeconds: changes.ttlSeconds ?? before.ttlSeconds,
      isDefault: changes.isDefault ?? before.isDefault,
    };
    requireSendable(after);
    requireOffered(after, { serverCountries: params.serverCountries, had: before.allowedCountries });
    if (after.isDefault && !before.isDefault) endDefault(ctx);
    updateVerifyService(ctx.db, after);
    auditChange(ctx, {
      action: 'verify_service.updated',
      targetKind: 'verify_service',
      targetId: after.id,
      before,
      after,
    });
    return after;
  },
);

/**
 * Deletes its factors too; codes sent under it can no longer be checked. Refuses admin_required, not_found,
 * default_required while there are others.
 */
export const removeVerifyService = command('verifyService.delete', (ctx, params: { serviceId: string }): void => {
  requireAdmin(ctx);
  const service = readVerifyService(ctx, params.serviceId);
  if (service.isDefault && allVerifyServices(ctx.db).length > 1) refuse('default_required');
  // A check in the same millisecond must find them expired as well.
  expireVerificationsOf(ctx.db, service.id, isoTime(ctx.nowMs - 1));
  deleteVerifyFactorsOf(ctx.db, service.id);
  deleteVerifyService(ctx.db, service.id);
  ctx.audit({ action: 'verify_service.deleted', targetKind: 'verify_service', targetId: service.id, before: service });
});

/** Oldest first. Refuses admin_required. */
export function listVerifyServices(view: View): VerifyServiceRecord[] {
  requireAdmin(view);
  return allVerifyServices(view.db);
}

/** For a service in a path. Refuses not_found. */
export function readVerifyService(view: Pick<View, 'db'>, serviceId: string): VerifyServiceRecord {
  return findVerifyService(view.db, serviceId) ?? refuse('not_found');
}

/** For a service in a request body. Refuses service_not_found. */
export function requireVerifyService(view: Pick<View, 'db'>, serviceId: string): VerifyServiceRecord {
  return findVerifyService(view.db, serviceId) ?? refuse('service_not_found');
}

/** The named service, or the default. Refuses service_not_found, no_default_service. */
export function resolveVerifyService(view: Pick<View, 'db'>, serviceId: string | undefined): VerifyServiceRecord {
  return serviceId === undefined
    ? (findDefaultVerifyService(view.db) ?? refuse('no_default_service'))
    : requireVerifyService(view, serviceId);
}

/** Length of the codes sent under it; the usual length if the guards will not find the service. */
export function codeLengthFor(view: Pick<View, 'db'>, serviceId: string | undefined): number {
  const service = serviceId === undefined ? findDefaultVerifyService(view.db) : findVerifyService(view.db, serviceId);
  return service?.codeLength ?? verifyCodeLength;
}

function defaultsWithin(serverCountries: ServerCountries): readonly string[] {
  if (serverCountries === undefined) return verifyCountries;
  const within = verifyCountries.filter((country) => serverCountries.includes(country));
  return within.length > 0 ? within : serverCountries;
}

/**
 * Refuses validation_error for a service that could never send anything: all its channels are by phone, and it allows
 * no country.
 */
function requireSendable({ enabledChannels, allowedCountries }: VerifyServiceRecord): void {
  if (allowedCountries.length === 0 && enabledChannels.every((channel) => channel === 'sms' || channel === 'voice'))
    refuseField(
      'validation_error',
      'allowedCountries',
      'must name a country, or * for every country, since this service only sends codes by phone',
    );
}

/** Refuses validation_error for a country that the operator excludes, unless the service already had it. */
function requireOffered(
  { allowedCountries }: VerifyServiceRecord,
  { serverCountries, had }: { serverCountries: ServerCountries; had: readonly string[] },
): void {
  if (serverCountries === undefined) return;
  allowedCountries.forEach((country, index) => {
    if (country !== '*' && !serverCountries.includes(country) && !had.includes(country))
      refuseField(
        'validation_error',
        `allowedCountries.${index}`,
        `must be a country that this server sends to: ${serverCountries.join(', ')}`,
      );
  });
}

function endDefault(ctx: Context): void {
  const former = findDefaultVerifyService(ctx.db);
  if (former !== undefined) updateVerifyService(ctx.db, { ...former, isDefault: false });
}

function requireLiveChannels(channels: readonly VerifyChannel[] = []): void {
  const preview = channels.find((channel) => channelKinds[channel] === 'preview');
  if (preview !== undefined) refuse('preview_not_available', { detail: { channel: preview } });
}
