// A chat that goes on by mail, from the customer's side: the page is closed, the answer is mailed, the customer answers
// by mail, and the mail's link opens the whole chat in another browser.

import t from 'tap';
import { startBrowsing, widgetOf } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { startService } from '../support/service.ts';

const minuteMs = 60_000;

t.test('a chat goes on by mail', { skip: noBrowser }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const mailbox = await service.mailbox(owner);
  const browsing = await startBrowsing(t, service, owner.embedId);
  const { body: site } = await service.get(`/sites/${owner.siteId}`, owner.token);
  await service.patch(
    `/sites/${owner.siteId}`,
    { expectedVersion: site.version, allowedOrigins: [browsing.origin] },
    owner.token,
  );

  t.test("[decisions, address] a mail's link opens the chat, with what was written by mail", async (t) => {
    const page = await browsing.open({ path: '/tents?size=2' });
    const { launcher, panel, text, lines } = widgetOf(page);
    await launcher.click();
    await panel.getByLabel('Email address').fill('kim@example.org');
    await panel.getByRole('button', { name: 'Save' }).click();
    await panel.getByText('We will write to you there.').waitFor();
    await text.fill('Do you ship to Malta?');
    await text.press('Enter');
    await lines.filter({ hasText: 'Sent' }).waitFor();
    await browsing.closeAll();
    while (!(await (await fetch(new URL('/metrics', service.url))).text()).includes('switchboard_visitor_sockets 0\n'));
    await service.settled();
    await service.pass(minuteMs);
    const [{ id }] = (await service.get('/conversations/queue', owner.token)).body.conversations;
    await service.post(`/conversations/${id}/messages`, { body: 'We do. Which tent?' }, owner.token);
    await service.pass(4 * minuteMs);
    const mail = await service.mail('kim@example.org');
    await service.deliver(mailbox, {
      from: 'kim@example.org',
      subject: `Re: ${mail.subject}`,
      text: 'The green one.',
      headers: { 'in-reply-to': `<${mail.id}@${mailbox.address.split('@')[1]}>` },
    });
    await service.settled();

    const path = /http:\/\/switchboard\.test(\/c\/\S+)/.exec(mail.text)?.[1] ?? '';
    const opened = await fetch(new URL(path, service.url), { redirect: 'manual' });
    const to = opened.headers.get('location') ?? '';
    t.ok(to.startsWith(`${browsing.origin}/tents?size=2#switchboard=`), 'to the page where the customer was');
    const elsewhere = await browsing.open({ path: to.slice(browsing.origin.length) });
    const there = widgetOf(elsewhere);
    await there.panel.waitFor();
    for (const words of ['Do you ship to Malta?', 'We do. Which tent?', 'The green one.'])
      await there.lines.filter({ hasText: words }).waitFor();
    t.equal(elsewhere.url(), `${browsing.origin}/tents?size=2`, "the token is off the page's address");
    await browsing.closeAll();
  });

  t.test('[decisions, address] an old link opens the widget as it is', async (t) => {
    const page = await browsing.open({ path: '/#switchboard=long-ago' });
    const { panel } = widgetOf(page);
    await panel.waitFor();
    t.equal(page.url(), `${browsing.origin}/`);
    await browsing.closeAll();
  });
  t.same(browsing.problems, []);
});
