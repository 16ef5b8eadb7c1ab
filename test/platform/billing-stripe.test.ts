// Billing by Stripe: trials, hosted checkout, changes in place, cancelling, invoices, and Stripe's events, which may
// arrive twice, late and in any order.

import t from 'tap';
import { ManualClock } from '../support/manual-clock.ts';
import { type Service, startService } from '../support/service.ts';
import { FakeStripe } from '../support/stripe.ts';

const dayMs = 24 * 3600_000;
const urls = { successUrl: 'https://shop.example/paid', cancelUrl: 'https://shop.example/not-paid' };

async function start(t: Parameters<typeof startService>[0], env: Record<string, string> = {}) {
  const clock = new ManualClock();
  const stripe = await FakeStripe.start(t, clock);
  const service = await startService(t, {
    env: { RATE_LIMITS: 'off', TOKEN_TTL_DAYS: '365', ...stripe.env, ...env },
    clock,
  });
  const owner = await service.workspace();
  return { service, stripe, owner };
}
const standing = async (service: Service, token: string) => (await service.get('/billing/subscription', token)).body;

/** Chooses a plan, pays on the page, and Stripe reports it. */
async function subscribe({ service, stripe, owner }: Awaited<ReturnType<typeof start>>, order: object = {}) {
  const { body } = await service.post(
    '/billing/checkout',
    { planId: 'support', interval: 'monthly', ...urls, ...order },
    owner.token,
  );
  const subscription = stripe.pay(body.url);
  await stripe.deliver(service, stripe.event('customer.subscription.created', subscription));
  return subscription;
}

t.test('[decisions, Providers] a new workspace is on trial', async (t) => {
  const { service, owner } = await start(t, { TRIAL_DAYS: '10' });

  t.test('[4.14] with the days that are left, those begun counted', async (t) => {
    t.match(await standing(service, owner.token), {
      planId: 'business',
      locked: false,
      billingSource: 'stripe',
      daysLeftInTrial: 10,
      subscription: { status: 'trialing', plan: 'business' },
    });
    await service.pass(9 * dayMs);
    t.match(await standing(service, owner.token), { locked: false, daysLeftInTrial: 1 });
  });

  t.test('[4.14] which ends when they are over', async (t) => {
    await service.pass(dayMs - 60_001);
    t.match(await standing(service, owner.token), { locked: false, daysLeftInTrial: 1 }, 'a millisecond before');
    await service.pass(1);
    t.match(await standing(service, owner.token), {
      locked: true,
      daysLeftInTrial: null,
      subscription: { status: 'canceled' },
    });
    t.match(await service.get('/calls', owner.token), { status: 402, body: { error: 'feature_locked' } });
  });

  t.test('[3 subscription] cancelling ends it immediately', async (t) => {
    const other = await service.workspace();
    t.match(await service.post('/billing/cancel', undefined, other.token), {
      status: 200,
      body: { subscription: { status: 'canceled' } },
    });
    t.match(await standing(service, other.token), { locked: true });
  });

  t.test('14 days, unless the operator sets otherwise', async (t) => {
    const { service, owner } = await start(t);
    t.equal((await standing(service, owner.token)).daysLeftInTrial, 14);
  });
});

