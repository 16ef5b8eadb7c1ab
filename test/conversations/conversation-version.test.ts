import t from 'tap';
import { claimLine, ringLine } from '../support/calls.ts';
import { callRoute, soundBody } from '../support/endpoints.ts';
import { startService } from '../support/service.ts';

t.test('[decisions 4.5] only changes that the lock protects increase the version', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const ann = await service.agent(owner);
  const bob = await service.agent(owner);
  const sales = (await service.post('/departments', { name: 'Sales' }, owner.token)).body.id;

  /** A chat assigned to Ann and, on request, offered to Bob. */
  const scene = async (options: { offered?: boolean } = {}) => {
    const chat = await service.chat(owner);
    const give = async (agentId: string, force: boolean, token: string) => {
      const { version } = await service.conversation(chat.id, owner.token);
      await service.post(
        `/conversations/${chat.id}/assign-to-agent`,
        { agentId, expectedVersion: version, force },
        token,
      );
    };
    await give(ann.agentId, true, owner.token);
    if (options.offered === true) await give(bob.agentId, false, ann.token);
    const record = await service.conversation(chat.id, owner.token);
    return {
      ...chat,
      version: record.version as number,
      on: (path: string, body?: unknown, token = owner.token) =>
        service.post(`/conversations/${chat.id}/${path}`, body, token),
    };
  };
  type Scene = Awaited<ReturnType<typeof scene>>;

  const bumps: [string, (one: Scene) => Promise<unknown>, { offered?: boolean; by?: number }?][] = [
    ['a status', (one) => one.on('status', { status: 'pending' })],
    ['spam', (one) => one.on('spam')],
    [
      'an assignment',
      (one) => one.on('assign-to-agent', { agentId: bob.agentId, expectedVersion: one.version, force: true }),
    ],
    ['an offer', (one) => one.on('assign-to-agent', { agentId: bob.agentId, expectedVersion: one.version })],
    ['an acceptance', (one) => one.on('assignment/accept'), { offered: true }],
    ['a refusal', (one) => one.on('assignment/decline'), { offered: true }],
    ['a taking back', (one) => one.on('assignment/cancel'), { offered: true }],
    ['an expiry', () => service.pass(30_000), { offered: true }],
    [
      'a replaced offer: its end and the new one',
      (one) => one.on('assign-to-agent', { agentId: owner.agentId, expectedVersion: one.version }),
      { offered: true, by: 2 },
    ],
    ['a department', (one) => one.on('assign-to-department', { departmentId: sales })],
    ['tags', (one) => service.put(`/conversations/${one.id}/tags`, { tags: ['vip'] }, owner.token)],
    [
      'a block of the visitor',
      (one) => service.post(`/visitors/${one.customer.visitorId}/block`, undefined, owner.token),
    ],
    [
      'a reopening by the customer: solved and open again',
      async (one) => {
        await one.on('status', { status: 'solved' });
        await service.post(`/widget/conversations/${one.id}/messages`, { body: 'x' }, one.customer.token);
      },
      { by: 2 },
    ],
  ];
  for (const [what, act, { by = 1, ...options } = {}] of bumps) {
    t.test(`increased by ${what}`, async (t) => {
      const one = await scene(options);
      await act(one);
      // Setting no tags on a conversation without tags, or reading it by setting its tags, changes nothing; spam is in
      // no list.
      const { tags } = (await service.conversation(one.id, owner.token)) ?? { tags: [] };
      const { conversation } = (await service.put(`/conversations/${one.id}/tags`, { tags }, owner.token)).body;
      t.equal(conversation.version, one.version + by);
    });
  }

  const keeps: [string, (one: Scene) => Promise<unknown>, { offered?: boolean }?][] = [
    ["an agent's message", (one) => one.on('messages', { body: 'x' })],
    [
      "a customer's message",
      (one) => service.post(`/widget/conversations/${one.id}/messages`, { body: 'x' }, one.customer.token),
    ],
    [
      'a hundred messages during an offer',
      (one) =>
        Promise.all(
          Array.from({ length: 100 }, () =>
            service.post(`/widget/conversations/${one.id}/messages`, { body: 'x' }, one.customer.token),
          ),
        ),
      { offered: true },
    ],
    ['a note', (one) => one.on('notes', { body: 'x' })],
    ['the working note', (one) => service.patch(`/conversations/${one.id}/notes/working`, { body: 'x' }, owner.token)],
    ['a read mark', (one) => one.on('read')],
    [
      "the customer's read mark",
      async (one) => {
        await one.on('messages', { body: 'x' });
        await service.post(`/widget/conversations/${one.id}/read`, undefined, one.customer.token);
      },
    ],
    ['a rating', (one) => service.post(`/widget/conversations/${one.id}/rating`, { rating: 5 }, one.customer.token)],
    ['a transcript', (one) => one.on('email-transcript', { to: 'kim@example.org', subject: 'x' })],
    [
      'the customer identifying itself',
      (one) => service.patch('/widget/visitor', { email: `${one.id}@example.org` }, one.customer.token),
    ],
    ['the same tags again', (one) => service.put(`/conversations/${one.id}/tags`, { tags: [] }, owner.token)],
    ['a refused change', (one) => one.on('status', { status: 'open' })],
    [
      'an unblock of a visitor that is not blocked',
      (one) => service.post(`/visitors/${one.customer.visitorId}/unblock`, undefined, owner.token),
    ],
  ];
  for (const [what, act, options] of keeps) {
    t.test(`kept by ${what}`, async (t) => {
      const one = await scene(options);
      await act(one);
      t.equal((await service.conversation(one.id, owner.token)).version, one.version);
    });
  }

  t.test('[8] a talkative customer cannot starve an assignment', async (t) => {
    const one = await scene();
    const talk = Array.from({ length: 50 }, () =>
      service.post(`/widget/conversations/${one.id}/messages`, { body: 'Hello?' }, one.customer.token),
    );
    const assigned = one.on('assign-to-agent', { agentId: bob.agentId, expectedVersion: one.version });
    await Promise.all(talk);
    t.equal((await assigned).status, 200);
  });
});

