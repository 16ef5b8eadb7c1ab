// A fake Twilio: a local server with the documented forms of its REST resources, which records its requests, and the
// signed requests that it sends.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { twilioSignature } from '../../workers/providers/carrier-twilio-hooks.ts';
import type { Answer, Service, Teardown } from './service.ts';

export const accountSid = 'AC0123456789abcdef0123456789abcdef';
export const authToken = '0123456789abcdef0123456789abcdef';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string>;
  readonly form: Record<string, string>;
}

interface Scripted {
  readonly status: number;
  readonly body: unknown;
}

const account = `/2010-04-01/Accounts/${accountSid}`;
const problem = (status: number, code: number, message: string): Scripted => ({
  status,
  body: { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status },
});

export const problems = {
  taken: problem(400, 21422, '+14155550101 is not available.'),
  needsAddress: problem(400, 21631, 'Phone Number Requires an Address but the AddressSid parameter was empty.'),
  notInProgress: problem(400, 21220, 'Unable to update record. Call is not in-progress. Cannot redirect.'),
  noSuchCall: problem(404, 20404, 'The requested resource was not found'),
  wrongToken: problem(401, 20003, 'Authenticate'),
  tooMany: problem(429, 20429, 'Too Many Requests'),
  broken: problem(500, 20500, 'An internal server error has occurred'),
  badRecipient: problem(400, 21211, "The 'To' number is not a valid phone number."),
} as const;

export class FakeTwilio {
  readonly asked: Asked[] = [];
  readonly #scripted: { readonly matches: string; readonly reply: Scripted | 'hang' | 'garbage' }[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  static async start(t: Teardown): Promise<FakeTwilio> {
    const twilio = new FakeTwilio();
    await new Promise<void>((resolve) => twilio.#server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => {
      twilio.#server.closeAllConnections();
      return new Promise<void>((resolve) => twilio.#server.close(() => resolve()));
    });
    return twilio;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  env(more: Record<string, string> = {}): Record<string, string> {
    return {
      CARRIER_PROVIDER: 'twilio',
      TWILIO_ACCOUNT_SID: accountSid,
      TWILIO_AUTH_TOKEN: authToken,
      TWILIO_API_URL: this.url,
      TWILIO_PRICING_URL: this.url,
      ...more,
    };
  }

  /** Sets the answer to the next request whose method and path contain this text. */
  once(matches: string, reply: Scripted | 'hang' | 'garbage'): void {
    this.#scripted.push({ matches, reply });
  }