t.test('[4.14] checkout', async (t) => {
  const { service, stripe, owner } = await start(t);

  t.test('[4.14] opens a page to pay on, for the customer that the workspace is', async (t) => {
    const { status, body } = await service.post(
      '/billing/checkout',
      { planId: 'business', interval: 'annual', aiAddon: true, ...urls },
      owner.token,
    );
    t.match({ status, body }, { status: 200, body: { url: /^https:\/\/checkout\.stripe\.example\/cs_/ } });
    t.match(stripe.last('POST', /customers$/), { email: owner.email, 'metadata[workspaceId]': owner.workspaceId });
    t.match(stripe.last('POST', /sessions$/), {
      mode: 'subscription',
      client_reference_id: owner.workspaceId,
      'line_items[0][price]': 'price_switchboard_business_annual',
      'line_items[1][price]': 'price_switchboard_ai_annual',
      'subscription_data[metadata][workspaceId]': owner.workspaceId,
      'subscription_data[trial_end]': String(Math.floor((Date.parse('2026-11-20T12:00:00.000Z') + 14 * dayMs) / 1000)),
      success_url: urls.successUrl,
      cancel_url: urls.cancelUrl,
    });
    t.match(
      await standing(service, owner.token),
      { planId: 'business', addons: [], subscription: { status: 'trialing' } },
      'nothing changes before it is paid',
    );
  });

  t.test('[4.14] a page that was left open is closed, and the customer stays the same one', async (t) => {
    const first = await service.post(
      '/billing/checkout',
      { planId: 'support', interval: 'monthly', ...urls },
      owner.token,
    );
    await service.post('/billing/checkout', { planId: 'chat', interval: 'monthly', ...urls }, owner.token);
    t.throws(() => stripe.pay(first.body.url), /expired/);
    t.equal(stripe.count('POST', /customers$/), 1);
  });

  t.test('[4.14] concurrent requests are one customer', async (t) => {
    const other = await service.workspace();
    const before = stripe.count('POST', /customers$/);
    await Promise.all(Array.from({ length: 5 }, () => service.post('/billing/portal', undefined, other.token)));
    t.equal(stripe.count('POST', /customers$/), before + 1);
  });

  t.test('[4.14] of several pages opened concurrently, one can be paid', async (t) => {
    const other = await service.workspace();
    const opened = await Promise.all(
      (['chat', 'support', 'business'] as const).map((planId) =>
        service.post('/billing/checkout', { planId, interval: 'monthly', ...urls }, other.token),
      ),
    );
    t.same(
      opened.map(({ status }) => status),
      [200, 200, 200],
    );
    const payable = opened.filter(({ body }) => {
      try {
        return stripe.pay(body.url) !== undefined;
      } catch {
        return false;
      }
    });
    t.equal(payable.length, 1, 'no one pays twice');
  });

  t.test('[decisions, Billing] needs addresses to return to', async (t) => {
    for (const field of ['successUrl', 'cancelUrl'] as const)
      t.match(
        await service.post(
          '/billing/checkout',
          { planId: 'chat', interval: 'monthly', ...urls, [field]: undefined },
          owner.token,
        ),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { [field]: [String] } } } },
      );
  });

  t.test('[4.14] a trial that is nearly over is not carried on: Stripe takes 48 hours and more', async (t) => {
    await service.pass(12 * dayMs);
    await service.post('/billing/checkout', { planId: 'chat', interval: 'monthly', ...urls }, owner.token);
    t.equal(stripe.last('POST', /sessions$/)['subscription_data[trial_end]'], undefined);
  });

  t.test('[4.14] once paid, the plan is the paid one', async (t) => {
    const { body } = await service.post(
      '/billing/checkout',
      { planId: 'support', interval: 'monthly', aiAddon: true, ...urls },
      owner.token,
    );
    const subscription = stripe.pay(body.url);
    t.match(await stripe.deliver(service, stripe.event('checkout.session.completed', subscription)), {
      status: 200,
      body: { received: true },
    });
    t.match(await standing(service, owner.token), {
      planId: 'support',
      locked: false,
      daysLeftInTrial: null,
      addons: ['ai'],
      billingSource: 'stripe',
      subscription: { status: 'active', billingInterval: 'monthly', cancelAtPeriodEnd: false },
    });
    const [entry] = (await service.get('/workspace/audit-log?limit=1', owner.token)).body.entries;
    t.match(entry, {
      actorAgentId: null,
      action: 'subscription.changed',
      before: { status: 'trialing', plan: 'business' },
      after: { status: 'active', plan: 'support' },
    });
    await service.pass(10 * dayMs);
    t.match(await standing(service, owner.token), { locked: false }, 'the end of the trial has passed');
  });
});

