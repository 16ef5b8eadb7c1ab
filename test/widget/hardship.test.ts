// The widget under failures: lost answers, an unreachable service, closing pages, several tabs, storage and scripts
// blocked by a browser or a page. A message is always stored once, and in its place.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page, WebSocketRoute } from 'playwright-core';
import t from 'tap';
import { startBrowsing, widgetOf } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { type Service, startService } from '../support/service.ts';

/** Watches the log from inside the page: the maximum number of copies of each text at one time. */
const watchForTwins = `
  window.__twins = new Set();
  const look = () => {
    const texts = [...document.querySelector('[data-switchboard]').shadowRoot.querySelectorAll('[role=log] .bubble')].map((one) => one.textContent);
    for (const text of texts) if (texts.indexOf(text) !== texts.lastIndexOf(text)) window.__twins.add(text);
  };
  new MutationObserver(look).observe(document.querySelector('[data-switchboard]').shadowRoot, { subtree: true, childList: true });
`;

t.test('the widget in hardship', { skip: noBrowser }, async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const env = { RATE_LIMITS: 'off', PORT: String(await freePort()) };
  let service: Service = await startService(t, { dataDir, env });
  const owner = await service.workspace();
  /** Until the end of all these tests, not only of the one that stopped it. */
  const startOver = (): Promise<Service> => startService(t, { dataDir, env });
  const browsing = await startBrowsing(t, service, owner.embedId);
  t.afterEach(() => browsing.closeAll());
  const [site] = (await service.get('/sites', owner.token)).body.sites;
  await service.patch(
    `/sites/${owner.siteId}`,
    { expectedVersion: site.version, allowedOrigins: [browsing.origin] },
    owner.token,
  );

  const chatOf = async (preview: string) =>
    (await service.get('/conversations/queue?limit=200', owner.token)).body.conversations.find(
      (one: { preview: string }) => one.preview === preview,
    );
  const bodies = async (id: string): Promise<string[]> =>
    (await service.get(`/conversations/${id}/messages?limit=200`, owner.token)).body.messages
      .filter((one: { senderType: string }) => one.senderType !== 'system')
      .map((one: { body: string }) => one.body);
  const shown = async (page: Page): Promise<string[]> =>
    (await widgetOf(page).lines.locator('.bubble').allTextContents()).slice(1);
  const write = async (page: Page, text: string): Promise<void> => {
    await widgetOf(page).text.fill(text);
    await widgetOf(page).text.press('Enter');
  };
  const sent = (page: Page, text: string) =>
    widgetOf(page)
      .lines.filter({ hasText: text })
      .and(page.locator('[data-state=""], [data-state="sent"], [data-state="seen"]'))
      .waitFor();
  /** A visitor in the middle of a chat, and the chat's id. */
  const talking = async (page: Page, first: string): Promise<string> => {
    await widgetOf(page).launcher.click();
    await page.evaluate(watchForTwins);
    await write(page, first);
    await sent(page, first);
    return (await chatOf(first)).id;
  };
  const positionOf = (page: Page, part: string) =>
    page.evaluate(
      `getComputedStyle(document.querySelector('[data-switchboard]').shadowRoot.querySelector('${part}')).position`,
    );
  const twins = (page: Page) => page.evaluate('[...window.__twins]');

  t.test('[4.12] the answer to a message is lost on the way: it is sent again, and there once', async (t) => {
    const page = await browsing.open();
    let lost = 0;
    await page.route('**/widget/conversations', async (route) => {
      lost += 1;
      if (lost <= 2) {
        await route.fetch();
        await route.abort();
      } else await route.continue();
    });
    const id = await talking(page, 'First, twice lost');
    t.ok(lost >= 1);
    let tries = 0;
    await page.route('**/messages', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      tries += 1;
      if (tries > 1) return route.continue();
      await route.fetch();
      return route.abort();
    });
    await write(page, 'Second, once lost');
    await sent(page, 'Second, once lost');
    await write(page, 'Third');
    await sent(page, 'Third');
    t.strictSame(await bodies(id), ['First, twice lost', 'Second, once lost', 'Third']);
    t.strictSame(await shown(page), ['First, twice lost', 'Second, once lost', 'Third']);
    t.strictSame(await twins(page), [], 'never drawn twice, not for a moment');
    const { conversations } = (await service.get('/conversations/queue?limit=200', owner.token)).body;
    t.equal(
      conversations.filter((one: { preview: string }) => one.preview === 'First, twice lost').length,
      0,
      'one chat: its preview has moved on',
    );
  });

  t.test('[4.12] messages written while the service is down wait, outlive the page, and arrive in order', async (t) => {
    const page = await browsing.open();
    const id = await talking(page, 'Before the storm');
    let isAway = true;
    await page
      .context()
      .route('**/widget/conversations/**', (route) =>
        isAway && route.request().method() === 'POST' ? route.abort() : route.continue(),
      );
    for (const text of ['One', 'Two', 'Three']) await write(page, text);
    await widgetOf(page).lines.filter({ hasText: 'Three' }).filter({ hasText: 'Sending…' }).waitFor();
    t.strictSame(await bodies(id), ['Before the storm']);
    await page.close({ runBeforeUnload: false });
    const later = await browsing.open({ in: page.context() });
    await widgetOf(later).launcher.click();
    await widgetOf(later).lines.filter({ hasText: 'Three' }).filter({ hasText: 'Sending…' }).waitFor();
    t.strictSame(await shown(later), ['Before the storm', 'One', 'Two', 'Three']);
    isAway = false;
    await sent(later, 'Three');
    t.strictSame(await bodies(id), ['Before the storm', 'One', 'Two', 'Three']);
    t.strictSame(await shown(later), ['Before the storm', 'One', 'Two', 'Three']);
    t.equal(await later.evaluate('Object.keys(localStorage).filter((key) => key.includes("outbox")).length'), 0);
  });

  t.test('[8] 429: it waits as long as requested', async (t) => {
    const page = await browsing.open();
    const id = await talking(page, 'Slowly');
    const at: number[] = [];
    await page.route('**/messages', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      at.push(Date.now());
      if (at.length > 1) return route.continue();
      return route.fulfill({
        status: 429,
        headers: { 'Access-Control-Allow-Origin': '*', 'Retry-After': '2' },
        json: { statusCode: 429, error: 'rate_limited', message: 'Wait.', retryAfter: 2 },
      });
    });
    await write(page, 'Hurry');
    await sent(page, 'Hurry');
    const waitedMs = (at[1] ?? 0) - (at[0] ?? 0);
    t.ok(waitedMs >= 2050, `${waitedMs} ms`);
    t.strictSame(await bodies(id), ['Slowly', 'Hurry']);
  });

  t.test('[4.12] a permanently refused message says so, and can be tried again or dropped', async (t) => {
    const page = await browsing.open();
    const id = await talking(page, 'Fine');
    let refuses = true;
    await page.route('**/messages', (route) =>
      refuses && route.request().method() === 'POST'
        ? route.fulfill({
            status: 400,
            headers: { 'Access-Control-Allow-Origin': '*' },
            json: { statusCode: 400, error: 'invalid_body', message: 'No.' },
          })
        : route.continue(),
    );
    const { lines } = widgetOf(page);
    for (const text of ['Refused', 'Dropped']) {
      await write(page, text);
      await lines.filter({ hasText: text }).filter({ hasText: 'Not sent' }).waitFor();
    }
    refuses = false;
    await lines.filter({ hasText: 'Dropped' }).getByRole('button', { name: 'Delete' }).click();
    await lines.filter({ hasText: 'Refused' }).getByRole('button', { name: 'Try again' }).click();
    await sent(page, 'Refused');
    t.strictSame(await shown(page), ['Fine', 'Refused']);
    t.strictSame(await bodies(id), ['Fine', 'Refused']);
  });

  t.test('[6] a socket that breaks reconnects and receives what it missed, once and in order', async (t) => {
    const page = await browsing.open();
    const open: WebSocketRoute[] = [];
    const asked: string[] = [];
    let isCut = false;
    await page.routeWebSocket(/\/visitor/, (socket) => {
      asked.push(socket.url());
      if (isCut) return void socket.close({ code: 1013 });
      socket.connectToServer();
      open.push(socket);
    });
    const id = await talking(page, 'Are you there?');
    const answer = (body: string) => service.post(`/conversations/${id}/messages`, { body }, owner.token);
    await answer('Yes.');
    await sent(page, 'Yes.');
    isCut = true;
    for (const socket of open) await socket.close({ code: 1012 });
    await widgetOf(page).panel.getByText('No connection. We keep trying.').waitFor();
    for (let index = 0; index < 60; index += 1) await answer(`Missed ${index}`);
    t.equal(await widgetOf(page).lines.filter({ hasText: 'Missed' }).count(), 0);
    await write(page, 'Written meanwhile');
    await sent(page, 'Written meanwhile');
    isCut = false;
    await page.evaluate('dispatchEvent(new Event("online"))');
    await sent(page, 'Missed 59');
    await widgetOf(page).panel.getByText('No connection. We keep trying.').waitFor({ state: 'hidden' });
    t.strictSame(await shown(page), await bodies(id));
    t.equal((await shown(page)).length, 63);
    t.match(asked.at(-1), /\?since=\d+$/, 'it says where it stopped');
    t.strictSame(await twins(page), []);
  });

  t.test("[6] events that are no longer stored: it starts from the service's present state", async (t) => {
    const page = await browsing.open();
    const id = await talking(page, 'Long ago');
    await page.close();
    await service.post(`/conversations/${id}/messages`, { body: 'An answer' }, owner.token);
    await service.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token);
    const later = await browsing.open({
      in: page.context(),
      before:
        'for (const [key, text] of Object.entries(localStorage)) if (key.endsWith(":visit")) localStorage.setItem(key, JSON.stringify({ ...JSON.parse(text), seq: 1e9 }))',
    });
    await widgetOf(later).launcher.click();
    await widgetOf(later).panel.getByText('This conversation has ended.').waitFor();
    t.strictSame(await shown(later), ['Long ago', 'An answer']);
  });

  t.test('[4.12] tabs of one visitor show the same, and what they send concurrently is stored once', async (t) => {
    const one = await browsing.open();
    const two = await browsing.open({ in: one.context() });
    await widgetOf(two).launcher.waitFor();
    const id = await talking(one, 'From one');
    await widgetOf(two).launcher.click();
    await sent(two, 'From one');
    await two.evaluate(watchForTwins);
    await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        (index % 2 === 0 ? one : two).evaluate(`(() => {
      const form = document.querySelector('[data-switchboard]').shadowRoot.querySelector('form.composer');
      form.querySelector('textarea').value = 'At once ${index}';
      form.querySelector('textarea').dispatchEvent(new Event('input'));
      form.requestSubmit();
    })()`),
      ),
    );
    for (const page of [one, two]) for (let index = 0; index < 8; index += 1) await sent(page, `At once ${index}`);
    const all = await bodies(id);
    t.equal(all.length, 9);
    t.equal(new Set(all).size, 9);
    t.strictSame(await shown(one), all);
    t.strictSame(await shown(two), all);
    for (const page of [one, two]) t.strictSame(await twins(page), []);
    await service.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token);
    for (const page of [one, two]) await widgetOf(page).panel.getByText('This conversation has ended.').waitFor();
  });

  t.test(
    '[4.12] a new conversation in one tab: the other goes with it, and neither falls back to the old one',
    async (t) => {
      const one = await browsing.open();
      const id = await talking(one, 'Old matter');
      const two = await browsing.open({ in: one.context() });
      await widgetOf(two).panel.or(widgetOf(two).launcher).first().waitFor();
      await two.evaluate('Switchboard.open()');
      await sent(two, 'Old matter');
      await service.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token);
      for (const page of [one, two]) await widgetOf(page).panel.getByText('This conversation has ended.').waitFor();
      await widgetOf(one).panel.getByRole('button', { name: 'Start a new conversation' }).click();
      await write(one, 'New matter');
      for (const page of [one, two]) await sent(page, 'New matter');
      const fresh = (await chatOf('New matter')).id;
      t.not(fresh, id);
      await service.post(`/conversations/${id}/status`, { status: 'open' }, owner.token);
      await service.post(`/conversations/${id}/messages`, { body: 'About the old one' }, owner.token);
      await service.post(`/conversations/${fresh}/messages`, { body: 'About the new one' }, owner.token);
      for (const page of [one, two]) {
        await sent(page, 'About the new one');
        t.strictSame(await shown(page), ['New matter', 'About the new one']);
      }
      await write(two, 'Thanks');
      for (const page of [one, two]) await sent(page, 'Thanks');
      t.strictSame(await bodies(fresh), ['New matter', 'About the new one', 'Thanks']);
    },
  );

  t.test('[4.12] two tabs that open concurrently are one visitor', async (t) => {
    const context = await browsing.context();
    const pages = await Promise.all([browsing.open({ in: context }), browsing.open({ in: context })]);
    const ids: unknown[] = [];
    for (const page of pages) {
      await widgetOf(page).launcher.click();
      await write(page, `I am ${pages.indexOf(page)}`);
      await sent(page, `I am ${pages.indexOf(page)}`);
    }
    for (const page of pages) {
      await sent(page, 'I am 0');
      await sent(page, 'I am 1');
      ids.push(
        await page.evaluate(
          'JSON.parse(Object.entries(localStorage).find(([key]) => key.endsWith(":visit"))[1]).session.conversation.id',
        ),
      );
    }
    t.equal(ids[0], ids[1]);
    t.strictSame(await bodies(String(ids[0])), ['I am 0', 'I am 1']);
  });

  t.test('[4.12] with blocked storage everything works while the page is open', async (t) => {
    const page = await browsing.open({
      before:
        'for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, { get() { throw new DOMException("blocked", "SecurityError") } })',
    });
    const id = await talking(page, 'Without a memory');
    await service.post(`/conversations/${id}/messages`, { body: 'Hello' }, owner.token);
    await sent(page, 'Hello');
    t.strictSame(await shown(page), ['Without a memory', 'Hello']);
  });

  t.test('[4.12] with full storage everything works', async (t) => {
    const page = await browsing.open({
      before: 'Storage.prototype.setItem = () => { throw new DOMException("full", "QuotaExceededError") }',
    });
    const id = await talking(page, 'In a full house');
    t.strictSame(await bodies(id), ['In a full house']);
  });

  t.test('[4.12] any content of the storage under its names, whoever wrote it, does no harm', async (t) => {
    const page = await browsing.open({
      before: `for (const name of ['visit', 'token', 'outbox:x', 'text', 'open']) localStorage.setItem('switchboard:${owner.embedId}:' + name, '{nonsense')`,
    });
    const id = await talking(page, 'After nonsense');
    t.strictSame(await bodies(id), ['After nonsense']);
  });

  t.test('[4.12] a page with a strict policy, trusted types and all', async (t) => {
    const ws = service.url.replace('http', 'ws');
    const policy = `default-src 'none'; script-src ${service.url}; connect-src ${service.url} ${ws}; img-src data:; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'`;
    browsing.host('/strict', {
      headers: {
        'Content-Security-Policy': policy,
        'Cross-Origin-Embedder-Policy': 'require-corp',
        'Cross-Origin-Opener-Policy': 'same-origin',
      },
    });
    const page = await browsing.open({ path: '/strict' });
    const id = await talking(page, 'Strictly speaking');
    await service.post(
      `/conversations/${id}/messages`,
      { body: 'See https://shop.example/a?b=<c> & "d"\n<img src=x onerror=alert(1)>' },
      owner.token,
    );
    await widgetOf(page).lines.nth(2).waitFor();
    t.equal(
      await widgetOf(page).lines.nth(2).locator('.bubble').textContent(),
      'See https://shop.example/a?b=<c> & "d"\n<img src=x onerror=alert(1)>',
      'text stays text',
    );
    t.equal(await widgetOf(page).lines.nth(2).locator('img').count(), 0);
    t.equal(await positionOf(page, '.panel'), 'fixed', 'and it is styled');
  });

  t.test('[4.12] a page with wild styles and a wild script: neither reaches the other', async (t) => {
    browsing.host('/wild', {
      body: `<style>* { display: none !important; position: static !important; font-size: 60px !important } html, body, h1, div { display: block !important; all: unset }</style><h1>Wild</h1>
        <script>Array.prototype.extra = () => 1; window.addEventListener('keydown', (event) => { window.__keys = (window.__keys ?? 0) + 1; event.preventDefault() })</script>`,
    });
    const page = await browsing.open({ path: '/wild' });
    const id = await talking(page, 'Whatever');
    t.strictSame(await bodies(id), ['Whatever']);
    t.equal(await positionOf(page, '.launcher'), 'fixed');
    t.equal(await page.evaluate('window.__keys ?? 0'), 0, 'keys typed here do not reach the page');
  });

  t.test('[6] the service restarts under an open conversation', async (t) => {
    const page = await browsing.open();
    const id = await talking(page, 'Before the restart');
    await service.stop();
    await write(page, 'During the restart');
    await widgetOf(page).lines.filter({ hasText: 'During the restart' }).filter({ hasText: 'Sending…' }).waitFor();
    service = await startOver();
    await sent(page, 'During the restart');
    await service.post(`/conversations/${id}/messages`, { body: 'After the restart' }, owner.token);
    await sent(page, 'After the restart');
    t.strictSame(await shown(page), ['Before the restart', 'During the restart', 'After the restart']);
    t.strictSame(await bodies(id), ['Before the restart', 'During the restart', 'After the restart']);
    t.strictSame(await twins(page), []);
  });

  t.test('[5] an invalid token: the visitor is a new one, and its messages arrive', async (t) => {
    const page = await browsing.open();
    await talking(page, 'As a known visitor');
    const other = await browsing.open({
      in: page.context(),
      before:
        'for (const key of Object.keys(localStorage)) if (key.endsWith(":visit")) { const kept = JSON.parse(localStorage[key]); kept.session.visitorToken = kept.session.visitorToken.slice(0, -3) + "xxx"; localStorage[key] = JSON.stringify(kept); localStorage[key.replace("visit", "token")] = JSON.stringify(kept.session.visitorToken) }',
    });
    await widgetOf(other).launcher.click();
    await write(other, 'As a new visitor');
    await sent(other, 'As a new visitor');
    t.strictSame(await bodies((await chatOf('As a new visitor')).id), ['As a new visitor']);
  });

  t.strictSame(browsing.problems, [], 'no page saw an error or a violation of its policy');
});
