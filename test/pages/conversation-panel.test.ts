// The panel beside a conversation, in real browsers: handing over between two agents, actions, the customer.

import type { Page } from 'playwright-core';
import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { barriersOf, startPages } from '../support/pages.ts';
import { type Person, startService } from '../support/service.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const hostile = '<img src=x onerror="document.title=\'owned\'">';

t.test('beside a conversation', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', ALLOW_PRIVATE_WEBHOOKS: '1' } });
  const pages = await startPages(t, service);
  const owner = await service.workspace();
  const ann = await service.agent(owner, { name: 'Ann' });
  const bob = await service.agent(owner, { name: 'Bob' });
  const cat = await service.agent(owner, { name: 'Cat' });
  await service.agent(owner, { name: 'Ticket Tim', channels: ['tickets'] });
  const looking = { viewport: { width: 1440, height: 900 } };
  const open = (path: string, who: Person) => pages.open(path, { token: who.token, ...looking });
  const record = (id: string) => service.conversation(id, owner.token);
  const dialog = (page: Page) => page.getByRole('dialog');
  const told = (page: Page, text: string | RegExp) =>
    page.locator('.notice').filter({ hasText: text }).first().waitFor();
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  /** A chat of a named customer, assigned to an agent. */
  const chatOf = async (who: Person | undefined, name = 'Kim', text = 'Where is my order?') => {
    const customer = await service.customer(owner.embedId, {
      name,
      email: `${name.replaceAll(/\W/g, '').toLowerCase()}@example.org`,
    });
    const { id } = (await service.post('/widget/conversations', { body: text }, customer.token)).body.conversation;
    if (who !== undefined)
      await service.post(
        `/conversations/${id}/assign-to-agent`,
        { agentId: who.agentId, expectedVersion: (await record(id)).version, force: true },
        owner.token,
      );
    return { id, customer };
  };
  /** By Ann's keyboard. */
  const offerToBob = async (page: Page, note?: string) => {
    await page.keyboard.press('a');
    await dialog(page).getByRole('combobox').fill('bob');
    await button(page, 'Offer to Bob').waitFor();
    if (note !== undefined) await dialog(page).getByLabel('Note for them').fill(note);
    await page.keyboard.press('Enter');
    await dialog(page).waitFor({ state: 'detached' });
    await page.getByText('You offered this to Bob.').waitFor();
  };

  t.test(
    '[3 handshake] an offer is on every page of its recipient, with its seconds; accepting leads there, and its sender is notified',
    async (t) => {
      const { id } = await chatOf(ann);
      const [hers, his] = [await open(`/inbox/mine/${id}`, ann), await open('/contacts', bob)];
      await button(hers, 'Assign').waitFor();
      await his.getByRole('heading', { name: 'Contacts' }).waitFor();
      await offerToBob(hers, `You know Kim ${hostile}`);
      const line = his.locator('.offers .offer');
      // An offer is shown immediately, and its customer once the page has loaded it.
      await line.filter({ hasText: 'Ann offers you a chat with Kim' }).waitFor();
      t.ok((await line.textContent())?.includes(`“You know Kim ${hostile}”`), 'the note as it was written');
      for (const page of [hers, his]) {
        const left = Number(
          /(\d+) seconds left/.exec((await page.getByRole('timer').first().getAttribute('aria-label')) ?? '')?.[1],
        );
        t.ok(left > 15 && left <= 30, `${left} of 30 seconds, though the browser's clock is another`);
      }
      await his.waitForFunction(() => document.title.startsWith('Ann offers you a chat'));
      t.equal((await record(id)).assignedAgentId, ann.agentId, 'it stays with her until then');
      await line.getByRole('button', { name: 'Accept' }).click();
      await his.waitForURL(`**/inbox/mine/${id}`);
      await his.waitForFunction(() => !document.title.includes('offers you'));
      t.equal((await record(id)).assignedAgentId, bob.agentId);
      await told(hers, 'Bob has the conversation with Kim now.');
      t.equal(await hers.getByRole('timer').count(), 0);
    },
  );

  t.test('[decisions, presence] the customer is shown as here, typing and gone', async (t) => {
    const { id, customer } = await chatOf(ann);
    const page = await open(`/inbox/mine/${id}`, ann);
    const head = page.locator('.inbox-header');
    await head.getByText('left just now').waitFor();
    t.equal(await head.locator('.presence').count(), 0);
    const socket = await service.visitorSocket(customer.token);
    await head.getByText('here now').waitFor();
    await head.locator('.presence.available').waitFor();
    await page.locator('.side-facts').getByText('Here now').waitFor();
    socket.send({ type: 'typing', conversationId: id });
    await head.getByText('typing').waitFor();
    await socket.close();
    const figures = async () => (await fetch(new URL('/metrics', service.url))).text();
    while (!(await figures()).includes('switchboard_visitor_sockets 0\n'));
    await service.pass(10_000);
    await head.locator('.presence').waitFor({ state: 'detached' });
    await head.getByText('left just now').waitFor();
  });

  t.test('[3 handshake] declined, by a key; cancelled; run out', async (t) => {
    const { id } = await chatOf(ann, 'Lee');
    const [hers, his] = [await open(`/inbox/mine/${id}`, ann), await open(`/inbox/all/${id}`, bob)];
    await button(his, 'Assign').waitFor();
    await button(hers, 'Assign').waitFor();
    await offerToBob(hers);
    await his.getByText('Ann offers you this conversation.').waitFor();
    t.equal(await his.locator('.offers .offer').count(), 0, 'notified once if it is open');
    await his.keyboard.press('Shift+Y');
    await told(hers, /Bob declined the conversation with Lee\. It stays with you\./);

    await offerToBob(hers);
    await button(his, 'Accept').waitFor();
    await button(hers, 'Withdraw').click();
    await told(his, 'Ann withdrew the offer of the conversation with Lee.');
    t.equal(await his.getByRole('timer').count(), 0);

    await offerToBob(hers);
    const late = await open('/search', bob);
    await late.locator('.offers .offer').waitFor();
    // A socket that has not authenticated yet is closed when its time is over.
    await late.locator('html[data-connection="live"]').waitFor();
    await service.pass(30_000);
    await told(hers, /Bob did not answer in time\. It stays with you\./);
    await told(late, 'The offer of the conversation with Lee expired.');
    t.equal(await late.locator('.offers .offer').count(), 0);
    t.match(await record(id), { handshake: null, assignedAgentId: ann.agentId });
  });

  t.test(
    '[3 handshake] agents who cannot take it are not offered; immediate assignment is for admins and supervisors',
    async (t) => {
      const { id } = await chatOf(ann, 'Max');
      const hers = await open(`/inbox/mine/${id}`, ann);
      await hers.keyboard.press('a');
      await button(hers, 'Assign').waitFor();
      if ((await dialog(hers).count()) === 0) await button(hers, 'Assign').click();
      await dialog(hers).getByRole('option').first().waitFor();
      const names = await dialog(hers).getByRole('option').locator('.truncate').allTextContents();
      t.same(
        names.filter((name) => ['Ann', 'Bob', 'Cat', 'Ticket Tim'].includes(name)),
        ['Bob', 'Cat'],
        'not herself, and not an agent with only the tickets channel',
      );
      t.equal(await button(hers, 'Assign at once').count(), 0);
      await hers.keyboard.press('Escape');

      const whole = await open(`/inbox/all/${id}`, owner);
      await button(whole, 'Assign').click();
      await dialog(whole).getByRole('combobox').fill('cat');
      await button(whole, 'Assign at once').click();
      await told(whole, 'Cat has it now.');
      t.match(await record(id), { assignedAgentId: cat.agentId, handshake: null });
      await whole.keyboard.press('m');
      await told(whole, 'It is assigned to you.');
      t.equal((await record(id)).assignedAgentId, owner.agentId);
    },
  );

  t.test(
    '[decisions, taking] an unassigned conversation is taken by one button, by agents too, and returned; presence is shown',
    async (t) => {
      const { id } = await chatOf(undefined, 'Tia');
      const hers = await open(`/inbox/unassigned/${id}`, ann);
      await button(hers, 'Take it').click();
      await told(hers, 'It is assigned to you.');
      t.match(await record(id), { assignedAgentId: ann.agentId, handshake: null });
      await button(hers, 'Take it').waitFor({ state: 'detached' });
      await button(hers, 'More actions').click();
      await hers.getByRole('menuitem', { name: 'Return to the queue' }).click();
      await told(hers, 'It is back in the queue.');
      t.equal((await record(id)).assignedAgentId, null);
      await button(hers, 'Take it').waitFor();
      await hers.keyboard.press('m');
      await told(hers, 'It is assigned to you.');
      await hers.keyboard.press('a');
      await dialog(hers).getByRole('option', { name: 'Cat' }).filter({ hasText: 'Away' }).waitFor();
      const his = await open('/contacts', cat);
      await his.locator('html[data-connection="live"]').waitFor();
      await service.post('/me/status', { status: 'available' }, cat.token);
      await dialog(hers).getByRole('option', { name: 'Cat' }).filter({ hasText: 'Available ·' }).waitFor();
      await his.close();
      await dialog(hers).getByRole('option', { name: 'Cat' }).filter({ hasText: 'Available, not connected' }).waitFor();
      await service.post('/me/status', { status: 'away' }, cat.token);
    },
  );

  t.test('stale_version: what happened is shown in place, and the action offered again', async (t) => {
    const { id } = await chatOf(ann, 'Nik');
    const hers = await open(`/inbox/mine/${id}`, ann);
    await button(hers, 'Assign').click();
    await dialog(hers).getByRole('combobox').fill('bob');
    const { version } = await record(id);
    await service.post(
      `/conversations/${id}/assign-to-agent`,
      { agentId: cat.agentId, expectedVersion: version, force: true },
      owner.token,
    );
    await button(hers, 'Offer to Bob').click();
    await dialog(hers).getByText('Cat took it a moment ago. Nothing has changed yet.').waitFor();
    t.equal((await record(id)).handshake, null);
    await button(hers, 'Offer to Bob anyway').click();
    await dialog(hers).waitFor({ state: 'detached' });
    t.match((await record(id)).handshake, { toAgentId: bob.agentId, previousAgentId: cat.agentId });
    await service.pass(30_000);

    // Ann's page receives no more events: it shows the old state.
    const deaf = await pages.open('/sign-in', looking);
    await deaf.routeWebSocket(/\/agent/, () => undefined);
    await deaf.evaluate(`localStorage.setItem('switchboard.token', ${JSON.stringify(ann.token)})`);
    await deaf.goto(`${service.url}/inbox/all/${id}`);
    await button(deaf, 'Assign').waitFor();
    await deaf.getByText('Cat', { exact: true }).first().waitFor();
    // Everything it loads by itself is loaded when the lists have counts.
    await deaf.getByRole('link', { name: /All open \d/ }).waitFor();
    await service.post(
      `/conversations/${id}/assign-to-agent`,
      { agentId: bob.agentId, expectedVersion: (await record(id)).version, force: true },
      owner.token,
    );
    await deaf.keyboard.press('m');
    await dialog(deaf).getByText('Bob took it a moment ago.').waitFor();
    await button(deaf, 'Take it anyway').click();
    await dialog(deaf).waitFor({ state: 'detached' });
    t.equal((await record(id)).assignedAgentId, ann.agentId);
  });

  t.test('after Solve the next conversation of the list opens; undoing it leads back', async (t) => {
    const { id } = await chatOf(ann, 'Pia');
    const { id: other } = await chatOf(ann, 'Quin');
    const hers = await open(`/inbox/mine/${id}`, ann);
    await hers.locator(`.inbox-row[href$="${other}"]`).waitFor();
    await hers.locator(`.inbox-row[href$="${id}"]`).waitFor();
    await button(hers, 'Solve').waitFor();
    await hers.keyboard.press('e');
    await hers.waitForURL((url) => !url.pathname.endsWith(id));
    t.match(new URL(hers.url()).pathname, /^\/inbox\/mine\/[0-9a-f-]{36}$/);
    await hers.locator('.notice').getByRole('button', { name: 'Undo' }).click();
    await hers.waitForURL((url) => url.pathname.endsWith(id));
    await button(hers, 'Solve').waitFor();
    await hers.keyboard.press('h');
    await hers.getByRole('button', { name: 'Tomorrow 9:00' }).click();
    await told(hers, 'Snoozed.');
    t.match(await record(id), { status: 'pending', snoozedUntil: String });
    await hers.close();
  });

  t.test('[3] status by one key, with a way back; spam; tags; a department', async (t) => {
    const { body: department } = await service.post('/departments', { name: 'Billing' }, owner.token);
    const { id } = await chatOf(ann, 'Oli');
    // It is not in this list, so that no other one opens after it.
    const hers = await open(`/inbox/tickets/${id}`, ann);
    await button(hers, 'Solve').waitFor();
    const becomes = async (status: string) => {
      for (;;) if ((await service.get(`/conversations/${id}`, owner.token)).body.conversation.status === status) return;
    };
    await hers.keyboard.press('e');
    await told(hers, 'Solved.');
    for (const [width, height] of [
      [1280, 800],
      [1440, 900],
      [1000, 800],
      [900, 800],
      [780, 800],
      [768, 1024],
      [360, 740],
    ] as const) {
      await hers.setViewportSize({ width, height });
      t.strictSame(
        await hers.evaluate(`(() => {
          const place = document.querySelector('.notices').getBoundingClientRect();
          const isOver = (one) => one.right > place.left && one.left < place.right && one.bottom > place.top && one.top < place.bottom;
          const pressed = [...document.querySelectorAll('main button, main textarea, .inbox-row')].filter((one) => one.checkVisibility());
          return { under: pressed.filter((one) => isOver(one.getBoundingClientRect())).map((one) => one.outerHTML.slice(0, 80)), isInSight: place.left >= 0 && place.right <= innerWidth && place.top >= 0 && place.bottom <= innerHeight };
        })()`),
        { under: [], isInSight: true },
        `a notice covers nothing that is pressed, ${width} wide`,
      );
    }
    await hers.setViewportSize({ width: 1280, height: 720 });
    t.equal((await record(id)).status, 'solved');
    await hers.locator('.notice').getByRole('button', { name: 'Undo' }).click();
    await becomes('open');
    await button(hers, 'Solve').waitFor();
    await hers.keyboard.press('w');
    await becomes('pending');
    await hers.keyboard.press('!');
    await told(hers, 'Marked as spam.');
    await button(hers, 'Not spam').click();
    await told(hers, 'Marked as not spam and reopened.');
    await becomes('open');

    await hers.keyboard.press('t');
    await dialog(hers).getByRole('combobox', { name: 'Tags' }).waitFor();
    await hers.mouse.click(5, 5);
    await dialog(hers).getByRole('combobox', { name: 'Tags' }).fill('refund, vip');
    await hers.keyboard.press('Enter');
    await dialog(hers).getByRole('combobox', { name: 'Tags' }).fill('late');
    await button(hers, 'Remove vip').click();
    await button(hers, 'Save').click();
    await dialog(hers).waitFor({ state: 'detached' });
    for (let tags: string[] = []; tags.length === 0; ) tags = (await record(id)).tags;
    t.same((await record(id)).tags, ['refund', 'late'], 'text typed and not added yet, too');

    await button(hers, 'More actions').click();
    await hers.getByRole('menuitem', { name: 'Move to a department' }).click();
    await button(hers, 'Move to Billing').click();
    await told(hers, 'Moved to Billing.');
    const moved = (await service.get(`/conversations/${id}`, owner.token)).body.conversation;
    t.match(moved, { departmentId: department.id, assignedAgentId: null });
    await hers.getByText('You can no longer see this conversation').waitFor();
  });

  t.test('a thread has its tags, the comment of its rating, and a measured width; a picture goes alone', async (t) => {
    const { id, customer } = await chatOf(ann, 'Wim');
    await service.put(`/conversations/${id}/tags`, { tags: ['wholesale'] }, owner.token);
    await service.post(`/conversations/${id}/messages`, { body: 'It left yesterday.' }, ann.token);
    const page = await open(`/inbox/mine/${id}`, ann);
    await page.getByRole('list', { name: 'Tags' }).getByText('wholesale').waitFor();
    await page
      .locator('.inbox-composer input[type=file]')
      .setInputFiles({ name: 'map.png', mimeType: 'image/png', buffer: png });
    await page.locator('.inbox-uploads li img').waitFor();
    await page.locator('.inbox-uploads progress').waitFor({ state: 'detached' });
    await button(page, 'Send').click();
    await page.locator('.inbox-said.ours .inbox-picture img').waitFor();
    t.match((await service.messages(id, owner.token)).at(-1), { body: 'map.png', attachments: [{ size: png.length }] });

    await page.setViewportSize({ width: 2560, height: 1300 });
    const bubbles = await page.evaluate<{ left: number; right: number }[]>(
      `[...document.querySelectorAll('.inbox-said')].map((one) => { const { left, right } = one.getBoundingClientRect(); return { left, right }; })`,
    );
    const width = Math.max(...bubbles.map(({ right }) => right)) - Math.min(...bubbles.map(({ left }) => left));
    t.ok(width < 1100, `${width} px`);

    await service.post(`/conversations/${id}/status`, { status: 'solved' }, ann.token);
    await service.post(`/widget/conversations/${id}/rating`, { rating: 4, comment: 'Quick, thanks' }, customer.token);
    await page.getByText('Quick, thanks').waitFor();
    await page.getByText('Rated 4 of 5').first().waitFor();
  });

  t.test('[4.5] a transcript, its errors, and everything as a file', async (t) => {
    const { id } = await chatOf(ann, 'Pat', 'Please send me all of it.');
    const hers = await open(`/inbox/mine/${id}`, ann);
    const choose = async (name: string) => {
      await button(hers, 'More actions').click();
      await hers.getByRole('menuitem', { name }).click();
    };
    await choose('Email a transcript');
    await hers.waitForFunction(
      () => document.querySelector<HTMLInputElement>('dialog input[type=email]')?.value === 'pat@example.org',
    );
    await dialog(hers).getByLabel('To').fill('nobody');
    await button(hers, 'Send transcript').click();
    await dialog(hers).locator('.error').waitFor();
    await dialog(hers).getByLabel('To').fill('boss@example.org');
    await button(hers, 'Send transcript').click();
    await told(hers, 'This server does not send mail yet. The transcript is kept in its outbox.');
    t.match((await service.mail('boss@example.org')).text, /Please send me all of it\./);

    const download = hers.waitForEvent('download');
    await choose('Download everything');
    const file = await download;
    t.equal(file.suggestedFilename(), `conversation-${id}.json`);
    const parts: Buffer[] = [];
    for await (const part of await file.createReadStream()) parts.push(part);
    t.match(JSON.parse(Buffer.concat(parts).toString()), {
      conversation: { id },
      messages: [{ body: 'Please send me all of it.' }],
    });
  });

  t.test(
    '[4.12] the customer: its present page, live; notes, changed; the shop, if it fails; blocked and unblocked',
    async (t) => {
      const { id, customer } = await chatOf(ann, hostile.slice(0, 40), 'Hello');
      const hers = await open(`/inbox/mine/${id}`, ann);
      const panel = hers.getByRole('complementary', { name: 'Customer' });
      await panel.getByRole('heading', { level: 2, name: hostile.slice(0, 40) }).waitFor();
      await service.post('/widget/page-views', { url: 'https://shop.example/checkout?step=2' }, customer.token);
      const link = panel.getByRole('link', { name: 'shop.example/checkout?step=2' });
      await link.waitFor();
      t.equal(await link.getAttribute('rel'), 'noopener noreferrer nofollow');

      await panel.getByRole('button', { name: 'Edit the contact' }).click();
      await dialog(hers).getByLabel('Company').fill('Acme');
      await dialog(hers).getByLabel('Note').fill(`Calls himself ${hostile}`);
      await button(hers, 'Save').click();
      await told(hers, 'Saved.');
      await hers.keyboard.press('Escape');
      await panel.getByText(`Calls himself ${hostile}`).waitFor();
      await panel.getByText('Acme').waitFor();

      t.equal(await panel.getByRole('heading', { name: 'Shop' }).count(), 0, 'no shop is connected');
      await service.put(
        '/workspace/commerce',
        { url: 'http://127.0.0.1:9/nothing', secret: 'a secret of the shop', source: 'Shopware' },
        owner.token,
      );
      await hers.reload();
      await panel.getByRole('button', { name: 'Look up in the shop' }).click();
      await panel.getByText('The shop did not respond.').waitFor();
      await panel.getByRole('button', { name: 'Try again' }).waitFor();

      await service.post(
        '/goals',
        { name: 'Bought', condition: { operator: 'ends-with', value: '/thanks' }, valueCents: 4200 },
        owner.token,
      );
      await service.post('/widget/page-views', { url: 'https://shop.example/thanks' }, customer.token);
      await panel.getByText('Bought').waitFor();

      await button(hers, 'More actions').click();
      await hers.getByRole('menuitem', { name: 'Block the customer' }).click();
      await button(hers, 'Block').click();
      await panel.getByText(/^Blocked .*They cannot write to you\.$/).waitFor();
      t.equal(
        (await service.post(`/widget/conversations/${id}/messages`, { body: 'Let me in' }, customer.token)).status,
        403,
      );
      await panel.getByRole('button', { name: 'Unblock' }).click();
      await told(hers, 'Unblocked.');
      t.equal(
        (await service.post(`/widget/conversations/${id}/messages`, { body: 'Thank you' }, customer.token)).status,
        201,
      );
      t.notMatch(await hers.title(), /owned/);
    },
  );

  t.test('everyone can use it, in both themes', async (t) => {
    const { id } = await chatOf(ann, 'Sam');
    await service.post(
      `/conversations/${id}/assign-to-agent`,
      { agentId: bob.agentId, expectedVersion: (await record(id)).version, note: 'Please' },
      ann.token,
    );
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await pages.open(`/inbox/mine/${id}`, { token: bob.token, colorScheme, ...looking });
      await page.getByText('Ann offers you this conversation.').waitFor();
      await page.getByText('This is the first conversation.').waitFor();
      t.same(await barriersOf(page), [], `a conversation, ${colorScheme}`);
      for (const [keys, what] of [
        ['a', 'assigning'],
        ['t', 'tags'],
      ] as const) {
        await page.keyboard.press(keys);
        await dialog(page).waitFor();
        t.same(await barriersOf(page), [], `${what}, ${colorScheme}`);
        await page.keyboard.press('Escape');
        await dialog(page).waitFor({ state: 'detached' });
      }
      await page.context().close();
    }
  });

  t.strictSame(pages.problems, [], 'no page saw an error or a violation of its policy');
});
