// Stripe as the billing provider. The only importer of its library, loaded on first use. Prices are found by their
// lookup keys (`switchboard_business_monthly`, `switchboard_ai_annual`), so amounts and currencies are managed in
// Stripe. An event only says which subscription to read again: its content may be old, because events come in any
// order.

import type Stripe from 'stripe';
import type { Addon, BillingInterval, SubscriptionStatus } from '../../store/workspace/subscriptions.ts';
import {
  type BillingProvider,
  BillingUnavailable,
  type Invoice,
  type Order,
  type PaidPlan,
  type ProvidedSubscription,
} from './billing.ts';

export interface StripeSettings {
  readonly secretKey: string;
  readonly webhookSecret: string;
  readonly apiUrl: string;
  /** Per request. */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 10_000;
const maxRetries = 2;
/** The maximum age of a signed delivery (Stripe's own default). */
const toleranceSeconds = 300;
/** Of one customer, excluding ended ones: there is hardly ever more than one. */
const maxSubscriptions = 100;
/** The earliest trial end that Stripe accepts (subscription_data.trial_end). */
const shortestTrialMs = 48 * 3600_000;

const plans: readonly PaidPlan[] = ['chat', 'support', 'business'];
const addons: readonly Addon[] = ['ai'];
const statuses: readonly SubscriptionStatus[] = [
  'trialing',
  'active',
  'past_due',
  'unpaid',
  'paused',
  'incomplete',
  'incomplete_expired',
  'canceled',
];
/** Final statuses. */
const overStatuses: ReadonlySet<string> = new Set(['canceled', 'incomplete_expired'] satisfies SubscriptionStatus[]);
/** Paid, on trial, or overdue: statuses that give a workspace its plan. */
const liveStatuses: ReadonlySet<string> = new Set(['trialing', 'active', 'past_due'] satisfies SubscriptionStatus[]);
const keyOf = (item: PaidPlan | Addon, interval: BillingInterval): string => `switchboard_${item}_${interval}`;
const keyForm = /^switchboard_([a-z]+)_(monthly|annual)$/;

/** Event types about a subscription, and where they name it. */
const subscriptionEvents = [
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'customer.subscription.paused',
  'customer.subscription.resumed',
  'customer.subscription.trial_will_end',
];

export function stripeBilling(settings: StripeSettings): BillingProvider {
  return new StripeBilling(settings);
}

class StripeBilling implements BillingProvider {
  readonly #settings: StripeSettings;
  #loading: Promise<Stripe> | undefined;

  constructor(settings: StripeSettings) {
    this.#settings = settings;
  }

  async customerFor({ id, name, email }: Parameters<BillingProvider['customerFor']>[0]): Promise<string> {
    const customer = await this.#call((stripe) =>
      stripe.customers.create({ name, email, metadata: { workspaceId: id } }),
    );
    return customer.id;
  }

