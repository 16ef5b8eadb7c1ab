// A fake Stripe: an HTTP server on a free loopback port with the paths and forms of its reference
// (https://docs.stripe.com/api), form-encoded requests and signed deliveries. A test plays the paying customer.

import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Service, Teardown } from './service.ts';

type Form = Readonly<Record<string, string>>;
interface Asked {
  readonly method: string;
  readonly path: string;
  readonly form: Form;
}
interface Item {
  readonly id: string;
  price: string;
}
interface Subscription {
  readonly id: string;
  readonly customer: string;
  readonly metadata: Record<string, string>;
  readonly created: number;
  items: Item[];
  status: string;
  trialEnd: number | null;
  cancelAtPeriodEnd: boolean;
  endedAt: number | null;
}

const webhookSecret = 'whsec_of_the_endpoint';
const monthSeconds = 30 * 24 * 3600;

export class FakeStripe {
  readonly asked: Asked[] = [];
  readonly subscriptions = new Map<string, Subscription>();
  readonly invoices: { id: string; customer: string; total: number; created: number }[] = [];
  /** Its answer instead, until it is undefined again. */
  broken: { status: number; type: string } | 'never' | undefined;
  /** Lookup keys that have a price. */
  readonly prices = new Set(
    ['chat', 'support', 'business', 'ai'].flatMap((item) =>
      ['monthly', 'annual'].map((interval) => `switchboard_${item}_${interval}`),
    ),
  );
  readonly #sessions = new Map<
    string,
    { id: string; customer: string; form: Form; status: 'open' | 'expired' | 'complete' }
  >();
  readonly #nowMs: () => number;
  #server: Server | undefined;
  #count = 0;