t.test('[4.14] a live subscription is changed in place', async (t) => {
  const context = await start(t);
  const { service, stripe, owner } = context;
  const begun = await subscribe(context);
  const { id } = begun;
  // Its trial has ended.
  Object.assign(begun, { status: 'active', trialEnd: null });
  await stripe.deliver(service, stripe.event('customer.subscription.updated', begun));

  t.test('[4.14] another plan: the same subscription, prorated, no page', async (t) => {
    const { status, body } = await service.post(
      '/billing/checkout',
      { planId: 'business', interval: 'annual' },
      owner.token,
    );
    t.match(
      { status, body },
      { status: 200, body: { subscription: { plan: 'business', billingInterval: 'annual' }, url: undefined } },
    );
    t.match(stripe.last('POST', /subscriptions\/sub_/), {
      'items[0][id]': /^si_/,
      'items[0][price]': 'price_switchboard_business_annual',
      proration_behavior: 'create_prorations',
    });
    t.equal(stripe.subscriptions.size, 1);
  });

  t.test('[4.14] add-ons are added and removed with it', async (t) => {
    t.match(await service.post('/billing/addons', { addons: ['ai'] }, owner.token), {
      status: 200,
      body: { subscription: { plan: 'business', addons: ['ai'] } },
    });
    t.same(
      stripe.subscriptions.get(id)?.items.map(({ price }) => price),
      ['price_switchboard_business_annual', 'price_switchboard_ai_annual'],
    );
    t.match(await service.post('/billing/addons', { addons: ['ai'] }, owner.token), {
      status: 200,
      body: { subscription: { addons: ['ai'] } },
    });
    t.equal(stripe.subscriptions.get(id)?.items.length, 2, 'not twice');
    await service.post('/billing/checkout', { planId: 'support', interval: 'monthly' }, owner.token);
    t.same(
      stripe.subscriptions.get(id)?.items.map(({ price }) => price),
      ['price_switchboard_support_monthly', 'price_switchboard_ai_monthly'],
      'and in its interval',
    );
    t.match(await service.post('/billing/addons', { addons: [] }, owner.token), {
      body: { subscription: { plan: 'support', addons: [] } },
    });
    t.same(
      stripe.subscriptions.get(id)?.items.map(({ price }) => price),
      ['price_switchboard_support_monthly'],
    );
  });

  t.test("[3 subscription] cancelling holds until the period's end; choosing a plan takes it back", async (t) => {
    t.match(await service.post('/billing/cancel', undefined, owner.token), {
      status: 200,
      body: { subscription: { status: 'active', cancelAtPeriodEnd: true } },
    });
    t.match(await service.post('/billing/checkout', { planId: 'support', interval: 'monthly' }, owner.token), {
      body: { subscription: { cancelAtPeriodEnd: false } },
    });
    await service.post('/billing/cancel', undefined, owner.token);
  });

  t.test('[3 subscription] and Stripe reports its end', async (t) => {
    const subscription = stripe.subscriptions.get(id);
    if (subscription === undefined) return;
    Object.assign(subscription, { status: 'canceled', endedAt: Math.floor(service.clock.now() / 1000) });
    await stripe.deliver(service, stripe.event('customer.subscription.deleted', subscription));
    t.match(await standing(service, owner.token), { locked: true, subscription: { status: 'canceled' } });
    t.match(
      await service.post('/billing/checkout', { planId: 'chat', interval: 'monthly', ...urls }, owner.token),
      { status: 200, body: { url: String } },
      'a new one is paid on a page',
    );
  });

  t.test('[4.14] below the seats in use Stripe is not asked', async (t) => {
    const other = await start(t);
    await subscribe(other);
    for (let count = 0; count < 5; count += 1)
      await other.service.post(
        '/agents/invite',
        { email: `s${count}@example.com`, name: 'x', role: 'agent' },
        other.owner.token,
      );
    const before = other.stripe.asked.length;
    t.match(await other.service.post('/billing/checkout', { planId: 'chat', interval: 'monthly' }, other.owner.token), {
      status: 422,
      body: { error: 'semantic_error', detail: { seats: 5, taken: 6 } },
    });
    t.equal(other.stripe.asked.length, before);
  });
});

