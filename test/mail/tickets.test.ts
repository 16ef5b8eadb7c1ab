import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import t from 'tap';
import { startService } from '../support/service.ts';

const ticket = { customerEmail: 'Carla@Customer.example', subject: 'Your order', body: 'It left today.' };

t.test('creating a ticket', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();

  t.test(
    "[4.6] 201 with the conversation record; the first message is the agent's, is mailed, and is no response",
    async (t) => {
      const { status, body } = await service.post('/tickets', ticket, owner.token);
      t.equal(status, 201);
      t.match(body, {
        channel: 'ticket',
        status: 'open',
        subject: 'Your order',
        assignedAgentId: null,
        preview: 'It left today.',
        firstResponseAt: body.createdAt,
        siteId: owner.siteId,
      });
      const [message] = await service.messages(body.id, owner.token);
      t.match(message, {
        senderType: 'agent',
        senderId: owner.agentId,
        body: 'It left today.',
        deliveryStatus: 'queued',
        threading: null,
      });
      const mail = await service.mail('carla@customer.example');
      t.match(mail, {
        subject: 'Your order',
        text: 'It left today.',
        from: { address: 'shop-1@switchboard.test', name: 'owner1 (Shop 1)' },
      });
      t.equal(mail.inReplyTo, undefined, 'it answers nothing');
      await service.settled();
      t.equal((await service.messages(body.id, owner.token))[0].deliveryStatus, 'sent');
      await service.post(`/conversations/${body.id}/messages`, { body: 'And tomorrow it is there.' }, owner.token);
      t.equal((await service.conversation(body.id, owner.token)).firstResponseAt, body.createdAt, 'nor are later ones');
    },
  );

  t.test('[4.6] the customer is found by email, or made with the local part as its name', async (t) => {
    const first = await service.post('/tickets', { ...ticket, customerEmail: 'dora@customer.example' }, owner.token);
    const second = await service.post(
      '/tickets',
      { ...ticket, customerEmail: 'DORA@customer.example', customerName: 'Dora D.' },
      owner.token,
    );
    t.equal(second.body.visitorId, first.body.visitorId);
    t.equal(second.body.contactId, first.body.contactId);
    const browser = await service.customer(owner.embedId, { email: 'emil@customer.example', name: 'Emil' });
    const third = await service.post('/tickets', { ...ticket, customerEmail: 'emil@customer.example' }, owner.token);
    t.equal(third.body.visitorId, browser.visitorId, 'a visitor of the widget that gave the address');
  });

  t.test('[4.6] mailed answers are not shown to a browser that only claims the address', async (t) => {
    const browser = await service.customer(owner.embedId, { email: 'victim@customer.example' });
    const socket = await service.visitorSocket(browser.token);
    const { body } = await service.post(
      '/tickets',
      { ...ticket, customerEmail: 'victim@customer.example' },
      owner.token,
    );
    await service.post(`/conversations/${body.id}/messages`, { body: 'Your new code is 4711.' }, owner.token);
    t.equal((await service.get(`/widget/conversations/${body.id}/messages`, browser.token)).status, 404);
    t.equal(
      (await service.post(`/widget/conversations/${body.id}/messages`, { body: 'Thanks' }, browser.token)).status,
      404,
    );
    t.equal((await service.post(`/widget/conversations/${body.id}/rating`, { rating: 1 }, browser.token)).status, 404);
    const chat = await service.post('/widget/conversations', { body: 'Hello' }, browser.token);
    const event = await socket.next('message.created');
    t.equal(event.conversationId, chat.body.conversation.id, 'the first it hears of is its own chat');
    await socket.close();
  });

  t.test('[4.6] the default department, or the one that is named', async (t) => {
    const { body: sales } = await service.post('/departments', { name: 'Sales' }, owner.token);
    const { body: returns } = await service.post('/departments', { name: 'Returns', isDefault: true }, owner.token);
    t.equal((await service.post('/tickets', ticket, owner.token)).body.departmentId, returns.id);
    t.equal(
      (await service.post('/tickets', { ...ticket, departmentId: sales.id }, owner.token)).body.departmentId,
      sales.id,
    );
    t.match(await service.post('/tickets', { ...ticket, departmentId: owner.agentId }, owner.token), {
      status: 400,
      body: { error: 'invalid_body', detail: { fieldErrors: { departmentId: [] } } },
    });
  });

  t.test(
    '[4.6] by admins, supervisors and agents with canTransfer; others are refused before the plan is looked at',
    async (t) => {
      const supervisor = await service.agent(owner, { role: 'supervisor' });
      const agent = await service.agent(owner);
      t.equal((await service.post('/tickets', ticket, supervisor.token)).status, 201);
      t.match(await service.post('/tickets', ticket, agent.token), { status: 403, body: { error: 'forbidden' } });
      await service.patch(`/agents/${agent.agentId}`, { canTransfer: true }, owner.token);
      t.equal((await service.post('/tickets', ticket, agent.token)).status, 201);
      t.equal((await service.post('/tickets', ticket)).status, 401);
    },
  );

  t.test(
    '[5.6] agents cannot open a ticket they may not read: without the channel, in another department',
    async (t) => {
      const [own, others] = await Promise.all(
        ['Own', 'Others'].map(async (name) => (await service.post('/departments', { name }, owner.token)).body.id),
      );
      const chatter = await service.agent(owner, { channels: ['chats'], groupIds: [own] });
      await service.patch(`/agents/${chatter.agentId}`, { canTransfer: true }, owner.token);
      t.match(await service.post('/tickets', ticket, chatter.token), { status: 403, body: { error: 'forbidden' } });
      t.notOk(
        (await service.get('/me', chatter.token)).body.permissions.includes('tickets:write'),
        'and its client knows',
      );
      await service.patch(`/agents/${chatter.agentId}`, { channels: ['chats', 'tickets'] }, owner.token);
      for (const { token } of [chatter, await service.agent(owner, { role: 'supervisor', groupIds: [own] })]) {
        t.match(await service.post('/tickets', { ...ticket, departmentId: others }, token), {
          status: 403,
          body: { error: 'forbidden' },
        });
        const { status, body } = await service.post('/tickets', { ...ticket, departmentId: own }, token);
        t.equal(status, 201);
        t.equal((await service.get(`/conversations/${body.id}/messages`, token)).status, 200);
      }
      t.equal(
        (await service.post('/tickets', { ...ticket, departmentId: others }, owner.token)).status,
        201,
        'admins anywhere',
      );
    },
  );

  t.test('[7 Tickets] missing and malformed fields are named, all at once', async (t) => {
    const { status, body } = await service.post(
      '/tickets',
      { visitorEmail: 'carla@customer.example', subject: 'x'.repeat(201), body: '' },
      owner.token,
    );
    t.equal(status, 400);
    t.same(Object.keys(body.detail.fieldErrors).sort(), ['body', 'customerEmail', 'subject']);
    for (const [field, value] of [
      ['subject', ''],
      ['subject', ' \t'],
      ['subject', 'Hello\r\nBcc: everybody@example.com'],
      ['customerName', 'Carla\nBcc: x@example.com'],
      ['customerEmail', 'carla'],
      ['customerEmail', 'a@b.example\r\nBcc: x@y.example'],
      ['body', '   '],
      ['body', 'x'.repeat(10_001)],
    ] as const) {
      t.match(
        await service.post('/tickets', { ...ticket, [field]: value }, owner.token),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { [field]: [] } } } },
        JSON.stringify([field, value]).slice(0, 60),
      );
    }
    for (const [field, value] of [
      ['subject', 's'.repeat(200)],
      ['body', 'b'.repeat(10_000)],
    ] as const)
      t.equal(
        (await service.post('/tickets', { ...ticket, [field]: value }, owner.token)).status,
        201,
        `${field} at its limit`,
      );
  });

  t.test('[9] a socket creates one by the same rules', async (t) => {
    const socket = await service.agentSocket(owner.token);
    const reply = await socket.call('ticket.create', ticket);
    t.match(reply, { status: 201, body: { channel: 'ticket' } });
    await socket.close();
  });
});

