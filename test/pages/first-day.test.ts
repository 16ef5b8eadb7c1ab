// What a new owner is told on the first day, and can do about it: mail that is not sent, a carrier that is simulated.

import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { startPages } from '../support/pages.ts';
import { startService } from '../support/service.ts';
import { button, notice, part, usable } from '../support/settings.ts';
import { startSmtp } from '../support/smtp.ts';

t.test('the first day', { skip: noBrowser }, async (t) => {
  const smtp = await startSmtp(t, { authOptional: false });
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const agent = await service.agent(owner);
  const pages = await startPages(t, service);

  t.test('while mail is kept in the outbox, admins read it on every page, and set up a server', async (t) => {
    const page = await pages.open('/contacts', { token: owner.token });
    const note = page.getByRole('complementary', { name: 'Mail' });
    await note.waitFor();
    await note.getByRole('link', { name: 'Set up mail' }).click();
    const form = part(page, 'Mail server');
    await form.getByText('No mail leaves this server yet').waitFor();
    await usable(t, page);
    await form.getByRole('textbox', { name: 'Server' }).fill('127.0.0.1');
    await form.getByLabel('Security').selectOption('tls');
    t.equal(await form.getByLabel('Port').inputValue(), '465', 'the port follows the security');
    await form.getByLabel('Security').selectOption('starttls');
    await form.getByLabel('Port').fill(String(smtp.port));
    await form.getByLabel('Username').fill('switchboard');
    await form.getByLabel('Sender').fill('help');
    await button(form, 'Save').click();
    await form.getByText('Must be an email address.').waitFor();
    await form.getByLabel('Sender').fill('help@shop.example');
    t.equal(await form.getByText('Must be an email address.').count(), 0, 'a mended field loses its error');
    await button(form, 'Save').click();
    await form.getByText('Is required.').waitFor();
    await form.getByLabel('Password').fill('wrong');
    await button(form, 'Save').click();
    await notice(page, 'Saved.');
    await note.waitFor({ state: 'detached' });
    await button(form, 'Send me a test mail').click();
    await form.getByText(/The mail was not sent: .*535 no such user/).waitFor();
    await form.getByLabel('Password').fill('open sesame');
    await button(form, 'Save').click();
    await notice(page, 'Saved.');
    await button(form, 'Send me a test mail').click();
    await form.getByText(`The server took the mail for ${owner.email}. It said: 250`).waitFor();
    await usable(t, page);
    t.match(smtp.accepted, [{ to: [owner.email] }]);
    await button(form, 'Stop using it').click();
    await note.waitFor();
    await page.setViewportSize({ width: 360, height: 700 });
    await usable(t, page);
    await page.context().close();
  });

  t.test('agents are not told what only admins can change', async (t) => {
    const page = await pages.open('/account', { token: agent.token });
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    t.equal(await page.getByRole('complementary', { name: 'Mail' }).count(), 0);
    await page.context().close();
  });

  t.test('numbers and calls of the simulated carrier say so', async (t) => {
    const page = await pages.open('/settings/phone-numbers', { token: owner.token });
    await page.getByText('The carrier is simulated').waitFor();
    await page.getByLabel('Area code').fill('415');
    await button(page, 'Search').click();
    const available = page.getByRole('list', { name: 'Available numbers' });
    await available.getByRole('listitem').first().waitFor();
    t.notMatch(await available.textContent(), /\$/, 'nothing is sold');
    await available.getByRole('button').first().click();
    await page.getByText('A simulated number: it costs nothing').waitFor();
    await usable(t, page);
    await page.goto(`${service.url}/calls`);
    await page.getByText('The carrier is simulated').waitFor();
    await usable(t, page);
    await page.context().close();
  });

  t.strictSame(pages.problems, []);
});
