import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { signatureOf } from '../../http/signed/signatures.ts';
import { startService } from '../support/service.ts';

const secret = 'a secret of the shop';
type Serve = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A shop on the loopback with the test's answers. */
async function startShop(t: {
  teardown(call: () => void): void;
}): Promise<{ url: string; asked: { body: string; headers: IncomingMessage['headers'] }[]; answer: Serve }> {
  const shop = {
    url: '',
    asked: [] as { body: string; headers: IncomingMessage['headers'] }[],
    answer: ((_, response) => response.end()) as Serve,
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      shop.asked.push({ body, headers: request.headers });
      shop.answer(request, response, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  shop.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/customers`;
  return shop;
}

const json =
  (value: unknown, status = 200): Serve =>
  (_, response) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
const known = {
  matched: true,
  customer: { email: 'kim@shop.example', lifetimeValueCents: 12_345 },
  orders: [{ id: 7, total: '49.90', status: 'paid', internal: 'x' }],
};

t.test('[4.12] enrichment through the commerce connector', async (t) => {
  const service = await startService(t, {
    env: { RATE_LIMITS: 'off', ALLOW_PRIVATE_WEBHOOKS: '1' },
    commerceTimeoutMs: 2500,
  });
  const shop = await startShop(t);
  const owner = await service.workspace();
  const other = await service.workspace();
  const agent = await service.agent(owner);
  const kim = await service.customer(owner.embedId, { name: 'Kim', email: 'kim@shop.example' });
  const stranger = await service.customer(owner.embedId);
  const enrich = (visitorId: string, token = agent.token) => service.get(`/visitors/${visitorId}/enrichment`, token);
  const unmatched = (source: string) => ({ enrichment: { source, matched: false, customer: null, orders: [] } });

  t.test('without a connector nothing matches', async (t) => {
    t.strictSame((await enrich(kim.visitorId)).body, unmatched('none'));
    t.strictSame((await service.get('/workspace/commerce', owner.token)).body, {
      url: null,
      secret: null,
      source: null,
    });
  });

  t.test('an invalid URL is refused as a connector, whatever its grammar says', async (t) => {
    for (const url of [
      'http://127.0.0.1%00.evil.example:18126/',
      'http://1.2.3.400/',
      'http://[::1',
      'http://shop.example:99999/',
    ]) {
      t.match(
        await service.put('/workspace/commerce', { url, secret, source: 'x' }, owner.token),
        {
          status: 400,
          body: {
            error: 'invalid_body',
            detail: { fieldErrors: { url: ['must be a web address, such as https://example.com'] } },
          },
        },
        url,
      );
    }
  });

  t.test('set, read and removed by admins', async (t) => {
    const connector = { url: shop.url, secret, source: 'woocommerce' };
    t.match(await service.put('/workspace/commerce', { url: shop.url }, owner.token), {
      status: 400,
      body: { error: 'invalid_body', detail: { fieldErrors: { secret: ['is required'], source: ['is required'] } } },
    });
    for (const [method, body] of [
      ['PUT', connector],
      ['GET', undefined],
    ] as const)
      t.match(await service.call(method, '/workspace/commerce', { token: agent.token, body }), {
        status: 403,
        body: { error: 'admin_required' },
      });
    t.strictSame((await service.put('/workspace/commerce', connector, owner.token)).body, connector);
    t.strictSame((await service.get('/workspace/commerce', owner.token)).body, connector);
    t.strictSame((await service.get('/workspace/commerce', other.token)).body, {
      url: null,
      secret: null,
      source: null,
    });
    t.strictSame((await service.put('/workspace/commerce', { url: null }, owner.token)).body, {
      url: null,
      secret: null,
      source: null,
    });
    t.strictSame((await enrich(kim.visitorId)).body, unmatched('none'));
    await service.put('/workspace/commerce', connector, owner.token);
    const { entries } = (await service.get('/workspace/audit-log', owner.token)).body;
    t.match(entries[0], { action: 'workspace.updated', after: { commerce: { url: shop.url, source: 'woocommerce' } } });
    t.notOk(JSON.stringify(entries).includes(secret), 'its secret is in no log');
    for (const body of [
      { url: shop.url, source: 'x' },
      { url: shop.url, secret },
      { url: shop.url, secret: 'short', source: 'x' },
      { url: 'ftp://shop.example', secret, source: 'x' },
      {},
    ]) {
      t.match(
        await service.put('/workspace/commerce', body, owner.token),
        { status: 400, body: { error: 'invalid_body' } },
        JSON.stringify(body),
      );
    }
  });

  t.test('the shop is asked by email, signed, and its answer is stored with the visitor and its contact', async (t) => {
    shop.answer = json(known);
    shop.asked.length = 0;
    const { status, body } = await enrich(kim.visitorId);
    t.equal(status, 200);
    t.strictSame(body.enrichment, {
      source: 'woocommerce',
      matched: true,
      customer: known.customer,
      orders: [{ id: '7', total: '49.90', status: 'paid' }],
    });
    t.strictSame(
      shop.asked.map((one) => one.body),
      ['{"email":"kim@shop.example"}'],
    );
    t.equal(shop.asked[0]?.headers['x-signature'], signatureOf('{"email":"kim@shop.example"}', secret));
    const { visitor } = (await service.post(`/visitors/${kim.visitorId}/unblock`, undefined, owner.token)).body;
    t.strictSame(visitor.wcEnrichment, body.enrichment);
    t.equal((await service.get(`/contacts/${visitor.contactId}`, agent.token)).body.contact.lifetimeValueCents, 12_345);
    shop.asked.length = 0;
    t.strictSame(
      (await enrich(stranger.visitorId)).body,
      unmatched('woocommerce'),
      'a visitor without an email is not looked up',
    );
    t.equal(shop.asked.length, 0);
    for (const answer of [json({}, 404), json({ matched: false })]) {
      shop.answer = answer;
      t.strictSame((await enrich(kim.visitorId)).body, unmatched('woocommerce'));
    }
    t.equal((await enrich(kim.visitorId, other.token)).status, 404);
    t.equal((await enrich('nonsense')).status, 404);
  });

  t.test('no answer, a bad one or too much of one: 503, and nothing is kept', async (t) => {
    shop.answer = json(known);
    await enrich(kim.visitorId);
    const wrong: Record<string, Serve> = {
      silence: () => {},
      'a cut line': (request) => request.socket.destroy(),
      'an error': json({}, 500),
      'a refusal': json({}, 401),
      'a redirect': (_, response) => response.writeHead(302, { Location: `${shop.url}/elsewhere` }).end(),
      'no JSON': (_, response) => response.end('<html>'),
      'half of it': (_, response) => response.writeHead(200, { 'Content-Length': '100' }).end('{"matched":'),
      'another shape': json({ matched: 'yes' }),
      'a list': json([]),
      null: json(null),
      'no customer': json({ matched: true, orders: [] }),
      'an invalid value': json({ ...known, customer: { email: 'x', lifetimeValueCents: 1.5 } }),
      'orders that are none': json({ ...known, orders: [null] }),
      'an order without a total': json({ ...known, orders: [{ id: 1, status: 'paid' }] }),
      'too much': json({ ...known, padding: 'x'.repeat(65 * 1024) }),
    };
    for (const [what, answer] of Object.entries(wrong)) {
      shop.answer = answer;
      t.match(await enrich(kim.visitorId), { status: 503, body: { error: 'service_unavailable' } }, what);
    }
    const { visitor } = (await service.post(`/visitors/${kim.visitorId}/unblock`, undefined, owner.token)).body;
    t.match(visitor.wcEnrichment, { matched: true }, 'its earlier text stays');
    shop.answer = json({
      ...known,
      orders: Array.from({ length: 150 }, (_, index) => ({ id: `o${index}`, total: '1', status: 'x'.repeat(300) })),
    });
    const { orders } = (await enrich(kim.visitorId)).body.enrichment;
    t.strictSame([orders.length, orders[0].status.length], [100, 200], 'long lists and texts are cut');
  });
});

t.test('[4.12] a shop at a private address: 400 forbidden_url, or 503 when its name leads to one', async (t) => {
  const service = await startService(t);
  const shop = await startShop(t);
  const owner = await service.workspace();
  const set = (url: string) => service.put('/workspace/commerce', { url, secret, source: 'x' }, owner.token);
  for (const url of [
    shop.url,
    'http://localhost/',
    'http://10.0.0.1/',
    'http://[::1]/',
    'http://169.254.169.254/latest',
    'http://shop.internal/',
    'http://0x7f000001/',
  ])
    t.match(await set(url), { status: 400, body: { error: 'forbidden_url' } }, url);
  t.strictSame((await service.get('/workspace/commerce', owner.token)).body, { url: null, secret: null, source: null });
  t.equal(shop.asked.length, 0);
});
