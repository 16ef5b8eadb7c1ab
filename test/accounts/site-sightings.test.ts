// Where a site's widget was last seen, and on which hosts it was refused lately.

import t from 'tap';
import { password, type Service, startService } from '../support/service.ts';

const open = (service: Service, embedId: string, origin?: string) =>
  service.call('POST', '/widget/sessions', {
    body: { siteId: embedId, url: `${origin ?? 'https://none.example'}/page` },
    headers: origin === undefined ? {} : { Origin: origin },
  });

t.test('[4.16] sightings of a site', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const site = async () => (await service.get(`/sites/${owner.siteId}`, owner.token)).body;
  const at = () => new Date(service.clock.now()).toISOString();

  t.match(await site(), { version: 1, lastSeenAt: null, lastSeenHost: null, refusedHosts: [] });

  t.test('no browser, and the preview of this service, are no sighting', async (t) => {
    t.equal((await open(service, owner.embedId)).status, 200);
    t.equal((await open(service, owner.embedId, service.running.services.config.baseUrl)).status, 200);
    t.match(await site(), { lastSeenAt: null });
  });

  t.test('the last page that showed it, at most one write a minute', async (t) => {
    const first = at();
    await open(service, owner.embedId, 'https://shop1.example');
    t.match(await site(), { version: 1, lastSeenAt: first, lastSeenHost: 'shop1.example' });
    service.clock.advance(59_000);
    await open(service, owner.embedId, 'https://www.shop1.example');
    t.match(await site(), { lastSeenAt: first, lastSeenHost: 'shop1.example' });
    service.clock.advance(1000);
    await open(service, owner.embedId, 'https://www.shop1.example');
    t.match(await site(), { lastSeenAt: at(), lastSeenHost: 'www.shop1.example' });
  });

  t.test('hosts that are refused are named, with their port, until they are allowed', async (t) => {
    const first = at();
    t.equal((await open(service, owner.embedId, 'https://staging.shop1.example')).status, 403);
    t.match((await site()).refusedHosts, [{ host: 'staging.shop1.example', at: first }]);
    service.clock.advance(5000);
    await open(service, owner.embedId, 'https://staging.shop1.example');
    t.match((await site()).refusedHosts, [{ at: first }], 'the same host, at most once a minute');
    const second = at();
    await open(service, owner.embedId, 'http://localhost:3000');
    await open(service, owner.embedId, 'https://another.example');
    t.match((await site()).refusedHosts, [
      { host: 'localhost:3000', at: second },
      { host: 'staging.shop1.example', at: first },
    ]);
    t.equal((await site()).refusedHosts.length, 2, 'different hosts, at most one in three seconds');

    const { allowedOrigins } = await site();
    const changed = await service.patch(
      `/sites/${owner.siteId}`,
      { allowedOrigins: [...allowedOrigins, 'localhost:3000'], expectedVersion: 1 },
      owner.token,
    );
    t.match(changed, { status: 200, body: { version: 2, refusedHosts: [{ host: 'staging.shop1.example' }] } });
    t.equal(changed.body.refusedHosts.length, 1);
    t.equal((await open(service, owner.embedId, 'http://localhost:3000')).status, 200);
  });

  t.test('the newest twenty are kept, and what is no host is not', async (t) => {
    for (const origin of ['null', 'chrome-extension://abc', 'https://<b>', `https://${'a'.repeat(64)}.example`]) {
      service.clock.advance(5000);
      await open(service, owner.embedId, origin);
    }
    t.match((await site()).refusedHosts, [{ host: 'staging.shop1.example' }]);
    for (let number = 0; number < 25; number += 1) {
      service.clock.advance(3000);
      await open(service, owner.embedId, `https://made-up-${number}.example`);
    }
    const { refusedHosts } = await site();
    t.equal(refusedHosts.length, 20);
    t.equal(refusedHosts[0].host, 'made-up-24.example');
  });

  t.test('the preview shows no campaigns, the pages of the site do', async (t) => {
    const { body: campaign } = await service.post(
      '/campaigns',
      { name: 'Hello', triggerRules: {}, content: { body: 'Hello!' } },
      owner.token,
    );
    await service.patch(`/campaigns/${campaign.id}`, { status: 'live' }, owner.token);
    t.match((await open(service, owner.embedId, service.running.services.config.baseUrl)).body, { campaigns: [] });
    t.match((await open(service, owner.embedId, 'https://shop1.example')).body.campaigns, [{ id: campaign.id }]);
  });
});

t.test('[4.1] registering checks that the website is a plausible address', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  let count = 0;
  const register = (siteUrl: string) =>
    service.post('/auth/register', { email: `p${(count += 1)}@example.com`, password, workspaceName: 'Shop', siteUrl });
  for (const siteUrl of ['https://beanandleaf', 'https://shop', 'https://shop.x'])
    t.match(
      await register(siteUrl),
      {
        status: 400,
        body: { error: 'invalid_body', detail: { fieldErrors: { siteUrl: [/^must be a web address/] } } },
      },
      siteUrl,
    );
  for (const siteUrl of ['https://bücher.example', 'http://localhost:3000', 'http://192.168.1.5/', 'https://a.b.co/x'])
    t.match(await register(siteUrl), { status: 201 }, siteUrl);
});
