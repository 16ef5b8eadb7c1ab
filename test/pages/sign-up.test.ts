// From nothing to a workspace with a conversation, through the pages only; and signing in after forgetting the password
// or being invited.

import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { barriersOf, startPages } from '../support/pages.ts';
import { password, startService } from '../support/service.ts';

t.test('the pages before the inbox', { skip: noBrowser }, async (t) => {
  const port = await freePort();
  const service = await startService(t, {
    env: { RATE_LIMITS: 'off', PORT: String(port), BASE_URL: `http://localhost:${port}` },
  });
  const pages = await startPages(t, service);
  const problems = (page: { locator(selector: string): { allTextContents(): Promise<string[]> } }) =>
    page.locator('.error, [role=alert] .banner').allTextContents();

  // Before the next workspace is made.
  await t.test('a new owner registers, sees the first steps, and receives its own message', async (t) => {
    const page = await pages.open('/');
    // The server is empty, so it begins with its first workspace.
    await page.getByRole('heading', { name: 'Create a workspace' }).waitFor();
    await page.getByRole('button', { name: 'Create workspace' }).click();
    await page.getByText('Must be an email address.').waitFor();
    t.match(await problems(page), [
      'Must not be empty.',
      'Must be an email address.',
      /^Must have at least \d+ characters/,
    ]);
    await page.getByLabel('What is your business called?').fill('A fine shop');
    t.equal((await problems(page)).length, 2, 'a mended field loses its error');
    await page.getByLabel('Its website').fill('fine.example');
    await page.getByLabel('Your email').fill('first@example.com');
    await page.getByLabel('Password', { exact: true }).fill('short');
    await page.getByRole('button', { name: 'Create workspace' }).click();
    await page.locator('.error').waitFor();
    t.equal((await problems(page)).length, 1, 'said at its field');
    await page.locator('[type="password"]:focus').waitFor();
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Create workspace' }).click();
    await page.getByRole('heading', { name: 'Welcome to Switchboard' }).waitFor();

    t.match(
      await page.locator('.copyable code').first().textContent(),
      new RegExp(`<script src="${service.url}/widget.js" data-site-id="[\\w-]+" async></script>`),
    );
    await page.locator('.preview-frame').scrollIntoViewIfNeeded();
    const widget = page.frameLocator('.preview-frame').locator('[data-switchboard]');
    await widget.locator('.launcher').click();
    await widget.locator('.composer textarea').fill('<b>Hello</b> from a customer');
    await widget.locator('.composer textarea').press('Enter');
    await page.getByText('It arrived').waitFor();
    t.ok(await page.getByText('“<b>Hello</b> from a customer”').isVisible(), 'as it was written');

    await page.getByLabel('Your name').fill('Ann');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.rail .own[aria-label^="Ann"]').waitFor();
    await page.getByRole('link', { name: 'Answer' }).click();
    await page.waitForURL(/\/inbox\/all\/[\w-]{36}$/);
    await page.getByText('<b>Hello</b> from a customer').first().waitFor();

    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('link', { name: 'Getting started' }).click();
    await page.getByRole('heading', { name: 'Welcome to Switchboard' }).waitFor();
    await page.getByText('Not seen on your website yet').waitFor();
    t.equal(await page.getByRole('heading', { name: 'The chat for fine.example (done)' }).count(), 0);
    const [site] = (await page.evaluate(
      `fetch('/api/v1/sites', { headers: { Accept: 'application/json', Authorization: 'Bearer ' + localStorage.getItem('switchboard.token') } }).then((reply) => reply.json()).then(({ sites }) => sites)`,
    )) as { embedId: string }[];
    for (const origin of ['https://staging.example', 'https://fine.example'])
      await service.call('POST', '/widget/sessions', {
        body: { siteId: site?.embedId, url: `${origin}/` },
        headers: { Origin: origin },
      });
    await page.getByRole('button', { name: 'Look again' }).click();
    await page.getByText('on fine.example').waitFor();
    await page.getByRole('heading', { name: 'The chat for fine.example (done)' }).waitFor();
    await page.getByRole('button', { name: 'Allow staging.example' }).click();
    await page.getByText('The chat is allowed on staging.example').waitFor();
    t.equal(await page.getByRole('button', { name: 'Allow staging.example' }).count(), 0);
  });

  const owner = await service.workspace();

  t.test('a server with a workspace begins with signing in', async () => {
    const page = await pages.open('/');
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    await page.context().close();
  });

  t.test('signing in leads to the requested page, and never elsewhere', async (t) => {
    const page = await pages.open('/settings/sites?x=1');
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    await page.getByLabel('Email').fill(owner.email);
    await page.getByLabel('Password').fill('not the one of it');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.locator('[role=alert] .banner').waitFor();
    t.equal(await page.getByLabel('Email').inputValue(), owner.email, 'the typed text is kept');
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${service.url}/settings/sites?x=1`);

    const elsewhere = await pages.open('/sign-in?next=https://evil.example/inbox');
    await elsewhere.getByLabel('Email').fill(owner.email);
    await elsewhere.getByLabel('Password').fill(password);
    await elsewhere.keyboard.press('Enter');
    await elsewhere.waitForURL(`${service.url}/inbox**`);
    const twoSlashes = await pages.open('/sign-in?next=//evil.example/inbox', { token: owner.token });
    t.ok(twoSlashes.url().startsWith(service.url));
  });

  t.test('a sign-in ended elsewhere leads to signing in, and then back', async () => {
    const agent = await service.agent(owner);
    const page = await pages.open('/account', { token: agent.token });
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    await service.post('/auth/logout', undefined, agent.token);
    await page.waitForURL(/\/sign-in\?next=%2Faccount/);
    await page.getByLabel('Email').fill(agent.email);
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${service.url}/account`);
  });

  t.test('a forgotten password is reset by mail', async (t) => {
    const agent = await service.agent(owner);
    const page = await pages.open('/forgot-password');
    await page.getByLabel('Email').fill(agent.email);
    await page.getByRole('button', { name: 'Email me a link' }).click();
    await page.getByText('a link is on its way').waitFor();
    const link = /\/reset-password\?token=\S+/.exec((await service.mail(agent.email)).text)?.[0] ?? '';
    await page.goto(service.url + link);
    await page.getByLabel('New password').fill('another that is long enough');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Your password is changed').waitFor();
    await page.goto(service.url + link);
    await page.getByLabel('New password').fill('a third that is long enough');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('[role=alert] .banner').waitFor();
    t.equal(
      (await service.post('/auth/login', { email: agent.email, password: 'another that is long enough' })).status,
      200,
    );
  });

  t.test('an invitation is redeemed by a name and a password, once', async (t) => {
    await service.post(
      '/agents/invite',
      { email: 'new@example.com', name: 'New', role: 'agent', channels: ['chats'] },
      owner.token,
    );
    const link = /\/join\/\S+/.exec((await service.mail('new@example.com')).text)?.[0] ?? '';
    const page = await pages.open(link);
    await page.getByLabel('Your name').fill('<i>Newcomer</i>');
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Join' }).click();
    await page.waitForURL(/\/inbox/);
    t.equal(await page.locator('.rail .own').getAttribute('aria-label'), '<i>Newcomer</i>, available');
    const again = await pages.open(link);
    await again.getByLabel('Password', { exact: true }).fill(password);
    await again.getByRole('button', { name: 'Join' }).click();
    await again.locator('[role=alert] .banner').waitFor();
  });

  t.test('an address without a page says so', async () => {
    // A page that does not redirect by itself, as the inbox does once it is loaded.
    const page = await pages.open('/account', { token: owner.token });
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.evaluate('history.pushState(null, "", "/nowhere")');
    await page.evaluate('dispatchEvent(new PopStateEvent("popstate"))');
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  });

  t.test('no accessibility problems, in light and in dark', async (t) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const [path, token] of [
        ['/sign-in'],
        ['/register'],
        ['/forgot-password'],
        ['/reset-password?token=x'],
        ['/join/x'],
        ['/welcome', owner.token],
        ['/account', owner.token],
      ] as const) {
        const page = await pages.open(path, { colorScheme, ...(token === undefined ? {} : { token }) });
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.locator('.loading').first().waitFor({ state: 'detached' });
        // The two differ only in their colours.
        t.same(
          await (colorScheme === 'light' ? barriersOf(page) : barriersOf(page, 'color-contrast')),
          [],
          `${path} ${colorScheme}`,
        );
        await page.context().close();
      }
    }
  });

  t.same(pages.problems, []);
});
