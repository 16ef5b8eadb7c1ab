import t from 'tap';
import type { Route } from '../../http/route.ts';
import { fullPath } from '../../http/route.ts';
import { type Service, startService } from '../support/service.ts';

/** A call of each widget route that is valid except for its origin. */
const bodies: Record<string, (chatId: string) => unknown> = {
  'widget.viewPage': () => ({ url: 'https://shop.example/' }),
  'widget.identify': () => ({ name: 'Kim' }),
  'widget.startChat': () => ({ body: 'x' }),
  'widget.listChats': () => undefined,
  'widget.leaveTicket': () => ({ body: 'x', email: 'x@example.com' }),
  'widget.listMessages': () => undefined,
  'widget.sendMessage': () => ({ body: 'x' }),
  'widget.read': () => undefined,
  'widget.rate': () => ({ rating: 5 }),
  'widget.presignUpload': () => ({ filename: 'a.txt', contentType: 'text/plain', size: 1 }),
  'widget.availability': () => undefined,
  'widget.listAgents': () => undefined,
  'widget.noteCampaign': () => ({ campaignId, type: 'click' }),
  'widget.searchArticles': () => undefined,
  'widget.readArticle': () => undefined,
  'widget.voteArticle': () => ({ helpful: true }),
};

/** Of an existing campaign, and an article of the help centre. */
let campaignId = '';
let articleId = '';

async function addArticle(service: Service, owner: { token: string }): Promise<string> {
  await service.patch('/kb/settings', { helpCentre: true }, owner.token);
  return (await service.post('/kb/articles', { title: 'Help', body: 'Yes.', status: 'published' }, owner.token)).body
    .id;
}

async function addCampaign(service: Service, owner: { token: string }): Promise<string> {
  return (await service.post('/campaigns', { name: 'Help', triggerRules: {}, content: { body: 'Hello' } }, owner.token))
    .body.id;
}

const visitorRoutes = (service: Service): Route[] =>
  service.running.routes.filter((route) => route.access.kind === 'visitor');