  async checkout(order: Parameters<BillingProvider['checkout']>[0]): Promise<{ url: string }> {
    const { planId, interval, workspaceId, customerId, trialEndsAt, nowMs, successUrl, cancelUrl } = order;
    const prices = await this.#pricesOf([planId, ...order.addons].map((item) => keyOf(item, interval)));
    const open = await this.#call((stripe) => stripe.checkout.sessions.list({ customer: customerId, status: 'open' }));
    for (const session of open.data) await this.#call((stripe) => stripe.checkout.sessions.expire(session.id));
    const trialEndMs = trialEndsAt === null ? 0 : Date.parse(trialEndsAt);
    const session = await this.#call((stripe) =>
      stripe.checkout.sessions.create({
        mode: 'subscription',
        customer: customerId,
        client_reference_id: workspaceId,
        line_items: prices.map((price) => ({ price, quantity: 1 })),
        subscription_data: {
          metadata: { workspaceId },
          ...(trialEndMs - nowMs > shortestTrialMs ? { trial_end: Math.floor(trialEndMs / 1000) } : {}),
        },
        success_url: successUrl,
        cancel_url: cancelUrl,
      }),
    );
    return { url: session.url ?? fail('Stripe made a checkout without an address') };
  }

  async change(subscriptionId: string, order: Partial<Order>): Promise<ProvidedSubscription> {
    const present = await this.#read(subscriptionId);
    // We may not know yet that it has ended, because a delivery can be lost. Stripe would refuse every retry.
    if (overStatuses.has(present.status)) return provided(present);
    const { planId, addons: wanted, interval } = wantedOf(present, order);
    const keys = [...(planId === undefined ? [] : [planId]), ...wanted].map((item) => keyOf(item, interval));
    const prices = await this.#pricesOf(keys);
    const items = itemsOf(
      present,
      keys.map((key, index) => ({ key, price: prices[index] ?? '' })),
    );
    return provided(
      await this.#call((stripe) =>
        stripe.subscriptions.update(subscriptionId, {
          items,
          proration_behavior: 'create_prorations',
          ...(order.planId === undefined ? {} : { cancel_at_period_end: false }),
        }),
      ),
    );
  }

  async cancel(subscriptionId: string, when: 'now' | 'periodEnd'): Promise<ProvidedSubscription> {
    const present = await this.#read(subscriptionId);
    if (overStatuses.has(present.status)) return provided(present);
    return provided(
      await this.#call((stripe) =>
        when === 'now'
          ? stripe.subscriptions.cancel(subscriptionId)
          : stripe.subscriptions.update(subscriptionId, { cancel_at_period_end: true }),
      ),
    );
  }

  async portal(customerId: string, returnUrl: string): Promise<{ url: string }> {
    const { url } = await this.#call((stripe) =>
      stripe.billingPortal.sessions.create({ customer: customerId, return_url: returnUrl }),
    );
    return { url };
  }

  async invoices(customerId: string, limit: number): Promise<Invoice[]> {
    const { data } = await this.#call((stripe) => stripe.invoices.list({ customer: customerId, limit }));
    return data.map(invoiceOf);
  }

  async verify({
    body,
    signature,
    nowMs,
  }: Parameters<BillingProvider['verify']>[0]): ReturnType<BillingProvider['verify']> {
    const { webhookSecret } = this.#settings;
    const stripe = await this.#client();
    try {
      const event: unknown = stripe.webhooks.constructEvent(
        Buffer.from(body),
        signature,
        webhookSecret,
        toleranceSeconds,
        undefined,
        nowMs,
      );
      if (!isReadable(event)) return 'unreadable';
      const subscriptionId = subscriptionIn(event);
      if (subscriptionId === undefined) return undefined;
      return isId(subscriptionId) ? { eventId: event.id, subscriptionId } : 'unreadable';
    } catch (cause) {
      if (cause instanceof stripe.errors.StripeSignatureVerificationError) return 'unsigned';
      if (cause instanceof SyntaxError) return 'unreadable';
      throw cause;
    }
  }

  async subscription(subscriptionId: string): ReturnType<BillingProvider['subscription']> {
    const subscription = await this.#read(subscriptionId);
    const { workspaceId } = subscription.metadata;
    return workspaceId === undefined ? undefined : { workspaceId, provided: provided(subscription) };
  }

  async liveSubscription({
    customerId,
    workspaceId,
  }: {
    customerId: string;
    workspaceId: string;
  }): Promise<string | undefined> {
    const { data } = await this.#call((stripe) =>
      stripe.subscriptions.list({ customer: customerId, limit: maxSubscriptions }),
    );
    const live = data.filter(
      ({ status, metadata }) => liveStatuses.has(status) && metadata['workspaceId'] === workspaceId,
    );
    return live.sort((a, b) => b.created - a.created)[0]?.id;
  }

  #client(): Promise<Stripe> {
    return (this.#loading ??= load(this.#settings));
  }

  /** Calls Stripe. Its failures are never the caller's fault: our key, a missing price, Stripe itself. */
  async #call<Result>(call: (stripe: Stripe) => Promise<Result>): Promise<Result> {
    const stripe = await this.#client();
    try {
      return await call(stripe);
    } catch (cause) {
      if (cause instanceof stripe.errors.StripeError)
        throw new BillingUnavailable(`Stripe refused or did not answer: ${cause.message}`, { cause });
      throw cause;
    }
  }

  /** The ids of prices, in the order of their keys. */
  async #pricesOf(keys: readonly string[]): Promise<string[]> {
    const found = await this.#call((stripe) => stripe.prices.list({ lookup_keys: [...keys], active: true }));
    return keys.map((key) => found.data.find((price) => price.lookup_key === key)?.id ?? missing(key));
  }

  #read(subscriptionId: string): Promise<Stripe.Subscription> {
    return this.#call((stripe) => stripe.subscriptions.retrieve(subscriptionId));
  }
}

