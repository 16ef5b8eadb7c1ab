// Billing by the local provider: what a plan includes, and changes of plan without payment.

import t from 'tap';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { command } from '../../engine/runtime/command.ts';
import { setSubscription, theSubscription } from '../../engine/workspace/subscription.ts';
import { monthsAfter } from '../../engine/workspace/time-zones.ts';
import type { SubscriptionRecord } from '../../store/workspace/subscriptions.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { type Service, startService } from '../support/service.ts';

const dayMs = 24 * 3600_000;
const env = { RATE_LIMITS: 'off', TOKEN_TTL_DAYS: '365' };

/** As a special arrangement of a marketplace would leave it. */
async function rewrite(service: Service, workspaceId: string, changes: Partial<SubscriptionRecord>): Promise<void> {
  const change = command('test.subscription', (ctx, _: object): void => {
    const present = theSubscription(ctx);
    if (present !== undefined) setSubscription(ctx, { ...present, ...changes });
  });
  await service.running.services.engine.execute(change, { workspaceId, caller: systemCaller, params: {} });
}

t.test('[4.14] a new workspace of the local provider', async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();
  const { status, body } = await service.get('/billing/subscription', owner.token);
  t.match(
    { status, body },
    {
      status: 200,
      body: {
        subscription: {
          plan: 'business',
          addons: [],
          status: 'active',
          billingInterval: 'monthly',
          billingSource: 'local',
          cancelAtPeriodEnd: false,
          currentPeriodStart: '2026-11-20T12:00:00.000Z',
          currentPeriodEnd: '2026-12-20T12:00:00.000Z',
        },
        planId: 'business',
        locked: false,
        daysLeftInTrial: null,
        addons: [],
        billingSource: 'local',
        entitlements: {
          features: ['chat', 'campaigns', 'goals', 'tickets', 'knowledge_base', 'calls'],
          seats: { limit: 50, taken: 1 },
        },
      },
    },
  );
  t.same((await service.get('/billing/invoices', owner.token)).body, { invoices: [] });
  const portal = await service.post('/billing/portal', undefined, owner.token);
  t.same(portal.body, { url: 'http://switchboard.test/billing' });
  t.equal((await service.get('//billing')).status, 200, 'a page of ours');
  t.equal(
    (await service.call('POST', '/billing/webhook', { body: '{}', headers: { 'Stripe-Signature': 't=1,v1=x' } }))
      .status,
    404,
    'no one bills here',
  );
});

t.test('[4.14] choosing a plan applies immediately', async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();
  const checkout = (body: object) => service.post('/billing/checkout', body, owner.token);

  t.test('[4.14] each plan, with the features and seats of decisions 4.7', async (t) => {
    const rows: [planId: string, features: string[], limit: number][] = [
      ['chat', ['chat', 'campaigns', 'goals'], 5],
      ['support', ['chat', 'campaigns', 'goals', 'tickets', 'knowledge_base'], 15],
      ['business', ['chat', 'campaigns', 'goals', 'tickets', 'knowledge_base', 'calls'], 50],
    ];
    for (const [planId, features, limit] of rows) {
      t.match(await checkout({ planId, interval: 'monthly' }), {
        status: 200,
        body: { subscription: { plan: planId, status: 'active' }, url: undefined },
      });
      t.match((await service.get('/billing/subscription', owner.token)).body, {
        planId,
        entitlements: { features, seats: { limit, taken: 1 } },
      });
    }
  });

  t.test('[4.14] features the plan lacks are locked from then on, and open again after', async (t) => {
    await checkout({ planId: 'support', interval: 'monthly' });
    t.match(await service.get('/calls', owner.token), { status: 402, body: { error: 'feature_locked' } });
    await checkout({ planId: 'business', interval: 'monthly' });
    t.equal((await service.get('/calls', owner.token)).status, 200);
  });

  t.test('[4.14] the interval and the add-on', async (t) => {
    t.match(await checkout({ planId: 'support', interval: 'annual', aiAddon: true }), {
      body: { subscription: { billingInterval: 'annual', addons: ['ai'], currentPeriodEnd: /^2027-11-20/ } },
    });
    t.match(
      await checkout({ planId: 'business', interval: 'annual' }),
      { body: { subscription: { addons: ['ai'] } } },
      'not named, it stays',
    );
    t.match((await service.get('/billing/subscription', owner.token)).body, {
      addons: ['ai'],
      entitlements: { features: /ai/ },
    });
    t.match(await checkout({ planId: 'business', interval: 'monthly', aiAddon: false }), {
      body: { subscription: { addons: [] } },
    });
  });

  t.test('[4.14] is audited, with the values before', async (t) => {
    await checkout({ planId: 'chat', interval: 'monthly' });
    await checkout({ planId: 'chat', interval: 'monthly' });
    const { entries } = (await service.get('/workspace/audit-log?limit=2', owner.token)).body;
    t.match(entries[0], {
      actorAgentId: owner.agentId,
      action: 'subscription.changed',
      targetKind: 'subscription',
      before: { plan: 'business' },
      after: { plan: 'chat' },
    });
    t.notMatch(entries[1].after, { plan: 'chat' }, 'an unchanged one has no entry');
  });

  t.test('[4.14] only offered plans are accepted', async (t) => {
    const rows: [object, string][] = [
      [{ interval: 'monthly' }, 'planId'],
      [{ planId: 'enterprise', interval: 'monthly' }, 'planId'],
      [{ planId: 'gold', interval: 'monthly' }, 'planId'],
      [{ planId: 'chat' }, 'interval'],
      [{ planId: 'chat', interval: 'weekly' }, 'interval'],
      [{ planId: 'chat', interval: 'monthly', aiAddon: 'yes' }, 'aiAddon'],
      [{ planId: 'chat', interval: 'monthly', successUrl: 'javascript:alert(1)' }, 'successUrl'],
      [{ planId: 'chat', interval: 'monthly', cancelUrl: 'x' }, 'cancelUrl'],
    ];
    for (const [body, field] of rows)
      t.match(
        await checkout(body),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { [field]: [String] } } } },
        field,
      );
  });
});