t.test('who can use the widget', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  campaignId = await addCampaign(service, owner);
  articleId = await addArticle(service, owner);
  const chat = await service.chat(owner);
  const site = async () => (await service.get(`/sites/${owner.siteId}`, owner.token)).body;
  const allow = async (allowedOrigins: string[]) =>
    service.patch(`/sites/${owner.siteId}`, { allowedOrigins, expectedVersion: (await site()).version }, owner.token);
  const call = (route: Route, token: string | undefined, origin?: string) =>
    service.call(
      route.method,
      fullPath(route).replace('/api/v1', '').replace('{conversationId}', chat.id).replace('{articleId}', articleId),
      {
        body: bodies[route.operation]?.(chat.id),
        token,
        headers: origin === undefined ? {} : { Origin: origin },
      },
    );
  const session = (origin?: string) =>
    service.call('POST', '/widget/sessions', {
      body: { siteId: owner.embedId, url: 'https://shop1.example/' },
      headers: origin === undefined ? {} : { Origin: origin },
    });

  t.test('every widget route is tried below', async (t) => {
    t.strictSame(
      visitorRoutes(service)
        .map((route) => route.operation)
        .sort(),
      Object.keys(bodies).sort(),
    );
  });

  t.test(
    '[4.12] on every route: an origin of the site passes, another is 403, and a call without one passes',
    async (t) => {
      t.strictSame((await site()).allowedOrigins, ['shop1.example', 'www.shop1.example']);
      for (const route of visitorRoutes(service)) {
        for (const origin of [
          'https://shop1.example',
          'https://www.shop1.example',
          'http://shop1.example:8080',
          undefined,
        ]) {
          const answer = await call(route, chat.customer.token, origin);
          t.ok(answer.status < 300, `${route.operation} from ${origin}: ${answer.status}`);
        }
        for (const origin of [
          'https://evil.example',
          'https://shop1.example.evil.example',
          'https://evilshop1.example',
          'https://sub.shop1.example',
          'null',
          'nonsense',
        ]) {
          t.match(
            await call(route, chat.customer.token, origin),
            { status: 403, body: { error: 'forbidden' } },
            `${route.operation} from ${origin}`,
          );
        }
      }
      for (const [origin, status] of [
        ['https://shop1.example', 200],
        [undefined, 200],
        ['https://evil.example', 403],
        ['null', 403],
      ] as const)
        t.equal((await session(origin)).status, status, `session from ${origin}`);
    },
  );

  t.test('[4.12] entries: hosts and origins, and wildcards of any depth that are not the apex', async (t) => {
    const rows: [string, string[], string[]][] = [
      [
        'shop.example',
        ['https://shop.example', 'http://shop.example', 'https://shop.example:8443', 'https://SHOP.example'],
        ['https://a.shop.example', 'https://xshop.example', 'https://shop.example.org'],
      ],
      [
        '*.shop.example',
        ['https://a.shop.example', 'https://a.b.shop.example'],
        ['https://shop.example', 'https://xshop.example'],
      ],
      [
        'https://shop.example',
        ['https://shop.example', 'https://shop.example:443'],
        ['http://shop.example', 'https://shop.example:8443'],
      ],
      [
        'http://*.shop.example:8080',
        ['http://a.shop.example:8080'],
        ['http://a.shop.example', 'https://a.shop.example:8080'],
      ],
      ['localhost:3000', ['http://localhost:3000'], ['http://localhost', 'http://localhost:3001']],
    ];
    for (const [entry, passing, refused] of rows) {
      t.equal((await allow([entry])).status, 200, entry);
      for (const origin of passing) t.equal((await session(origin)).status, 200, `${entry} admits ${origin}`);
      for (const origin of refused)
        t.match(
          await session(origin),
          { status: 403, body: { error: 'forbidden' } },
          `${entry} does not admit ${origin}`,
        );
    }
    t.equal((await allow([])).status, 200);
    t.equal((await session('https://shop1.example')).status, 403, 'no entry, no origin');
    t.equal((await session()).status, 200);
    t.equal((await allow(['shop1.example'])).status, 200);
  });

  t.test('[4.12] a change of the list counts from its commit on', async (t) => {
    const route = visitorRoutes(service)[0] as Route;
    await allow(['new.example']);
    t.equal((await call(route, chat.customer.token, 'https://shop1.example')).status, 403);
    t.equal((await call(route, chat.customer.token, 'https://new.example')).status, 200);
    await allow(['shop1.example']);
  });

  t.test('[5] CORS: browsers can send preflights, and read the answers', async (t) => {
    for (const route of visitorRoutes(service)) {
      const path = fullPath(route)
        .replace('/api/v1', '')
        .replace('{conversationId}', chat.id)
        .replace('{articleId}', articleId);
      const preflight = await service.call('OPTIONS', path, {
        headers: {
          Origin: 'https://shop1.example',
          'Access-Control-Request-Method': route.method,
          'Access-Control-Request-Headers': 'authorization,content-type',
        },
      });
      t.equal(preflight.status, 204, path);
      t.equal(preflight.headers.get('access-control-allow-origin'), '*');
      t.ok(preflight.headers.get('access-control-allow-methods')?.includes(route.method), route.method);
      for (const name of ['authorization', 'content-type', 'accept'])
        t.ok(preflight.headers.get('access-control-allow-headers')?.toLowerCase().includes(name), name);
      t.equal(
        (await call(route, chat.customer.token, 'https://shop1.example')).headers.get('access-control-allow-origin'),
        '*',
      );
    }
  });

  t.test("[decisions] the visitor's socket asks the same of an origin", async (t) => {
    const open = (origin?: string) =>
      service.socket('visitor', {
        protocols: ['messaging.v1', `bearer.${chat.customer.token}`],
        ...(origin === undefined ? {} : { headers: { Origin: origin } }),
      });
    for (const origin of ['https://shop1.example', undefined]) {
      const socket = open(origin);
      t.match(await socket.next('ready'), { visitor: { id: chat.customer.visitorId } }, String(origin));
      await socket.close();
    }
    t.match(await open('https://evil.example').closed, { code: 4403 });
  });
});

