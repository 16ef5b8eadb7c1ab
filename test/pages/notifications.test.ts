// Being notified, in a real browser: the installable app, its service worker, the offer at the first conversation, the
// counts, and the choices on the account page.

import { runInNewContext } from 'node:vm';
import { inflateSync } from 'node:zlib';
import t from 'tap';
import { claimLine, deliver, ringLine } from '../support/calls.ts';
import { noBrowser } from '../support/chromium.ts';
import { barriersOf, holds, startPages } from '../support/pages.ts';
import { startService } from '../support/service.ts';

t.test('the installable app', async (t) => {
  const service = await startService(t);
  const get = (path: string): Promise<Response> => fetch(`${service.url}${path}`);

  t.test('the manifest names the start and icons that exist', async (t) => {
    const reply = await get('/manifest.webmanifest');
    t.match(reply.headers.get('content-type'), 'application/manifest+json');
    const manifest = (await reply.json()) as any;
    t.match(manifest, { name: 'Switchboard', start_url: '/inbox', scope: '/', display: 'standalone' });
    t.same(
      manifest.icons.map(({ sizes }: { sizes: string }) => sizes),
      ['180x180', '192x192', '512x512'],
    );
    for (const { src, sizes } of manifest.icons) {
      const icon = await get(src);
      t.equal(icon.headers.get('content-type'), 'image/png');
      const png = Buffer.from(await icon.arrayBuffer());
      t.equal(png.toString('latin1', 1, 4), 'PNG');
      t.equal(`${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`, sizes);
      const size = png.readUInt32BE(16);
      const pixels = inflateSync(png.subarray(41, 41 + png.readUInt32BE(33)));
      t.equal(pixels.length, size * (3 * size + 1));
      const at = (x: number, y: number): number[] => [
        ...pixels.subarray(y * (3 * size + 1) + 1 + 3 * x).subarray(0, 3),
      ];
      t.same(at(0, 0), [0x0f, 0x6b, 0x5c], 'the accent to the edge');
      t.same(at(size / 2, Math.round(size * 0.625)), [255, 255, 255], 'white in the plug');
    }
    for (const path of ['/icons/13.png', '/icons/x']) t.equal((await get(path)).status, 404);
    t.match(await (await get('/inbox')).text(), '<link rel="manifest" href="/manifest.webmanifest">');
  });

  t.test('the service worker handles no request and keeps nothing', async (t) => {
    const reply = await get('/service-worker.js');
    t.match(reply.headers.get('content-type'), 'text/javascript');
    t.equal(reply.headers.get('cache-control'), 'no-cache');
    const text = await reply.text();
    t.match(text, 'notificationclick');
    t.notMatch(text, /["'`]fetch["'`]|caches|indexedDB/);
    t.notMatch(text, /^(?:import|export)\b/m, 'it runs as a classic script');
  });
});

t.test('the service worker', async (t) => {
  const service = await startService(t);
  const text = await (await fetch(`${service.url}/service-worker.js`)).text();

  /** The worker in a browser with these windows; what it did, in order. */
  const started = (windows: readonly { path: string; focused?: boolean }[] = []) => {
    const listeners = new Map<string, (event: object) => void>();
    const done: unknown[] = [];
    runInNewContext(text, {
      URL,
      navigator: { setAppBadge: async () => void done.push('badge') },
      addEventListener: (type: string, call: (event: object) => void) => listeners.set(type, call),
      registration: {
        showNotification: async (title: string, options: object) => void done.push({ title, ...options }),
      },
      skipWaiting: async () => undefined,
      clients: {
        claim: async () => undefined,
        openWindow: async (url: string) => void done.push({ opened: url }),
        matchAll: async () =>
          windows.map(({ path, focused = false }) => ({
            url: `https://chat.example${path}`,
            focused,
            focus: async () => void done.push({ focused: path }),
            postMessage: (message: object) => done.push({ to: path, ...message }),
          })),
      },
    });
    const fire = async (type: string, event: object): Promise<unknown[]> => {
      const work: Promise<unknown>[] = [];
      listeners.get(type)?.({ ...event, waitUntil: (one: Promise<unknown>) => work.push(one) });
      await Promise.all(work);
      return JSON.parse(JSON.stringify(done.splice(0)));
    };
    return { listeners, fire };
  };
  const notice = { reason: 'queue', title: 'Dana', body: 'Is it blue?', tag: 'c1', url: '/inbox/unassigned/c1' };
  const notification = { close: () => undefined, data: { url: notice.url } };

  t.test('listens to pushes and clicks, and to no request', async (t) => {
    t.same([...started().listeners.keys()].sort(), ['activate', 'install', 'notificationclick', 'push']);
  });

  t.test('shows what is pushed, once per conversation, and marks the app', async (t) => {
    t.match(await started().fire('push', { data: { json: () => notice } }), [
      'badge',
      { title: 'Dana', body: 'Is it blue?', tag: 'c1', renotify: true, data: { url: notice.url } },
    ]);
    t.same(await started().fire('push', { data: null }), []);
  });

  t.test('a click opens the conversation, in a window of the pages if there is one', async (t) => {
    t.same(await started().fire('notificationclick', { notification }), [{ opened: notice.url }]);
    t.same(await started([{ path: '/docs' }, { path: '/preview/x' }]).fire('notificationclick', { notification }), [
      { opened: notice.url },
    ]);
    t.same(
      await started([{ path: '/reports' }, { path: '/inbox/mine', focused: true }]).fire('notificationclick', {
        notification,
      }),
      [{ to: '/inbox/mine', type: 'open', url: notice.url }, { focused: '/inbox/mine' }],
    );
  });
});

t.test('being notified', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const pages = await startPages(t, service);
  const owner = await service.workspace();
  const colleague = await service.agent(owner);
  const context = await pages.context({ permissions: ['notifications'], viewport: { width: 1440, height: 860 } });
  const page = await pages.open('/inbox/mine', { token: owner.token, in: context });
  const offer = page.getByRole('region', { name: 'Notifications' });
  await page.getByText('Nothing is waiting for you').waitFor();

  t.test('is offered once, at the first conversation', async (t) => {
    t.equal(await offer.count(), 0);
    await service.chat(owner, 'Hello?');
    await offer.waitFor();
    t.strictSame(await barriersOf(page), []);
    const second = await pages.open('/inbox/all', { token: owner.token, in: await pages.context() });
    await second.getByRole('button', { name: 'Not now' }).click();
    await second.reload();
    await second.getByText('Hello?').first().waitFor();
    t.equal(await second.getByRole('region', { name: 'Notifications' }).count(), 0);
    await offer.getByRole('button', { name: 'Turn on' }).click();
    await offer.waitFor({ state: 'detached' });
    t.equal(await page.evaluate(`localStorage.getItem('switchboard.sound')`), 'on');
    await page.reload();
    await page.locator('.rail').waitFor();
    t.equal(await offer.count(), 0);
  });

  t.test('title, icon and navigation count own unseen and what waits for anyone', async (t) => {
    await holds(page, `document.title.startsWith('(1) ')`);
    const inbox = page.locator('.rail a[href="/inbox"] .count');
    t.equal(await inbox.getAttribute('aria-label'), '1 waiting');
    const iconOf = (): Promise<string> => page.evaluate(`document.querySelector('link[rel=icon]').href`);
    t.match(decodeURIComponent(await iconOf()), />1<\/text>/);
    const next = await service.chat(owner, 'And me?');
    await holds(page, `document.title.startsWith('(2) ')`);
    const assigned = await service.post(
      `/conversations/${next.id}/assign-to-agent`,
      { agentId: colleague.agentId, expectedVersion: next.version, force: true },
      owner.token,
    );
    await holds(page, `document.title.startsWith('(1) ')`);
    t.equal(assigned.status, 200);
  });

  t.test('a glance in the queue takes neither the mark nor the count from anyone; an answer does', async () => {
    const chat = await service.chat(owner, 'Who is next?');
    const row = page.locator(`.inbox-row[href$="${chat.id}"]`);
    await page.goto(`${service.url}/inbox/unassigned/${chat.id}`);
    await page.locator('.inbox-said').first().waitFor();
    await row.and(page.locator(':not(.unread)')).filter({ hasText: 'New' }).waitFor();
    await holds(page, `document.title.startsWith('(2) ')`);
    await service.post(`/conversations/${chat.id}/messages`, { body: 'You are.' }, colleague.token);
    await row.filter({ hasText: 'You are.' }).filter({ hasNotText: 'New' }).waitFor();
    await holds(page, `document.title.startsWith('(1) ')`);
    await service.post(`/widget/conversations/${chat.id}/messages`, { body: 'Good.' }, chat.customer.token);
    await row.filter({ hasText: 'Waiting' }).waitFor();
    await holds(page, `document.title.startsWith('(2) ')`);
  });

  t.test('calls that no one answered are counted at Calls until someone takes one', async (t) => {
    const line = await claimLine(service, owner);
    const call = await ringLine(service, line);
    const count = page.locator('.rail a[href="/calls"] .count');
    await deliver(service, line, { type: 'ended', callId: call.callId });
    await count.waitFor();
    t.equal(await count.getAttribute('aria-label'), '1 missed');
    await holds(page, `document.title.startsWith('(3) ')`);
    await service.post(`/conversations/${call.id}/take`, undefined, colleague.token);
    await count.waitFor({ state: 'detached' });
  });

  t.test("the service worker is there, and what it posts opens the conversation in the page's own way", async (t) => {
    const chat = await service.chat(owner, 'Pushed');
    await page.goto(`${service.url}/reports`);
    t.equal(
      await page.evaluate('navigator.serviceWorker.ready.then(({ active }) => new URL(active.scriptURL).pathname)'),
      '/service-worker.js',
    );
    await page.evaluate(
      `navigator.serviceWorker.dispatchEvent(new MessageEvent('message', { data: { type: 'open', url: '/inbox/unassigned/${chat.id}' } }))`,
    );
    await page.waitForURL(new RegExp(`/inbox/unassigned/${chat.id}$`));
  });

  t.test('the account page keeps what an agent chose, on the server', async (t) => {
    await page.goto(`${service.url}/account`);
    const box = page.getByRole('checkbox', { name: 'A conversation waits for anyone: mail' });
    await box.check();
    await page.getByRole('checkbox', { name: 'A call, a missed call or a voicemail: push' }).uncheck();
    let choice = { mail: [] as string[], push: [] as string[] };
    while (choice.mail.length === 0 || choice.push.length === 4)
      choice = (await service.get('/me/notifications', owner.token)).body;
    t.match(choice, { mail: ['queue'], push: ['own_messages', 'queue', 'offers'] });
    t.strictSame(await barriersOf(page), []);
    await page.reload();
    t.ok(await page.getByRole('checkbox', { name: 'A conversation waits for anyone: mail' }).isChecked());
  });

  t.strictSame(pages.problems, []);
});
