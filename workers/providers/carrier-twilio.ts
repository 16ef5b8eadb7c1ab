// Twilio as the carrier: numbers, calls and SMS over its REST API, calls controlled by TwiML. carrier-twilio-hooks.ts
// handles its signed webhooks. Every request has a time limit.

import { fetch } from 'undici';
import type { NumberingPlan } from '../numbering-plan.ts';
import {
  type AvailableNumber,
  type CallOrder,
  type CarriedCall,
  type Carrier,
  type CarrierHooks,
  CarrierRefused,
  CarrierUnavailable,
  type NumberKind,
  type NumberSearch,
  type OutgoingSms,
  type Purchase,
  type SpokenMessage,
} from './carrier.ts';
import { hookUrl, spokenTwiml, twilioHooks, twimlOf } from './carrier-twilio-hooks.ts';

export interface TwilioSettings {
  readonly accountSid: string;
  readonly authToken: string;
  /** One of our numbers, or a messaging service (MG…); null if SMS is not set up. */
  readonly smsFrom: string | null;
  /** One of our numbers; null if outgoing calls are not set up. */
  readonly voiceFrom: string | null;
  readonly apiUrl: string;
  readonly pricingUrl: string;
  /** Where Twilio reaches this service. */
  readonly baseUrl: string;
  readonly numberingPlan: NumberingPlan;
  /** Per request. */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 10_000;
/** The country for international numbers without a calling code. */
const defaultCountry = 'GB';
/** Prices change a few times a year. */
const pricesKeptMs = 24 * 3600_000;

/** Twilio's error codes. */
const codes = { notAvailable: 21422, callNotInProgress: 21220 } as const;

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface TwilioNumber {
  readonly phone_number: string;
  readonly locality?: string | null;
  readonly region?: string | null;
  readonly iso_country?: string | null;
}

export function twilioCarrier(settings: TwilioSettings): Carrier {
  return new TwilioCarrier(settings);
}

/** Twilio's REST API. Its failures that are not the request's fault are CarrierUnavailable. */
class TwilioApi {
  readonly #authorization: string;
  readonly #timeoutMs: number;

  constructor({ accountSid, authToken, timeoutMs = defaultTimeoutMs }: TwilioSettings) {
    this.#authorization = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
    this.#timeoutMs = timeoutMs;
  }

  async request(
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    form?: Readonly<Record<string, string>>,
  ): Promise<Answer> {
    let answer: Answer;
    try {
      const response = await fetch(url, {
        method,
        headers: { Authorization: this.#authorization, Accept: 'application/json' },
        redirect: 'error',
        signal: AbortSignal.timeout(this.#timeoutMs),
        ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
      });
      const text = await response.text();
      answer = { status: response.status, body: text === '' ? null : JSON.parse(text) };
    } catch (cause) {
      throw new CarrierUnavailable(`Twilio did not answer ${method} ${new URL(url).pathname}`, { cause });
    }
    // Our credentials, our rate limit, or Twilio itself: not a fault of this request.
    if (answer.status === 401 || answer.status === 403 || answer.status === 429 || answer.status >= 500)
      throw new CarrierUnavailable(`Twilio answered ${answer.status}: ${problemOf(answer).message}`);
    return answer;
  }

  /** Undefined if there is no such resource. */
  async read<Body>(url: string): Promise<Body | undefined> {
    const answer = await this.request('GET', url);
    if (answer.status === 404) return undefined;
    if (answer.status !== 200)
      throw new CarrierUnavailable(`Twilio answered ${answer.status}: ${problemOf(answer).message}`);
    // The documented shape of this resource.
    return answer.body as Body;
  }
}

/** Monthly prices of numbers in US dollars. */
class TwilioPrices {
  readonly #api: TwilioApi;
  readonly #url: string;
  readonly #byCountry = new Map<string, { untilMs: number; byType: Promise<ReadonlyMap<string, string>> }>();

  constructor(api: TwilioApi, { pricingUrl }: TwilioSettings) {
    this.#api = api;
    this.#url = pricingUrl;
  }

  /** By type of number. */
  of(country: string): Promise<ReadonlyMap<string, string>> {
    const kept = this.#byCountry.get(country);
    if (kept !== undefined && kept.untilMs > performance.now()) return kept.byType;
    const byType = this.#read(country);
    this.#byCountry.set(country, { untilMs: performance.now() + pricesKeptMs, byType });
    byType.catch(() => this.#byCountry.delete(country));
    return byType;
  }

  async #read(country: string): Promise<ReadonlyMap<string, string>> {
    const found = await this.#api.read<{
      phone_number_prices: { number_type?: string; type?: string; current_price: string | number }[];
    }>(`${this.#url}/v1/PhoneNumbers/Countries/${country}`);
    return new Map(
      (found?.phone_number_prices ?? []).map((price) => [
        price.number_type ?? price.type ?? '',
        Number(price.current_price).toFixed(2),
      ]),
    );
  }
}

class TwilioCarrier implements Carrier {
  readonly provider = 'twilio';
  readonly hooks: CarrierHooks;
  readonly #settings: TwilioSettings;
  readonly #api: TwilioApi;
  readonly #prices: TwilioPrices;
  /** The address of our account's resources. */
  readonly #account: string;