t.test(
  '[4.6] tickets are numbered from 1 in each workspace without gaps, whatever is created concurrently or refused in between',
  async (t) => {
    const service = await startService(t);
    const owner = await service.workspace();
    const other = await service.workspace();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        service.post('/tickets', index % 4 === 3 ? { ...ticket, departmentId: owner.siteId } : ticket, owner.token),
      ),
    );
    const numbers = answers
      .filter(({ status }) => status === 201)
      .map(({ body }) => body.ticketNumber)
      .sort((a, b) => a - b);
    t.same(
      numbers,
      Array.from({ length: 30 }, (_, index) => index + 1),
    );
    t.equal((await service.post('/tickets', ticket, other.token)).body.ticketNumber, 1);
  },
);

t.test('[4.6] a plan without tickets: 402 for agents, while mail still becomes a ticket that waits', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const agent = await service.agent(owner);
  const mailbox = await service.mailbox(owner);
  await service.plan(owner.workspaceId, 'chat');
  t.match(await service.post('/tickets', ticket, owner.token), {
    status: 402,
    body: { error: 'feature_locked', detail: { feature: 'tickets' } },
  });
  t.match(
    await service.post('/tickets', ticket, agent.token),
    { status: 403 },
    'a caller without access gets that refusal first',
  );
  t.equal((await service.deliver(mailbox, {})).status, 200);
  t.equal((await service.tickets(owner.token)).length, 1);
  await service.plan(owner.workspaceId, 'support');
  t.equal((await service.post('/tickets', ticket, owner.token)).status, 201);
});

