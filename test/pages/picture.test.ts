// The agent's own picture, from the file to what customers get.

import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { startPages } from '../support/pages.ts';
import { startService } from '../support/service.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

t.test('an agent chooses a picture and a name for customers, and removes them', { skip: noBrowser }, async (t) => {
  const service = await startService(t);
  const pages = await startPages(t, service);
  const owner = await service.workspace();
  const own = async () => (await service.get('/me', owner.token)).body.agent;
  const page = await pages.open('/account', { token: owner.token });
  await page.getByRole('button', { name: 'Choose a picture' }).waitFor();
  await page.getByLabel('Your picture').setInputFiles({ name: 'me.png', mimeType: 'image/png', buffer: png });
  await page.getByRole('button', { name: 'Change the picture' }).waitFor();
  t.match((await own()).avatarUrl, /\/picture\//);
  await page.getByLabel('Name for customers').fill('Boss');
  await page.getByRole('button', { name: 'Save', exact: true }).first().click();
  await page.getByText('Saved.').first().waitFor();
  if (process.env['SHOTS'] !== undefined) await page.screenshot({ path: `${process.env['SHOTS']}/account.png` });
  await page.getByRole('button', { name: 'Remove it' }).click();
  await page.getByRole('button', { name: 'Choose a picture' }).waitFor();
  t.match(await own(), { avatarUrl: null, publicName: 'Boss' });
});
