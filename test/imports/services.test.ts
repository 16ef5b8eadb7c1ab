// Moving in from services, against servers that answer as those document: pages, limits, errors in the middle, a token
// that is refused.

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { scopeNames } from '../../engine/rights/scopes.ts';
import { readableData } from '../../http/schemas/event-records.ts';
import { type Person, type Service, startService, type Teardown } from '../support/service.ts';

type Answer = { readonly status: number; readonly headers?: Record<string, string>; readonly body?: unknown };
type Answers = (request: { path: string; query: URLSearchParams; raw: IncomingMessage; count: number }) => Answer;

/** A service that answers JSON, and the paths that it was asked. */
async function startServer(t: Teardown, answers: Answers): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((raw, reply) => {
    const url = new URL(raw.url ?? '/', 'http://x');
    asked.push(url.pathname + url.search);
    const {
      status,
      headers = {},
      body,
    } = answers({
      path: url.pathname,
      query: url.searchParams,
      raw,
      count: asked.length,
    });
    raw.resume();
    reply
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(Buffer.isBuffer(body) ? body : JSON.stringify(body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const ok = (body: unknown): Answer => ({ status: 200, body });
const nothing: Answer = { status: 404 };

async function over(service: Service, owner: Person, importId: string): Promise<any> {
  for (;;) {
    await service.settled();
    const { body } = await service.get(`/imports/${importId}`, owner.token);
    if (body.status !== 'queued' && body.status !== 'running') return body;
    if (body.status === 'queued' && body.error !== null) return body;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function moved(service: Service, owner: Person, given: object): Promise<any> {
  const { status, body } = await service.post('/imports', given, owner.token);
  if (status !== 201) throw new Error(`an import was refused: ${JSON.stringify(body)}`);
  return over(service, owner, body.id);
}

function stored(service: Service, owner: Person): any[] {
  const { db } = service.running.services.engine.workspace(owner.workspaceId) ?? {};
  return db?.all('SELECT * FROM conversation ORDER BY createdAt') ?? [];
}

const ticket = (id: number, more: object = {}) => ({
  id,
  subject: `Ticket ${id}`,
  raw_subject: `Ticket ${id}`,
  status: 'solved',
  requester_id: 1,
  assignee_id: 2,
  tags: ['vip'],
  created_at: '2021-03-01T10:00:00Z',
  ...more,
});
const users = (owner: Person) => [
  { id: 1, name: 'Ixa', email: 'ixa@customer.example', phone: '+49 170 1234567', role: 'end-user' },
  { id: 2, name: 'Owner', email: owner.email.toUpperCase(), role: 'admin' },
  { id: 3, name: 'Old Hand', email: 'old@shop.example', role: 'agent' },
];
const comments = (id: number) => [
  {
    id: id * 10,
    author_id: 1,
    public: true,
    plain_body: 'It is broken.',
    html_body: '<p>It is <b>broken</b>.</p>',
    created_at: '2021-03-01T10:00:00Z',
    metadata: { system: { message_id: `<${id}@customer.example>` } },
  },
  { id: id * 10 + 1, author_id: 3, public: true, plain_body: 'Sorry.', created_at: '2021-03-01T11:00:00Z' },
  ...Array.from({ length: id === 3 ? 30 : 0 }, (_, index) => ({
    id: 100 + index,
    author_id: 1,
    public: true,
    plain_body: `Once more ${index}`,
    created_at: '2021-03-01T11:10:00Z',
  })),
  { id: id * 10 + 2, author_id: 2, public: false, plain_body: 'Poor Ixa.', created_at: '2021-03-01T11:30:00Z' },
];

t.setTimeout(5 * 60_000);

t.test('moving in from a service', { timeout: 5 * 60_000 }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', ALLOW_PRIVATE_WEBHOOKS: 'true' } });

  t.test('Zendesk: every page, with notes, people and what the mails were; once', async (t) => {
    const owner = await service.workspace();
    const server = await startServer(t, ({ path, query, raw }) => {
      if (raw.headers.authorization !== `Basic ${Buffer.from('me@shop.example/token:secret').toString('base64')}`)
        return { status: 401 };
      if (path === '/api/v2/tickets/count.json') return ok({ count: { value: 3 } });
      if (path === '/api/v2/incremental/tickets/cursor.json')
        return query.get('cursor') === null
          ? ok({
              tickets: [ticket(1), ticket(2, { status: 'deleted' })],
              users: users(owner),
              after_cursor: 'next',
              end_of_stream: false,
            })
          : ok({ tickets: [ticket(3, { status: 'open' })], users: users(owner), end_of_stream: true });
      const id = Number(/^\/api\/v2\/tickets\/(\d+)\/comments.json$/.exec(path)?.[1]);
      if (Number.isNaN(id)) return nothing;
      const [first, ...rest] = comments(id);
      return query.get('page[after]') === null
        ? ok({ comments: [first], users: users(owner), meta: { has_more: true, after_cursor: 'more' } })
        : ok({ comments: rest, users: users(owner), meta: { has_more: false } });
    });
    const given = { kind: 'zendesk', url: server.url, account: 'me@shop.example', token: 'secret' };
    const job = await moved(service, owner, given);
    t.match(job, {
      status: 'done',
      error: null,
      stats: {
        read: 2,
        total: 3,
        created: 2,
        updated: 0,
        messages: 36,
        customers: 1,
        unknownAgents: ['old@shop.example'],
      },
    });
    t.notMatch(JSON.stringify(job), 'secret');
    t.match(stored(service, owner), [
      { status: 'closed', subject: 'Ticket 1', assignedAgentId: owner.agentId, tags: '["vip"]' },
      { status: 'open', subject: 'Ticket 3' },
    ]);
    const [{ id }] = stored(service, owner);
    t.match(await service.messages(id, owner.token), [
      { senderType: 'visitor', body: 'It is broken.', bodyHtml: /<b>broken<\/b>/ },
      { senderType: 'agent', body: 'Sorry.', mail: { from: { name: 'Old Hand' } } },
    ]);
    t.match((await service.get(`/conversations/${id}/notes`, owner.token)).body.notes, [{ body: 'Poor Ixa.' }]);
    const { db } = service.running.services.engine.workspace(owner.workspaceId) ?? {};
    t.same(db?.all('SELECT sealedToken FROM importJob'), [{ sealedToken: null }], 'the token is gone');
    t.match(db?.all('SELECT mailId FROM mail ORDER BY mailId'), [
      { mailId: '1@customer.example' },
      { mailId: '3@customer.example' },
    ]);
    t.match(await moved(service, owner, given), { status: 'done', stats: { created: 0, unchanged: 2, messages: 0 } });
    t.equal((await service.outbox()).length, 0);
  });

  t.test('Chatwoot: chats and mails, its agents by their addresses', async (t) => {
    const owner = await service.workspace();
    const conversation = (id: number, channel: string, more: object = {}) => ({
      id,
      status: 'resolved',
      created_at: 1_614_592_800 + id,
      labels: ['gold'],
      meta: {
        channel,
        sender: { id: 5, name: 'Ixa', email: 'ixa@customer.example', phone_number: null },
        assignee: { id: 9, email: owner.email },
      },
      additional_attributes: {},
      ...more,
    });
    const said = [
      {
        id: 1,
        content: 'Hello?',
        message_type: 0,
        created_at: 1_614_592_900,
        sender: { id: 5, name: 'Ixa', type: 'contact' },
      },
      { id: 2, content: 'Assigned to Owner', message_type: 2, created_at: 1_614_592_901 },
      {
        id: 3,
        content: 'Hi!',
        message_type: 1,
        created_at: 1_614_592_902,
        sender: { id: 9, name: 'Owner', type: 'user' },
      },
      {
        id: 4,
        content: 'Nice one.',
        message_type: 1,
        private: true,
        created_at: 1_614_592_903,
        sender: { id: 9, name: 'Owner', type: 'user' },
      },
      { id: 5, content: 'Rate us', message_type: 3, created_at: 1_614_592_904 },
    ];
    const server = await startServer(t, ({ path, query, raw }) => {
      if (raw.headers['api_access_token'] !== 'secret') return { status: 401 };
      if (path === '/api/v1/accounts/7/agents') return ok([{ id: 9, name: 'Owner', email: owner.email }]);
      if (path === '/api/v1/accounts/7/conversations')
        return ok({
          data: {
            meta: { all_count: 2 },
            payload:
              query.get('page') === '1'
                ? [
                    conversation(1, 'Channel::WebWidget', { status: 'open' }),
                    conversation(2, 'Channel::Email', { additional_attributes: { mail_subject: 'Order' } }),
                  ]
                : [],
          },
        });
      return ok({ payload: said.filter(({ id }) => id > Number(query.get('after'))) });
    });
    const job = await moved(service, owner, { kind: 'chatwoot', url: `${server.url}/`, account: '7', token: 'secret' });
    t.match(job, { status: 'done', stats: { read: 2, total: 2, created: 2, messages: 8, unknownAgents: [] } });
    const [chat, mailed] = stored(service, owner);
    t.match(chat, { channel: 'chat', status: 'pending', assignedAgentId: owner.agentId });
    t.match(mailed, { channel: 'ticket', subject: 'Order' });
    t.match(await service.messages(chat.id, owner.token), [
      { senderType: 'visitor', body: 'Hello?' },
      { senderType: 'agent', senderId: owner.agentId, body: 'Hi!' },
      { senderType: 'ai', body: 'Rate us' },
    ]);
  });

  t.test('Intercom: the source and the parts; a customer who never wrote is looked up', async (t) => {
    const owner = await service.workspace();
    const part = (id: string, type: string, author: object, body: string | null) => ({
      id,
      part_type: type,
      body,
      author,
      created_at: 1_614_592_900 + Number(id),
    });
    const admin = { type: 'admin', id: '9', name: 'Owner', email: owner.email };
    const user = { type: 'user', id: 'u', name: 'Ixa', email: 'ixa@customer.example' };
    const server = await startServer(t, ({ path, query, raw }) => {
      if (raw.headers.authorization !== 'Bearer secret') return { status: 401 };
      if (path === '/admins') return ok({ admins: [admin] });
      if (path === '/contacts/c') return ok({ name: 'Bo', email: 'bo@else.example', phone: '+4917012345678' });
      if (path === '/conversations')
        return query.get('starting_after') === null
          ? ok({ conversations: [{ id: '1' }], total_count: 2, pages: { next: { starting_after: 'x' } } })
          : ok({ conversations: [{ id: '2' }], total_count: 2, pages: {} });
      const id = path.split('/').at(-1);
      return ok({
        id,
        title: id === '1' ? '<p>My order</p>' : null,
        state: id === '1' ? 'closed' : 'snoozed',
        created_at: 1_614_592_800,
        admin_assignee_id: 9,
        tags: { tags: [{ name: 'vip' }] },
        contacts: { contacts: [{ id: 'c' }] },
        source: { id: '0', type: 'email', body: '<p>Hello</p>', author: id === '1' ? user : admin },
        conversation_parts: {
          total_count: 3,
          conversation_parts: [
            part('10', 'assignment', admin, null),
            part('11', 'note', admin, '<p>Look here</p>'),
            part('12', 'close', { type: 'bot', id: 'b', name: 'Fin' }, '<p>Bye</p>'),
          ],
        },
      });
    });
    const job = await moved(service, owner, { kind: 'intercom', url: server.url, token: 'secret' });
    t.match(job, { status: 'done', stats: { read: 2, total: 2, created: 2, messages: 6, customers: 2 } });
    const all = stored(service, owner);
    t.match(
      all.find(({ subject }) => subject === 'My order'),
      { status: 'closed', channel: 'ticket', assignedAgentId: owner.agentId },
    );
    t.match(
      all.find(({ status }) => status === 'pending'),
      { firstResponderId: owner.agentId },
    );
    t.match((await service.get('/contacts?search=bo', owner.token)).body.contacts, [{ phone: '+4917012345678' }]);
  });

  t.test('Help Scout: an app signs in; threads come newest first', async (t) => {
    const owner = await service.workspace();
    const person = (type: string, email: string) => ({ type, first: 'Ixa', last: 'Import', email });
    const server = await startServer(t, ({ path, raw, query }) => {
      if (path === '/v2/oauth2/token') return ok({ access_token: 'bearer' });
      if (raw.headers.authorization !== 'Bearer bearer') return { status: 401 };
      if (path === '/v2/conversations') {
        const page = Number(query.get('page'));
        const one = {
          id: page,
          number: 100 + page,
          type: 'email',
          status: page === 1 ? 'closed' : 'spam',
          state: 'published',
          subject: `Subject ${page}`,
          createdAt: '2021-03-01T10:00:00Z',
          primaryCustomer: person('customer', 'ixa@customer.example'),
          assignee: { email: owner.email },
          tags: [{ tag: 'vip' }],
        };
        return ok({ _embedded: { conversations: [one] }, page: { totalPages: 2, totalElements: 2, number: page } });
      }
      return ok({
        page: { totalPages: 1 },
        _embedded: {
          threads: [
            { id: 3, type: 'lineitem', createdBy: person('user', owner.email), createdAt: '2021-03-01T12:00:00Z' },
            {
              id: 2,
              type: 'message',
              state: 'published',
              body: '<p>Sorry</p>',
              createdBy: person('user', owner.email),
              createdAt: '2021-03-01T11:00:00Z',
              _embedded: { attachments: [{ id: 1 }] },
            },
            {
              id: 1,
              type: 'customer',
              state: 'published',
              body: '<p>Hello</p>',
              createdBy: person('customer', 'ixa@customer.example'),
              createdAt: '2021-03-01T10:00:00Z',
            },
          ],
        },
      });
    });
    const job = await moved(service, owner, { kind: 'helpscout', url: server.url, account: 'app', token: 'secret' });
    t.match(job, { status: 'done', stats: { read: 2, created: 2, messages: 4, leftOut: 0 } });
    t.match(job.stats.reasons, [{ what: '#101', why: /1 of its files/ }, { what: '#102' }]);
    t.match(
      stored(service, owner)
        .map(({ status }) => status)
        .sort(),
      ['closed', 'spam'],
    );
  });

  t.test(
    'a limit is waited for, a failure is tried again; a refused token fails, and the token stays for the next try',
    async (t) => {
      const owner = await service.workspace();
      let trouble: 'limit' | 'failure' | 'refusal' | undefined = 'limit';
      const server = await startServer(t, ({ path }) => {
        if (path.startsWith('/api/v2/tickets/2/') && trouble === 'limit')
          return { status: 429, headers: { 'retry-after': '90' } };
        if (path.startsWith('/api/v2/tickets/2/') && trouble === 'failure') return { status: 503 };
        if (trouble === 'refusal') return { status: 403 };
        if (path.endsWith('count.json')) return ok({ count: { value: 2 } });
        if (path.endsWith('cursor.json'))
          return ok({ tickets: [ticket(1), ticket(2)], users: users(owner), end_of_stream: true });
        return ok({ comments: comments(path.includes('/1/') ? 1 : 2), users: users(owner), meta: {} });
      });
      const given = { kind: 'zendesk', url: server.url, account: 'me@shop.example', token: 'secret' };
      const waiting = await moved(service, owner, given);
      t.match(waiting, { status: 'queued', error: /asks to wait/ });
      const before = server.asked.length;
      await service.pass(60_000);
      t.equal(server.asked.length, before, 'not before the time that it asked for');
      trouble = 'failure';
      await service.pass(60_000);
      t.match(await over(service, owner, waiting.id), { status: 'queued', error: /503/ });
      trouble = 'refusal';
      await service.pass(60_000);
      t.match(await over(service, owner, waiting.id), { status: 'failed', error: /refused the access/ });
      trouble = undefined;
      await service.post(`/imports/${waiting.id}/resume`, {}, owner.token);
      t.match(await over(service, owner, waiting.id), { status: 'done', stats: { created: 2 } });
      t.equal(stored(service, owner).length, 2);
    },
  );

  t.test('only a preview that was read to its end begins when it is resumed; others look again', async (t) => {
    const owner = await service.workspace();
    let answers: 'limit' | 'refusal' | 'nothing' | 'tickets' = 'limit';
    const server = await startServer(t, ({ path }) => {
      if (answers === 'limit') return { status: 429, headers: { 'retry-after': '90' } };
      if (answers === 'refusal') return { status: 403 };
      if (path.endsWith('count.json')) return ok({});
      if (path.endsWith('cursor.json'))
        return ok({ tickets: answers === 'nothing' ? [] : [ticket(1)], users: users(owner), end_of_stream: true });
      return ok({ comments: comments(1), users: users(owner), meta: {} });
    });
    const { id } = await moved(service, owner, {
      kind: 'zendesk',
      url: server.url,
      account: 'me@shop.example',
      token: 'secret',
      isPreview: true,
    });
    const resumed = async (): Promise<any> => {
      t.match(await service.post(`/imports/${id}/resume`, {}, owner.token), { status: 200 });
      // Its turn comes after the pause that the service asked for.
      await service.pass(90_000);
      return over(service, owner, id);
    };
    t.match(await service.post(`/imports/${id}/stop`, undefined, owner.token), { body: { finishedAt: null } });
    answers = 'refusal';
    t.match(await resumed(), { status: 'failed', isPreview: true, finishedAt: null });
    answers = 'nothing';
    t.match(await resumed(), { status: 'stopped', isReady: false, finishedAt: String, stats: { read: 0 } });
    answers = 'tickets';
    t.match(await resumed(), { status: 'stopped', isReady: true, finishedAt: String, stats: { created: 1 } });
    t.same(stored(service, owner), []);
    t.match(await resumed(), { status: 'done', isPreview: false, stats: { created: 1 } });
    t.equal(stored(service, owner).length, 1);
  });

  t.test('an import is told to every admin, and to no one else', async (t) => {
    const owner = await service.workspace();
    const admin = await service.agent(owner, { role: 'admin' });
    const supervisor = await service.agent(owner, { role: 'supervisor' });
    const [admins, supervisors] = [await service.agentSocket(admin.token), await service.agentSocket(supervisor.token)];
    const server = await startServer(t, () => ({ status: 429 }));
    const { id } = await moved(service, owner, {
      kind: 'zendesk',
      url: server.url,
      account: 'me@shop.example',
      token: 'x',
    });
    t.match(await admins.next('import.updated'), { data: { import: { id, createdByAgentId: owner.agentId } } });
    await service.post('/departments', { name: 'Sales' }, owner.token);
    await supervisors.next('department.created');
    t.same(
      supervisors.frames.filter(({ type }) => type === 'import.updated'),
      [],
    );
    const data = { import: { id } };
    t.equal(readableData('import.updated', data, { scopes: scopeNames }), undefined, 'nor to keys and apps');
    t.same(readableData('import.updated', data, { scopes: ['*'] }), data);
  });

  t.test('an import can be stopped while it waits', async (t) => {
    const owner = await service.workspace();
    const server = await startServer(t, () => ({ status: 429 }));
    const job = await moved(service, owner, {
      kind: 'zendesk',
      url: server.url,
      account: 'me@shop.example',
      token: 'x',
    });
    t.match(await service.post(`/imports/${job.id}/stop`, undefined, owner.token), { body: { status: 'stopped' } });
    const before = server.asked.length;
    await service.pass(3600_000);
    t.equal(server.asked.length, before);
    t.match(await service.post(`/imports/${job.id}/stop`, undefined, owner.token), { status: 409 });
    await service.delete(`/imports/${job.id}`, owner.token);
    t.match(await service.get(`/imports/${job.id}`, owner.token), { status: 404 });
  });

  t.test('answers of another shape, or of another host, are nothing; what is missing is named', async (t) => {
    const owner = await service.workspace();
    const server = await startServer(t, () => ok(['not', { what: 'it documents' }, null]));
    for (const kind of ['chatwoot', 'intercom', 'helpscout', 'zendesk']) {
      const job = await moved(service, owner, { kind, url: server.url, account: 'x@shop.example', token: 'x' });
      t.match(job.status, /^(?:done|failed)$/);
      t.equal(job.stats.created, 0);
      await service.delete(`/imports/${job.id}`, owner.token);
    }
    for (const [given, field] of [
      [{ kind: 'zendesk', account: 'x', token: 'x' }, 'url'],
      [{ kind: 'zendesk', url: server.url, token: 'x' }, 'account'],
      [{ kind: 'intercom' }, 'token'],
    ] as const)
      t.match(await service.post('/imports', given, owner.token), {
        status: 400,
        body: { detail: { fieldErrors: { [field]: [String] } } },
      });
  });

  t.test('two accounts on one host of Chatwoot are two sources', async (t) => {
    const owner = await service.workspace();
    const server = await startServer(t, ({ path, query }) => {
      if (path.endsWith('/agents')) return ok([]);
      const account = path.split('/')[4];
      if (path.endsWith('/conversations'))
        return ok({
          data: {
            payload: query.get('page') === '1' ? [{ id: 1, status: 'open', meta: {}, created_at: 1_614_592_800 }] : [],
          },
        });
      const said = { id: 1, content: `Of ${account}`, message_type: 0, created_at: 1_614_592_900 };
      return ok({ payload: query.get('after') === '0' ? [said] : [] });
    });
    for (const account of ['1', '2'])
      t.match(await moved(service, owner, { kind: 'chatwoot', url: server.url, account, token: 'x' }), {
        status: 'done',
        account,
        stats: { created: 1, updated: 0 },
      });
    t.equal(stored(service, owner).length, 2);
  });

  t.test('at most twenty files of a message are fetched, from public hosts; a missing one is a reason', async (t) => {
    const owner = await service.workspace();
    const server = await startServer(t, ({ path }) => {
      if (path.endsWith('/count.json')) return ok({});
      if (path.endsWith('/cursor.json')) return ok({ tickets: [ticket(1)], end_of_stream: true });
      const attachments = Array.from({ length: 500 }, (_, index) => ({
        file_name: `${index}.txt`,
        content_url: `http://127.0.0.1:9/file/${index}`,
      }));
      return ok({ comments: [{ ...comments(1)[0], attachments }], users: users(owner) });
    });
    const given = { kind: 'zendesk', url: server.url, account: 'me@shop.example', token: 'x' };
    const { id } = await moved(service, owner, given);
    await service.settled();
    const { body } = await service.get(`/imports/${id}`, owner.token);
    t.equal(body.stats.reasons.filter(({ why }: { why: string }) => why.includes('could not be fetched')).length, 20);
    const [{ id: conversationId, lastLineAt, lastMessageAt }] = stored(service, owner);
    t.equal(lastLineAt, lastMessageAt, 'its conversation has no line of it');
    t.equal((await service.messages(conversationId, owner.token))[0].attachments.length, 20);
  });

  t.test('an answer that would fill the memory ends its own import, and nothing else', async (t) => {
    const owner = await service.workspace();
    const huge = Buffer.from(`{"tickets":[${'{},'.repeat(1_390_000)}{}]}`);
    const wide = Buffer.from(`{"tickets":["${'x'.repeat(5 * 1024 * 1024)}"]}`);
    const server = await startServer(t, ({ path }) => ({ status: 200, body: path.startsWith('/wide') ? wide : huge }));
    for (const [place, error] of [
      ['', /more memory than an import may use/],
      ['/wide', /more than 4 MiB/],
    ] as const) {
      const given = { kind: 'zendesk', url: `${server.url}${place}`, account: 'x@shop.example', token: 'x' };
      const job = await moved(service, owner, given);
      t.match(job, { status: 'failed', error });
    }
  });

  t.test('pages without an end have one', async (t) => {
    const owner = await service.workspace();
    const server = await startServer(t, ({ path, query }) => {
      if (path.endsWith('/count.json')) return ok({});
      if (path.endsWith('/comments.json')) return ok({ comments: [], meta: { has_more: true, after_cursor: 'again' } });
      if (path.endsWith('/cursor.json'))
        return ok({ tickets: [ticket(1)], after_cursor: query.get('cursor') === 'a' ? 'b' : 'a' });
      if (path === '/v2/oauth2/token') return ok({ access_token: 'x' });
      if (path === '/v2/conversations')
        return ok({
          _embedded: { conversations: query.get('page') === '1' ? [{ id: 1 }] : [] },
          page: { totalPages: 1e9 },
        });
      return ok({ _embedded: { threads: [] }, page: { totalPages: 1e9 } });
    });
    for (const kind of ['zendesk', 'helpscout'])
      t.match(await moved(service, owner, { kind, url: server.url, account: 'x', token: 'x' }), {
        status: 'done',
        stats: { created: 0 },
      });
    t.ok(server.asked.length < 20, `${server.asked.length} requests`);
  });

  t.test('a conversation that cannot be read is left out, and those after it come', async (t) => {
    const owner = await service.workspace();
    const odd = (id: number, more: object) => ({
      id,
      author_id: 2,
      public: true,
      plain_body: 'Odd.',
      created_at: '2021-03-01T11:00:00Z',
      ...more,
    });
    const file = (content_url: unknown) => ({ file_name: 'x', content_url });
    const server = await startServer(t, ({ path }) => {
      if (path.endsWith('/count.json')) return ok({});
      if (path.endsWith('/cursor.json'))
        return ok({ tickets: [1, 2, 3, 4].map((id) => ticket(id, { status: 'constructor' })), end_of_stream: true });
      if (path.includes('/1/')) return { status: 404 };
      if (path.includes('/2/')) return ok({ comments: [odd(7, {}), odd(7, {}), odd(8, {})], users: users(owner) });
      if (path.includes('/3/'))
        return ok({
          comments: [odd(9, { attachments: ['file.txt', '', 'ftp://x', 7, null, 'http://['].map(file) })],
          users: users(owner),
        });
      return ok({ comments: comments(4), users: users(owner) });
    });
    const job = await moved(service, owner, {
      kind: 'zendesk',
      url: server.url,
      account: 'me@shop.example',
      token: 'secret',
    });
    t.match(job, { status: 'done', error: null, stats: { read: 4, created: 3, leftOut: 1 } });
    t.match(job.stats.reasons, [
      { what: '#1', why: /404/ },
      { what: '#3', why: /no web address/ },
    ]);
    t.same(
      stored(service, owner).map(({ status }) => status),
      ['open', 'open', 'open'],
    );
  });
});

t.test('a service must have a public address', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const given = { kind: 'chatwoot', url: 'http://127.0.0.1:9', account: '1', token: 'x' };
  t.match(await service.post('/imports', given, owner.token), { status: 400, body: { error: 'forbidden_url' } });
});
