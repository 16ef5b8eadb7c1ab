import t from 'tap';
import { type Person, startService } from '../support/service.ts';

t.test('access to a conversation', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const department = async (name: string) =>
    (await service.post('/departments', { name }, owner.token)).body.id as string;
  const [sales, support] = [await department('Sales'), await department('Support')];
  const people: Record<string, Person> = {
    admin: owner,
    supervisor: await service.agent(owner, { role: 'supervisor', groupIds: [sales] }),
    inIt: await service.agent(owner, { channels: ['chats'], groupIds: [sales] }),
    nowhere: await service.agent(owner, { channels: ['chats'] }),
    otherDepartment: await service.agent(owner, { channels: ['chats'], groupIds: [support] }),
    otherSupervisor: await service.agent(owner, { role: 'supervisor', groupIds: [support] }),
    otherChannel: await service.agent(owner, { channels: ['tickets', 'calls'], groupIds: [sales] }),
    neither: await service.agent(owner, { channels: ['tickets'], groupIds: [support] }),
    stranger: await service.workspace(),
  };
  const inSales = async () => {
    const chat = await service.chat(owner);
    await service.post(`/conversations/${chat.id}/assign-to-department`, { departmentId: sales }, owner.token);
    return chat;
  };

  /** The answers of each area about a conversation of Sales. Specification 7. */
  const areas = {
    conversations: {
      otherDepartment: [403, 'forbidden'],
      otherSupervisor: [403, 'forbidden'],
      nowhere: [403, 'forbidden'],
      otherChannel: [403, 'forbidden'],
      neither: [403, 'forbidden'],
      stranger: [404, 'not_found'],
    },
    messages: {
      otherDepartment: [404, 'not_found'],
      otherSupervisor: [404, 'not_found'],
      nowhere: [404, 'not_found'],
      otherChannel: [403, 'channel_not_assigned'],
      neither: [404, 'not_found'],
      stranger: [404, 'not_found'],
    },
    notes: {
      otherDepartment: [404, 'not_found'],
      otherSupervisor: [404, 'not_found'],
      nowhere: [404, 'not_found'],
      otherChannel: [404, 'not_found'],
      neither: [404, 'not_found'],
      stranger: [404, 'not_found'],
    },
  } as const;
  const operations: [keyof typeof areas, string, string, unknown?][] = [
    ['conversations', 'GET', ''],
    ['conversations', 'POST', '/status', { status: 'pending' }],
    ['conversations', 'POST', '/assign-to-agent', { agentId: owner.agentId, expectedVersion: 1 }],
    ['conversations', 'POST', '/assign-to-department', { departmentId: support }],
    ['conversations', 'POST', '/assignment/accept'],
    ['conversations', 'POST', '/assignment/decline'],
    ['conversations', 'POST', '/assignment/cancel'],
    ['conversations', 'POST', '/spam'],
    ['conversations', 'POST', '/not-spam'],
    ['conversations', 'PUT', '/tags', { tags: ['x'] }],
    ['conversations', 'POST', '/read'],
    ['conversations', 'POST', '/email-transcript', { to: 'a@example.org', subject: 'What we said' }],
    ['messages', 'GET', '/messages'],
    ['messages', 'POST', '/messages', { body: 'x' }],
    ['notes', 'GET', '/notes'],
    ['notes', 'POST', '/notes', { body: 'x' }],
    ['notes', 'PATCH', '/notes/working', { body: 'x' }],
    ['notes', 'DELETE', '/notes/019aa000-0000-7000-8000-000000000000'],
  ];

  t.test("[7] an agent without access is refused in each area's form, and nothing changes", async (t) => {
    const { id } = await inSales();
    const before = await service.conversation(id, owner.token);
    for (const [area, method, path, body] of operations) {
      for (const [who, [status, error]] of Object.entries(areas[area])) {
        const answer = await service.call(method, `/conversations/${id}${path}`, { body, token: people[who]?.token });
        t.match(answer, { status, body: { statusCode: status, error } }, `${who}: ${method} ${path}`);
      }
    }
    t.strictSame(await service.conversation(id, owner.token), before);
    t.equal((await service.get(`/conversations/${id}/notes`, owner.token)).body.notes.length, 0);
    t.equal(service.mailCount('a@example.org'), 0);
  });

  t.test('[5] its department, its channel, or an admin: reached', async (t) => {
    for (const who of ['admin', 'supervisor', 'inIt']) {
      const { id } = await inSales();
      const token = people[who]?.token;
      t.equal((await service.get(`/conversations/${id}/messages`, token)).status, 200, who);
      t.equal((await service.post(`/conversations/${id}/messages`, { body: 'x' }, token)).status, 201, who);
      t.equal((await service.post(`/conversations/${id}/notes`, { body: 'x' }, token)).status, 201, who);
      t.equal((await service.put(`/conversations/${id}/tags`, { tags: ['x'] }, token)).status, 200, who);
      t.equal((await service.post(`/conversations/${id}/status`, { status: 'pending' }, token)).status, 200, who);
    }
  });

  t.test('[decisions] without a department everyone with the channel has access', async (t) => {
    const { id } = await service.chat(owner);
    for (const who of ['admin', 'supervisor', 'inIt', 'nowhere', 'otherDepartment', 'otherSupervisor'])
      t.equal((await service.get(`/conversations/${id}/messages`, people[who]?.token)).status, 200, who);
    for (const who of ['otherChannel', 'neither'])
      t.match(
        await service.get(`/conversations/${id}/messages`, people[who]?.token),
        { status: 403, body: { error: 'channel_not_assigned' } },
        who,
      );
    t.equal((await service.get(`/conversations/${id}/messages`, people['stranger']?.token)).status, 404);
  });

  t.test(
    'the assignee and the recipient of an offer have access whatever its department, and no longer than that',
    async (t) => {
      const guest = people['otherDepartment'] as Person;
      const { id } = await inSales();
      const version = async () => (await service.conversation(id, owner.token)).version;
      const reads = async () => (await service.get(`/conversations/${id}/messages`, guest.token)).status;
      t.equal(await reads(), 404);
      await service.post(
        `/conversations/${id}/assign-to-agent`,
        { agentId: guest.agentId, expectedVersion: await version() },
        owner.token,
      );
      t.equal(await reads(), 200, 'offered');
      await service.post(`/conversations/${id}/assignment/accept`, undefined, guest.token);
      t.equal(await reads(), 200, 'assigned');
      await service.post(`/conversations/${id}/assign-to-department`, { departmentId: sales }, owner.token);
      t.equal(await reads(), 404, 'back in its department');
    },
  );

  t.test('[decisions] missing conversations and malformed ids are 404 in every area', async (t) => {
    for (const id of ['019aa000-0000-7000-8000-000000000000', 'x', '1', '%00', 'null']) {
      for (const [, method, path, body] of operations)
        t.match(
          await service.call(method, `/conversations/${id}${path}`, { body, token: owner.token }),
          { status: 404, body: { error: 'not_found' } },
          `${id}: ${method} ${path}`,
        );
    }
  });

  t.test('[5] a change of scope counts from its commit on', async (t) => {
    const agent = await service.agent(owner, { channels: ['chats'], groupIds: [sales] });
    const { id } = await inSales();
    const reads = async () => (await service.get(`/conversations/${id}/messages`, agent.token)).body.error;
    t.equal(await reads(), undefined);
    await service.patch(`/agents/${agent.agentId}`, { groupIds: [support] }, owner.token);
    t.equal(await reads(), 'not_found');
    await service.patch(`/agents/${agent.agentId}`, { groupIds: [sales], channels: ['tickets'] }, owner.token);
    t.equal(await reads(), 'channel_not_assigned');
    await service.patch(`/agents/${agent.agentId}`, { channels: ['chats'] }, owner.token);
    t.equal(await reads(), undefined);
  });
});

