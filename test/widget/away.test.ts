// The widget while no agent is available, earlier conversations, and the sound.

import t from 'tap';
import { startBrowsing, widgetOf } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { startService } from '../support/service.ts';

t.test('[4.12] a question left while no agent is available', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const customer = await service.customer(owner.embedId);
  const leave = (body: object) => service.post('/widget/tickets', body, customer.token);

  t.test('is a ticket of the customer, whose answer goes by mail to the address that was given', async (t) => {
    t.match(await leave({ email: 'Kim@Example.org', name: 'Kim', body: 'Do you ship to Norway?\nI would like two.' }), {
      status: 201,
      body: { ticketNumber: 1 },
    });
    const [ticket] = await service.tickets(owner.token);
    t.match(ticket, {
      channel: 'ticket',
      subject: 'Do you ship to Norway?',
      ticketNumber: 1,
      visitorId: customer.visitorId,
      assignedAgentId: null,
      status: 'open',
    });
    const [message] = await service.messages(ticket.id, owner.token);
    t.match(message, {
      senderType: 'visitor',
      senderId: customer.visitorId,
      body: 'Do you ship to Norway?\nI would like two.',
    });
    t.match(await service.mail('kim@example.org'), { subject: /question 1$/ }, 'a receipt');
    await service.post(`/conversations/${ticket.id}/messages`, { body: 'We do.' }, owner.token);
    t.match(await service.mail('kim@example.org'), { text: /We do\./, subject: /Do you ship to Norway\?/ });
  });

  t.test('is not shown in the widget, where anyone could have claimed the address', async (t) => {
    const [ticket] = await service.tickets(owner.token);
    t.equal((await service.get(`/widget/conversations/${ticket.id}/messages`, customer.token)).status, 404);
    t.same((await service.get('/widget/conversations', customer.token)).body, { conversations: [] });
  });

  t.test("sent again under the same id it is stored once, and under another customer's it is refused", async (t) => {
    const messageId = '019aa000-0000-4000-8000-00000000000a';
    const before = (await service.tickets(owner.token)).length;
    const [first, second] = [
      await leave({ messageId, email: 'kim@example.org', body: 'Again' }),
      await leave({ messageId, email: 'kim@example.org', body: 'Again' }),
    ];
    t.same(first.body, second.body);
    t.equal((await service.tickets(owner.token)).length, before + 1);
    const other = await service.customer(owner.embedId);
    t.match(
      await service.post('/widget/tickets', { messageId, email: 'kim@example.org', body: 'Again' }, other.token),
      { status: 409, body: { error: 'conflict' } },
    );
  });

  t.test('a long first line is cut between words', async (t) => {
    await leave({ email: 'kim@example.org', body: `${'word '.repeat(40)}\nend` });
    const subject = (await service.tickets(owner.token))
      .map((one: { subject: string }) => one.subject)
      .find((one: string) => one.startsWith('word'));
    t.equal(subject, `${'word '.repeat(16).trim()}…`);
    await leave({ email: 'kim@example.org', body: '😀'.repeat(100) });
    t.ok(
      (await service.tickets(owner.token)).every(
        (one: { subject: string }) => one.subject.isWellFormed() && one.subject.length <= 200,
      ),
    );
  });

  t.test('bad ones', async (t) => {
    const rows: [object, string][] = [
      [{ email: 'nobody', body: 'x' }, 'email'],
      [{ body: 'x' }, 'email'],
      [{ email: 'kim@example.org' }, 'body'],
      [{ email: 'kim@example.org', body: '  ' }, 'body'],
      [{ email: 'kim@example.org', body: 'x', name: ' ' }, 'name'],
    ];
    for (const [body, field] of rows)
      t.match(
        await leave(body),
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { [field]: [String] } } } },
        JSON.stringify(body),
      );
    t.equal((await service.post('/widget/tickets', { email: 'kim@example.org', body: 'x' })).status, 401);
    await service.post(`/visitors/${customer.visitorId}/block`, undefined, owner.token);
    t.match(await leave({ email: 'kim@example.org', body: 'x' }), { status: 403, body: { error: 'forbidden' } });
  });

  t.test('a plan without tickets accepts none, and the session says so', async (t) => {
    const shop = await service.workspace();
    await service.plan(shop.workspaceId, 'chat');
    const { body } = await service.post('/widget/sessions', { siteId: shop.embedId, url: 'https://shop.example/' });
    t.equal(body.takesTickets, false);
    t.match(await service.post('/widget/tickets', { email: 'kim@example.org', body: 'x' }, body.visitorToken), {
      status: 402,
      body: { error: 'feature_locked' },
    });
  });

  t.test('one address leaves twenty a minute at the most', async (t) => {
    const shop = await service.workspace();
    const script = await service.customer(shop.embedId);
    const statuses: number[] = [];
    for (let count = 0; count < 22; count += 1)
      statuses.push(
        (await service.post('/widget/tickets', { email: 'kim@example.org', body: 'x' }, script.token)).status,
      );
    t.ok(statuses.includes(429));
    t.ok(statuses.filter((status) => status === 201).length <= 20);
  });
});

