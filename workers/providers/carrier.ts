// The port to whoever carries calls and text messages: numbers to have, calls to steer, SMS to send; and the carrier of
// a service that has none. What comes in from a carrier comes by webhooks, which are the edge's.

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
  /** Numbers that are held already and must not be offered. */
  isHeld(e164: string): boolean;
}

export type Purchase =
  | { readonly state: 'bought'; readonly providerDidId: string }
  | { readonly state: 'taken' }
  | { readonly state: 'refused'; readonly reason: string };

/** What a caller hears before somebody answers. */
export interface Greeting {
  readonly audioUrl: string | null;
  readonly text: string | null;
  /** The carrier's name for a voice; null for its own. */
  readonly voice: string | null;
}

/** What is to be done with a call. */
export type CallOrder =
  /** Let the caller wait until somebody answers. */
  | { readonly kind: 'ring'; readonly greeting: Greeting }
  | { readonly kind: 'connect'; readonly agentId: string; readonly startsRecording: boolean }
  | { readonly kind: 'hold' }
  | { readonly kind: 'voicemail'; readonly greeting: Greeting }
  | { readonly kind: 'hangup' };

export interface CarriedCall {
  readonly carrierCallId: string;
  /** Null when the caller withholds it. */
  readonly fromE164: string | null;
  readonly toE164: string;
}

/** What a carrier says of a call. Each counts once per call and type. */
export type CarrierEvent = {
  /** The carrier's name for the call. */
  readonly callId: string;
  /** Null when the caller withholds it. */
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
  /** From carriers that take their time to transcribe a voicemail. */
  | { readonly type: 'transcript_ready'; readonly transcript: string; readonly recordingUrl?: string | undefined }
);

/** Also what is spoken in a call. */
export interface OutgoingSms {
  /** Stays the same over every attempt. */
  readonly id: string;
  /** Whose it is. */
  readonly workspaceId: string;
  readonly to: string;
  readonly body: string;
}

export interface SpokenMessage extends OutgoingSms {
  /** What the body is in, such as en-US. */
  readonly language: string;
}

/** The carrier cannot be reached, does not answer in time, or does not know us. Asking again may help. */
export class CarrierUnavailable extends Error {
  override readonly name = 'CarrierUnavailable';
}

/** The carrier says no to this very thing; asking again would change nothing. */
export class CarrierRefused extends Error {
  override readonly name = 'CarrierRefused';
}

/** Every method rejects with CarrierUnavailable or CarrierRefused. */
export interface Carrier {
  /** As recorded with a number. */
  readonly provider: string;
  search(wanted: NumberSearch): Promise<AvailableNumber[]>;
  /** `label` is what giveBack() knows it by. */
  buy(number: { readonly e164: string; readonly label: string }): Promise<Purchase>;
  /** Releases what a purchase may have left, of which we do not know how it ended. */
  giveBack(number: { readonly e164: string; readonly label: string }): Promise<void>;
  /** Resolves to the carrier's answer, also when it no longer has the number. */
  release(providerDidId: string): Promise<string>;
  /** Resolves to the carrier's answer, also when the call is over already. */
  steer(call: CarriedCall, order: CallOrder): Promise<string>;
  /** Resolves to the carrier's answer. */
  sendSms(sms: OutgoingSms): Promise<string>;
  /** Calls the number and reads the text out. Resolves to the carrier's answer. */
  speak(message: SpokenMessage): Promise<string>;
  /** For a carrier that speaks by webhooks of its own. */
  readonly hooks?: CarrierHooks;
}

/** `voice` asks what to do with a call; the others report. */
export type HookName = 'voice' | 'status' | 'voicemail' | 'transcription' | 'recording';

export interface CarrierHooks {
  /** The form that the carrier sent; undefined when it did not sign it. `url` is the one that the carrier asked for. */
  verify(request: {
    readonly url: string;
    readonly body: Uint8Array;
    readonly signature: string | undefined;
  }): URLSearchParams | undefined;
  /** What it says; undefined when it says nothing that matters. `query` is what our own address carried. */
  eventOf(hook: HookName, form: URLSearchParams, query: URLSearchParams): CarrierEvent | undefined;
  /** What the carrier is answered, as XML. */
  answer(hook: HookName, call: CarriedCall, order: CallOrder): string;
}

/** No carrier: nothing can be had, nothing is carried. */
export function noCarrier(): Carrier {
  const unavailable = (): Promise<never> =>
    Promise.reject(new CarrierUnavailable('there is no carrier: CARRIER_PROVIDER is none'));
  const refused = (): Promise<never> =>
    Promise.reject(new CarrierRefused('there is no carrier: CARRIER_PROVIDER is none'));
  return {
    provider: 'none',
    search: unavailable,
    buy: unavailable,
    giveBack: unavailable,
    release: refused,
    steer: refused,
    sendSms: refused,
    speak: refused,
  };
}