t.test('[4.14] a trial that was paid for', async (t) => {
  const context = await start(t);
  const { service, stripe, owner } = context;
  const subscription = await subscribe(context);
  t.match(await standing(service, owner.token), {
    planId: 'support',
    daysLeftInTrial: 14,
    subscription: { status: 'trialing' },
  });

  t.test('[6] Stripe extends it: audited', async (t) => {
    subscription.trialEnd = (subscription.trialEnd ?? 0) + 7 * 24 * 3600;
    await stripe.deliver(service, stripe.event('customer.subscription.updated', subscription));
    t.equal((await standing(service, owner.token)).daysLeftInTrial, 21);
    const actions = (await service.get('/workspace/audit-log?limit=2', owner.token)).body.entries.map(
      ({ action }: { action: string }) => action,
    );
    t.ok(actions.includes('subscription.trial_extended'), actions.join());
  });

  t.test('[3 subscription] cancelling ends it immediately, at Stripe too', async (t) => {
    t.match(await service.post('/billing/cancel', undefined, owner.token), {
      status: 200,
      body: { subscription: { status: 'canceled' } },
    });
    t.equal(subscription.status, 'canceled');
    t.equal((await standing(service, owner.token)).locked, true);
  });
});

t.test("[6] Stripe's events", async (t) => {
  const context = await start(t);
  const { service, stripe, owner } = context;
  const subscription = await subscribe(context);
  const invalid = { status: 401, body: { error: 'invalid_signature' } };

  t.test('[6] count only as Stripe signed them, within five minutes', async (t) => {
    const event = stripe.event('customer.subscription.updated', subscription);
    subscription.status = 'unpaid';
    t.match(
      await service.call('POST', '/billing/webhook', { body: event.text, headers: { Accept: '*/*' } }),
      invalid,
      'no header',
    );
    const wrong: [string, string][] = [
      ['another secret', stripe.sign(event.text, { secret: 'whsec_other' })],
      ['another body', stripe.sign(event.text.replace('evt_', 'evt_x'))],
      ['too old', stripe.sign(event.text, { atMs: service.clock.now() - 301_000 })],
      ['nothing in it', ''],
      ['no signature in it', 't=1'],
      ['invalid ones', 'x'],
    ];
    for (const [title, signature] of wrong) t.match(await stripe.deliver(service, event, signature), invalid, title);
    t.equal((await standing(service, owner.token)).locked, false, 'none of them did anything');
    t.match(await stripe.deliver(service, event, stripe.sign(event.text, { atMs: service.clock.now() - 299_000 })), {
      status: 200,
    });
    t.match(await standing(service, owner.token), { locked: true, subscription: { status: 'unpaid' } });
  });

  t.test('[6] signed content that Stripe would not send is invalid_body', async (t) => {
    const { text } = stripe.event('customer.subscription.updated', subscription);
    const paid = stripe.event('checkout.session.completed', subscription).text;
    const wrong: string[] = [
      '',
      'null',
      '7',
      '[]',
      '{}',
      '{"type":"x"',
      text.replace(/"id":"evt_\d+"/, '"id":null'),
      text.replace(/"id":"evt_\d+"/, '"id":{}'),
      text.replace(/"id":"sub_\d+"/, '"id":7'),
      text.replace(/"data":.*/, '"data":null}'),
      text.replace(/"type":"[^"]*"/, '"type":null'),
      paid.replace(/"subscription":"[^"]*"/, '"subscription":{"id":7}'),
    ];
    for (const body of wrong)
      t.match(
        await stripe.deliver(service, { text: body }),
        { status: 400, body: { error: 'invalid_body' } },
        body.slice(0, 200),
      );
    t.match(
      await stripe.deliver(service, { text: paid.replace(/"subscription":"[^"]*"/, '"subscription":null') }),
      { status: 200 },
      'a payment for another product is ignored',
    );
    t.match(
      await stripe.deliver(service, { text: text.replace('customer.subscription.updated', 'customer.created') }),
      { status: 200 },
      'nor is another type',
    );
  });

  t.test('[4.14] a late payment does not lock; a missing one does', async (t) => {
    for (const [status, locked] of [
      ['past_due', false],
      ['unpaid', true],
      ['active', false],
      ['paused', true],
      ['incomplete', true],
      ['active', false],
    ] as const) {
      subscription.status = status;
      await stripe.deliver(service, stripe.event('customer.subscription.updated', subscription));
      t.match(await standing(service, owner.token), { locked, subscription: { status } }, status);
    }
  });

  t.test('[6] a repeated event counts once', async (t) => {
    const event = stripe.event('customer.subscription.updated', subscription);
    await stripe.deliver(service, event);
    subscription.cancelAtPeriodEnd = true;
    t.match(await stripe.deliver(service, event), { status: 200 });
    t.equal((await standing(service, owner.token)).subscription.cancelAtPeriodEnd, false, 'the second is recognised');
    await stripe.deliver(service, stripe.event('customer.subscription.updated', subscription));
    t.equal((await standing(service, owner.token)).subscription.cancelAtPeriodEnd, true);
    subscription.cancelAtPeriodEnd = false;
    await stripe.deliver(service, stripe.event('customer.subscription.updated', subscription));
  });

  t.test('[6] in any order: an old one does not restore an old state', async (t) => {
    const old = stripe.event('customer.subscription.updated', subscription);
    await service.post('/billing/checkout', { planId: 'business', interval: 'monthly' }, owner.token);
    await stripe.deliver(service, old);
    t.equal((await standing(service, owner.token)).planId, 'business');
  });

  t.test('[6] many concurrently', async (t) => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => {
        subscription.cancelAtPeriodEnd = index % 2 === 0;
        return stripe.deliver(service, stripe.event('customer.subscription.updated', subscription));
      }),
    );
    t.same(new Set(answers.map(({ status }) => status)), new Set([200]));
    t.equal((await standing(service, owner.token)).subscription.cancelAtPeriodEnd, subscription.cancelAtPeriodEnd);
  });

  t.test('[6] of other customers, or none: accepted, without effect', async (t) => {
    const before = await standing(service, owner.token);
    const foreign = { ...subscription, id: 'sub_foreign', metadata: {} };
    stripe.subscriptions.set(foreign.id, foreign);
    t.match(await stripe.deliver(service, stripe.event('customer.subscription.updated', foreign)), { status: 200 });
    const elsewhere = {
      ...subscription,
      id: 'sub_elsewhere',
      metadata: { workspaceId: '0194b7a6-1111-7111-8111-111111111111' },
    };
    stripe.subscriptions.set(elsewhere.id, elsewhere);
    t.match(await stripe.deliver(service, stripe.event('customer.subscription.updated', elsewhere)), { status: 200 });
    t.match(await stripe.deliver(service, stripe.event('invoice.paid', subscription)), { status: 200 });
    const gone = { ...subscription, id: 'sub_old', status: 'canceled' };
    stripe.subscriptions.set(gone.id, gone);
    t.match(await stripe.deliver(service, stripe.event('customer.subscription.deleted', gone)), { status: 200 });
    t.same(await standing(service, owner.token), before);
  });

  t.test('[6] while Stripe cannot be reached it is 503, so that Stripe retries', async (t) => {
    subscription.status = 'past_due';
    const event = stripe.event('customer.subscription.updated', subscription);
    stripe.broken = { status: 400, type: 'invalid_request_error' };
    t.match(await stripe.deliver(service, event), { status: 503, body: { error: 'service_unavailable' } });
    stripe.broken = undefined;
    t.match(await stripe.deliver(service, event), { status: 200 });
    t.equal((await standing(service, owner.token)).subscription.status, 'past_due');
  });
});