  constructor(settings: TwilioSettings) {
    const { accountSid, authToken, baseUrl } = settings;
    this.#settings = settings;
    this.#api = new TwilioApi(settings);
    this.#prices = new TwilioPrices(this.#api, settings);
    this.#account = `${settings.apiUrl}/2010-04-01/Accounts/${accountSid}`;
    this.hooks = twilioHooks({ accountSid, authToken, baseUrl });
  }

  async search(wanted: NumberSearch): Promise<AvailableNumber[]> {
    const country = await this.#countryOf(wanted);
    if (country === undefined) return [];
    for (const type of typesOf[wanted.kind]) {
      const numbers = await this.#listNumbers(country, type, wanted);
      if (numbers === undefined || numbers.length === 0) continue;
      const monthlyCost = (await this.#prices.of(country)).get(priceTypes[type]) ?? '';
      return numbers
        .filter(({ phone_number }) => !wanted.isHeld(phone_number))
        .slice(0, wanted.limit)
        .map((number) => ({
          e164: number.phone_number,
          monthlyCost,
          locality: localityOf(number, wanted.kind),
        }));
    }
    return [];
  }

  async buy({ e164, label }: { readonly e164: string; readonly label: string }): Promise<Purchase> {
    const { baseUrl } = this.#settings;
    const answer = await this.#api.request('POST', `${this.#account}/IncomingPhoneNumbers.json`, {
      PhoneNumber: e164,
      FriendlyName: label,
      VoiceUrl: hookUrl(baseUrl, 'voice'),
      VoiceMethod: 'POST',
      StatusCallback: hookUrl(baseUrl, 'status'),
      StatusCallbackMethod: 'POST',
    });
    if (answer.status < 300) return { state: 'bought', providerDidId: sidOf(answer) };
    const { code, message } = problemOf(answer);
    return code === codes.notAvailable ? { state: 'taken' } : { state: 'refused', reason: message };
  }

  async releaseIfBought({ e164, label }: { readonly e164: string; readonly label: string }): Promise<void> {
    const query = new URLSearchParams({ PhoneNumber: e164, FriendlyName: label });
    const found = await this.#api.read<{ incoming_phone_numbers: { sid: string; friendly_name: string }[] }>(
      `${this.#account}/IncomingPhoneNumbers.json?${query}`,
    );
    for (const number of found?.incoming_phone_numbers ?? [])
      if (number.friendly_name === label) await this.release(number.sid);
  }

  async release(providerDidId: string): Promise<string> {
    const answer = await this.#api.request('DELETE', `${this.#account}/IncomingPhoneNumbers/${providerDidId}.json`);
    if (answer.status < 300) return `${providerDidId} released`;
    if (answer.status === 404) return `${providerDidId} was released before`;
    throw refusedBy(answer);
  }