async function load({ secretKey, apiUrl, timeoutMs = defaultTimeoutMs }: StripeSettings): Promise<Stripe> {
  const { default: Stripe } = await import('stripe');
  const { protocol, hostname, port } = new URL(apiUrl);
  return new Stripe(secretKey, {
    protocol: protocol === 'http:' ? 'http' : 'https',
    host: hostname,
    ...(port === '' ? {} : { port }),
    timeout: timeoutMs,
    maxNetworkRetries: maxRetries,
    telemetry: false,
  });
}

/** The subscription that an event is about. Other events of the account are not ours. */
function subscriptionIn(event: Stripe.Event): string | undefined {
  if (event.type === 'checkout.session.completed') {
    const { subscription } = event.data.object;
    return subscription == null ? undefined : idOf(subscription);
  }
  // The list contains only types whose object is a subscription.
  return subscriptionEvents.includes(event.type) ? (event.data.object as Stripe.Subscription).id : undefined;
}

/** The library parses signed content without validating it. */
function isReadable(event: unknown): event is Stripe.Event {
  const { id, type, data }: { id?: unknown; type?: unknown; data?: { object?: unknown } | null } = event ?? {};
  return typeof type === 'string' && typeof data?.object === 'object' && data.object !== null && isId(id);
}

function isId(id: unknown): id is string {
  return typeof id === 'string' && id !== '';
}

/** The items to pay for after these changes to the current ones. */
function wantedOf(
  present: Stripe.Subscription,
  order: Partial<Order>,
): { planId: PaidPlan | undefined; interval: BillingInterval; addons: readonly Addon[] } {
  const { planId, billingInterval, addons } = provided(present);
  return {
    planId: order.planId ?? planId,
    interval: order.interval ?? billingInterval,
    addons: order.addons ?? addons,
  };
}

/**
 * The changes that turn a subscription's items into the wanted prices: each of our items is replaced, removed or added.
 */
function itemsOf(
  present: Stripe.Subscription,
  wanted: readonly { key: string; price: string }[],
): Stripe.SubscriptionUpdateParams.Item[] {
  const kindOf = (key: string | null): string | undefined => {
    const name = keyForm.exec(key ?? '')?.[1];
    return plans.some((plan) => plan === name) ? 'plan' : name;
  };
  const left = new Map(wanted.map((one) => [kindOf(one.key), one.price]));
  const items: Stripe.SubscriptionUpdateParams.Item[] = [];
  for (const item of present.items.data) {
    const kind = kindOf(item.price.lookup_key);
    if (kind === undefined) continue;
    const price = left.get(kind);
    left.delete(kind);
    items.push(price === undefined ? { id: item.id, deleted: true } : { id: item.id, price });
  }
  for (const price of left.values()) items.push({ price, quantity: 1 });
  return items;
}

function provided(subscription: Stripe.Subscription): ProvidedSubscription {
  const [first] = subscription.items.data;
  const named = subscription.items.data.flatMap(({ price }) => keyForm.exec(price.lookup_key ?? '')?.[1] ?? []);
  return {
    providerSubscriptionId: subscription.id,
    providerCustomerId: idOf(subscription.customer),
    planId: plans.find((plan) => named.includes(plan)),
    addons: addons.filter((addon) => named.includes(addon)),
    // An unknown status from a later version of Stripe counts as past_due.
    status: statuses.find((status) => status === subscription.status) ?? 'past_due',
    billingInterval: first?.price.recurring?.interval === 'year' ? 'annual' : 'monthly',
    currentPeriodStart: isoOf(first?.current_period_start ?? subscription.created),
    currentPeriodEnd: isoOf(subscription.ended_at ?? first?.current_period_end ?? subscription.created),
    cancelAtPeriodEnd: subscription.cancel_at_period_end,
    trialEndsAt:
      subscription.status !== 'trialing' || subscription.trial_end === null ? null : isoOf(subscription.trial_end),
  };
}

function invoiceOf(invoice: Stripe.Invoice): Invoice {
  return {
    id: invoice.id,
    number: invoice.number,
    status: invoice.status ?? 'draft',
    amountCents: invoice.total,
    currency: invoice.currency,
    periodStart: isoOf(invoice.period_start),
    periodEnd: isoOf(invoice.period_end),
    hostedUrl: invoice.hosted_invoice_url ?? null,
    createdAt: isoOf(invoice.created),
  };
}

function idOf(named: string | { readonly id: string }): string {
  return typeof named === 'string' ? named : named.id;
}

function isoOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

function missing(key: string): never {
  return fail(`Stripe has no active price with the lookup key ${key}`);
}

function fail(message: string): never {
  throw new BillingUnavailable(message);
}
