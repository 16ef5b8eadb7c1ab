// Outbox items for the carrier: what to do with a call, and numbers to release. Delivered after the commit, in order
// per call, by the carrier's adapter.

import type { CallRecord } from '../../store/calls/calls.ts';
import type { PhoneNumberRecord } from '../../store/calls/phone-numbers.ts';
import { findVoiceProfile } from '../../store/calls/voice-profiles.ts';
import type { CallOrder, CarriedCall, Greeting } from '../../workers/providers/carrier.ts';
import type { Context, View } from '../runtime/context.ts';
import { outboxKind } from '../runtime/kinds.ts';

export interface CallOrderItem {
  readonly provider: string;
  readonly call: CarriedCall;
  readonly order: CallOrder;
}

export interface NumberReleaseItem {
  readonly provider: string;
  readonly providerDidId: string;
}

export const callOrderKind = outboxKind<CallOrderItem>('carrier.call', {
  // A caller waits on the line, so retries end after 15 seconds.
  retryDelaysMs: [500, 1000, 2000, 4000, 8000],
});
export const numberReleaseKind = outboxKind<NumberReleaseItem>('carrier.release', {
  // An unreleased number costs money, so retries go on for about two days.
  retryDelaysMs: [60_000, 10 * 60_000, 3600_000, 6 * 3600_000, 12 * 3600_000, 24 * 3600_000],
});

export function orderCall(ctx: Context, call: CallRecord, number: PhoneNumberRecord, order: CallOrder): void {
  const { carrierCallId, fromE164, toE164 } = call;
  ctx.enqueue(callOrderKind, {
    target: `call:${carrierCallId}`,
    subjectId: call.conversationId,
    payload: { provider: number.provider, call: { carrierCallId, fromE164, toE164 }, order },
  });
}

export function orderRelease(ctx: Context, number: PhoneNumberRecord): void {
  ctx.enqueue(numberReleaseKind, {
    target: `number:${number.e164}`,
    subjectId: number.id,
    payload: { provider: number.provider, providerDidId: number.providerDidId },
  });
}

/** What callers of the number hear. */
export function greetingOf(view: Pick<View, 'db'>, number: PhoneNumberRecord): Greeting {
  const profile = number.voiceProfileId === null ? undefined : findVoiceProfile(view.db, number.voiceProfileId);
  return { audioUrl: number.welcomeAudioUrl, text: profile?.greetingText ?? null, voice: profile?.voice ?? null };
}

/** For a caller who was greeted before: only the voice. */
export const alreadyGreeted = { audioUrl: null, text: null } as const;
