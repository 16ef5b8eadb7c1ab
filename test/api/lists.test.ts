// Lists by the contract: limits are refused and never clamped, cursors are literal and stable.

import t from 'tap';
import type { Route } from '../../http/route.ts';
import { callRoute, paramsOf } from '../support/endpoints.ts';
import { makeKey } from '../support/keys.ts';
import { startService } from '../support/service.ts';

interface Declared {
  readonly properties?: Readonly<
    Record<string, { readonly minimum?: number; readonly maximum?: number; readonly default?: number }>
  >;
}
const queryOf = (route: Route): NonNullable<Declared['properties']> =>
  (route.query as Declared | undefined)?.properties ?? {};

/** The verification API has its own form of error. */
const isForKeys = ({ access }: Route): boolean => access.kind === 'agent' && access.credential !== undefined;

/** Lists whose maximum is not 200 (specification 8, decisions). */
const smaller: Readonly<Record<string, number>> = { 'conversation.recentlyClosed': 50, 'conversation.search': 50 };
/** Required query parameters besides the limit. */
const needed: Readonly<Record<string, string>> = { 'conversation.search': '&q=x' };

t.test('lists', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const chat = await service.chat(owner);
  const goal = await service.post('/goals', { name: 'x', condition: { operator: 'equals', value: 'x' } }, owner.token);
  const webhook = await service.post(
    '/webhooks',
    { url: 'https://example.com/', events: ['note.created'] },
    owner.token,
  );
  const ofCodes = await service.post('/verify/webhooks', { url: 'https://example.com/' }, owner.token);
  const values = { conversationId: chat.id, goalId: goal.body.id, webhookId: webhook.body.id };
  const key = await makeKey(service, owner);
  const lists = service.running.routes.filter(
    (route) => route.method === 'GET' && queryOf(route)['limit'] !== undefined,
  );
  const call = (route: Route, query: string) =>
    callRoute(service, route, {
      values: route.path.startsWith('/verify/webhooks') ? { ...values, webhookId: ofCodes.body.id } : values,
      query: `${query}${needed[route.operation] ?? ''}`,
      token: route.access.kind === 'visitor' ? chat.customer.token : isForKeys(route) ? key : owner.token,
    });

  t.ok(lists.length >= 6, lists.map(({ operation }) => operation).join());

  for (const route of lists) {
    const limit = queryOf(route)['limit'];
    const maximum = smaller[route.operation] ?? 200;

    t.test(`[8] ${route.operation}: limit 1 to ${maximum}, 50 by default`, async (t) => {
      t.match(limit, { minimum: 1, maximum, default: 50 });
      for (const good of ['1', String(maximum)]) t.equal((await call(route, `?limit=${good}`)).status, 200, good);
      for (const bad of ['0', '-1', String(maximum + 1), '1.5', 'x', '', '1e9', '1&limit=2', '%31%30%30%30']) {
        const named = { limit: [String] };
        const body = route.path.startsWith('/verify')
          ? { error: 'validation_error', details: named }
          : { statusCode: 400, error: 'invalid_query', detail: { fieldErrors: named } };
        t.match(await call(route, `?limit=${bad}`), { status: 400, body }, bad);
      }
    });

    if (queryOf(route)['cursor'] !== undefined) {
      t.test(`[9] ${route.operation}: a malformed cursor is invalid_query`, async (t) => {
        const id = '0194b7a6-1111-7111-8111-111111111111';
        for (const good of [`2026-11-20T12:00:00.000Z|${id}`])
          t.equal((await call(route, `?cursor=${encodeURIComponent(good)}`)).status, 200, good);
        for (const bad of [
          '',
          'x',
          id,
          `|${id}`,
          '2026-11-20T12:00:00.000Z|',
          `2026-11-20T12:00:00Z|${id}`,
          `2026-11-20|${id}`,
          `2026-13-45T12:00:00.000Z|${id}`,
          `2026-11-20T12:00:00.000Z|${id}x`,
          `2026-11-20T12:00:00.000Z,${id}`,
          `2026-11-20T12:00:00.000Z|1`,
          `${'x'.repeat(101)}`,
        ]) {
          const named = { cursor: [String] };
          const body = route.path.startsWith('/verify')
            ? { error: 'validation_error', details: named }
            : { error: 'invalid_query', detail: { fieldErrors: named } };
          t.match(await call(route, `?cursor=${encodeURIComponent(bad)}`), { status: 400, body }, bad.slice(0, 50));
        }
      });
    }
  }
});