  /** The requests since the last call. */
  take(): Asked[] {
    return this.asked.splice(0);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const url = new URL(request.url ?? '/', this.url);
    const asked: Asked = {
      method: request.method ?? '',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      form: Object.fromEntries(new URLSearchParams(Buffer.concat(parts).toString('utf8'))),
    };
    this.asked.push(asked);
    const index = this.#scripted.findIndex(({ matches }) => `${asked.method} ${asked.path}`.includes(matches));
    const [scripted] = index < 0 ? [] : this.#scripted.splice(index, 1);
    if (scripted?.reply === 'hang') return;
    if (scripted?.reply === 'garbage') {
      response.end('<html>502 Bad Gateway</html>');
      return;
    }
    const isKnown =
      request.headers.authorization === `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
    const { status, body } = scripted?.reply ?? (isKnown ? answerTo(asked) : problems.wrongToken);
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(body === null ? undefined : JSON.stringify(body));
  }
}

/** The forms of Twilio's reference, with invented values. */
function answerTo({ method, path, query, form }: Asked): Scripted {
  const available = new RegExp(`^${account}/AvailablePhoneNumbers/(\\w\\w)/(\\w+)\\.json$`).exec(path);
  if (method === 'GET' && available !== null)
    return {
      status: 200,
      body: { uri: path, available_phone_numbers: numbersIn(available[1] ?? '', available[2] ?? '', query) },
    };
  if (method === 'GET' && path.startsWith('/v1/PhoneNumbers/Countries/'))
    return { status: 200, body: pricesOf(path.slice(-2)) };
  if (method === 'POST' && path === `${account}/IncomingPhoneNumbers.json`)
    return { status: 201, body: incomingNumber(form['PhoneNumber'] ?? '', form['FriendlyName'] ?? '') };
  if (method === 'GET' && path === `${account}/IncomingPhoneNumbers.json`) {
    const found = [
      incomingNumber(query['PhoneNumber'] ?? '', query['FriendlyName'] ?? ''),
      incomingNumber(query['PhoneNumber'] ?? '', "somebody else's"),
    ];
    return {
      status: 200,
      body: {
        incoming_phone_numbers: found,
        page: 0,
        page_size: 50,
        start: 0,
        end: 1,
        uri: path,
        first_page_uri: path,
        next_page_uri: null,
        previous_page_uri: null,
      },
    };
  }
  if (method === 'DELETE' && path.startsWith(`${account}/IncomingPhoneNumbers/PN`)) return { status: 204, body: null };
  if (method === 'POST' && path.startsWith(`${account}/Calls/CA`))
    return {
      status: 200,
      body: {
        sid: path.slice(-39, -5),
        account_sid: accountSid,
        direction: 'inbound',
        status: form['Status'] ?? 'in-progress',
        uri: path,
      },
    };
  if (method === 'POST' && path === `${account}/Calls.json`)
    return {
      status: 201,
      body: {
        sid: 'CA0123456789abcdef0123456789abcdef',
        account_sid: accountSid,
        to: form['To'],
        from: form['From'],
        direction: 'outbound-api',
        status: 'queued',
        uri: path,
      },
    };
  if (method === 'POST' && path === `${account}/Messages.json`) {
    return {
      status: 201,
      body: {
        sid: 'SM0123456789abcdef0123456789abcdef',
        account_sid: accountSid,
        to: form['To'],
        from: form['From'] ?? null,
        messaging_service_sid: form['MessagingServiceSid'] ?? null,
        body: form['Body'],
        status: 'queued',
        num_segments: '1',
        error_code: null,
        error_message: null,
      },
    };
  }
  return problems.noSuchCall;
}

function numbersIn(country: string, type: string, query: Record<string, string>) {
  const codes: Record<string, string> = { US: '+1', CA: '+1', GB: '+44', DE: '+49' };
  if (codes[country] === undefined || (country === 'DE' && type !== 'National')) return [];
  const area = query['AreaCode'] ?? '20794';
  return Array.from({ length: Math.min(3, Number(query['PageSize'])) }, (_, index) => ({
    friendly_name: 'friendly',
    phone_number: `${codes[country]}${area}555010${index}`.slice(0, 12),
    lata: '722',
    rate_center: 'SNFC CNTRL',
    latitude: '37.780000',
    longitude: '-122.380000',
    locality: type === 'Local' ? 'San Francisco' : null,
    region: country === 'US' ? 'CA' : null,
    postal_code: '94105',
    iso_country: country,
    address_requirements: 'none',
    beta: false,
    capabilities: { voice: true, SMS: true, MMS: true },
  }));
}

function pricesOf(country: string) {
  return {
    country: 'A country',
    iso_country: country,
    phone_number_prices: [
      { number_type: 'local', base_price: '1.15', current_price: '1.15' },
      { number_type: 'toll free', base_price: '2.15', current_price: '2.15' },
      { number_type: 'national', base_price: '3', current_price: '3' },
    ],
    price_unit: 'USD',
    url: `https://pricing.twilio.com/v1/PhoneNumbers/Countries/${country}`,
  };
}

function incomingNumber(e164: string, friendlyName: string) {
  return {
    sid: `PN${Buffer.from(`${e164}${friendlyName}`).toString('hex').padEnd(32, '0').slice(0, 32)}`,
    account_sid: accountSid,
    friendly_name: friendlyName,
    phone_number: e164,
    capabilities: { voice: true, sms: true, mms: true, fax: false },
    status: 'in-use',
    origin: 'twilio',
    beta: false,
    date_created: 'Fri, 20 Nov 2026 12:00:00 +0000',
    date_updated: 'Fri, 20 Nov 2026 12:00:00 +0000',
  };
}

/** Sends a webhook like Twilio, signed for the address by which it reaches the service. */
export function sendHook(
  service: Service,
  hook: string,
  form: Record<string, string>,
  options: { query?: string; signature?: string | undefined; baseUrl?: string } = {},
): Promise<Answer> {
  const body = new URLSearchParams({ AccountSid: accountSid, ApiVersion: '2010-04-01', ...form });
  const path = `/api/v1/carrier/twilio/${hook}${options.query === undefined ? '' : `?${options.query}`}`;
  const signature =
    'signature' in options
      ? options.signature
      : twilioSignature(authToken, `${options.baseUrl ?? service.running.services.config.baseUrl}${path}`, body);
  return service.call('POST', `/${path}`, {
    body: body.toString(),
    headers: {
      Accept: '*/*',
      'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8',
      'X-Twilio-Signature': signature,
    },
  });
}
