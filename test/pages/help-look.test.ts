// The help centre's look and its own address, in a real browser.

import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { DnsZone } from '../support/mail-servers.ts';
import { startPages } from '../support/pages.ts';
import { startService } from '../support/service.ts';
import { button, notice, usable } from '../support/settings.ts';

t.test('the look and the address of the help centre', { skip: noBrowser }, async (t) => {
  const dns = await DnsZone.start(t);
  const service = await startService(t, { env: { RATE_LIMITS: 'off', DNS_SERVERS: dns.address } });
  const owner = await service.workspace();
  const { helpHostProof } = (await service.patch('/kb/settings', { helpCentre: true }, owner.token)).body;
  const pages = await startPages(t, service);
  const page = await pages.open('/settings/knowledge?tab=help', {
    token: owner.token,
    viewport: { width: 1440, height: 900 },
  });
  await page.getByLabel('Colour').fill('#a3154c');
  await page.getByLabel('Your own address').fill('help.shop.example');
  await page.getByText('_switchboard.help.shop.example').waitFor();
  await page.getByText(helpHostProof).waitFor();
  await button(page, 'Save').click();
  const problem = page.locator('.field', { hasText: 'Your own address' }).locator('.error');
  t.match(await problem.textContent(), /Needs a DNS record: TXT _switchboard\.help\.shop\.example/);
  await usable(t, page);
  dns.add({ type: 'TXT', name: '_switchboard.help.shop.example', value: helpHostProof });
  await button(page, 'Save').click();
  await notice(page, 'Saved');
  t.match((await service.get('/kb/settings', owner.token)).body, {
    helpHost: 'help.shop.example',
    helpColour: '#a3154c',
    helpLogoUrl: null,
  });
  await page.setViewportSize({ width: 360, height: 780 });
  t.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  await page.getByLabel('Your own address').fill('');
  await button(page, 'Save').click();
  await page.getByText('_switchboard.').waitFor({ state: 'detached' });
  await service.settled();
  t.same(pages.problems, []);
});
