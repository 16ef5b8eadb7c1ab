// Billing. Specification 4.14. Calls to the provider are made here, between the check that allows them and the command
// that applies the result.

import Type, { type Static } from 'typebox';
import { refuse, refuseField } from '../../engine/errors.ts';
import type { Caller } from '../../engine/runtime/caller.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import type { View } from '../../engine/runtime/context.ts';
import {
  applyProvided,
  cancelSubscription,
  changePlan,
  keepCustomer,
  readStanding,
  requireChangeable,
  requireLive,
  requireSeatsFor,
  type SubscriptionView,
  setAddons,
} from '../../engine/workspace/billing.ts';
import { requireAgent } from '../../engine/workspace/roster.ts';
import { isLocking, isOver, theSubscription } from '../../engine/workspace/subscription.ts';
import { theWorkspace } from '../../engine/workspace/workspace.ts';
import type { BillingProvider, ProvidedSubscription } from '../../workers/providers/billing.ts';
import { type Call, route } from '../route.ts';
import { Addon, BillingInterval, Invoice, Standing, Subscription } from '../schemas/records.ts';
import { Url } from '../schemas/shared.ts';
import type { Services } from '../services.ts';

const maxInvoices = 100;

const PaidPlan = Type.Enum(['chat', 'support', 'business']);
const Checkout = Type.Object({
  planId: PaidPlan,
  interval: BillingInterval,
  aiAddon: Type.Optional(Type.Boolean()),
  successUrl: Type.Optional(Url),
  cancelUrl: Type.Optional(Url),
});
const access = { kind: 'agent', scope: null, role: 'admin' } as const;