t.test('[6] more than one subscription of a customer', async (t) => {
  const { service, stripe, owner } = await start(t);
  const open = () =>
    service.post('/billing/checkout', { planId: 'support', interval: 'monthly', ...urls }, owner.token);
  const tell = (type: string, about: Parameters<FakeStripe['event']>[1]) =>
    stripe.deliver(service, stripe.event(`customer.subscription.${type}`, about));
  const first = stripe.pay((await open()).body.url);
  await tell('created', first);

  t.test(
    '[6] the subscription that ends last keeps the workspace open, whatever was reported in between',
    async (t) => {
      first.status = 'unpaid';
      await tell('updated', first);
      const second = stripe.pay((await open()).body.url);
      await tell('created', second);
      first.status = 'active';
      await tell('updated', first);
      first.status = 'canceled';
      t.match(await tell('deleted', first), { status: 200 });
      t.match(
        await standing(service, owner.token),
        { locked: false, subscription: { status: second.status } },
        'the second is paid for still',
      );
      second.status = 'canceled';
      await tell('deleted', second);
      t.match(await standing(service, owner.token), { locked: true, subscription: { status: 'canceled' } });
    },
  );

  t.test('[4.14] one that ended without a report blocks nothing', async (t) => {
    const third = stripe.pay((await open()).body.url);
    await tell('created', third);
    third.status = 'canceled';
    const { status, body } = await open();
    t.match({ status, body }, { status: 200, body: { url: String } }, 'a page to pay on');
    t.match(await standing(service, owner.token), { locked: true, subscription: { status: 'canceled' } });
    const fourth = stripe.pay(body.url);
    await tell('created', fourth);
    fourth.status = 'canceled';
    t.match(await service.post('/billing/cancel', undefined, owner.token), {
      status: 200,
      body: { subscription: { status: 'canceled' } },
    });
  });
});