t.test('[4.14] a downgrade below the seats in use is semantic_error; at them it is not', async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();
  const invited: string[] = [];
  for (let count = 0; count < 5; count += 1)
    invited.push(
      (
        await service.post(
          '/agents/invite',
          { email: `seat${count}@example.com`, name: 'x', role: 'agent' },
          owner.token,
        )
      ).body.id,
    );
  const down = () => service.post('/billing/checkout', { planId: 'chat', interval: 'monthly' }, owner.token);
  t.match(await down(), { status: 422, body: { error: 'semantic_error', detail: { seats: 5, taken: 6 } } });
  t.equal((await service.get('/billing/subscription', owner.token)).body.planId, 'business');
  await service.delete(`/agents/${invited[0]}`, owner.token);
  t.match(await down(), { status: 200, body: { subscription: { plan: 'chat' } } });
  t.match(await service.post('/agents/invite', { email: 'sixth@example.com', name: 'x', role: 'agent' }, owner.token), {
    status: 402,
    body: { error: 'seat_limit_reached' },
  });
});

t.test('[4.14] add-ons', async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();
  const set = (addons: unknown) => service.post('/billing/addons', { addons }, owner.token);
  t.match(await set(['ai']), { status: 200, body: { subscription: { addons: ['ai'] } } });
  t.match(await set(['ai', 'ai']), { status: 200, body: { subscription: { addons: ['ai'] } } }, 'the same set again');
  const entries = async () =>
    (await service.get('/workspace/audit-log?limit=50', owner.token)).body.entries.filter(
      ({ action }: { action: string }) => action === 'subscription.changed',
    ).length;
  t.equal(await entries(), 1, 'which changes nothing');
  t.match(await set([]), { status: 200, body: { subscription: { addons: [] } } });
  for (const wrong of [['sms'], 'ai', null, [1]])
    t.match(await set(wrong), { status: 400, body: { error: 'invalid_body' } });
});

t.test('[3 subscription] cancelling', async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();
  const read = async () => (await service.get('/billing/subscription', owner.token)).body;

  t.test(
    '[3 subscription] continues until the end of the period, and can be reverted by choosing a plan',
    async (t) => {
      t.match(await service.post('/billing/cancel', undefined, owner.token), {
        status: 200,
        body: { subscription: { status: 'active', cancelAtPeriodEnd: true } },
      });
      t.match(await service.post('/billing/cancel', undefined, owner.token), {
        status: 200,
        body: { subscription: { cancelAtPeriodEnd: true } },
      });
      t.match(await service.post('/billing/checkout', { planId: 'business', interval: 'monthly' }, owner.token), {
        body: { subscription: { cancelAtPeriodEnd: false, currentPeriodEnd: '2026-12-20T12:00:00.000Z' } },
      });
      await service.post('/billing/cancel', undefined, owner.token);
      const { subscription } = await read();
      await service.pass(Date.parse(subscription.currentPeriodEnd) - service.clock.now() - 1);
      t.match(await read(), { locked: false, subscription: { status: 'active' } });
      await service.pass(1);
      t.match(await read(), {
        locked: true,
        planId: 'business',
        subscription: { status: 'canceled', cancelAtPeriodEnd: false },
        entitlements: { features: [], seats: { limit: 0 } },
      });
      const [entry] = (await service.get('/workspace/audit-log?limit=1', owner.token)).body.entries;
      t.match(entry, { actorAgentId: null, action: 'subscription.changed', after: { status: 'canceled' } });
    },
  );

  t.test(
    '[4.14] a locked workspace: its features are refused, customers still get through, and nothing is lost',
    async (t) => {
      t.match(await service.get('/calls', owner.token), { status: 402, body: { error: 'feature_locked' } });
      t.match(
        await service.post('/agents/invite', { email: 'late@example.com', name: 'x', role: 'agent' }, owner.token),
        { status: 402, body: { error: 'seat_limit_reached' } },
      );
      t.ok((await service.chat(owner)).id);
      t.match(await service.post('/billing/cancel', undefined, owner.token), {
        status: 422,
        body: { error: 'semantic_error' },
      });
      t.match(await service.post('/billing/addons', { addons: ['ai'] }, owner.token), {
        status: 422,
        body: { error: 'semantic_error' },
      });
    },
  );

  t.test('[4.14] choosing a plan opens it again', async (t) => {
    t.match(await service.post('/billing/checkout', { planId: 'business', interval: 'monthly' }, owner.token), {
      status: 200,
      body: { subscription: { status: 'active' } },
    });
    t.match(await read(), { locked: false });
    t.equal((await service.get('/calls', owner.token)).status, 200);
  });

  t.test('[4.14] a period that ended unobserved ended on its date', async (t) => {
    await service.post('/billing/cancel', undefined, owner.token);
    const { currentPeriodEnd } = (await read()).subscription;
    await service.pass(Date.parse(currentPeriodEnd) - service.clock.now() + 3 * 24 * 3600_000);
    t.match(await read(), { locked: true, subscription: { status: 'canceled', currentPeriodEnd } });
  });
});