  private constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  static async start(t: Teardown, clock: { now(): number }): Promise<FakeStripe> {
    const stripe = new FakeStripe(() => clock.now());
    const server = createServer((request, response) => {
      void bodyOf(request).then((text) => {
        if (stripe.broken === 'never') return;
        const { status, body } = stripe.#answer(request, text);
        response
          .writeHead(status, { 'Content-Type': 'application/json', 'Request-Id': `req_${stripe.#next()}` })
          .end(JSON.stringify(body));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    stripe.#server = server;
    t.teardown(() => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    });
    return stripe;
  }

  get env(): Record<string, string> {
    const { port } = this.#server?.address() as AddressInfo;
    return {
      BILLING_PROVIDER: 'stripe',
      STRIPE_SECRET_KEY: 'sk_test_key',
      STRIPE_WEBHOOK_SECRET: webhookSecret,
      STRIPE_API_URL: `http://127.0.0.1:${port}`,
    };
  }

  /** The form of the last request whose path matches. */
  last(method: string, path: RegExp): Form {
    return this.asked.findLast((one) => one.method === method && path.test(one.path))?.form ?? {};
  }

  count(method: string, path: RegExp): number {
    return this.asked.filter((one) => one.method === method && path.test(one.path)).length;
  }

  /** The customer pays on the hosted page at this address. Returns the new subscription. */
  pay(url: string): Subscription {
    const session = this.#sessions.get(new URL(url).pathname.slice(1));
    if (session?.status !== 'open') throw new Error(`this page is ${session?.status}`);
    session.status = 'complete';
    const { form } = session;
    const trialEnd = form['subscription_data[trial_end]'];
    const subscription: Subscription = {
      id: `sub_${this.#next()}`,
      customer: session.customer,
      metadata: { workspaceId: form['subscription_data[metadata][workspaceId]'] ?? '' },
      created: this.#now(),
      items: Object.entries(form).flatMap(([name, price]) =>
        /^line_items\[\d+\]\[price\]$/.test(name) ? [{ id: `si_${this.#next()}`, price }] : [],
      ),
      status: trialEnd === undefined ? 'active' : 'trialing',
      trialEnd: trialEnd === undefined ? null : Number(trialEnd),
      cancelAtPeriodEnd: false,
      endedAt: null,
    };
    this.subscriptions.set(subscription.id, subscription);
    return subscription;
  }

  event(type: string, subscription: Subscription, options: { id?: string } = {}): { id: string; text: string } {
    const id = options.id ?? `evt_${this.#next()}`;
    const object =
      type === 'checkout.session.completed'
        ? {
            id: `cs_${this.#next()}`,
            object: 'checkout.session',
            mode: 'subscription',
            customer: subscription.customer,
            subscription: subscription.id,
          }
        : this.#subscriptionBody(subscription);
    return {
      id,
      text: JSON.stringify({
        id,
        object: 'event',
        api_version: '2025-03-31.basil',
        created: this.#now(),
        type,
        livemode: false,
        pending_webhooks: 1,
        request: null,
        data: { object },
      }),
    };
  }

  sign(text: string, options: { secret?: string; atMs?: number } = {}): string {
    const seconds = Math.floor((options.atMs ?? this.#nowMs()) / 1000);
    return `t=${seconds},v1=${createHmac('sha256', options.secret ?? webhookSecret)
      .update(`${seconds}.${text}`)
      .digest('hex')}`;
  }

  /** Delivers an event like Stripe. */
  deliver(
    service: Service,
    event: { text: string },
    signature: string | undefined = this.sign(event.text),
  ): ReturnType<Service['call']> {
    return service.call('POST', '/billing/webhook', {
      body: event.text,
      headers: { 'Content-Type': 'application/json; charset=utf-8', Accept: '*/*', 'Stripe-Signature': signature },
    });
  }

  #answer(request: IncomingMessage, text: string): { status: number; body: object } {
    const url = new URL(request.url ?? '/', 'http://stripe');
    const method = request.method ?? 'GET';
    const form = Object.fromEntries(new URLSearchParams(method === 'POST' ? text : url.search));
    this.asked.push({ method, path: url.pathname, form });
    if (request.headers.authorization !== 'Bearer sk_test_key')
      return failed(401, 'invalid_request_error', 'Invalid API Key provided');
    if (typeof this.broken === 'object') return failed(this.broken.status, this.broken.type, 'broken by a test');
    const [, , area = '', second = '', third = ''] = url.pathname.split('/');
    switch (`${method} ${area}`) {
      case 'POST customers':
        return ok({ id: `cus_${this.#next()}`, object: 'customer', name: form['name'], email: form['email'] });
      case 'GET prices':
        return ok(
          list(
            Object.entries(form).flatMap(([name, key]) =>
              name.startsWith('lookup_keys') && this.prices.has(key) ? [priceBody(key)] : [],
            ),
          ),
        );
      case 'GET checkout':
        return ok(
          list(
            [...this.#sessions.values()]
              .filter(({ customer, status }) => customer === form['customer'] && status === form['status'])
              .map(sessionBody),
          ),
        );
      case 'POST checkout':
        return third === '' || url.pathname.endsWith('/sessions')
          ? ok(this.#openSession(form))
          : ok(this.#expire(third));
      case 'POST billing_portal':
        return ok({
          id: `bps_${this.#next()}`,
          object: 'billing_portal.session',
          customer: form['customer'],
          url: `https://billing.stripe.example/p/${form['customer']}`,
        });
      case 'GET invoices':
        return ok(
          list(
            this.invoices
              .filter(({ customer }) => customer === form['customer'])
              .slice(0, Number(form['limit']))
              .map(invoiceBody),
          ),
        );
      case 'GET subscriptions':
      case 'POST subscriptions':
      case 'DELETE subscriptions': {
        if (second === '')
          return ok(
            list(
              [...this.subscriptions.values()]
                .filter(({ customer, status }) => customer === form['customer'] && status !== 'canceled')
                .map((one) => this.#subscriptionBody(one)),
            ),
          );
        const subscription = this.subscriptions.get(second);
        if (subscription === undefined)
          return failed(404, 'invalid_request_error', `No such subscription: '${second}'`);
        if (method !== 'GET' && subscription.status === 'canceled')
          return failed(
            400,
            'invalid_request_error',
            'A canceled subscription can only update its cancellation_details and metadata.',
          );
        if (method === 'POST') this.#change(subscription, form);
        if (method === 'DELETE') Object.assign(subscription, { status: 'canceled', endedAt: this.#now() });
        return ok(this.#subscriptionBody(subscription));
      }
      default:
        return failed(404, 'invalid_request_error', `Unrecognized request URL (${method}: ${url.pathname})`);
    }
  }

  #openSession(form: Form): object {
    const id = `cs_${this.#next()}`;
    const session = { id, customer: form['customer'] ?? '', form, status: 'open' as const };
    this.#sessions.set(id, session);
    return sessionBody(session);
  }

  #expire(id: string): object {
    const session = this.#sessions.get(id);
    if (session === undefined) throw new Error(`no session ${id}`);
    session.status = 'expired';
    return sessionBody(session);
  }

  #change(subscription: Subscription, form: Form): void {
    if (form['cancel_at_period_end'] !== undefined)
      subscription.cancelAtPeriodEnd = form['cancel_at_period_end'] === 'true';
    for (
      let index = 0;
      form[`items[${index}][id]`] !== undefined || form[`items[${index}][price]`] !== undefined;
      index += 1
    ) {
      const field = (name: string): string | undefined => form[`items[${index}][${name}]`];
      const present = subscription.items.find(({ id }) => id === field('id'));
      if (field('deleted') === 'true') subscription.items = subscription.items.filter((item) => item !== present);
      else if (present !== undefined) present.price = field('price') ?? present.price;
      else subscription.items.push({ id: `si_${this.#next()}`, price: field('price') ?? '' });
    }
  }

  #subscriptionBody({
    id,
    customer,
    metadata,
    created,
    items,
    status,
    trialEnd,
    cancelAtPeriodEnd,
    endedAt,
  }: Subscription): object {
    const end = trialEnd ?? created + monthSeconds;
    return {
      id,
      object: 'subscription',
      customer,
      metadata,
      created,
      status,
      trial_end: trialEnd,
      cancel_at_period_end: cancelAtPeriodEnd,
      ended_at: endedAt,
      items: list(
        items.map((item) => ({
          id: item.id,
          object: 'subscription_item',
          price: priceBody(item.price.replace(/^price_/, '')),
          quantity: 1,
          current_period_start: created,
          current_period_end: end,
        })),
      ),
    };
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }

  #now(): number {
    return Math.floor(this.#nowMs() / 1000);
  }
}

function bodyOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => resolve(Buffer.concat(parts).toString('utf8')));
  });
}

const ok = (body: object) => ({ status: 200, body });
const failed = (status: number, type: string, message: string) => ({ status, body: { error: { type, message } } });
const list = (data: object[]) => ({ object: 'list', data, has_more: false, url: '/v1' });
const priceBody = (key: string) => ({
  id: `price_${key}`,
  object: 'price',
  active: true,
  lookup_key: key,
  recurring: { interval: key.endsWith('annual') ? 'year' : 'month', interval_count: 1 },
});
const sessionBody = ({ id, customer, status }: { id: string; customer: string; status: string }) => ({
  id,
  object: 'checkout.session',
  mode: 'subscription',
  customer,
  status,
  url: status === 'open' ? `https://checkout.stripe.example/${id}` : null,
});
const invoiceBody = ({
  id,
  customer,
  total,
  created,
}: {
  id: string;
  customer: string;
  total: number;
  created: number;
}) => ({
  id,
  object: 'invoice',
  number: `N-${id}`,
  customer,
  status: 'paid',
  total,
  currency: 'eur',
  period_start: created - monthSeconds,
  period_end: created,
  hosted_invoice_url: `https://invoice.stripe.example/${id}`,
  created,
});