t.test('[4.14] portal and invoices', async (t) => {
  const context = await start(t);
  const { service, stripe, owner } = context;
  t.same(
    (await service.get('/billing/invoices', owner.token)).body,
    { invoices: [] },
    'a customer without a workspace has none',
  );
  t.match(await service.post('/billing/portal', undefined, owner.token), {
    status: 200,
    body: { url: /^https:\/\/billing\.stripe\.example\/p\/cus_/ },
  });
  const customer = stripe.last('POST', /billing_portal/)['customer'] ?? '';
  for (let count = 1; count <= 120; count += 1)
    stripe.invoices.push({ id: `in_${count}`, customer, total: 100 * count, created: 1_790_000_000 });
  stripe.invoices.push({ id: 'in_other', customer: 'cus_other', total: 1, created: 1 });
  const { invoices } = (await service.get('/billing/invoices', owner.token)).body;
  t.equal(invoices.length, 100);
  t.match(invoices[0], {
    id: 'in_1',
    number: 'N-in_1',
    status: 'paid',
    amountCents: 100,
    currency: 'eur',
    periodStart: String,
    periodEnd: '2026-09-21T14:13:20.000Z',
    hostedUrl: 'https://invoice.stripe.example/in_1',
    createdAt: '2026-09-21T14:13:20.000Z',
  });
});

t.test(
  '[decisions, Providers] Stripe is down, or not set up as it should be: 503, and nothing has changed',
  async (t) => {
    const context = await start(t);
    const { service, stripe, owner } = context;
    const unavailable = { status: 503, body: { error: 'service_unavailable' } };
    const order = { planId: 'business', interval: 'monthly', ...urls };
    stripe.prices.delete('switchboard_business_monthly');
    t.match(await service.post('/billing/checkout', order, owner.token), unavailable, 'a price is missing');
    stripe.prices.add('switchboard_business_monthly');
    await subscribe(context);
    const before = await standing(service, owner.token);
    stripe.broken = { status: 402, type: 'card_error' };
    t.match(await service.post('/billing/checkout', order, owner.token), unavailable);
    t.match(await service.post('/billing/addons', { addons: ['ai'] }, owner.token), unavailable);
    t.match(await service.post('/billing/cancel', undefined, owner.token), unavailable);
    t.match(await service.post('/billing/portal', undefined, owner.token), unavailable);
    t.match(await service.get('/billing/invoices', owner.token), unavailable);
    t.same(await standing(service, owner.token), before);
  },
);

t.test(
  "[decisions, Providers] a server whose provider was changed to local does not touch Stripe's subscriptions",
  async (t) => {
    const context = await start(t);
    await subscribe(context);
    await context.service.stop();
    const again = await startService(t, { dataDir: context.service.dataDir, clock: context.service.clock });
    t.match(await again.post('/billing/checkout', { planId: 'chat', interval: 'monthly' }, context.owner.token), {
      status: 409,
      body: { error: 'conflict' },
    });
    t.match(await again.get('/billing/subscription', context.owner.token), {
      status: 200,
      body: { planId: 'support', locked: false },
    });
  },
);
