// The inbox in a browser while its server is killed in mid-conversation and returns: nothing missing, nothing twice.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t from 'tap';
import { callApi, password } from '../support/api.ts';
import { noBrowser } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { startPages } from '../support/pages.ts';
import { ServiceProcess } from '../support/process.ts';

const said = (page: Page) => page.locator('.inbox-said .inbox-text').allTextContents();
const bubble = (page: Page, text: string) => page.locator('.inbox-said').filter({ hasText: text });
const write = async (page: Page, text: string): Promise<void> => {
  await page.locator('.inbox-composer textarea').fill(text);
  await page.locator('.inbox-composer textarea').press('Enter');
};

t.test('the inbox while its server is killed and returns', { skip: noBrowser }, async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const env = { DATA_DIR: dataDir, HOST: '127.0.0.1', PORT: String(await freePort()), RATE_LIMITS: 'off' };
  const first = await ServiceProcess.serving(t, env);
  const call = async (method: string, path: string, token: string | undefined, body?: unknown) =>
    (await callApi(first.url, method, path, { token, body })).body;
  const { token } = await call('POST', '/auth/register', undefined, {
    email: 'owner@example.com',
    password,
    workspaceName: 'Shop',
    siteUrl: 'https://shop.example',
  });
  const [site] = (await call('GET', '/sites', token)).sites;
  const { visitorToken } = await call('POST', '/widget/sessions', undefined, {
    siteId: site.embedId,
    url: 'https://shop.example/',
    name: 'Kim',
  });
  const { conversation } = await call('POST', '/widget/conversations', visitorToken, { body: 'Before' });
  const pages = await startPages(t, { url: first.url });
  const page = await pages.open(`/inbox/all/${conversation.id}`, { token });
  await bubble(page, 'Before').waitFor();
  await write(page, 'An answer');
  await bubble(page, 'An answer').getByText('Sent', { exact: true }).waitFor();
  await first.kill('SIGKILL');
  await page.getByText('No connection.').waitFor();
  await write(page, 'Written while it was gone');
  await bubble(page, 'Written while it was gone').waitFor();
  await ServiceProcess.serving(t, env);
  await call('POST', `/widget/conversations/${conversation.id}/messages`, visitorToken, { body: 'I am still here' });
  await bubble(page, 'I am still here').waitFor();
  await bubble(page, 'Written while it was gone').getByText('Sent', { exact: true }).waitFor();
  await write(page, 'So am I');
  await bubble(page, 'So am I').getByText('Sent', { exact: true }).waitFor();
  const { messages } = await call('GET', `/conversations/${conversation.id}/messages`, token);
  const there = messages
    .filter(({ senderType }: { senderType: string }) => senderType !== 'system')
    .map(({ body }: { body: string }) => body);
  t.strictSame([...there].sort(), ['An answer', 'Before', 'I am still here', 'So am I', 'Written while it was gone']);
  t.strictSame(await said(page), there);
});