t.test('lists of conversations', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const sales = (await service.post('/departments', { name: 'Sales' }, owner.token)).body.id;
  const seller = await service.agent(owner, { channels: ['chats'], groupIds: [sales] });
  const guest = await service.agent(owner, { channels: ['chats'] });
  const caller = await service.agent(owner, { channels: ['calls', 'tickets'] });
  const stranger = await service.workspace();
  const chat = async (options: { department?: string; status?: string } = {}) => {
    service.clock.advance(1000);
    const { id } = await service.chat(owner);
    if (options.department !== undefined)
      await service.post(
        `/conversations/${id}/assign-to-department`,
        { departmentId: options.department },
        owner.token,
      );
    if (options.status !== undefined)
      await service.post(
        `/conversations/${id}/${options.status === 'spam' ? 'spam' : 'status'}`,
        options.status === 'spam' ? undefined : { status: options.status },
        owner.token,
      );
    return id;
  };
  const open = await chat();
  const pending = await chat({ status: 'pending' });
  const inSales = await chat({ department: sales });
  const solved = await chat({ status: 'solved' });
  const solvedInSales = await chat({ department: sales, status: 'solved' });
  const spam = await chat({ status: 'spam' });
  const ids = async (path: string, token: string) =>
    (await service.get(path, token)).body.conversations.map((one: any) => one.id);

  t.test('[4.5] queue: open and pending ones in scope, newest first', async (t) => {
    t.strictSame(await ids('/conversations/queue', owner.token), [inSales, pending, open]);
    t.strictSame(await ids('/conversations/queue', seller.token), [inSales, pending, open]);
    t.strictSame(await ids('/conversations/queue', guest.token), [pending, open]);
    t.strictSame(await ids('/conversations/queue', caller.token), []);
    t.strictSame(await ids('/conversations/queue', stranger.token), []);
    t.notOk((await ids('/conversations/queue', owner.token)).includes(spam));
  });

  t.test('queue: in three orders, by site and tag, page by page', async (t) => {
    const here = await service.workspace({ assignOnReply: true });
    const helper = await service.agent(here, { channels: ['chats'] });
    const { body: other } = await service.post('/sites', { name: 'Other', domain: 'other.example' }, here.token);
    const { body: room } = await service.post('/departments', { name: 'Room' }, here.token);
    const begin = async (embedId: string, tags: string[] = []) => {
      service.clock.advance(1000);
      const { id } = await service.chat({ ...here, embedId });
      await service.put(`/conversations/${id}/tags`, { tags }, here.token);
      return id;
    };
    const [first, second, hidden, third] = [
      await begin(here.embedId, ['VIP', 'refund']),
      await begin(other.embedId),
      await begin(here.embedId, ['vip']),
      await begin(here.embedId, ['vip']),
    ];
    await service.post(`/conversations/${hidden}/assign-to-department`, { departmentId: room.id }, here.token);
    // The first one's customer has an answer, so the others wait longer.
    await service.post(`/conversations/${first}/messages`, { body: 'An answer' }, here.token);
    const paged = async (query: string, token = here.token) => {
      const read: string[] = [];
      let cursor: string | null = null;
      do {
        const at: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const { body } = await service.get(`/conversations/queue?limit=1&${query}${at}`, token);
        read.push(...body.conversations.map(({ id }: { id: string }) => id));
        cursor = body.nextCursor;
      } while (cursor !== null);
      return read;
    };
    t.strictSame(await paged(''), [third, hidden, second, first]);
    t.strictSame(await paged('sort=newest'), [third, hidden, second, first]);
    t.strictSame(await paged('sort=oldest'), [first, second, hidden, third]);
    t.strictSame(await paged('sort=longest_waiting'), [second, hidden, third, first], 'who does not wait comes last');
    t.strictSame(await paged('sort=oldest', helper.token), [first, second, third], 'nothing out of reach');
    t.strictSame(await paged('tag=Vip'), [third, hidden, first]);
    t.strictSame(await paged('tag=vip', helper.token), [third, first]);
    t.strictSame(await paged('tag=vi'), []);
    t.strictSame(await paged(`siteId=${other.id}`), [second]);
    t.strictSame(await paged(`siteId=${here.siteId}&tag=vip&sort=longest_waiting`), [hidden, third, first]);
    t.strictSame(await paged(`tag=vip&assigneeId=${here.agentId}`), [first]);
    t.strictSame(await paged(`departmentId=${room.id}&tag=vip&channel=chat&assigneeId=none`), [hidden]);
    t.strictSame(await paged(`siteId=${owner.siteId}`), [], "another workspace's site matches nothing");
  });

  t.test('queue: counted if asked, for what each may see', async (t) => {
    const totalOf = async (query: string, token: string): Promise<number | null> =>
      (await service.get(`/conversations/queue${query}`, token)).body.total;
    t.equal(await totalOf('', owner.token), null);
    t.equal(await totalOf('?total=true&limit=1', owner.token), 3);
    t.equal(await totalOf('?total=true', guest.token), 2);
    t.equal(await totalOf('?total=true&channel=ticket', owner.token), 0);
    const sorted = await ids('/conversations/queue?sort=created', owner.token);
    t.strictSame(sorted, await ids('/conversations/queue', owner.token));
    t.strictSame([...(await ids('/conversations/queue?sort=activity', owner.token))].sort(), [...sorted].sort());
  });

  t.test('[4.5] queue: filters by channel, department and assignee', async (t) => {
    await service.post(
      `/conversations/${open}/assign-to-agent`,
      { agentId: guest.agentId, expectedVersion: (await service.conversation(open, owner.token)).version, force: true },
      owner.token,
    );
    t.strictSame(await ids('/conversations/queue?channel=chat', owner.token), [inSales, pending, open]);
    t.strictSame(await ids('/conversations/queue?channel=ticket', owner.token), []);
    t.strictSame(await ids(`/conversations/queue?departmentId=${sales}`, owner.token), [inSales]);
    t.strictSame(await ids(`/conversations/queue?departmentId=${sales}`, guest.token), []);
    t.strictSame(await ids(`/conversations/queue?assigneeId=${guest.agentId}`, owner.token), [open]);
    t.strictSame(await ids('/conversations/queue?assigneeId=none', owner.token), [inSales, pending]);
    for (const bad of [
      'channel=chats',
      'departmentId=x',
      'assigneeId=me',
      'siteId=x',
      'tag=',
      `tag=${'x'.repeat(51)}`,
      'sort=newest_first',
      'limit=0',
      'limit=201',
      'limit=x',
      'cursor=x',
      'cursor=2026-01-01T00:00:00Z|x',
    ]) {
      t.match(
        await service.get(`/conversations/queue?${bad}`, owner.token),
        {
          status: 400,
          body: { error: 'invalid_query', detail: { fieldErrors: { [bad.split('=')[0] as string]: [String] } } },
        },
        bad,
      );
    }
  });

  t.test('[4.5] recently closed: solved and closed ones in scope, latest first, at most 50', async (t) => {
    t.strictSame(await ids('/conversations/recently-closed', owner.token), [solvedInSales, solved]);
    t.strictSame(await ids('/conversations/recently-closed', guest.token), [solved]);
    t.strictSame(await ids('/conversations/recently-closed', caller.token), []);
    t.strictSame(await ids('/conversations/recently-closed', stranger.token), []);
    for (const [limit, status] of [
      [1, 200],
      [50, 200],
      [0, 400],
      [51, 400],
    ] as const)
      t.equal(
        (await service.get(`/conversations/recently-closed?limit=${limit}`, owner.token)).status,
        status,
        String(limit),
      );
  });

  t.test(
    '[9] a cursor is the time and the id of the last row; pages repeat and skip nothing, also while others are added',
    async (t) => {
      const first = (await service.get('/conversations/queue?limit=2', owner.token)).body;
      const last = first.conversations[1];
      t.equal(first.nextCursor, `${last.createdAt}|${last.id}`);
      await chat();
      const second = (
        await service.get(`/conversations/queue?limit=2&cursor=${encodeURIComponent(first.nextCursor)}`, owner.token)
      ).body;
      t.strictSame(
        [...first.conversations, ...second.conversations].map((one: any) => one.id),
        [inSales, pending, open],
      );
      t.equal(second.nextCursor, null);
      const closed = (await service.get('/conversations/recently-closed?limit=1', owner.token)).body;
      t.strictSame(
        [closed.conversations[0].id, closed.nextCursor],
        [solvedInSales, `${closed.conversations[0].solvedAt}|${solvedInSales}`],
      );
      t.strictSame(
        await ids(
          `/conversations/recently-closed?limit=1&cursor=${encodeURIComponent(closed.nextCursor)}`,
          owner.token,
        ),
        [solved],
      );
    },
  );

  t.test("[decisions] a row is the agreed record with its unread mark, and its customer's name", async (t) => {
    const [{ customerName: _, ...row }] = (await service.get('/conversations/queue', owner.token)).body.conversations;
    t.strictSame(
      Object.keys(row).sort(),
      'agentsReadUpTo assignedAgentId assistant channel closedAt contactId copiedTo createdAt departmentId firstResponseAt followerIds handshake id lastCustomerMessageAt lastMessageAt lastSenderId lastSenderType mergedInto preview rating ratingComment siteId snoozedUntil solvedAt status subject tags ticketNumber unreachable updatedAt version visitorId waitingSince'.split(
        ' ',
      ),
    );
  });

  t.test('[5] without a token, or with a wrong one: 401', async (t) => {
    t.match(await service.get('/conversations/queue'), { status: 401, body: { error: 'unauthorized' } });
    t.match(await service.get('/conversations/queue', 'nonsense'), { status: 401, body: { error: 'unauthorized' } });
    t.match(await service.get('/conversations/queue', (await service.customer(owner.embedId)).token), {
      status: 401,
      body: { error: 'unauthorized' },
    });
  });
});