  async steer(call: CarriedCall, order: CallOrder): Promise<string> {
    const { carrierCallId } = call;
    const form: Record<string, string> =
      order.kind === 'hangup' ? { Status: 'completed' } : { Twiml: twimlOf(this.#settings.baseUrl, call, order) };
    const answer = await this.#api.request('POST', `${this.#account}/Calls/${carrierCallId}.json`, form);
    if (answer.status < 300) return `${carrierCallId} updated`;
    const { code, message } = problemOf(answer);
    if (answer.status === 404 || code === codes.callNotInProgress) return `${carrierCallId} is over: ${message}`;
    throw refusedBy(answer);
  }

  async sendSms({ to, body }: OutgoingSms): Promise<string> {
    const { smsFrom } = this.#settings;
    if (smsFrom === null) throw new CarrierRefused('TWILIO_SMS_FROM is not set');
    const sender = smsFrom.startsWith('MG') ? { MessagingServiceSid: smsFrom } : { From: smsFrom };
    const answer = await this.#api.request('POST', `${this.#account}/Messages.json`, { To: to, Body: body, ...sender });
    if (answer.status < 300) return sidOf(answer);
    throw refusedBy(answer);
  }

  async speak(message: SpokenMessage): Promise<string> {
    const { voiceFrom } = this.#settings;
    if (voiceFrom === null) throw new CarrierRefused('TWILIO_VOICE_FROM is not set');
    const answer = await this.#api.request('POST', `${this.#account}/Calls.json`, {
      To: message.to,
      From: voiceFrom,
      Twiml: spokenTwiml(message),
    });
    if (answer.status < 300) return sidOf(answer);
    throw refusedBy(answer);
  }

  async #countryOf(wanted: NumberSearch): Promise<string | undefined> {
    const { numberingPlan } = this.#settings;
    if (wanted.kind === 'tollfree') return 'US';
    if (wanted.areaCode === undefined) return defaultCountry;
    if (wanted.kind === 'international') return numberingPlan.countryOfCallingCode(wanted.areaCode);
    // Canada and the Caribbean share the US calling code; the area code tells them apart.
    return (await numberingPlan.countryOf(`+1${wanted.areaCode}2345678`)) ?? 'US';
  }

  async #listNumbers(country: string, type: string, wanted: NumberSearch): Promise<TwilioNumber[] | undefined> {
    const query = new URLSearchParams({ VoiceEnabled: 'true', PageSize: String(wanted.limit) });
    if (wanted.areaCode !== undefined && wanted.kind !== 'international') query.set('AreaCode', wanted.areaCode);
    const url = `${this.#account}/AvailablePhoneNumbers/${country}/${type}.json?${query}`;
    return (await this.#api.read<{ available_phone_numbers: TwilioNumber[] }>(url))?.available_phone_numbers;
  }
}

/** Not every country sells local numbers. */
const typesOf = {
  tollfree: ['TollFree'],
  local: ['Local'],
  international: ['Local', 'Mobile', 'National'],
} as const satisfies Record<NumberKind, readonly string[]>;
const priceTypes = { Local: 'local', TollFree: 'toll free', Mobile: 'mobile', National: 'national' } as const;

function localityOf(number: TwilioNumber, kind: NumberSearch['kind']): string {
  if (kind === 'tollfree') return 'Toll-free';
  const places = [number.locality, number.region, kind === 'international' ? number.iso_country : undefined];
  return places.filter((place) => place != null && place !== '').join(', ');
}

/** The id of what a request created. */
function sidOf({ body }: Answer): string {
  return (body as { sid: string }).sid;
}

function refusedBy(answer: Answer): CarrierRefused {
  return new CarrierRefused(`Twilio refused: ${problemOf(answer).message}`);
}

/** Twilio's error body: {code, message, more_info, status}. */
function problemOf(answer: Answer): { code: number | undefined; message: string } {
  const { code, message } = (answer.body ?? {}) as { code?: number; message?: string };
  return { code, message: message ?? `status ${answer.status}` };
}
