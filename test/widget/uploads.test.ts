// A visitor's attachments, in a real browser, with the service's own storage.

import t from 'tap';
import { startBrowsing, widgetOf } from '../support/browser.ts';
import { noBrowser } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { startService } from '../support/service.ts';

/** One pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

t.test("the widget's files", { skip: noBrowser }, async (t) => {
  const port = await freePort();
  // Links to files begin with the address that customers reach.
  const service = await startService(t, {
    env: { RATE_LIMITS: 'off', PORT: String(port), BASE_URL: `http://127.0.0.1:${port}` },
  });
  const owner = await service.workspace();
  const browsing = await startBrowsing(t, service, owner.embedId);
  t.afterEach(() => browsing.closeAll());
  const [site] = (await service.get('/sites', owner.token)).body.sites;
  await service.patch(
    `/sites/${owner.siteId}`,
    { expectedVersion: site.version, allowedOrigins: [browsing.origin] },
    owner.token,
  );
  const choose = (
    page: Awaited<ReturnType<typeof browsing.open>>,
    ...files: { name: string; mimeType: string; buffer: Buffer }[]
  ) => page.locator('[data-switchboard] input[type=file]').setInputFiles(files);

  t.test('[4.9] a picture and a text go with a message, and agents get them', async (t) => {
    const agent = await service.agentSocket(owner.token);
    const page = await browsing.open();
    const { launcher, text, panel, lines } = widgetOf(page);
    await launcher.click();
    await choose(
      page,
      { name: 'vase.png', mimeType: 'image/png', buffer: png },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('blue') },
    );
    await panel.getByRole('button', { name: 'Remove vase.png' }).waitFor();
    await panel.locator('.files li[aria-busy]').first().waitFor({ state: 'detached' });
    await panel.locator('.files li[aria-busy]').waitFor({ state: 'detached' });
    await text.fill('Like this one');
    await text.press('Enter');
    const { data } = await agent.next('message.created');
    t.equal(data.message.body, 'Like this one');
    t.match(data.message.attachments, [
      { name: 'vase.png', size: png.length },
      { name: 'notes.txt', size: 4 },
    ]);
    t.ok(
      Buffer.from(await (await fetch(data.message.attachments[0].url)).arrayBuffer()).equals(png),
      'and they are available',
    );
    await lines.filter({ hasText: 'Sent' }).waitFor();
    await page.waitForFunction(
      'document.querySelector("[data-switchboard]").shadowRoot.querySelector("a.file img").naturalWidth === 1',
    );
    t.equal(await lines.getByRole('link', { name: 'notes.txt' }).getAttribute('href'), data.message.attachments[1].url);
    t.equal(await panel.locator('.files li').count(), 0);
  });

  t.test('[4.9] only a file; a removed one', async (t) => {
    const agent = await service.agentSocket(owner.token);
    const page = await browsing.open();
    const { launcher, panel } = widgetOf(page);
    await launcher.click();
    await choose(
      page,
      { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') },
      { name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from('b') },
    );
    await panel.getByRole('button', { name: 'Remove a.txt' }).click();
    await panel.locator('.files li:not([aria-busy])').waitFor();
    await panel.getByRole('button', { name: 'Send' }).click();
    const { data } = await agent.next('message.created');
    t.match(data.message, { body: 'b.txt', attachments: [{ name: 'b.txt' }] });
    t.equal(data.message.attachments.length, 1);
    await panel.locator('.mine').filter({ hasText: 'Sent' }).waitFor();
    t.equal(await panel.locator('.mine').getByText('b.txt').count(), 1, 'its name is said once');
  });

  t.test('[4.9] oversized files, refused types, and false types', async (t) => {
    const page = await browsing.open();
    const { launcher, panel } = widgetOf(page);
    await launcher.click();
    const rows: [string, string, Buffer, string][] = [
      ['big.pdf', 'application/pdf', Buffer.alloc(25 * 1024 * 1024 + 1), 'big.pdf is larger than 25 MB.'],
      ['run.exe', 'application/x-msdownload', Buffer.from('MZ'), 'Files such as run.exe cannot be sent.'],
      ['drawing.svg', 'image/svg+xml', Buffer.from('<svg/>'), 'Files such as drawing.svg cannot be sent.'],
      ['false.png', 'image/png', Buffer.from('%PDF-1.7'), 'Files such as false.png cannot be sent.'],
    ];
    for (const [name, mimeType, buffer, words] of rows) {
      await choose(page, { name, mimeType, buffer });
      await panel.getByText(words).waitFor();
      t.equal(await panel.locator('.files li').count(), 0, name);
      t.equal(await panel.getByRole('button', { name: 'Send' }).isDisabled(), true);
    }
    await page.route('**/storage/**', (route) => route.abort());
    await choose(page, { name: 'lost.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
    await panel.getByText('lost.txt could not be uploaded.').waitFor();
  });

  t.test('[4.9] pasted, dropped, and at most twenty', async (t) => {
    const page = await browsing.open();
    const { launcher, panel } = widgetOf(page);
    await launcher.click();
    const give = (kind: 'paste' | 'drop', name: string) =>
      page.evaluate(`(() => {
      const data = new DataTransfer();
      data.items.add(new File(['x'], '${name}', { type: 'text/plain' }));
      const area = document.querySelector('[data-switchboard]').shadowRoot.querySelector('.composer textarea');
      area.dispatchEvent('${kind}' === 'paste' ? new ClipboardEvent('paste', { clipboardData: data, bubbles: true, composed: true }) : new DragEvent('drop', { dataTransfer: data, bubbles: true, composed: true }));
    })()`);
    await give('paste', 'pasted.txt');
    await panel.getByRole('button', { name: 'Remove pasted.txt' }).waitFor();
    await give('drop', 'dropped.txt');
    await panel.getByRole('button', { name: 'Remove dropped.txt' }).waitFor();
    await choose(
      page,
      ...Array.from({ length: 20 }, (_, index) => ({
        name: `${index}.txt`,
        mimeType: 'text/plain',
        buffer: Buffer.from('x'),
      })),
    );
    t.equal(await panel.locator('.files li').count(), 20);
  });

  t.strictSame(browsing.problems, [], 'no page saw an error or a violation of its policy');
});
