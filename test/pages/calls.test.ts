// Calls in a browser: ringing, winning and losing, the actions on a call, and missed calls.

import type { Page } from 'playwright-core';
import t from 'tap';
import { claimLine, deliver, ringLine } from '../support/calls.ts';
import { noBrowser } from '../support/chromium.ts';
import { barriersOf, startPages } from '../support/pages.ts';
import { startService } from '../support/service.ts';

const hostile = '<img src=x onerror=alert(1)>"\'&';

t.test('calls in the pages', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const browsing = await startPages(t, service);
  const owner = await service.workspace();
  const department = (await service.post('/departments', { name: 'Sales' }, owner.token)).body;
  const ann = await service.agent(owner, { available: true, name: 'Ann' });
  const bob = await service.agent(owner, { available: true, name: 'Bob' });
  const cat = await service.agent(owner, { available: true, name: 'Cat', groupIds: [department.id] });
  const line = await claimLine(service, owner, { recordCalls: true });
  const read = async (id: string) => (await service.get(`/calls/${id}`, owner.token)).body;
  const annPage = await browsing.open('/reports', { token: ann.token });
  const bobPage = await browsing.open('/calls', { token: bob.token });
  for (const page of [annPage, bobPage]) {
    page.setDefaultTimeout(8000);
    await page.getByRole('heading', { level: 1 }).waitFor();
  }

  const ringing = (page: Page) => page.getByRole('region', { name: 'Calls waiting for you' }).getByRole('listitem');
  const bar = (page: Page) => page.getByRole('region', { name: /^In a call with/ });
  const notice = (page: Page, text: string | RegExp) =>
    page.getByRole('log', { name: 'Notices' }).getByText(text).last();
  const finish = async (id: string) => {
    await service.post(`/calls/${id}/hangup`, undefined, owner.token);
    for (const page of [annPage, bobPage]) {
      await ringing(page).first().waitFor({ state: 'detached' });
      await bar(page).waitFor({ state: 'detached' });
    }
  };

  t.test(
    '[4.8] a call rings on every page of the agents it rings, with the caller, the line and the seconds left',
    async (t) => {
      const { id } = await ringLine(service, line);
      await service.patch(`/contacts/${(await read(id)).contactId}`, { name: hostile }, owner.token);
      await finish(id);
      const again = await ringLine(service, line);
      for (const page of [annPage, bobPage]) {
        await ringing(page).getByText(hostile, { exact: true }).waitFor();
        t.match(await ringing(page).innerText(), /is calling Support/);
        // The service's time does not move, the browser's does.
        t.match(await ringing(page).innerText(), /\b(?:30|[12]?\d) s\b/);
        t.match(await page.title(), `${hostile} is calling · `);
        t.match(await page.getByRole('alert').first().textContent(), `${hostile} is calling Support.`, 'read aloud');
        t.equal(await page.locator('img[src="x"]').count(), 0, 'a name is no markup');
      }
      t.ok(await annPage.evaluate('document.activeElement === document.body'), 'the focus stays where it was');

      const second = await ringLine(service, line, { from: '+442079460958' });
      await ringing(annPage).nth(1).getByText('+442079460958', { exact: true }).waitFor();
      t.equal(await ringing(annPage).count(), 2, 'several stand below each other, the first one first');
      t.match(await annPage.title(), /^2 calls are ringing · /);
      await deliver(service, line, { type: 'ended', callId: second.callId });
      await notice(annPage, '+442079460958 hung up.').waitFor();
      await annPage.reload();
      await ringing(annPage).getByText(hostile, { exact: true }).waitFor();
      t.equal(await ringing(annPage).count(), 1, 'a ringing call is shown again after a reload');
      await finish(again.id);
      t.notMatch(await annPage.title(), hostile);
    },
  );

  t.test('[4.8] two answer concurrently: one is in the call, the other sees who is', async (t) => {
    const { id } = await ringLine(service, line);
    for (const page of [annPage, bobPage]) await ringing(page).waitFor();
    // Both answer before either learns of the other: their sockets are silent until both have pressed.
    const answers = new Map<Page, number>();
    const gates = [annPage, bobPage].map((page) => ({ page, open: Promise.withResolvers<void>() }));
    for (const { page, open } of gates) {
      await page.route('**/answer', async (route) => {
        await open.promise;
        const response = await route.fetch();
        answers.set(page, response.status());
        await route.fulfill({ response });
      });
    }
    const asked = gates.map(({ page }) => page.waitForRequest('**/answer'));
    for (const { page } of gates) await page.getByRole('button', { name: /^Answer/ }).click();
    await Promise.all(asked);
    for (const { open } of gates) open.resolve();
    await Promise.race([annPage, bobPage].map((page) => bar(page).waitFor()));
    const winnerId = (await read(id)).assignedAgentId;
    const [winner, loser, name] = winnerId === ann.agentId ? [annPage, bobPage, 'Ann'] : [bobPage, annPage, 'Bob'];
    await bar(winner).waitFor();
    await notice(loser, `${name} answered ${hostile} first.`).waitFor();
    t.equal(
      await loser
        .getByRole('log', { name: 'Notices' })
        .getByText(new RegExp(`^${name} answered`))
        .count(),
      1,
      'once',
    );
    t.equal(await bar(loser).count(), 0);
    t.strictSame([...answers.values()].sort(), [200, 409]);
    for (const page of [annPage, bobPage]) await page.unroute('**/answer');
    await finish(id);
  });

  t.test("[4.8] losing to a caller who hung up, and to one's own other call", async (t) => {
    const { id, callId } = await ringLine(service, line);
    await ringing(annPage).waitFor();
    await annPage.route('**/answer', async (route) => {
      await deliver(service, line, { type: 'ended', callId });
      await route.continue();
    });
    await annPage.getByRole('button', { name: /^Answer/ }).click();
    await notice(annPage, `${hostile} is no longer on the line.`).waitFor();
    await annPage.unroute('**/answer');
    await finish(id);

    const first = await ringLine(service, line);
    const second = await ringLine(service, line, { from: '+442079460958' });
    await annPage.getByRole('button', { name: `Answer ${hostile}` }).click();
    await bar(annPage).waitFor();
    await annPage.getByRole('button', { name: 'Answer +442079460958' }).click();
    await notice(annPage, 'You are in another call. End it or hand it over first.').waitFor();
    t.equal((await read(second.id)).state, 'ringing');
    await service.post(`/calls/${second.id}/hangup`, undefined, owner.token);
    await finish(first.id);
  });

  t.test('[4.8] hold, resume, time and hang up by keys, on whichever page one is', async (t) => {
    const { id } = await ringLine(service, line);
    await ringing(annPage).waitFor();
    await annPage.keyboard.press('p');
    await annPage.keyboard.press('a');
    await bar(annPage).waitFor();
    t.match(await annPage.getByRole('timer').innerText(), /^0:0\d$/);
    await notice(bobPage, `Ann answered ${hostile}.`).waitFor();
    await annPage.keyboard.press('p');
    await annPage.keyboard.press('h');
    await bar(annPage).getByText('On hold for').waitFor();
    t.equal((await read(id)).state, 'on_hold');
    await annPage.keyboard.press('g');
    await annPage.keyboard.press('c');
    await annPage.getByRole('heading', { name: 'Calls', level: 1 }).waitFor();
    await bar(annPage).getByRole('button', { name: 'Resume' }).click();
    await bar(annPage).getByText('On hold for').waitFor({ state: 'detached' });
    t.equal((await read(id)).state, 'answered');
    t.strictSame(
      [
        await bar(annPage).getByRole('link', { name: 'Conversation' }).getAttribute('href'),
        await bar(annPage).getByRole('link', { name: 'Call' }).getAttribute('href'),
      ],
      [`/inbox/all/${id}`, `/calls/${id}`],
    );
    await annPage.keyboard.press('p');
    await annPage.keyboard.press('e');
    await bar(annPage).waitFor({ state: 'detached' });
    t.match(await read(id), { state: 'ended', status: 'solved' });
  });

  t.test('[3 handshake] a caller is offered with a note; declined, offered again, accepted', async (t) => {
    const { id } = await ringLine(service, line);
    await annPage.getByRole('button', { name: /^Answer/ }).click();
    const offer = async (note: string) => {
      await bar(annPage).getByRole('button', { name: 'Hand over' }).click();
      const dialog = annPage.getByRole('dialog');
      await dialog.getByLabel('Agent', { exact: true }).last().selectOption({ label: 'Bob' });
      await dialog.getByLabel('Note').fill(note);
      await dialog.getByRole('button', { name: 'Offer' }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    await offer('<b>Wants</b> an invoice.');
    await bar(annPage).getByText('Offered to Bob').waitFor();
    await ringing(bobPage).getByText('<b>Wants</b> an invoice.', { exact: true }).waitFor();
    t.match(await ringing(bobPage).innerText(), /Ann wants to hand over/);
    await bobPage.getByRole('button', { name: /^Decline/ }).click();
    await ringing(bobPage).waitFor({ state: 'detached' });
    t.match(await read(id), { assignedAgentId: ann.agentId, handshake: null });

    await bar(annPage).getByText('Offered to Bob').waitFor({ state: 'detached' });
    await offer('Again.');
    await bar(annPage).getByRole('button', { name: 'Take the offer back' }).click();
    await ringing(bobPage).waitFor({ state: 'detached' });

    // Another agent changes the call while the dialog is open: the dialog says what changed, and keeps what was typed.
    await bar(annPage).getByRole('button', { name: 'Hand over' }).click();
    const dialog = annPage.getByRole('dialog');
    await dialog.getByLabel('Note').fill('Kept.');
    await annPage.route(
      '**/transfer',
      async (route) => {
        await service.post(`/conversations/${id}/status`, { status: 'pending' }, owner.token);
        await route.continue();
      },
      { times: 1 },
    );
    await dialog.getByLabel('Agent', { exact: true }).last().selectOption({ label: 'Bob' });
    await dialog.getByRole('button', { name: 'Offer' }).click();
    await dialog.getByText('The call has changed: it is pending now.').waitFor();
    t.equal(await dialog.getByLabel('Note').inputValue(), 'Kept.');
    await dialog.getByRole('button', { name: 'Offer' }).click();
    await bobPage.getByRole('button', { name: /^Take over/ }).click();
    await bar(bobPage).waitFor();
    await bar(annPage).waitFor({ state: 'detached' });
    t.match(await read(id), { assignedAgentId: bob.agentId });
    await finish(id);
  });

  t.test('[3] a caller is moved to a department, where the call rings', async (t) => {
    const catPage = await browsing.open('/calls', { token: cat.token });
    const { id } = await ringLine(service, line);
    await annPage.getByRole('button', { name: /^Answer/ }).click();
    await bar(annPage).getByRole('button', { name: 'Hand over' }).click();
    const dialog = annPage.getByRole('dialog');
    await dialog.getByLabel('A department').check();
    await dialog.getByRole('button', { name: 'Move' }).click();
    await bar(annPage).waitFor({ state: 'detached' });
    await catPage.getByRole('button', { name: /^Answer/ }).click();
    await bar(catPage).waitFor();
    t.match(await read(id), { assignedAgentId: cat.agentId, departmentId: department.id });
    await finish(id);
    await catPage.context().close();
  });

  t.test('[4.8] the list follows events; its filters; whom to call back', async (t) => {
    await annPage.goto(`${service.url}/calls`);
    const rows = annPage.getByRole('region', { name: 'Calls', exact: true }).getByRole('listitem');
    await rows.first().waitFor();
    const before = await rows.count();
    const { id, callId } = await ringLine(service, line, { from: '+4930901820' });
    await rows.filter({ hasText: '+4930901820' }).getByText('Ringing').waitFor();
    t.equal(await rows.count(), before + 1);
    await deliver(service, line, { type: 'ended', callId });
    await rows.filter({ hasText: '+4930901820' }).getByText('Missed').waitFor();
    t.equal(
      await rows.filter({ hasText: '+4930901820' }).getByRole('link', { name: 'Call back' }).getAttribute('href'),
      'tel:+4930901820',
    );

    await annPage.getByLabel('Status').selectOption('Solved');
    const solved = (await service.get('/calls?status=solved&limit=200', ann.token)).body.calls;
    await annPage.waitForURL('**/calls?status=solved');
    await rows.filter({ hasText: '+4930901820' }).waitFor({ state: 'detached' });
    await rows.nth(solved.length - 1).waitFor();
    t.equal(await rows.count(), solved.length);
    await annPage.getByRole('button', { name: 'Clear' }).click();
    await annPage.getByLabel('Agent').selectOption('Bob');
    await annPage.waitForURL('**/calls?agent=*');
    await rows.filter({ hasText: '+4930901820' }).waitFor({ state: 'detached' });
    const ofBob = (await service.get(`/calls?assigneeId=${bob.agentId}&limit=200`, ann.token)).body.calls.length;
    await rows.nth(ofBob - 1).waitFor();
    t.equal(await rows.count(), ofBob);

    await annPage.getByRole('link', { name: 'To call back' }).click();
    const waiting = annPage.getByRole('region', { name: 'Calls to call back' }).getByRole('listitem');
    await waiting.filter({ hasText: '+4930901820' }).getByRole('link', { name: '+4930901820' }).click();
    await annPage.getByRole('heading', { name: '+4930901820' }).waitFor();
    await service.post(
      `/conversations/${id}/assign-to-agent`,
      { agentId: ann.agentId, expectedVersion: (await read(id)).version },
      owner.token,
    );
    const takeOver = annPage
      .getByRole('group', { name: 'What to do with this call' })
      .getByRole('button', { name: 'Take over' });
    await takeOver.waitFor();
    await service.pass(30_000);
    await takeOver.waitFor({ state: 'detached' });
    await annPage.getByRole('button', { name: 'I will call back' }).click();
    await annPage.getByText('Assigned to Ann').waitFor();
    t.equal((await read(id)).assignedAgentId, ann.agentId);
    await annPage.getByRole('button', { name: 'Done, no call needed' }).click();
    await annPage.getByRole('button', { name: 'Done, no call needed' }).waitFor({ state: 'detached' });
    t.equal((await read(id)).status, 'solved');
    await annPage.goBack();
    await annPage.getByRole('heading', { name: 'Calls', level: 1 }).waitFor();
    await annPage.locator('.calls-list, .empty').first().waitFor();
    t.equal(await waiting.filter({ hasText: '+4930901820' }).count(), 0);
  });

  t.test('[4.8] the page of a call: every event, its lengths, the recording, notes, messages', async (t) => {
    const { id, callId } = await ringLine(service, line);
    service.clock.advance(5000);
    await service.post(`/calls/${id}/answer`, undefined, ann.token);
    service.clock.advance(60_000);
    await service.post(`/calls/${id}/hold`, undefined, ann.token);
    service.clock.advance(20_000);
    await service.post(`/calls/${id}/hold`, { hold: false }, ann.token);
    service.clock.advance(40_000);
    await service.post(`/calls/${id}/hangup`, undefined, ann.token);
    await deliver(service, line, { type: 'recording_ready', callId, recordingUrl: 'https://carrier.example/1.mp3' });
    await annPage.goto(`${service.url}/calls/${id}`);
    const timeline = annPage.getByRole('region', { name: 'Timeline' });
    await timeline.waitFor();
    t.strictSame(
      (await timeline.getByRole('listitem').allInnerTexts()).map((text) =>
        text.split('\n').slice(0, 2).join(' ').trim(),
      ),
      [
        '+0:00 Rang, from +1 415 555 0123',
        '+0:05 Ann answered',
        '+1:05 Put on hold',
        '+1:25 Off hold',
        '+2:05 Ended, after 2:00',
      ],
    );
    t.match(await timeline.innerText(), /Waited\s+0:05\s+Talked\s+2:00\s+On hold\s+0:20/);
    const recording = timeline.getByRole('link', { name: /Listen to the recording at carrier\.example/ });
    t.strictSame(
      [
        await recording.getAttribute('href'),
        await recording.getAttribute('rel'),
        await recording.getAttribute('target'),
      ],
      ['https://carrier.example/1.mp3', 'noopener noreferrer nofollow', '_blank'],
    );
    await annPage.getByRole('textbox', { name: 'New note' }).fill(hostile);
    await annPage.getByRole('button', { name: 'Add note' }).click();
    await annPage
      .getByRole('region', { name: 'Notes' })
      .getByRole('listitem')
      .getByText(hostile, { exact: true })
      .waitFor();
    t.equal(await annPage.getByRole('textbox', { name: 'New note' }).inputValue(), '');
    await annPage.getByRole('region', { name: 'Conversation' }).getByText('Ann answered.').waitFor();
    t.strictSame(await barriersOf(annPage), []);

    const late = await ringLine(service, line);
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let serve = (): void => undefined;
    const served = new Promise<void>((resolve) => (serve = resolve));
    await annPage.route(
      `**/api/v1/calls/${late.id}`,
      async (route) => {
        const response = await route.fetch();
        serve();
        await released;
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    await annPage.goto(`${service.url}/calls/${late.id}`);
    await served;
    await deliver(service, line, { type: 'ended', callId: late.callId });
    await annPage.locator('.calls-heading').getByText('Missed').waitFor();
    const again = annPage.waitForResponse(`**/api/v1/calls/${late.id}`);
    release();
    await (await again).finished();
    await annPage.locator('.calls-heading').getByText('Missed').waitFor();
    t.equal(
      await annPage.locator('.calls-heading').getByText('Ringing').count(),
      0,
      'an older answer takes nothing back',
    );

    await annPage.goto(`${service.url}/calls/019aa000-0000-7000-8000-000000000001`);
    await annPage.getByText('This call does not exist, or you cannot see it').waitFor();
  });

  t.test('[4.8] voicemails: played if stored here, otherwise linked, marked until heard', async (t) => {
    const leave = async (from: string, fields: object) => {
      const { id, callId } = await ringLine(service, line, { from });
      await service.pass(30_000);
      await deliver(service, line, { type: 'voicemail_left', callId, durationMs: 4200, from, ...fields });
      await deliver(service, line, { type: 'ended', callId, from });
      return id;
    };
    await annPage.goto(`${service.url}/calls?view=voicemails`);
    await annPage.getByText('No voicemails').waitFor();
    const id = await leave('+4930901821', {
      recordingUrl: 'https://carrier.example/2.mp3',
      transcript: '<i>Please</i> call me.',
    });
    const outside = annPage.getByRole('article', { name: 'Voicemail from +4930901821' });
    await outside.getByText('<i>Please</i> call me.', { exact: true }).waitFor();
    t.match(await outside.innerText(), /New\s[\s\S]*0:04|0:04[\s\S]*New/);
    t.equal(await outside.locator('audio').count(), 0, 'the policy plays nothing from elsewhere');
    t.equal(
      await outside.getByRole('link', { name: 'Listen to the voicemail at carrier.example' }).getAttribute('href'),
      'https://carrier.example/2.mp3',
    );
    t.equal(
      (await service.get(`/voicemails?conversationId=${id}`, owner.token)).body.voicemails[0].listenedAt,
      null,
      'showing it is not hearing it',
    );
    await outside.getByRole('button', { name: 'Mark as listened to' }).click();
    await outside.getByText(/^Heard/).waitFor();
    t.type(
      (await service.get(`/voicemails?conversationId=${id}`, owner.token)).body.voicemails[0].listenedAt,
      'string',
    );

    const heardId = await leave('+4930901822', { recordingUrl: `${service.url}/storage/3.mp3` });
    const here = annPage.getByRole('article', { name: 'Voicemail from +4930901822' });
    const player = here.locator('audio');
    await player.waitFor();
    t.strictSame(
      [await player.getAttribute('src'), await player.getAttribute('aria-label')],
      [`${service.url}/storage/3.mp3`, 'the voicemail'],
    );
    await player.dispatchEvent('play');
    await here.getByText(/^Heard/).waitFor();
    await annPage.goto(`${service.url}/calls/${heardId}`);
    await annPage.getByRole('article', { name: 'Voicemail from +4930901822' }).locator('audio').waitFor();
    t.match(await annPage.getByRole('region', { name: 'Timeline' }).innerText(), /Left a voicemail/);
  });

  t.test(
    '[5] agents without the calls channel see nothing of them; without calls in the plan there is no banner',
    async (t) => {
      const chatter = await service.agent(owner, { channels: ['chats'], name: 'Dan' });
      const page = await browsing.open('/calls', { token: chatter.token });
      await page.getByText('You do not work in the calls channel').waitFor();
      t.equal(await page.getByRole('link', { name: 'Calls', exact: true }).count(), 0);
      await page.context().close();
    },
  );

  t.test('[WCAG 2.2 AA] the list, the banner and the bar are accessible, light and dark', async (t) => {
    const page = await browsing.open('/calls', {
      token: bob.token,
      colorScheme: 'light',
      viewport: { width: 1280, height: 800 },
    });
    const both = async (about: string) => {
      t.strictSame(await barriersOf(page), [], `light, ${about}`);
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.setViewportSize({ width: 360, height: 800 });
      t.strictSame(await barriersOf(page), [], `dark, ${about}`);
      t.equal(
        await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
        true,
        `nothing is wider than the page, ${about}`,
      );
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize({ width: 1280, height: 800 });
    };
    await page.getByRole('region', { name: 'Calls', exact: true }).getByRole('listitem').first().waitFor();
    const { id } = await ringLine(service, line);
    await ringing(page).waitFor();
    await both('ringing');
    await page.getByRole('button', { name: /^Answer/ }).click();
    await bar(page).getByRole('button', { name: 'Hold' }).click();
    await bar(page).getByText('On hold for').waitFor();
    await bar(page).getByRole('button', { name: 'Hand over' }).click();
    await page.getByRole('dialog').waitFor();
    await both('handing over');
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Voicemails' }).click();
    await page.getByRole('article').first().waitFor();
    await both('voicemails');
    await finish(id);
    await page.context().close();
  });

  t.strictSame(browsing.problems, [], 'nothing broke, and no policy was in the way');
});
