// Billing. Specification 4.14. Calls to the provider are made by engine/workspace/billing-changes.ts.

import Type from 'typebox';
import { refuse } from '../../engine/errors.ts';
import { readStanding } from '../../engine/workspace/billing.ts';
import {
  cancelPlan,
  choosePlan,
  listInvoices,
  openPortal,
  receiveBillingEvent,
  replaceAddons,
} from '../../engine/workspace/billing-changes.ts';
import { actorOf, route } from '../route.ts';
import { Addon, BillingInterval, Invoice, Standing, Subscription } from '../schemas/records.ts';
import { Url } from '../schemas/shared.ts';

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
    run: async (call, services) => ({ invoices: await listInvoices(services, actorOf(call)) }),
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
    actsOutside: true,
    run: (call, services) => choosePlan(services, actorOf(call), call.body),
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
    actsOutside: true,
    run: async (call, services) => ({
      subscription: await replaceAddons(services, actorOf(call), [...new Set(call.body.addons)]),
    }),
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
    actsOutside: true,
    async run(call, services) {
      const { baseUrl } = services.config;
      return (await openPortal(services, actorOf(call), baseUrl)) ?? { url: `${baseUrl}/billing` };
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
    actsOutside: true,
    run: async (call, services) => ({ subscription: await cancelPlan(services, actorOf(call)) }),
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
      if (services.billing === undefined || raw === undefined) refuse('not_found');
      const signature = raw.headers['stripe-signature'] ?? refuse('invalid_signature');
      await receiveBillingEvent(services, { body: raw.body, signature });
      return { received: true };
    },
  }),
];