t.test('a blocked visitor', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  campaignId = await addCampaign(service, owner);
  articleId = await addArticle(service, owner);
  const ann = await service.agent(owner, { channels: ['chats'] });
  const block = (visitorId: string, token = owner.token) =>
    service.post(`/visitors/${visitorId}/block`, undefined, token);
  const unblock = (visitorId: string, token = owner.token) =>
    service.post(`/visitors/${visitorId}/unblock`, undefined, token);

  t.test('[4.12] is refused everything but the session, until it is unblocked', async (t) => {
    const chat = await service.chat(owner);
    const at = new Date(service.clock.now()).toISOString();
    const { status, body } = await block(chat.customer.visitorId, ann.token);
    t.equal(status, 200);
    t.match(body.visitor, { id: chat.customer.visitorId, blockedAt: at, visitorToken: chat.customer.token });
    const call = (route: Route) =>
      service.call(
        route.method,
        fullPath(route).replace('/api/v1', '').replace('{conversationId}', chat.id).replace('{articleId}', articleId),
        {
          body: bodies[route.operation]?.(chat.id),
          token: chat.customer.token,
        },
      );
    for (const route of visitorRoutes(service))
      t.match(await call(route), { status: 403, body: { error: 'forbidden' } }, route.operation);
    t.match(
      await service.post('/widget/sessions', {
        siteId: owner.embedId,
        visitorToken: chat.customer.token,
        url: 'https://shop.example/',
      }),
      { status: 200, body: { visitor: { id: chat.customer.visitorId } } },
    );
    t.match(await service.socket('visitor', { protocols: ['messaging.v1', `bearer.${chat.customer.token}`] }).closed, {
      code: 4403,
    });
    t.equal(
      (await service.get(`/conversations/${chat.id}/messages`, owner.token)).body.messages.length,
      1,
      'nothing got through',
    );

    await service.post(`/conversations/${chat.id}/messages`, { body: 'SECRET' }, owner.token);
    const session = await service.post('/widget/sessions', {
      siteId: owner.embedId,
      visitorToken: chat.customer.token,
      url: 'https://shop.example/',
      name: 'Somebody Else',
      email: 'else@customer.example',
    });
    t.match(
      session,
      {
        status: 200,
        body: { visitor: { name: null, email: null }, conversation: { id: chat.id, preview: null }, campaigns: [] },
      },
      'its identity does not change, and later messages are kept from it',
    );
    t.strictSame((await service.get('/contacts', owner.token)).body.contacts, [], 'nor does it make a contact');

    await service.pass(1000);
    t.equal((await block(chat.customer.visitorId)).body.visitor.blockedAt, at, 'blocking again changes nothing');
    t.equal((await unblock(chat.customer.visitorId)).body.visitor.blockedAt, null);
    for (const route of visitorRoutes(service)) t.ok((await call(route)).status < 300, route.operation);
  });

  t.test(
    '[4.12] immediately, on open sockets too: closed, with nothing of what commits with or after it',
    async (t) => {
      const chat = await service.chat(owner);
      const other = await service.customer(owner.embedId);
      const [first, second, bystander] = [
        await service.visitorSocket(chat.customer.token),
        await service.visitorSocket(chat.customer.token),
        await service.visitorSocket(other.token),
      ];
      await Promise.all([
        block(chat.customer.visitorId),
        ...Array.from({ length: 20 }, (_, index) =>
          service.post(`/conversations/${chat.id}/messages`, { body: `SECRET ${index}` }, owner.token),
        ),
      ]);
      for (const socket of [first, second]) {
        t.match(await socket.closed, { code: 4403 });
        t.strictSame(
          socket.events.filter((type) => type === 'conversation.updated'),
          [],
        );
      }
      t.equal((await service.get(`/conversations/${chat.id}/messages`, owner.token)).body.messages.length, 21);
      await bystander.flushed();
      t.equal(bystander.frames.at(-1)?.type, 'pong', 'others stay');
    },
  );

  t.test("[7] a visitor that is not there, or another workspace's: 404", async (t) => {
    const stranger = await service.workspace();
    const customer = await service.customer(owner.embedId);
    for (const id of ['019aa000-0000-7000-8000-000000000000', 'x'])
      for (const act of [block, unblock]) t.match(await act(id), { status: 404, body: { error: 'not_found' } });
    for (const act of [block, unblock])
      t.match(await act(customer.visitorId, stranger.token), { status: 404, body: { error: 'not_found' } });
    t.equal((await service.post('/widget/page-views', { url: 'https://shop.example/' }, customer.token)).status, 200);
  });
});