t.test('[4.14] a period follows the other, also over a restart', async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();
  await service.pass(31 * dayMs);
  t.match((await service.get('/billing/subscription', owner.token)).body.subscription, {
    status: 'active',
    currentPeriodStart: '2026-12-20T12:00:00.000Z',
    currentPeriodEnd: '2027-01-20T12:00:00.000Z',
  });
  await service.stop();
  service.clock.advance(65 * dayMs);
  const again = await startService(t, { env, dataDir: service.dataDir, clock: service.clock });
  for (let round = 0; round < 4; round += 1) await again.pass(1000);
  t.match((await again.get('/billing/subscription', owner.token)).body.subscription, {
    status: 'active',
    currentPeriodStart: '2027-02-20T12:00:00.000Z',
    currentPeriodEnd: '2027-03-20T12:00:00.000Z',
  });
});

t.test('[4.14] a period that began on a 31st ends on one again after a shorter month', async (t) => {
  const clock = new ManualClock('2027-05-31T09:00:00.000Z');
  const service = await startService(t, { env, clock });
  const owner = await service.workspace();
  const ends: string[] = [];
  for (let month = 0; month < 5; month += 1) {
    const { currentPeriodEnd } = (await service.get('/billing/subscription', owner.token)).body.subscription;
    ends.push(currentPeriodEnd.slice(0, 10));
    await service.pass(Date.parse(currentPeriodEnd) - clock.now() + 1000);
  }
  t.strictSame(ends, ['2027-06-30', '2027-07-31', '2027-08-31', '2027-09-30', '2027-10-31']);
});

t.test("[4.14] a marketplace's customer changes it there: 409", async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();
  await rewrite(service, owner.workspaceId, { billingSource: 'marketplace' });
  const calls: [string, object | undefined][] = [
    ['checkout', { planId: 'chat', interval: 'monthly' }],
    ['addons', { addons: ['ai'] }],
    ['portal', undefined],
    ['cancel', undefined],
  ];
  for (const [name, body] of calls)
    t.match(
      await service.post(`/billing/${name}`, body, owner.token),
      { status: 409, body: { error: 'conflict' } },
      name,
    );
  t.match((await service.get('/billing/subscription', owner.token)).body, {
    billingSource: 'marketplace',
    planId: 'business',
    locked: false,
  });
});

t.test('[4.14] only admins', async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();
  const supervisor = await service.agent(owner, { role: 'supervisor' });
  const calls: [string, string, object | undefined][] = [
    ['GET', 'subscription', undefined],
    ['GET', 'invoices', undefined],
    ['POST', 'checkout', { planId: 'chat', interval: 'monthly' }],
    ['POST', 'addons', { addons: [] }],
    ['POST', 'portal', undefined],
    ['POST', 'cancel', undefined],
  ];
  for (const [method, name, body] of calls)
    t.match(
      await service.call(method, `/billing/${name}`, { body, token: supervisor.token }),
      { status: 403, body: { error: 'admin_required' } },
      name,
    );
});

t.test('months', async (t) => {
  const rows: [string, number, string][] = [
    ['2026-01-31T10:20:30.400Z', 1, '2026-02-28T10:20:30.400Z'],
    ['2028-01-31T00:00:00.000Z', 1, '2028-02-29T00:00:00.000Z'],
    ['2028-02-29T00:00:00.000Z', 12, '2029-02-28T00:00:00.000Z'],
    ['2026-11-20T23:59:59.999Z', 1, '2026-12-20T23:59:59.999Z'],
    ['2026-12-31T12:00:00.000Z', 1, '2027-01-31T12:00:00.000Z'],
    ['2026-12-31T12:00:00.000Z', 12, '2027-12-31T12:00:00.000Z'],
  ];
  for (const [from, months, to] of rows)
    t.equal(new Date(monthsAfter(Date.parse(from), months)).toISOString(), to, `${from} + ${months}`);
});
