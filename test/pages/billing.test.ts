// Billing in the pages: with the local provider, and with Stripe, from a trial over a locked workspace to a paid plan.

import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { startPages } from '../support/pages.ts';
import { startService } from '../support/service.ts';
import { button, heading, part, usable } from '../support/settings.ts';
import { FakeStripe } from '../support/stripe.ts';

t.test(
  'billing with the local provider: nothing is charged, and there is nothing to choose',
  { skip: noBrowser },
  async (t) => {
    const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
    const { token } = await service.workspace();
    const pages = await startPages(t, service);
    const page = await pages.open('/settings/billing', { token });
    await page.getByText('This server does not charge').waitFor();
    await heading(page, 'Business plan').waitFor();
    t.match(await part(page, 'Business plan').textContent(), /1 of 50 in use/);
    t.equal(await page.getByRole('button', { name: /^Choose / }).count(), 0, 'there are no plans to choose from');
    t.equal(await button(page, 'Cancel the subscription').count(), 0);

    await service.post('/billing/checkout', { planId: 'support', interval: 'monthly' }, token);
    await page.reload();
    await heading(page, 'Support plan').waitFor();
    await usable(t, page);
    await page.goto(`${service.url}/settings/phone-numbers`);
    await page.getByText('Phone numbers are not in your plan').waitFor();
    await usable(t, page);
    await page.getByRole('link', { name: 'See your plan' }).click();
    await button(page, 'Turn everything on').click();
    await heading(page, 'Business plan').waitFor();
    t.match((await service.get('/billing/subscription', token)).body, { planId: 'business', locked: false });
    t.strictSame(pages.problems, []);
  },
);

t.test('billing by Stripe', { skip: noBrowser }, async (t) => {
  const time = new ManualClock(new Date().toISOString());
  const stripe = await FakeStripe.start(t, time);
  const service = await startService(t, {
    env: { RATE_LIMITS: 'off', TOKEN_TTL_DAYS: '365', TRIAL_DAYS: '3', ...stripe.env },
    clock: time,
  });
  const owner = await service.workspace();
  const pages = await startPages(t, service);
  const page = await pages.open('/settings/billing', { token: owner.token });

  await page.getByText('Your trial ends in 3 days.').waitFor();
  await button(page, 'End the trial').click();
  await button(page.getByRole('dialog'), 'End the trial').click();
  await page.getByText('Your workspace is locked').waitFor();
  await usable(t, page);

  // The payment page is the provider's; the browser is only led there, and returns.
  await page.route(
    (url) => !url.href.startsWith(service.url),
    (route) => route.fulfill({ status: 200, contentType: 'text/html', body: '<title>Pay</title>' }),
  );
  await button(page, 'Choose Support').click();
  await button(page.getByRole('dialog'), 'Continue').click();
  await page.waitForURL((url) => !url.href.startsWith(service.url));
  const subscription = stripe.pay(page.url());
  await stripe.deliver(service, stripe.event('customer.subscription.created', subscription));
  await page.goto(`${service.url}/settings/billing?checkout=done`);
  await page.getByText(/^Thank you\./).waitFor();
  await heading(page, 'Support plan').waitFor();
  await part(page, 'Invoices').waitFor();
  await usable(t, page);
  t.strictSame(pages.problems, []);
});
