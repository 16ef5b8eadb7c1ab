// What stands between a request for a one-time code and its sending: the guards of specification 4.21 and 7, in its order. The
// first that fails refuses; what was refused counts against no cap. Request validation comes before them, at the edge.

import { nthNewestSendAt, type SendsOf } from '../store/verifications.ts';
import { type VerifyChannel, verifyChannels } from '../store/verify-services.ts';
import { refuse } from './errors.ts';
import { destinationSendsPerMinute, sourceSendsPerMinute } from './limits.ts';
import type { View } from './runtime/context.ts';
import { codePriceCents, requireCredit } from './verification-credits.ts';
import { channelKinds, resolveVerifyService } from './verification-services.ts';

export interface WantedCode {
  readonly to: string;
  readonly channel: VerifyChannel;
  /** Undefined: the default service. */
  readonly serviceId: string | undefined;
  /** Where a phone number leads (ISO 3166 alpha-2); undefined where its prefix is nobody's, and for emails. */
  readonly country: string | undefined;
  /** A phone number with fewer or more digits than its country has. */
  readonly hasWrongLength: boolean;
  readonly sourceIp: string;
  /** By a test key: nothing is sent, so nothing is paid. */
  readonly isTest: boolean;
  readonly workspacePerDay: number;
  /** False when there is no carrier for messages and calls. */
  readonly hasCarrier: boolean;
}

interface Guard {
  readonly rule: string;
  require(view: View, wanted: WantedCode): void;
}

const minuteMs = 60_000;
const dayMs = 24 * 3600_000;
/** RFC 5321 as far as a mailbox on the internet needs it: no quotes, no comments, no control characters, a domain with a dot. */
const emailShape = /^[^\s\x00-\x1f\x7f-\x9f@"(),:;<>[\\\]]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
/** ITU-T E.164: a plus, no leading zero, 15 digits at the most. */
const numberShape = /^\+[1-9]\d{6,14}$/;

export const createGuards: readonly Guard[] = [
  {
    rule: 'channel is one of the contract',
    require: (_, { channel }) => void (verifyChannels.includes(channel) || refuse('bad_channel')),
  },
  {
    rule: 'channel liveness',
    require: (_, { channel }) => void (channelKinds[channel] === 'preview' && refuse('channel_not_available', { detail: { channel } })),
  },
  {
    rule: 'channel sendability',
    require: (_, { channel }) => void (channelKinds[channel] === 'factor' && refuse('channel_not_sendable', { detail: { channel } })),
  },
  {
    rule: 'address shape',
    require(_, { channel, to, hasWrongLength }) {
      if (channel === 'email' && !emailShape.test(to)) refuse('invalid_email');
      if (channel !== 'email' && (!numberShape.test(to) || hasWrongLength)) refuse('invalid_number');
    },
  },
  {
    rule: 'service resolution',
    require: (view, { serviceId }) => void resolveVerifyService(view, serviceId),
  },
  {
    rule: 'service channel enablement',
    require: (view, { serviceId, channel }) => void (resolveVerifyService(view, serviceId).enabledChannels.includes(channel) || refuse('channel_not_enabled', { detail: { channel } })),
  },
  {
    rule: 'country allowlist',
    require(view, { channel, serviceId, country }) {
      const { allowedCountries } = resolveVerifyService(view, serviceId);
      if (channel === 'email' || allowedCountries.includes('*')) return;
      if (country === undefined || !allowedCountries.includes(country)) refuse('country_not_allowed', { detail: { country: country ?? null } });
    },
  },
  {
    rule: 'service rate caps',
    require(view, wanted) {
      const { id: serviceId, perMinuteCap, perDayCap } = resolveVerifyService(view, wanted.serviceId);
      requireRoom(view, { scope: 'workspace', of: { serviceId }, sends: perMinuteCap, perMs: minuteMs });
      requireRoom(view, { scope: 'workspace', of: { serviceId }, sends: perDayCap, perMs: dayMs });
    },
  },
  {
    rule: 'workspace ceiling',
    require: (view, { workspacePerDay }) => requireRoom(view, { scope: 'workspace_ceiling', of: 'workspace', sends: workspacePerDay, perMs: dayMs }),
  },
  {
    rule: 'credit balance',
    require: (view, wanted) => requireCredit(view, priceOf(wanted)),
  },
  {
    rule: 'per-destination throttle',
    require(view, { to, sourceIp }) {
      requireRoom(view, { scope: 'destination', of: { destination: to }, sends: destinationSendsPerMinute, perMs: minuteMs });
      requireRoom(view, { scope: 'destination', of: { sourceIp }, sends: sourceSendsPerMinute, perMs: minuteMs });
    },
  },
  {
    rule: 'a carrier is there',
    require: (_, { channel, isTest, hasCarrier }) => void (channel === 'email' || isTest || hasCarrier || refuse('service_unavailable', { message: 'This server has no carrier for messages and calls.' })),
  },
];

/** US cents. */
export function priceOf({ channel, isTest }: Pick<WantedCode, 'channel' | 'isTest'>): number {
  return isTest || channelKinds[channel] !== 'sent' ? 0 : codePriceCents[channel as keyof typeof codePriceCents];
}

/** Refuses rate_limited when so many were sent in the time that ends now. */
function requireRoom(view: View, cap: { scope: 'workspace' | 'workspace_ceiling' | 'destination'; of: SendsOf; sends: number; perMs: number }): void {
  const at = nthNewestSendAt(view.db, cap.of, cap.sends);
  if (at === undefined) return;
  const leftMs = Date.parse(at) + cap.perMs - view.nowMs;
  if (leftMs > 0) refuse('rate_limited', { detail: { scope: cap.scope }, retryAfter: Math.ceil(leftMs / 1000) });
}