t.test('[decisions, Conversations] expectedVersion is checked wherever it is sent', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const line = await claimLine(service, owner);
  const stale = { status: 409, body: { error: 'stale_version', detail: { currentVersion: Number } } };
  const fixtures = {
    agentId: owner.agentId,
    departmentId: (await service.post('/departments', { name: 'Sales' }, owner.token)).body.id,
  };
  // Calls have their own answer to an old version (specification 7, Calls), and status changes have no version check
  // (specification 3).
  const others = new Set(['call.answer', 'conversation.status']);
  const mailbox = await service.mailbox(owner);
  let mails = 0;
  const ticket = async () => {
    mails += 1;
    await service.deliver(mailbox, { subject: `Question ${mails}`, from: `kim${mails}@example.org` });
    const { id } = (await service.tickets(owner.token)).find(({ subject }) => subject === `Question ${mails}`);
    const [{ id: messageId }] = await service.messages(id, owner.token);
    // With one message alone there is nothing to split.
    await service.post(`/conversations/${id}/messages`, { body: 'It is on its way.' }, owner.token);
    return { id, messageId };
  };
  const ofTickets = new Set(['merge', 'unmerge', 'split', 'copiedTo'].map((act) => `conversation.${act}`));
  let checked = 0;
  for (const route of service.running.routes) {
    const fields = Object.keys((route.body as { properties?: object } | undefined)?.properties ?? {});
    if (
      !route.path.includes('{conversationId}') ||
      route.access.kind !== 'agent' ||
      route.body === undefined ||
      others.has(route.operation)
    )
      continue;
    t.test(route.operation, async (t) => {
      t.ok(fields.includes('expectedVersion'), 'every route of a conversation that takes a body takes it');
      const call = await ringLine(service, line);
      await service.post(`/calls/${call.id}/answer`, undefined, owner.token);
      const chat = await service.chat(owner);
      const one = ofTickets.has(route.operation) ? await ticket() : undefined;
      const into = one === undefined ? undefined : (await ticket()).id;
      const id = route.path.startsWith('/calls') ? call.id : (one?.id ?? chat.id);
      const values = { conversationId: id, messageId: one?.messageId ?? '' };
      const body = {
        ...soundBody(route, fixtures),
        ...(route.operation === 'conversation.merge' ? { into } : {}),
      };
      if (route.operation === 'conversation.unmerge')
        await service.post(`/conversations/${id}/merge`, { into }, owner.token);
      const read = async () => (await service.get(`/conversations/${id}`, owner.token)).body.conversation;
      if (route.operation === 'conversation.unassign') await service.post(`/conversations/${id}/take`, {}, owner.token);
      if (route.operation.startsWith('assignment.'))
        await service.post(
          `/conversations/${id}/assign-to-agent`,
          { agentId: owner.agentId, expectedVersion: (await read()).version },
          owner.token,
        );
      const before = await read();
      for (const expectedVersion of [before.version + 1, before.version - 1, 999])
        t.match(
          await callRoute(service, route, {
            values,
            token: owner.token,
            body: { ...body, expectedVersion },
          }),
          stale,
        );
      t.same(await read(), before, 'and nothing was done');
      if (route.operation !== 'call.transfer')
        t.ok(
          (
            await callRoute(service, route, {
              values,
              token: owner.token,
              body: { ...body, expectedVersion: before.version },
            })
          ).status < 300,
          'with the present one it is',
        );
      await service.post(`/calls/${call.id}/hangup`, undefined, owner.token);
    });
    checked += 1;
  }
  t.ok(checked >= 13, `${checked} routes`);

  t.test('an existing message is answered the same, whatever has changed since', async (t) => {
    const { id, version } = await service.chat(owner);
    const message = { body: 'x', messageId: '0194b7a6-1111-7111-8111-111111111112', expectedVersion: version };
    t.equal((await service.post(`/conversations/${id}/messages`, message, owner.token)).status, 201);
    await service.put(`/conversations/${id}/tags`, { tags: ['vip'] }, owner.token);
    t.equal((await service.post(`/conversations/${id}/messages`, message, owner.token)).status, 201);
  });
});

t.test('[8] any other number than the present version is stale, also one that there never was', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const { id, version } = await service.chat(owner);
  const [site] = (await service.get('/sites', owner.token)).body.sites;
  const reply = (await service.post('/saved-replies', { shortcut: '/hi', title: 'Hi', body: 'Hello' }, owner.token))
    .body;
  const article = (await service.post('/kb/articles', { title: 'Returns', body: 'Thirty days.' }, owner.token)).body;
  const others = [0, -1, version + 1, 1e300];
  for (const expectedVersion of others) {
    const answers = [
      await service.post(
        `/conversations/${id}/assign-to-agent`,
        { agentId: owner.agentId, expectedVersion },
        owner.token,
      ),
      await service.patch(`/sites/${site.id}`, { name: 'Other', expectedVersion }, owner.token),
      await service.patch(`/saved-replies/${reply.id}`, { title: 'Other', expectedVersion }, owner.token),
      await service.patch(`/kb/articles/${article.id}`, { title: 'Other', expectedVersion }, owner.token),
    ];
    for (const answer of answers)
      t.match(
        answer,
        { status: 409, body: { error: 'stale_version', detail: { currentVersion: 1 } } },
        String(expectedVersion),
      );
  }
});