t.test('[9] page by page, each row once, newest first, whatever is added meanwhile', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  await service.plan(owner.workspaceId, 'enterprise');
  const customer = await service.customer(owner.embedId);
  const { body: chat } = await service.post('/widget/conversations', { body: 'x' }, customer.token);
  const { body: webhook } = await service.post(
    '/webhooks',
    { url: 'https://webhook.invalid/', events: ['note.created'] },
    owner.token,
  );
  let count = 0;
  const add = {
    agents: () =>
      service.post('/agents/invite', { email: `paged${count}@example.com`, name: 'x', role: 'agent' }, owner.token),
    sites: () => service.post('/sites', { name: 'x', domain: `paged${count}.example` }, owner.token),
    savedReplies: () =>
      service.post('/saved-replies', { shortcut: `/paged${count}`, title: 'x', body: 'x' }, owner.token),
    conversations: () => service.post('/widget/conversations', { body: 'x' }, customer.token),
    deliveries: () => service.post(`/conversations/${chat.conversation.id}/notes`, { body: 'x' }, owner.token),
  };
  const rows: [keyof typeof add, string][] = [
    ['agents', '/agents?'],
    ['sites', '/sites?'],
    ['savedReplies', '/saved-replies?scope=workspace&'],
    ['conversations', '/conversations/queue?channel=chat&'],
    ['deliveries', `/webhooks/${webhook.id}/deliveries?`],
  ];

  for (const [key, path] of rows) {
    t.test(path, async (t) => {
      const insert = async () => {
        count += 1;
        t.ok((await add[key]()).status < 300);
      };
      // Some at one moment of the clock, some at others.
      for (let made = 0; made < 12; made += 1) {
        await insert();
        if (made % 3 === 0) service.clock.advance(1);
      }
      const page = async (
        query: string,
      ): Promise<{ rows: { id: string; createdAt: string }[]; nextCursor: string | null }> => {
        const { body } = await service.get(`${path}${query}`, owner.token);
        return { rows: body[key], nextCursor: body.nextCursor };
      };
      const whole = await page('limit=200');
      t.equal(whole.nextCursor, null, 'nothing after the last');
      const read: { id: string; createdAt: string }[] = [];
      let cursor: string | null = null;
      do {
        const { rows, nextCursor }: Awaited<ReturnType<typeof page>> = await page(
          `limit=5${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        );
        read.push(...rows);
        const last = rows.at(-1);
        if (nextCursor !== null)
          t.equal(nextCursor, `${last?.createdAt}|${last?.id}`, "literally the last row's time and id");
        cursor = nextCursor;
        await insert();
      } while (cursor !== null);
      t.same(
        read.map(({ id }) => id),
        whole.rows.map(({ id }) => id),
      );
      const newestFirst = [...read].sort((a, b) =>
        a.createdAt === b.createdAt ? (a.id < b.id ? 1 : -1) : a.createdAt < b.createdAt ? 1 : -1,
      );
      t.same(
        read.map(({ id }) => id),
        newestFirst.map(({ id }) => id),
      );
      const exact = await page(`limit=${(await page('limit=200')).rows.length}`);
      t.equal(exact.nextCursor, null, 'a page that holds just all of them is the last');
    });
  }
});

t.test('every list of the contract that is paged by cursor is here', async (t) => {
  const service = await startService(t);
  const paged = new Set(
    service.running.routes.filter((route) => queryOf(route)['cursor'] !== undefined).map(({ path }) => path),
  );
  for (const path of [
    '/agents',
    '/sites',
    '/saved-replies',
    '/workspace/audit-log',
    '/conversations/queue',
    '/conversations/recently-closed',
  ])
    t.ok(paged.has(path), path);
  for (const route of service.running.routes.filter(({ path }) => paged.has(path)))
    t.same(paramsOf(route), /\/webhooks\/\{webhookId\}\//.test(route.path) ? ['webhookId'] : []);
});