export const billingRoutes = [
  route({
    operation: 'billing.subscription',
    method: 'GET',
    path: '/billing/subscription',
    tag: 'Billing',
    summary: 'Get the subscription and its entitlements',
    access,
    reply: { status: 200, schema: Standing },
    refusals: [],
    read: (view) => readStanding(view),
  }),

  route({
    operation: 'billing.invoices',
    method: 'GET',
    path: '/billing/invoices',
    tag: 'Billing',
    summary: 'List invoices',
    description: 'The latest 100, newest first. Empty with the local provider.',
    access,
    reply: { status: 200, schema: Type.Object({ invoices: Type.Array(Invoice) }) },
    refusals: [],
    async run(call, services) {
      const customerId = theSubscription(viewOf(call, services))?.providerCustomerId;
      if (services.billing === undefined || customerId == null) return { invoices: [] };
      return { invoices: await services.billing.invoices(customerId, maxInvoices) };
    },
  }),

  route({
    operation: 'billing.checkout',
    method: 'POST',
    path: '/billing/checkout',
    tag: 'Billing',
    summary: 'Choose a plan',
    description:
      'If there is a live subscription, changes it in place with proration, withdraws a scheduled cancellation, ' +
      'and returns {subscription}. ' +
      'Otherwise returns {url}, a hosted payment page; `successUrl` and `cancelUrl` are then required. ' +
      'The local provider changes the plan immediately. Without `aiAddon` the add-ons stay unchanged. ' +
      'Refused if the plan has fewer seats than are in use, and for workspaces billed by a marketplace.',
    access,
    httpOnly: true,
    body: Checkout,
    reply: {
      status: 200,
      schema: Type.Object({ url: Type.Optional(Type.String()), subscription: Type.Optional(Subscription) }),
    },
    refusals: ['conflict', 'semantic_error'],
    async run(call, services) {
      const { billing, engine } = services;
      const { planId, interval, aiAddon } = call.body;
      const view = viewOf(call, services);
      const present = requireChangeable(view, billing === undefined ? 'local' : 'stripe');
      requireSeatsFor(view, planId);
      const addons = aiAddon === undefined ? present?.addons : aiAddon ? (['ai'] as const) : [];
      if (billing === undefined)
        return {
          subscription: await engine.execute(changePlan, { ...whoOf(call), params: { planId, interval, addons } }),
        };
      const subscriptionId = liveIdOf(view);
      if (subscriptionId !== undefined) {
        const subscription = await take(call, services, subscriptionId, () =>
          billing.change(subscriptionId, { planId, interval, ...(addons === undefined ? {} : { addons }) }),
        );
        if (!isOver(subscription.status)) return { subscription };
      }
      const { successUrl, cancelUrl } = requireReturns(call.body);
      const customerId = await customerOf(call, services, billing);
      const trial = theSubscription(viewOf(call, services));
      const trialEndsAt = trial?.status === 'trialing' ? trial.trialEndsAt : null;
      const order = {
        planId,
        interval,
        addons: addons ?? [],
        workspaceId: call.workspaceId,
        customerId,
        trialEndsAt,
        nowMs: services.clock.now(),
        successUrl,
        cancelUrl,
      };
      // One at a time: of two concurrent calls neither would see the other's page to close it.
      return services.billingTurns.take(customerId, () => billing.checkout(order));
    },
  }),

  route({
    operation: 'billing.addons',
    method: 'POST',
    path: '/billing/addons',
    tag: 'Billing',
    summary: 'Set the add-ons',
    description:
      'Replaces the whole set; sending the same set again changes nothing. ' +
      '`ai` is the only add-on and is planned: it can be bought and is billed, but enables nothing yet.',
    access,
    httpOnly: true,
    body: Type.Object({ addons: Type.Array(Addon, { maxItems: 10 }) }),
    reply: { status: 200, schema: Type.Object({ subscription: Subscription }) },
    refusals: ['conflict', 'semantic_error'],
    async run(call, services) {
      const addons = [...new Set(call.body.addons)];
      return {
        subscription: await changeLive(call, services, {
          provided: (billing, subscriptionId) => billing.change(subscriptionId, { addons }),
          kept: (provider) => services.engine.execute(setAddons, { ...whoOf(call), params: { addons, provider } }),
        }),
      };
    },
  }),

  route({
    operation: 'billing.portal',
    method: 'POST',
    path: '/billing/portal',
    tag: 'Billing',
    summary: 'Open the billing portal',
    description:
      "Returns a page of the provider where invoices and payment methods are managed. The local provider's page says that nothing is charged.",
    access,
    httpOnly: true,
    reply: { status: 200, schema: Type.Object({ url: Type.String() }) },
    refusals: ['conflict'],
    async run(call, services) {
      const { billing, config } = services;
      requireChangeable(viewOf(call, services), billing === undefined ? 'local' : 'stripe');
      if (billing === undefined) return { url: `${config.baseUrl}/billing` };
      return billing.portal(await customerOf(call, services, billing), config.baseUrl);
    },
  }),

  route({
    operation: 'billing.cancel',
    method: 'POST',
    path: '/billing/cancel',
    tag: 'Billing',
    summary: 'Cancel the subscription',
    description: 'Takes effect at the end of the period; a trial ends immediately.',
    access,
    httpOnly: true,
    reply: { status: 200, schema: Type.Object({ subscription: Subscription }) },
    refusals: ['conflict', 'semantic_error'],
    async run(call, services) {
      const isTrial = theSubscription(viewOf(call, services))?.status === 'trialing';
      return {
        subscription: await changeLive(call, services, {
          provided: (billing, subscriptionId) => billing.cancel(subscriptionId, isTrial ? 'now' : 'periodEnd'),
          kept: (provider) => services.engine.execute(cancelSubscription, { ...whoOf(call), params: { provider } }),
        }),
      };
    },
  }),

  route({
    operation: 'billing.webhook',
    method: 'POST',
    path: '/billing/webhook',
    tag: 'Billing',
    summary: 'Receive a billing provider event',
    description:
      'For Stripe, verified by Stripe-Signature. Events may arrive twice, late and in any order. Does not exist with the local provider.',
    access: { kind: 'public' },
    anyHeaders: true,
    httpOnly: true,
    rawBody: { contentType: 'application/json', schema: Type.Object({ id: Type.String(), type: Type.String() }) },
    reply: { status: 200, schema: Type.Object({ received: Type.Boolean() }) },
    refusals: ['invalid_signature'],
    async run({ raw }, services) {
      const { billing, clock } = services;
      if (billing === undefined || raw === undefined) refuse('not_found');
      const signature = raw.headers['stripe-signature'] ?? refuse('invalid_signature');
      const event = await billing.verify({ body: raw.body, signature, nowMs: clock.now() });
      if (event !== undefined) await applyEvent(services, billing, event);
      return { received: true };
    },
  }),
];

type Asking = Pick<Call, 'workspaceId' | 'caller'>;