t.test('tags', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const { id } = await service.chat(owner);
  const put = (body: unknown) => service.put(`/conversations/${id}/tags`, body, owner.token);

  t.test('[4.5] tags are replaced as a whole, trimmed, each once; the same again is no change', async (t) => {
    const first = await put({ tags: ['vip', ' late ', 'vip', '  '] });
    t.match(first, { status: 200, body: { conversation: { tags: ['vip', 'late'] } } });
    t.equal(first.body.conversation.tags.length, 2);
    t.equal((await put({ tags: ['vip', 'late'] })).body.conversation.version, first.body.conversation.version);
    t.strictSame((await put({ tags: [] })).body.conversation.tags, []);
  });

  t.test('[4.5] up to 50 tags of 1 to 50 characters', async (t) => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `tag ${index}`);
    for (const [tags, status] of [
      [many(50), 200],
      [many(51), 400],
      [['x'.repeat(50)], 200],
      [['x'.repeat(51)], 400],
      [[''], 400],
      [[7], 400],
      ['vip', 400],
      [undefined, 400],
    ] as const) {
      const answer = await put({ tags });
      t.equal(answer.status, status, JSON.stringify(tags)?.slice(0, 60));
      if (status === 400) t.equal(answer.body.error, 'invalid_body');
    }
  });
});
