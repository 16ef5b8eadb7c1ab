// The port to a telephony carrier: numbers, calls and SMS; and the null carrier of a service without one. Events from a
// carrier arrive by webhooks at the edge.

import { Refused, Unavailable } from '../failures.ts';

export type NumberKind = 'local' | 'tollfree' | 'international';

export interface AvailableNumber {
  readonly e164: string;
  /** US dollars a month, such as "1.15". */
  readonly monthlyCost: string;
  readonly locality: string;
}

export interface NumberSearch {
  readonly kind: NumberKind;
  /** Three digits for US, Canada and toll-free; the country's calling code for international. */
  readonly areaCode: string | undefined;
  readonly limit: number;
  /** Numbers that are taken already and must not be offered. */
  isHeld(e164: string): boolean;
}

export type Purchase =
  | { readonly state: 'bought'; readonly providerDidId: string }
  | { readonly state: 'taken' }
  | { readonly state: 'refused'; readonly reason: string };

/** What a caller hears before an agent answers. */
export interface Greeting {
  readonly audioUrl: string | null;
  readonly text: string | null;
  /** The carrier's name for a voice; null for its default. */
  readonly voice: string | null;
}

/** An instruction for a call. */
export type CallOrder =
  /** Let the caller wait until an agent answers. */
  | { readonly kind: 'ring'; readonly greeting: Greeting }
  | { readonly kind: 'connect'; readonly agentId: string; readonly startsRecording: boolean }
  | { readonly kind: 'hold' }
  | { readonly kind: 'voicemail'; readonly greeting: Greeting }
  | { readonly kind: 'hangup' };

export interface CarriedCall {
  readonly carrierCallId: string;
  /** Null if the caller withholds it. */
  readonly fromE164: string | null;
  readonly toE164: string;
}

/** An event of a call. Counts once per call and type. */
export type CarrierEvent = {
  /** The carrier's id of the call. */
  readonly callId: string;
  /** Null if the caller withholds it. */
  readonly from: string | null;
  readonly to: string;
} & (
  | { readonly type: 'ringing' }
  | { readonly type: 'ended'; readonly durationMs?: number | undefined }
  | {
      readonly type: 'voicemail_left';
      readonly durationMs?: number | undefined;
      readonly recordingUrl?: string | undefined;
      readonly transcript?: string | undefined;
    }
  | { readonly type: 'recording_ready'; readonly recordingUrl: string }
  /** From carriers that transcribe a voicemail later. */
  | { readonly type: 'transcript_ready'; readonly transcript: string; readonly recordingUrl?: string | undefined }
);

/** Also used for spoken messages. */
export interface OutgoingSms {
  /** The same for every attempt. */
  readonly id: string;
  /** The workspace that sends it. */
  readonly workspaceId: string;
  readonly to: string;
  readonly body: string;
}

export interface SpokenMessage extends OutgoingSms {
  /** The language of the body, such as en-US. */
  readonly language: string;
}

/** The carrier cannot be reached, does not answer in time, or rejects our credentials. A retry may help. */
export class CarrierUnavailable extends Unavailable {
  override readonly name = 'CarrierUnavailable';
}

/** The carrier refused this request; a retry would not help. */
export class CarrierRefused extends Refused {
  override readonly name = 'CarrierRefused';
}

/** Every method rejects with CarrierUnavailable or CarrierRefused. */
export interface Carrier {
  /** Stored with a number. */
  readonly provider: string;
  search(wanted: NumberSearch): Promise<AvailableNumber[]>;
  /** `label` identifies the number for releaseIfBought(). */
  buy(number: { readonly e164: string; readonly label: string }): Promise<Purchase>;
  /** Releases the number of a purchase whose outcome is unknown. */
  releaseIfBought(number: { readonly e164: string; readonly label: string }): Promise<void>;
  /** Resolves to the carrier's answer, even if it no longer has the number. */
  release(providerDidId: string): Promise<string>;
  /** Resolves to the carrier's answer, even if the call is over. */
  steer(call: CarriedCall, order: CallOrder): Promise<string>;
  /** Resolves to the carrier's answer. */
  sendSms(sms: OutgoingSms): Promise<string>;
  /** Calls the number and reads the text out. Resolves to the carrier's answer. */
  speak(message: SpokenMessage): Promise<string>;
  /** For a carrier with webhooks of its own. */
  readonly hooks?: CarrierHooks;
}

/** `voice` asks what to do with a call; the others report. */
export type HookName = 'voice' | 'status' | 'voicemail' | 'transcription' | 'recording';

export interface CarrierHooks {
  /** The form that the carrier sent; undefined if it is not signed. `url` is the requested address. */
  verify(request: {
    readonly url: string;
    readonly body: Uint8Array;
    readonly signature: string | undefined;
  }): URLSearchParams | undefined;
  /** The event in it; undefined if it is irrelevant. `query` is from our own address. */
  eventOf(hook: HookName, form: URLSearchParams, query: URLSearchParams): CarrierEvent | undefined;
  /** The reply to the carrier, as XML. */
  answer(hook: HookName, call: CarriedCall, order: CallOrder): string;
}

/** No carrier: there are no numbers, calls or SMS. */
export function noCarrier(): Carrier {
  const unavailable = (): Promise<never> =>
    Promise.reject(new CarrierUnavailable('there is no carrier: CARRIER_PROVIDER is none'));
  const refused = (): Promise<never> =>
    Promise.reject(new CarrierRefused('there is no carrier: CARRIER_PROVIDER is none'));
  return {
    provider: 'none',
    search: unavailable,
    buy: unavailable,
    releaseIfBought: unavailable,
    release: refused,
    steer: refused,
    sendSms: refused,
    speak: refused,
  };
}
