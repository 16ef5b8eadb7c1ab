// Settings, Move in, in a real browser: an mbox file is sent in parts, looked at first, and moved in; a service that refuses
// its token says so, and is read with another.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Route } from 'playwright-core';
import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { barriersOf, startPages } from '../support/pages.ts';
import { startService, type Teardown } from '../support/service.ts';

const mail = (id: string, more: readonly string[] = []): string =>
  [
    'From ixa@customer.example Mon Mar  1 10:00:00 2021',
    'From: Ixa <ixa@customer.example>',
    'To: support@shop.example',
    `Subject: About ${id} <img src=x onerror=alert(1)>`,
    `Message-ID: <${id}@customer.example>`,
    'Date: Mon, 1 Mar 2021 10:00:00 +0000',
    ...more,
    '',
    'Hello.',
    '',
    '',
  ].join('\n');

/** As the page sends it. */
const partBytes = 4 * 1024 * 1024;
const mbox = (name: string, text: string) => ({
  name,
  mimeType: 'application/mbox',
  buffer: Buffer.from(text),
});
/** Of three parts. */
const largeMbox = (name: string) => mbox(name, mail('large') + `${'x'.repeat(75)}\n`.repeat((2.5 * partBytes) / 76));

/** A Zendesk with one ticket, which takes only this token, and asks to wait while `isBusy`. */
async function zendesk(t: Teardown, token: string) {
  const state = { isBusy: false, url: '', host: '' };
  const expected = `Basic ${Buffer.from(`me@shop.example/token:${token}`).toString('base64')}`;
  const server = createServer((request, reply) => {
    const answer = (status: number, body: unknown = {}): void => {
      reply.writeHead(status, { 'content-type': 'application/json', 'retry-after': '90' }).end(JSON.stringify(body));
    };
    if (state.isBusy) return answer(429);
    if (request.headers.authorization !== expected) return answer(401);
    if (request.url?.includes('/comments.json') === true)
      return answer(200, {
        comments: [{ id: 10, author_id: 1, public: true, plain_body: 'Hello.', created_at: '2021-03-01T10:00:00Z' }],
        users: [{ id: 1, name: 'Ixa', email: 'ixa@customer.example', role: 'end-user' }],
        meta: {},
      });
    if (request.url?.includes('/count.json') === true) return answer(200, { count: { value: 1 } });
    return answer(200, {
      tickets: [{ id: 1, subject: 'Cup', status: 'solved', requester_id: 1, created_at: '2021-03-01T10:00:00Z' }],
      users: [{ id: 1, name: 'Ixa', email: 'ixa@customer.example', role: 'end-user' }],
      end_of_stream: true,
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  state.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  state.url = `http://${state.host}`;
  return state;
}

t.setTimeout(5 * 60_000);

t.test('moving in', { timeout: 5 * 60_000, skip: noBrowser }, async (t) => {
  const port = await freePort();
  const service = await startService(t, {
    env: {
      RATE_LIMITS: 'off',
      ALLOW_PRIVATE_WEBHOOKS: 'true',
      PORT: String(port),
      BASE_URL: `http://localhost:${port}`,
    },
  });
  const owner = await service.workspace();
  const pages = await startPages(t, service);
  const desk = await pages.open('/settings/move-in', { token: owner.token });
  await desk.getByRole('heading', { name: 'Move in', level: 1 }).waitFor();
  const row = (name: string) => desk.getByRole('listitem').filter({ hasText: name });

  t.test('a file is looked at first, then moved in', async (t) => {
    t.same(await barriersOf(desk), []);
    const file = mail('1') + mail('2') + mail('3', ['List-Id: <news.example>']);
    await desk
      .getByLabel('The mbox file')
      .setInputFiles({ name: 'old.mbox', mimeType: 'application/mbox', buffer: Buffer.from(file) });
    await desk.getByRole('button', { name: 'Look what would happen' }).click();
    await row('old.mbox').getByText('Ready to move in').waitFor();
    await row('old.mbox')
      .getByText('Of the first 3: 2 new conversations with 2 messages, 1 new customer, 1 left out')
      .waitFor();
    await row('old.mbox').getByText('Left out or shortened').click();
    await row('old.mbox').getByText('About 3 <img').waitFor();
    t.same(await barriersOf(desk), []);
    t.equal((await service.get('/conversations/recently-closed', owner.token)).body.conversations.length, 0);
    await desk.getByRole('button', { name: 'Move in: old.mbox' }).click();
    await row('old.mbox').getByText('Done').waitFor();
    await row('old.mbox').getByText('3 read: 2 new conversations with 2 messages').waitFor();
    await desk.getByRole('button', { name: 'Delete: old.mbox' }).click();
    await desk.getByText('Nothing has been moved in yet').waitFor();
    const found = await service.get('/conversations/search?q=Hello', owner.token);
    t.match(JSON.stringify(found.body), /About 1/);
  });

  t.test('a service that cannot be read says why', async () => {
    await desk.getByLabel('From', { exact: true }).selectOption({ label: 'Zendesk' });
    await desk.getByLabel('Address', { exact: true }).fill(`http://localhost:${port}/nowhere`);
    await desk.getByLabel(/token.s user/).fill('me@shop.example');
    await desk.getByLabel('API token').fill('secret');
    await desk.getByRole('button', { name: 'Look what would happen' }).click();
    await row(`localhost:${port}`).getByText('Failed').waitFor();
    await row(`localhost:${port}`)
      .getByText(/Zendesk has nothing at/)
      .waitFor();
  });

  /** Every import that is listed. */
  const clear = async (): Promise<void> => {
    for (const { id } of (await service.get('/imports', owner.token)).body.imports)
      await service.delete(`/imports/${id}`, owner.token);
    await desk.reload();
    await desk.getByText('Nothing has been moved in yet').waitFor();
  };
  /** What the service answers to parts of files, until the test ends. */
  const onPart = async (t: Teardown, answer: (route: Route, offset: number) => Promise<void>): Promise<void> => {
    const parts = '**/api/v1/imports/*/file*';
    await desk.route(parts, (route) =>
      answer(route, Number(new URL(route.request().url()).searchParams.get('offset'))),
    );
    t.teardown(() => desk.unroute(parts));
  };
  const refusal = (status: number, body: object) => ({
    status,
    contentType: 'application/json',
    body: JSON.stringify(body),
  });
  const look = async (file: { name: string; mimeType: string; buffer: Buffer }): Promise<void> => {
    await desk.getByLabel('The mbox file').setInputFiles(file);
    await desk.getByRole('button', { name: 'Look what would happen' }).click();
  };
  const lookAt = async ({ url }: { url: string }, token: string): Promise<void> => {
    await desk.getByLabel('From', { exact: true }).selectOption({ label: 'Zendesk' });
    await desk.getByLabel('Address', { exact: true }).fill(url);
    await desk.getByLabel(/token.s user/).fill('me@shop.example');
    await desk.getByLabel('API token', { exact: true }).fill(token);
    await desk.getByRole('button', { name: 'Look what would happen' }).click();
  };

  t.test('a token that was refused is replaced; the other admins see the same', async (t) => {
    await clear();
    const source = await zendesk(t, 'right');
    const admin = await service.agent(owner, { role: 'admin' });
    const other = await pages.open('/settings/move-in', { token: admin.token });
    await other.getByText('Nothing has been moved in yet').waitFor();
    await lookAt(source, 'wrong');
    await row(source.host).getByText('Failed').waitFor();
    await other.getByRole('listitem').getByText('Failed').waitFor();
    t.same(await barriersOf(desk), []);
    await row(source.host).getByLabel('Another API token').fill('two words');
    await desk.getByRole('button', { name: `Look again: ${source.host}` }).click();
    await row(source.host).getByText('a token without spaces').waitFor();
    await row(source.host).getByLabel('Another API token').fill('right');
    await desk.getByRole('button', { name: `Look again: ${source.host}` }).click();
    await row(source.host).getByText('Ready to move in').waitFor();
    await other.getByRole('listitem').getByText('Ready to move in').waitFor();
    await other.getByRole('button', { name: `Delete: ${source.host}` }).click();
    await other.getByText('Nothing has been moved in yet').waitFor();
    await desk.getByRole('button', { name: `Move in: ${source.host}` }).click();
    await desk.getByText(`${source.host} was deleted already.`).waitFor();
    await desk.getByText('Nothing has been moved in yet').waitFor();
    await other.close();
  });

  t.test('a preview that was stopped looks again, and moves nothing in', async (t) => {
    await clear();
    const source = await zendesk(t, 'right');
    source.isBusy = true;
    await lookAt(source, 'right');
    await row(source.host).getByText('asks to wait').waitFor();
    await desk.getByRole('button', { name: `Stop: ${source.host}` }).click();
    await row(source.host).getByText('Stopped').waitFor();
    source.isBusy = false;
    await desk.getByRole('button', { name: `Look again: ${source.host}` }).click();
    await row(source.host).getByText('Looking').waitFor();
    // Its turn comes after the pause that the service asked for.
    await service.pass(90_000);
    await row(source.host).getByText('Ready to move in').waitFor();
    t.match((await service.get('/imports', owner.token)).body.imports, [{ isPreview: true, status: 'stopped' }]);
  });

  t.test('a chosen file is changed; while one is sent, another import begins; deleting ends the sending', async (t) => {
    await clear();
    await desk.getByLabel('The mbox file').setInputFiles(mbox('wrong.mbox', mail('1')));
    await desk.getByText('wrong.mbox').waitFor();
    await desk.getByRole('button', { name: 'Choose another file' }).waitFor();
    const held = Promise.withResolvers<void>();
    const offsets: number[] = [];
    await onPart(t, async (route, offset) => {
      offsets.push(offset);
      if (offset === partBytes) await held.promise;
      // The page has ended this request.
      await route.continue().catch(() => undefined);
    });
    await look(largeMbox('large.mbox'));
    await row('large.mbox').getByText('Sending the file').waitFor();
    await row('large.mbox')
      .getByText(/^4.* of 10.* sent$/)
      .waitFor();
    t.equal(await desk.getByText('wrong.mbox').count(), 0);
    t.equal(await desk.getByRole('button', { name: 'Go on sending: large.mbox' }).count(), 0);
    await look(mbox('small.mbox', mail('2')));
    await row('small.mbox').getByText('Ready to move in').waitFor();
    await desk.getByRole('button', { name: 'Delete: large.mbox' }).click();
    await row('large.mbox').waitFor({ state: 'detached' });
    held.resolve();
    await desk.getByRole('button', { name: 'Delete: small.mbox' }).click();
    await desk.getByText('Nothing has been moved in yet').waitFor();
    t.same(
      offsets.filter((offset) => offset > partBytes),
      [],
    );
    t.equal(await desk.getByText('Could not send').count(), 0);
  });

  t.test('a part is sent after the rate limit, and from where the service has it', async (t) => {
    await clear();
    const offsets: number[] = [];
    await onPart(t, async (route, offset) => {
      const isFirst = !offsets.includes(offset);
      offsets.push(offset);
      if (offset === 0 && isFirst) return route.fulfill(refusal(429, { error: 'rate_limited', retryAfter: 0 }));
      if (offset !== partBytes) return route.continue();
      // Another page was faster.
      await route.fetch();
      return route.fulfill(refusal(409, { error: 'conflict', detail: { receivedBytes: 2 * partBytes } }));
    });
    await desk.evaluate(`
      globalThis.said = [];
      const status = document.querySelector('p.for-readers[role="status"]');
      new MutationObserver(() => said.push(status.textContent)).observe(status, {
        childList: true, characterData: true, subtree: true
      });
    `);
    await look(largeMbox('large.mbox'));
    await row('large.mbox').getByText('Ready to move in').waitFor();
    t.same(offsets, [0, 0, partBytes, 2 * partBytes]);
    await desk.getByText(/^large.mbox: Ready to move in. Of the first 1: /).waitFor({ state: 'attached' });
    const said = (await desk.evaluate<string[]>('said')).filter((text) => text !== '');
    t.same(
      said.filter((text) => !/^large\.mbox: (?:Sending the file|Looking|Ready to move in)\./.test(text)),
      [],
    );
    t.equal(new Set(said).size, said.length, 'each state once');
    t.equal(await desk.locator('ul[aria-live]').count(), 0);
  });

  t.test('a part that is refused says why, and the file goes on', async (t) => {
    await clear();
    let isFull = true;
    await onPart(t, (route, offset) =>
      isFull && offset > 0
        ? route.fulfill(refusal(507, { error: 'disk_full', message: 'The disk of this server is full.' }))
        : route.continue(),
    );
    const file = largeMbox('large.mbox');
    await look(file);
    await desk.getByText('Could not send large.mbox. The disk of this server is full.').waitFor();
    await row('large.mbox').getByText('Waiting for the file').waitFor();
    await row('large.mbox')
      .getByText(/^4.* of 10.* sent$/)
      .waitFor();
    isFull = false;
    await desk.getByLabel('The rest of large.mbox').setInputFiles(file);
    await row('large.mbox').getByText('Ready to move in').waitFor();
    await clear();
  });

  t.test('an agent has no such section', async (t) => {
    const agent = await service.agent(owner);
    const theirs = await pages.open('/settings/move-in', { token: agent.token });
    await theirs.getByRole('navigation', { name: 'Settings' }).waitFor();
    t.equal(await theirs.getByRole('heading', { name: 'Move in', level: 1 }).count(), 0);
  });
});
