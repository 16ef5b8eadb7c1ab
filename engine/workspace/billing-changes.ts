// Changes of a subscription that involve the billing provider: checked here, requested from the provider, applied by a
// command. With the local provider only the command remains. Called by the edge; asynchronous, because it calls the
// provider. Specification 4.14.

import type { Addon, BillingInterval } from '../../store/workspace/subscriptions.ts';
import type { BillingProvider, Invoice, PaidPlan, ProvidedSubscription } from '../../workers/providers/billing.ts';
import { refuse, refuseField } from '../errors.ts';
import { type Actor, systemCaller } from '../runtime/caller.ts';
import type { Clock } from '../runtime/clock.ts';
import type { View } from '../runtime/context.ts';
import type { Engine } from '../runtime/engine.ts';
import type { Turns } from '../runtime/turns.ts';
import {
  applyProvided,
  cancelSubscription,
  changePlan,
  keepCustomer,
  requireChangeable,
  requireLive,
  requireSeatsFor,
  type SubscriptionView,
  setAddons,
} from './billing.ts';
import { requireAgent } from './roster.ts';
import { isLocking, isOver, theSubscription } from './subscription.ts';
import { theWorkspace } from './workspace.ts';

export interface BillingPorts {
  readonly engine: Engine;
  /** Undefined: the local provider, which moves no money. */
  readonly billing: BillingProvider | undefined;
  /** By the provider's id of a subscription or a customer, or by workspace. */
  readonly billingTurns: Turns;
  readonly clock: Clock;
}

export interface PlanChoice {
  readonly planId: PaidPlan;
  readonly interval: BillingInterval;
  /** Unset: the add-ons stay as they are. */
  readonly aiAddon?: boolean;
  /** Required to open a payment page. */
  readonly successUrl?: string;
  readonly cancelUrl?: string;
}

const maxInvoices = 100;

/** The latest ones, newest first; none with the local provider. */
export async function listInvoices(ports: BillingPorts, actor: Actor): Promise<Invoice[]> {
  const customerId = theSubscription(viewOf(ports, actor))?.providerCustomerId;
  return ports.billing === undefined || customerId == null ? [] : ports.billing.invoices(customerId, maxInvoices);
}

/**
 * Changes a live subscription in place; otherwise resolves to a page to pay on. Refuses conflict, semantic_error, and
 * invalid_body without the addresses to return to from that page.
 */
export async function choosePlan(
  ports: BillingPorts,
  actor: Actor,
  choice: PlanChoice,
): Promise<{ url: string } | { subscription: SubscriptionView }> {
  const { billing, engine } = ports;
  const { planId, interval, aiAddon } = choice;
  const view = viewOf(ports, actor);
  const present = requireChangeable(view, providerOf(ports));
  requireSeatsFor(view, planId);
  const addons = aiAddon === undefined ? present?.addons : aiAddon ? (['ai'] as const) : [];
  if (billing === undefined)
    return { subscription: await engine.execute(changePlan, { ...actor, params: { planId, interval, addons } }) };
  const subscriptionId = liveIdOf(view);
  if (subscriptionId !== undefined) {
    const subscription = await changeAndApply(ports, actor, {
      subscriptionId,
      change: () => billing.change(subscriptionId, { planId, interval, ...(addons === undefined ? {} : { addons }) }),
    });
    if (!isOver(subscription.status)) return { subscription };
  }
  return payFor(ports, actor, { billing, choice, addons: addons ?? [] });
}

/** Replaces the whole set. Refuses conflict, semantic_error. */
export async function replaceAddons(
  ports: BillingPorts,
  actor: Actor,
  addons: readonly Addon[],
): Promise<SubscriptionView> {
  return changeLive(ports, actor, {
    provided: (billing, subscriptionId) => billing.change(subscriptionId, { addons }),
    local: (provider) => ports.engine.execute(setAddons, { ...actor, params: { addons, provider } }),
  });
}

/** At the end of the period; a trial ends immediately. Refuses conflict, semantic_error. */
export async function cancelPlan(ports: BillingPorts, actor: Actor): Promise<SubscriptionView> {
  const isTrial = theSubscription(viewOf(ports, actor))?.status === 'trialing';
  return changeLive(ports, actor, {
    provided: (billing, subscriptionId) => billing.cancel(subscriptionId, isTrial ? 'now' : 'periodEnd'),
    local: (provider) => ports.engine.execute(cancelSubscription, { ...actor, params: { provider } }),
  });
}

/** A page of the provider for invoices and payment methods; undefined with the local provider. Refuses conflict. */
export async function openPortal(
  ports: BillingPorts,
  actor: Actor,
  returnUrl: string,
): Promise<{ url: string } | undefined> {
  requireChangeable(viewOf(ports, actor), providerOf(ports));
  return ports.billing?.portal(await customerOf(ports, actor, ports.billing), returnUrl);
}

