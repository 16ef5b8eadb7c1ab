// Twilio as the carrier: numbers, calls and SMS over its REST API, calls controlled by TwiML. carrier-twilio-hooks.ts
// handles its signed webhooks. Every request has a time limit.

import { fetch } from 'undici';
import type { NumberingPlan } from '../numbering-plan.ts';
import {
  type AvailableNumber,
  type Carrier,
  CarrierRefused,
  CarrierUnavailable,
  type NumberSearch,
  type Purchase,
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
  const { accountSid, authToken, numberingPlan } = settings;
  const account = `${settings.apiUrl}/2010-04-01/Accounts/${accountSid}`;
  const authorization = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
  const prices = new Map<string, { untilMs: number; byType: Promise<ReadonlyMap<string, string>> }>();

  async function ask(
    method: 'GET' | 'POST' | 'DELETE',
    url: string,
    form?: Readonly<Record<string, string>>,
  ): Promise<Answer> {
    let answer: Answer;
    try {
      const response = await fetch(url, {
        method,
        headers: { Authorization: authorization, Accept: 'application/json' },
        redirect: 'error',
        signal: AbortSignal.timeout(settings.timeoutMs ?? defaultTimeoutMs),
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

  async function askFor<Body>(url: string): Promise<Body | undefined> {
    const answer = await ask('GET', url);
    if (answer.status === 404) return undefined;
    if (answer.status !== 200)
      throw new CarrierUnavailable(`Twilio answered ${answer.status}: ${problemOf(answer).message}`);
    // The documented shape of this resource.
    return answer.body as Body;
  }

  /** Monthly prices in US dollars by type of number. */
  function pricesIn(country: string): Promise<ReadonlyMap<string, string>> {
    const kept = prices.get(country);
    if (kept !== undefined && kept.untilMs > performance.now()) return kept.byType;
    const byType = askFor<{
      phone_number_prices: { number_type?: string; type?: string; current_price: string | number }[];
    }>(`${settings.pricingUrl}/v1/PhoneNumbers/Countries/${country}`).then(
      (found) =>
        new Map(
          (found?.phone_number_prices ?? []).map((price) => [
            price.number_type ?? price.type ?? '',
            Number(price.current_price).toFixed(2),
          ]),
        ),
    );
    prices.set(country, { untilMs: performance.now() + pricesKeptMs, byType });
    byType.catch(() => prices.delete(country));
    return byType;
  }

  async function countryOf(wanted: NumberSearch): Promise<string | undefined> {
    if (wanted.kind === 'tollfree') return 'US';
    if (wanted.areaCode === undefined) return defaultCountry;
    if (wanted.kind === 'international') return numberingPlan.countryOfCallingCode(wanted.areaCode);
    // Canada and the Caribbean share the US calling code; the area code tells them apart.
    return (await numberingPlan.countryOf(`+1${wanted.areaCode}2345678`)) ?? 'US';
  }

  async function listNumbers(country: string, type: string, wanted: NumberSearch): Promise<TwilioNumber[] | undefined> {
    const query = new URLSearchParams({ VoiceEnabled: 'true', PageSize: String(wanted.limit) });
    if (wanted.areaCode !== undefined && wanted.kind !== 'international') query.set('AreaCode', wanted.areaCode);
    return (
      await askFor<{ available_phone_numbers: TwilioNumber[] }>(
        `${account}/AvailablePhoneNumbers/${country}/${type}.json?${query}`,
      )
    )?.available_phone_numbers;
  }

  async function steerCall(carrierCallId: string, form: Readonly<Record<string, string>>): Promise<string> {
    const answer = await ask('POST', `${account}/Calls/${carrierCallId}.json`, form);
    if (answer.status < 300) return `${carrierCallId} updated`;
    const { code, message } = problemOf(answer);
    if (answer.status === 404 || code === codes.callNotInProgress) return `${carrierCallId} is over: ${message}`;
    throw new CarrierRefused(`Twilio refused: ${message}`);
  }

  return {
    provider: 'twilio',

    async search(wanted) {
      const country = await countryOf(wanted);
      if (country === undefined) return [];
      // Not every country sells local numbers.
      const types =
        wanted.kind === 'tollfree'
          ? (['TollFree'] as const)
          : wanted.kind === 'local'
            ? (['Local'] as const)
            : (['Local', 'Mobile', 'National'] as const);
      for (const type of types) {
        const numbers = await listNumbers(country, type, wanted);
        if (numbers === undefined || numbers.length === 0) continue;
        const monthlyCost = (await pricesIn(country)).get(priceTypes[type]) ?? '';
        return numbers
          .filter(({ phone_number }) => !wanted.isHeld(phone_number))
          .slice(0, wanted.limit)
          .map(
            (number): AvailableNumber => ({
              e164: number.phone_number,
              monthlyCost,
              locality: localityOf(number, wanted.kind),
            }),
          );
      }
      return [];
    },

    async buy({ e164, label }): Promise<Purchase> {
      const answer = await ask('POST', `${account}/IncomingPhoneNumbers.json`, {
        PhoneNumber: e164,
        FriendlyName: label,
        VoiceUrl: hookUrl(settings.baseUrl, 'voice'),
        VoiceMethod: 'POST',
        StatusCallback: hookUrl(settings.baseUrl, 'status'),
        StatusCallbackMethod: 'POST',
      });
      if (answer.status < 300) return { state: 'bought', providerDidId: (answer.body as { sid: string }).sid };
      const { code, message } = problemOf(answer);
      return code === codes.notAvailable ? { state: 'taken' } : { state: 'refused', reason: message };
    },

    async giveBack({ e164, label }) {
      const query = new URLSearchParams({ PhoneNumber: e164, FriendlyName: label });
      const found = await askFor<{ incoming_phone_numbers: { sid: string; friendly_name: string }[] }>(
        `${account}/IncomingPhoneNumbers.json?${query}`,
      );
      for (const number of found?.incoming_phone_numbers ?? [])
        if (number.friendly_name === label) await this.release(number.sid);
    },

    async release(providerDidId) {
      const answer = await ask('DELETE', `${account}/IncomingPhoneNumbers/${providerDidId}.json`);
      if (answer.status < 300) return `${providerDidId} released`;
      if (answer.status === 404) return `${providerDidId} was released before`;
      throw new CarrierRefused(`Twilio refused: ${problemOf(answer).message}`);
    },

    steer(call, order) {
      return steerCall(
        call.carrierCallId,
        order.kind === 'hangup' ? { Status: 'completed' } : { Twiml: twimlOf(settings.baseUrl, call, order) },
      );
    },

    async sendSms(sms) {
      if (settings.smsFrom === null) throw new CarrierRefused('TWILIO_SMS_FROM is not set');
      const sender = settings.smsFrom.startsWith('MG')
        ? { MessagingServiceSid: settings.smsFrom }
        : { From: settings.smsFrom };
      const answer = await ask('POST', `${account}/Messages.json`, { To: sms.to, Body: sms.body, ...sender });
      if (answer.status < 300) return (answer.body as { sid: string }).sid;
      throw new CarrierRefused(`Twilio refused: ${problemOf(answer).message}`);
    },

    async speak(message) {
      if (settings.voiceFrom === null) throw new CarrierRefused('TWILIO_VOICE_FROM is not set');
      const answer = await ask('POST', `${account}/Calls.json`, {
        To: message.to,
        From: settings.voiceFrom,
        Twiml: spokenTwiml(message),
      });
      if (answer.status < 300) return (answer.body as { sid: string }).sid;
      throw new CarrierRefused(`Twilio refused: ${problemOf(answer).message}`);
    },

    hooks: twilioHooks({ accountSid, authToken, baseUrl: settings.baseUrl }),
  };
}

const priceTypes = { Local: 'local', TollFree: 'toll free', Mobile: 'mobile', National: 'national' } as const;

function localityOf(number: TwilioNumber, kind: NumberSearch['kind']): string {
  if (kind === 'tollfree') return 'Toll-free';
  const places = [number.locality, number.region, kind === 'international' ? number.iso_country : undefined];
  return places.filter((place) => place != null && place !== '').join(', ');
}

/** Twilio's error body: {code, message, more_info, status}. */
function problemOf(answer: Answer): { code: number | undefined; message: string } {
  const { code, message } = (answer.body ?? {}) as { code?: number; message?: string };
  return { code, message: message ?? `status ${answer.status}` };
}