function whoOf({ workspaceId, caller }: Asking): { workspaceId: string; caller: Caller } {
  return { workspaceId, caller };
}

function viewOf({ workspaceId, caller }: Asking, { engine }: Pick<Services, 'engine'>): View {
  return (engine.workspace(workspaceId) ?? refuse('unauthorized')).view(caller);
}

/** The provider's id of the subscription that is billed now. */
function liveIdOf(view: View): string | undefined {
  const subscription = theSubscription(view);
  return subscription === undefined || isLocking(subscription.status)
    ? undefined
    : (subscription.providerSubscriptionId ?? undefined);
}

/** Changes a subscription in place: at the provider, or here for the local provider and trials. */
async function changeLive(
  call: Asking,
  services: Services,
  how: {
    provided(billing: BillingProvider, subscriptionId: string): Promise<ProvidedSubscription>;
    kept(provider: 'local' | 'stripe'): Promise<SubscriptionView>;
  },
): Promise<SubscriptionView> {
  const { billing } = services;
  const provider = billing === undefined ? 'local' : 'stripe';
  const view = viewOf(call, services);
  requireLive(requireChangeable(view, provider));
  const subscriptionId = liveIdOf(view);
  return billing === undefined || subscriptionId === undefined
    ? how.kept(provider)
    : take(call, services, subscriptionId, () => how.provided(billing, subscriptionId));
}

/** Serialized with other updates of the same subscription, so that an older state never overwrites a newer one. */
function take(
  call: Asking,
  { engine, billingTurns }: Pick<Services, 'engine' | 'billingTurns'>,
  subscriptionId: string,
  ask: () => Promise<ProvidedSubscription>,
): Promise<SubscriptionView> {
  return billingTurns.take(
    subscriptionId,
    async () =>
      (await engine.execute(applyProvided, {
        ...whoOf(call),
        params: { provided: await ask(), eventId: undefined },
      })) ?? refuse('conflict'),
  );
}

/**
 * Reads the current state from the provider. If the subscription has ended, the customer may have paid for another one,
 * whose event arrived while this one was live.
 */
async function applyEvent(
  services: Services,
  billing: BillingProvider,
  { subscriptionId, eventId }: { subscriptionId: string; eventId: string | undefined },
): Promise<void> {
  const { billingTurns, engine } = services;
  const told = await billingTurns.take(subscriptionId, async () => {
    const found = await billing.subscription(subscriptionId);
    // The event may belong to a workspace of another server that shares the account.
    if (found === undefined || engine.workspace(found.workspaceId) === undefined) return undefined;
    await engine.execute(applyProvided, {
      workspaceId: found.workspaceId,
      caller: systemCaller,
      params: { provided: found.provided, eventId },
    });
    return found;
  });
  if (told === undefined || !isLocking(told.provided.status)) return;
  const { workspaceId, provided } = told;
  if (liveIdOf(viewOf({ workspaceId, caller: systemCaller }, services)) !== undefined) return;
  const otherId = await billing.liveSubscription({ customerId: provided.providerCustomerId, workspaceId });
  if (otherId !== undefined && otherId !== subscriptionId)
    await applyEvent(services, billing, { subscriptionId: otherId, eventId: undefined });
}

/** Created on first use and kept; concurrent calls share one creation. */
function customerOf(call: Asking, services: Services, billing: BillingProvider): Promise<string> {
  const { engine, billingTurns } = services;
  return billingTurns.take(call.workspaceId, async () => {
    const view = viewOf(call, services);
    const known = theSubscription(view)?.providerCustomerId;
    if (known != null) return known;
    const { id, name } = theWorkspace(view);
    const { email } = requireAgent(view, call.caller.kind === 'agent' ? call.caller.agentId : '');
    const providerCustomerId = await billing.customerFor({ id, name, email });
    await engine.execute(keepCustomer, { ...whoOf(call), params: { providerCustomerId } });
    return providerCustomerId;
  });
}

function requireReturns({ successUrl, cancelUrl }: Static<typeof Checkout>): { successUrl: string; cancelUrl: string } {
  return {
    successUrl: successUrl ?? refuseField('invalid_body', 'successUrl', 'is required to open a payment page'),
    cancelUrl: cancelUrl ?? refuseField('invalid_body', 'cancelUrl', 'is required to open a payment page'),
  };
}