/** Applies a signed event. Refuses not_found with the local provider, invalid_signature, invalid_body. */
export async function receiveBillingEvent(
  ports: BillingPorts,
  delivery: { body: Uint8Array; signature: string },
): Promise<void> {
  const { billing, clock } = ports;
  if (billing === undefined) refuse('not_found');
  const event = await billing.verify({ ...delivery, nowMs: clock.now() });
  if (event === 'unsigned') refuse('invalid_signature');
  if (event === 'unreadable') refuse('invalid_body');
  if (event !== undefined) await applyEvent(ports, billing, event);
}

function providerOf({ billing }: BillingPorts): 'local' | 'stripe' {
  return billing === undefined ? 'local' : 'stripe';
}

function viewOf({ engine }: BillingPorts, { workspaceId, caller }: Actor): View {
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
  ports: BillingPorts,
  actor: Actor,
  how: {
    provided(billing: BillingProvider, subscriptionId: string): Promise<ProvidedSubscription>;
    local(provider: 'local' | 'stripe'): Promise<SubscriptionView>;
  },
): Promise<SubscriptionView> {
  const { billing } = ports;
  const view = viewOf(ports, actor);
  requireLive(requireChangeable(view, providerOf(ports)));
  const subscriptionId = liveIdOf(view);
  if (billing === undefined || subscriptionId === undefined) return how.local(providerOf(ports));
  return changeAndApply(ports, actor, { subscriptionId, change: () => how.provided(billing, subscriptionId) });
}

/** Serialised with other updates of the same subscription, so that an older state never overwrites a newer one. */
function changeAndApply(
  { engine, billingTurns }: BillingPorts,
  actor: Actor,
  { subscriptionId, change }: { subscriptionId: string; change: () => Promise<ProvidedSubscription> },
): Promise<SubscriptionView> {
  return billingTurns.take(
    subscriptionId,
    async () =>
      (await engine.execute(applyProvided, {
        ...actor,
        params: { provided: await change(), eventId: undefined },
      })) ?? refuse('conflict'),
  );
}

/** A page to pay on. A trial goes on until its end. */
async function payFor(
  ports: BillingPorts,
  actor: Actor,
  { billing, choice, addons }: { billing: BillingProvider; choice: PlanChoice; addons: readonly Addon[] },
): Promise<{ url: string }> {
  const { planId, interval } = choice;
  const urls = requireReturns(choice);
  const customerId = await customerOf(ports, actor, billing);
  const trial = theSubscription(viewOf(ports, actor));
  const order = {
    ...urls,
    planId,
    interval,
    addons,
    workspaceId: actor.workspaceId,
    customerId,
    trialEndsAt: trial?.status === 'trialing' ? trial.trialEndsAt : null,
    nowMs: ports.clock.now(),
  };
  // One at a time: of two concurrent calls neither would see the other's page to close it.
  return ports.billingTurns.take(customerId, () => billing.checkout(order));
}

function requireReturns({ successUrl, cancelUrl }: PlanChoice): { successUrl: string; cancelUrl: string } {
  return {
    successUrl: successUrl ?? refuseField('invalid_body', 'successUrl', 'is required to open a payment page'),
    cancelUrl: cancelUrl ?? refuseField('invalid_body', 'cancelUrl', 'is required to open a payment page'),
  };
}

/** Created on first use and kept; concurrent calls share one creation. */
function customerOf(ports: BillingPorts, actor: Actor, billing: BillingProvider): Promise<string> {
  return ports.billingTurns.take(actor.workspaceId, async () => {
    const view = viewOf(ports, actor);
    const known = theSubscription(view)?.providerCustomerId;
    if (known != null) return known;
    const { id, name } = theWorkspace(view);
    const { email } = requireAgent(view, actor.caller.kind === 'agent' ? actor.caller.agentId : '');
    const providerCustomerId = await billing.customerFor({ id, name, email });
    await ports.engine.execute(keepCustomer, { ...actor, params: { providerCustomerId } });
    return providerCustomerId;
  });
}

/**
 * Reads the current state from the provider. If the subscription has ended, the customer may have paid for another one,
 * whose event arrived while this one was live.
 */
async function applyEvent(
  ports: BillingPorts,
  billing: BillingProvider,
  { subscriptionId, eventId }: { subscriptionId: string; eventId: string | undefined },
): Promise<void> {
  const { billingTurns, engine } = ports;
  const applied = await billingTurns.take(subscriptionId, async () => {
    const found = await billing.subscription(subscriptionId);
    // The event may belong to a workspace of another server that shares the account.
    if (found === undefined || engine.workspace(found.workspaceId) === undefined) return undefined;
    const { workspaceId, provided } = found;
    await engine.execute(applyProvided, { workspaceId, caller: systemCaller, params: { provided, eventId } });
    return found;
  });
  if (applied === undefined || !isLocking(applied.provided.status)) return;
  const { workspaceId, provided } = applied;
  if (liveIdOf(viewOf(ports, { workspaceId, caller: systemCaller })) !== undefined) return;
  const otherId = await billing.liveSubscription({ customerId: provided.providerCustomerId, workspaceId });
  if (otherId !== undefined && otherId !== subscriptionId)
    await applyEvent(ports, billing, { subscriptionId: otherId, eventId: undefined });
}