t.test("[4.12] one's own chats, newest first, no others", async (t) => {
  // More open chats than the limit for a visitor.
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const customer = await service.customer(owner.embedId);
  await service.chat(owner, 'of another');
  const ids: string[] = [];
  for (let count = 0; count < 22; count += 1) {
    ids.unshift(
      (await service.post('/widget/conversations', { body: `chat ${count}` }, customer.token)).body.conversation.id,
    );
    service.clock.advance(1000);
  }
  const { status, body } = await service.get('/widget/conversations', customer.token);
  t.equal(status, 200);
  t.same(
    body.conversations.map(({ id }: { id: string }) => id),
    ids.slice(0, 20),
  );
  t.match(body.conversations[0], { preview: 'chat 21', status: 'open', channel: 'chat' });
  t.equal((await service.get('/widget/conversations')).status, 401);
});

t.test('the widget', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const browsing = await startBrowsing(t, service, owner.embedId);
  t.afterEach(() => browsing.closeAll());
  const [site] = (await service.get('/sites', owner.token)).body.sites;
  await service.patch(
    `/sites/${owner.siteId}`,
    { expectedVersion: site.version, allowedOrigins: [browsing.origin] },
    owner.token,
  );

  t.test('[4.12] earlier chats are read again and gone on with', async (t) => {
    const page = await browsing.open();
    const { launcher, panel, text, lines } = widgetOf(page);
    await launcher.click();
    for (const said of ['The first chat', 'The second chat']) {
      await text.fill(said);
      await text.press('Enter');
      await lines.filter({ hasText: said }).and(page.locator('[data-state=sent]')).waitFor();
      const [{ id }] = (await service.get('/conversations/queue', owner.token)).body.conversations;
      await service.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token);
      await panel.getByRole('button', { name: 'Start a new conversation' }).click();
    }
    await panel.getByRole('button', { name: 'Earlier conversations' }).click();
    await panel.getByRole('button', { name: 'The second chat' }).waitFor();
    t.equal(await panel.locator('.chats li').count(), 2);
    await panel.getByRole('button', { name: 'The first chat' }).click();
    await lines.filter({ hasText: 'The first chat' }).waitFor();
    t.equal(await lines.filter({ hasText: 'The second chat' }).count(), 0);
    await text.fill('And on');
    await text.press('Enter');
    await lines.filter({ hasText: 'And on' }).and(page.locator('[data-state=sent]')).waitFor();
    const open = (await service.get('/conversations/queue', owner.token)).body.conversations;
    t.equal(open.length, 1);
    t.same(
      (await service.messages(open[0].id, owner.token))
        .filter((one: { senderType: string }) => one.senderType === 'visitor')
        .map((one: { body: string }) => one.body)
        .sort(),
      ['And on', 'The first chat'],
    );
  });

  t.test('[4.12] the sound is on by default, and the choice is kept', async (t) => {
    const page = await browsing.open();
    const { launcher, panel } = widgetOf(page);
    await launcher.click();
    const sound = panel.getByRole('button', { name: /^Sound/ });
    t.equal(await sound.getAttribute('aria-pressed'), 'true');
    await sound.click();
    t.equal(await panel.getByRole('button', { name: 'Sound off' }).getAttribute('aria-pressed'), 'false');
    await page.reload();
    await panel.getByRole('button', { name: 'Sound off' }).waitFor();
  });

  t.test('[4.12] an answer is heard when it arrives, not again on every page while it is unread', async (t) => {
    const page = await browsing.open({
      before:
        'window.tones = 0; const make = AudioContext.prototype.createOscillator; AudioContext.prototype.createOscillator = function () { window.tones += 1; return make.call(this); };',
    });
    const { launcher, panel, text, lines } = widgetOf(page);
    const tones = () => page.evaluate('window.tones');
    await launcher.click();
    await panel.getByRole('button', { name: /^Sound/ }).click();
    t.equal(await tones(), 0, 'turned off');
    await panel.getByRole('button', { name: /^Sound/ }).click();
    t.equal(await tones(), 1, 'turned on, and heard');
    await text.fill('Who is there?');
    await text.press('Enter');
    await lines.filter({ hasText: 'Who is there?' }).and(page.locator('[data-state=sent]')).waitFor();
    const { id } = (await service.get('/conversations/queue', owner.token)).body.conversations.find(
      ({ preview }: { preview: string }) => preview === 'Who is there?',
    );
    const answer = (body: string) => service.post(`/conversations/${id}/messages`, { body }, owner.token);
    await answer('I am.');
    await lines.filter({ hasText: 'I am.' }).waitFor();
    t.equal(await tones(), 1, 'a visible page needs no sound');
    await panel.getByRole('button', { name: 'Close' }).click();
    await answer('Are you?');
    await page.locator('[aria-label="Open chat, unread: 1"]').waitFor();
    t.equal(await tones(), 2);
    await page.reload();
    await page.locator('[aria-label="Open chat, unread: 1"]').waitFor();
    t.equal(await tones(), 0, 'messages found by the next page were heard before');
    await answer('Hello?');
    await page.locator('[aria-label="Open chat, unread: 2"]').waitFor();
    t.equal(await tones(), 1);
  });

  t.test('[4.16] out of hours it says when the business opens again, and a question can be left', async (t) => {
    // Open for a minute, three days from now at midnight, by the service's clock, whatever the browser's date is.
    const weekday = ((new Date(service.clock.now()).getUTCDay() + 3 + 6) % 7) + 1;
    await service.post(
      '/business-hours',
      { name: 'Rarely', days: [{ weekday, opens: '00:00', closes: '00:01' }] },
      owner.token,
    );
    const page = await browsing.open();
    const { launcher, panel } = widgetOf(page);
    await launcher.click();
    await panel.getByText('Leave your question').waitFor();
    t.match(await panel.locator('.head p').textContent(), /We are back/);
    t.equal(await panel.locator('.composer').isVisible(), false);
    await panel.locator('.away textarea').fill('Is anybody there?');
    await panel.getByLabel('Email address').fill('kim@');
    await panel.getByRole('button', { name: 'Send' }).click();
    await panel.getByText('Please check the address.').waitFor();
    await panel.getByLabel('Email address').fill('müller@bücher.example');
    await panel.getByRole('button', { name: 'Send' }).click();
    await panel.getByText('We will answer to müller@bücher.example').waitFor();
    t.match((await service.tickets(owner.token))[0], { subject: 'Is anybody there?' });
    await panel.getByRole('button', { name: 'Ask something else' }).click();
    t.equal(await panel.locator('.away textarea').inputValue(), '');
    t.same(browsing.problems, []);
  });

  t.test(
    '[4.12] a question whose answer is lost is stored once when it is sent again, and again if it was edited meanwhile',
    async (t) => {
      const page = await browsing.open();
      const { launcher, panel } = widgetOf(page);
      let isLost = true;
      await page.route('**/widget/tickets', async (route) => {
        if (!isLost) return route.continue();
        await route.fetch();
        return route.abort();
      });
      const subjects = async (): Promise<string[]> =>
        (await service.tickets(owner.token))
          .map((one: { subject: string }) => one.subject)
          .filter((subject: string) => subject.startsWith('Lost'));
      const send = panel.getByRole('button', { name: 'Send' });
      const ask = async (body: string): Promise<void> => {
        await panel.locator('.away textarea').fill(body);
        await panel.getByLabel('Email address').fill('kim@example.org');
        await send.click();
        await panel.locator('.away .problem:not(:empty)').waitFor();
      };
      await launcher.click();
      await ask('Lost once');
      await page.reload();
      await ask('Lost once');
      t.same(await subjects(), ['Lost once']);
      isLost = false;
      await panel.locator('.away textarea').fill('Lost, and changed');
      await send.click();
      await panel.getByText('We will answer to kim@example.org').waitFor();
      t.same((await subjects()).sort(), ['Lost once', 'Lost, and changed']);
    },
  );
});
