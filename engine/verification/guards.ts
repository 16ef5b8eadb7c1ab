// The checks before a one-time code is sent, in the order of specification 4.21 and 7. The first that fails refuses;
// refused requests count against no cap. The edge validates the request before them.

import { type VerifyChannel, verifyChannels } from '../../store/verification/services.ts';
import { newestReached, nthNewestSendAt, type SendsOf } from '../../store/verification/verifications.ts';
import { destinationSendsPerMinute, sourceSendsPerMinute } from '../constants.ts';
import { dayMs, minuteMs } from '../directory/ceilings.ts';
import { refuse } from '../errors.ts';
import { canonicalAddress } from '../mail-addresses.ts';
import { isoTime } from '../runtime/clock.ts';
import type { View } from '../runtime/context.ts';
import { codePriceCents, requireCredit } from './credits.ts';
import { channelKinds, resolveVerifyService } from './services.ts';

export interface WantedCode {
  readonly to: string;
  readonly channel: VerifyChannel;
  /** Undefined: the default service. */
  readonly serviceId: string | undefined;
  /** The phone number's country (ISO 3166 alpha-2); undefined for an unassigned prefix and for emails. */
  readonly country: string | undefined;
  /** A phone number with fewer or more digits than its country uses. */
  readonly hasWrongLength: boolean;
  /** The kind of a premium number, in a word; undefined for an ordinary one. */
  readonly costlyKind: string | undefined;
  /** Countries that the operator allows for codes by phone; undefined: all. */
  readonly serverCountries: readonly string[] | undefined;
  /** The network of the caller, or of the customer that it names. */
  readonly sourceIp: string;
  /** By a test key: nothing is sent, so nothing is charged. */
  readonly isTest: boolean;
  readonly workspacePerDay: number;
  /** False if there is no carrier for messages and calls. */
  readonly hasCarrier: boolean;
}

/**
 * More than a person needs in a day. With five tries each, a five-digit code is guessed at most once in a thousand
 * days.
 */
const destinationSendsPerDay = 20;
/** Four digits allow only ten thousand codes. */
const guessableBelow = 5;
const guessableSendsPerDay = 10;

/** A pattern of fraud: fewer than `least` of the `newest` codes were checked. Real people check more than half. */
const suspicions = [
  { reach: 'range', newest: 20, least: 1 },
  { reach: 'country', newest: 100, least: 5 },
] as const;
/** Repeated tries of one number are a person, or a matter for its own cap. */
const leastNumbers = 5;
/** Before that, an unchecked code may still be on its way. */
const typingMs = 3 * 60_000;

interface Guard {
  readonly rule: string;
  require(view: View, wanted: WantedCode): void;
}

/**
 * RFC 5321 as far as internet mailboxes need it: no quotes, comments or control characters, and a domain with a dot.
 */