t.test('[4.6] a workspace without a site gets one with its first ticket', async (t) => {
  const service = await startService(t);
  const { body } = await service.post('/auth/register', {
    email: 'solo@example.com',
    password: 'correct horse battery staple',
    workspaceName: 'Solo',
  });
  const owner = { token: body.token, workspaceId: body.agent.workspaceId };
  const first = await service.post('/tickets', ticket, owner.token);
  t.equal(first.status, 201);
  const { sites } = (await service.get('/sites', owner.token)).body;
  t.match(sites, [{ id: first.body.siteId, name: 'Solo', domain: 'solo.switchboard.test' }]);
  await service.post('/tickets', ticket, owner.token);
  t.equal((await service.get('/sites', owner.token)).body.sites.length, 1, 'once');
});

t.test('[4.6] [4.20] tickets and mail need no host name: the service may be reached by an IP address', async (t) => {
  for (const host of ['203.0.113.5', '[2001:db8::5]']) {
    const service = await startService(t, { env: { BASE_URL: `http://${host}:8080` } });
    const { body } = await service.post('/auth/register', {
      email: 'solo@example.com',
      password: 'correct horse battery staple',
      workspaceName: 'Solo',
    });
    t.equal((await service.post('/tickets', ticket, body.token)).status, 201, host);
    const mailbox = await service.mailbox({ token: body.token });
    t.equal(mailbox.address, 'solo@localhost');
    t.equal((await service.deliver(mailbox, {})).status, 200);
    t.equal((await service.tickets(body.token)).length, 2);
    t.match((await service.get('/sites', body.token)).body.sites, [{ domain: 'solo.localhost' }]);
  }
});

t.test('[4.6] 500 site_bootstrap_failed when no site can be made, and nothing of the ticket is left', async (t) => {
  const service = await startService(t);
  const { body } = await service.post('/auth/register', {
    email: 'solo@example.com',
    password: 'correct horse battery staple',
    workspaceName: 'Solo',
  });
  const file = new Sqlite(join(service.dataDir, 'workspaces', `${body.agent.workspaceId}.db`));
  file.exec(`CREATE TRIGGER noSite BEFORE INSERT ON site BEGIN SELECT RAISE(ABORT, 'no site today'); END`);
  t.match(await service.post('/tickets', ticket, body.token), {
    status: 500,
    body: { error: 'site_bootstrap_failed' },
  });
  const mailbox = await service.mailbox({ token: body.token });
  t.match(
    await service.deliver(mailbox, {}),
    { status: 500, body: { error: 'site_bootstrap_failed' } },
    "mail is the sender's still",
  );
  file.exec('DROP TRIGGER noSite');
  file.close();
  t.match(await service.post('/tickets', ticket, body.token), { status: 201, body: { ticketNumber: 1 } });
  t.equal((await service.deliver(mailbox, {})).status, 200);
});