const emailShape =
  /^[^\s\x00-\x1f\x7f-\x9f@"(),:;<>[\\\]]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
/** ITU-T E.164: a plus, no leading zero, at most 15 digits. */
const numberShape = /^\+[1-9]\d{6,14}$/;

export const createGuards: readonly Guard[] = [
  {
    rule: 'channel is one of the contract',
    require: (_, { channel }) => void (verifyChannels.includes(channel) || refuse('bad_channel')),
  },
  {
    rule: 'channel liveness',
    require: (_, { channel }) =>
      void (channelKinds[channel] === 'preview' && refuse('channel_not_available', { detail: { channel } })),
  },
  {
    rule: 'channel sendability',
    require: (_, { channel }) =>
      void (channelKinds[channel] === 'factor' && refuse('channel_not_sendable', { detail: { channel } })),
  },
  {
    rule: 'address shape',
    require(_, { channel, to, hasWrongLength, costlyKind }) {
      if (channel === 'email' && !emailShape.test(canonicalAddress(to) ?? '')) refuse('invalid_email');
      if (channel !== 'email' && (!numberShape.test(to) || hasWrongLength)) refuse('invalid_number');
      if (costlyKind !== undefined)
        refuse('invalid_number', {
          message: `No codes are sent to ${costlyKind} numbers.`,
          detail: { numberKind: costlyKind },
        });
    },
  },
  {
    rule: 'service resolution',
    require: (view, { serviceId }) => void resolveVerifyService(view, serviceId),
  },
  {
    rule: 'service channel enablement',
    require: (view, { serviceId, channel }) =>
      void (
        resolveVerifyService(view, serviceId).enabledChannels.includes(channel) ||
        refuse('channel_not_enabled', { detail: { channel } })
      ),
  },
  {
    rule: 'country allowlist',
    require(view, { channel, serviceId, country, serverCountries }) {
      const { allowedCountries } = resolveVerifyService(view, serviceId);
      if (channel === 'email') return;
      const isIn = (countries: readonly string[]): boolean => country !== undefined && countries.includes(country);
      if (!allowedCountries.includes('*') && !isIn(allowedCountries))
        refuse('country_not_allowed', { detail: { country: country ?? null } });
      if (serverCountries !== undefined && !isIn(serverCountries))
        refuse('country_not_allowed', {
          message: 'This server does not send codes by phone to this country.',
          detail: { country: country ?? null },
        });
    },
  },
  {
    rule: 'service rate caps',
    require(view, wanted) {
      const { id: serviceId, perMinuteCap, perDayCap } = resolveVerifyService(view, wanted.serviceId);
      requireBelow(view, wanted, { scope: 'workspace', of: { serviceId }, sends: perMinuteCap, perMs: minuteMs });
      requireBelow(view, wanted, { scope: 'workspace', of: { serviceId }, sends: perDayCap, perMs: dayMs });
    },
  },
  {
    rule: 'workspace ceiling',
    require: (view, wanted) =>
      requireBelow(view, wanted, {
        scope: 'workspace_ceiling',
        of: 'workspace',
        sends: wanted.workspacePerDay,
        perMs: dayMs,
        ceiling: 'codes',
      }),
  },
  {
    rule: 'credit balance',
    require: (view, wanted) => requireCredit(view, priceOf(wanted)),
  },
  {
    rule: 'per-destination throttle',
    require(view, wanted) {
      const { to, sourceIp } = wanted;
      requireBelow(view, wanted, {
        scope: 'destination',
        of: { destination: to },
        sends: destinationSendsPerMinute,
        perMs: minuteMs,
      });
      requireBelow(view, wanted, {
        scope: 'destination',
        of: { sourceIp },
        sends: sourceSendsPerMinute,
        perMs: minuteMs,
      });
      const { codeLength } = resolveVerifyService(view, wanted.serviceId);
      requireBelow(view, wanted, {
        scope: 'destination',
        of: { destination: to },
        sends: codeLength < guessableBelow ? guessableSendsPerDay : destinationSendsPerDay,
        perMs: dayMs,
        ceiling: 'codes_to_destination',
      });
      requireChecked(view, wanted);
    },
  },
  {
    rule: 'a carrier exists',
    require: (_, { channel, isTest, hasCarrier }) =>
      void (
        channel === 'email' ||
        isTest ||
        hasCarrier ||
        refuse('service_unavailable', { message: 'This server has no carrier for messages and calls.' })
      ),
  },
];

/** US cents. */
export function priceOf({ channel, isTest }: Pick<WantedCode, 'channel' | 'isTest'>): number {
  return isTest || channelKinds[channel] !== 'sent' ? 0 : codePriceCents[channel as keyof typeof codePriceCents];
}

/** Refuses rate_limited at the limit of codes sent in the window that ends now, by keys of the same mode. */
function requireBelow(
  view: View,
  { isTest }: WantedCode,
  cap: {
    scope: 'workspace' | 'workspace_ceiling' | 'destination';
    of: SendsOf;
    sends: number;
    perMs: number;
    ceiling?: string;
  },
): void {
  if (view.ceilings === undefined) return;
  const at = nthNewestSendAt(view.db, cap.of, { isTest, nth: cap.sends });
  if (at === undefined) return;
  const leftMs = Date.parse(at) + cap.perMs - view.nowMs;
  const detail = { scope: cap.scope, ...(cap.ceiling === undefined ? {} : { ceiling: cap.ceiling, limit: cap.sends }) };
  if (leftMs > 0) refuse('rate_limited', { detail, retryAfter: Math.ceil(leftMs / 1000) });
}

/**
 * Toll fraud: someone who earns from calls to a number has codes sent there that are never used. This checks the newest
 * codes to a range of numbers and to a country. If almost none were used, no more are sent there until those are a day
 * old or some are used after all.
 */
function requireChecked(view: View, { to, channel, country, isTest }: WantedCode): void {
  if (view.ceilings === undefined || channel === 'email' || isTest) return;
  const time = { after: isoTime(view.nowMs - dayMs), before: isoTime(view.nowMs - typingMs) };
  for (const { reach, newest, least } of suspicions) {
    const of = reach === 'range' ? { likeNumber: to } : country === undefined ? undefined : { country };
    if (of === undefined) continue;
    const { sent, verified, numbers, oldestAt } = newestReached(view.db, of, { ...time, limit: newest });
    if (sent < newest || verified >= least || numbers < leastNumbers || oldestAt === null) continue;
    const where = reach === 'range' ? 'numbers like this one' : 'this country';
    refuse('rate_limited', {
      message: `Of the last ${newest} codes to ${where} ${verified === 0 ? 'none' : `only ${verified}`} ${verified > 1 ? 'were' : 'was'} checked, which looks like fraud. Try again later.`,
      detail: { scope: 'destination', ceiling: `unchecked_codes_to_${reach}`, limit: newest },
      retryAfter: Math.max(1, Math.ceil((Date.parse(oldestAt) + dayMs - view.nowMs) / 1000)),
    });
  }
}
