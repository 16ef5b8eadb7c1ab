// Second factors through the pages only, in a browser with an authenticator: set up, used, lost, required.

import type { Page } from 'playwright-core';
import t from 'tap';
import { noBrowser } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { registerApp, request } from '../support/oauth.ts';
import { barriersOf, startPages } from '../support/pages.ts';
import { codeOf, enrolApp } from '../support/second-factors.ts';
import { password, startService } from '../support/service.ts';

const minuteMs = 60_000;

t.test('second factors in the pages', { skip: noBrowser }, async (t) => {
  const port = await freePort();
  const service = await startService(t, {
    env: { RATE_LIMITS: 'off', PORT: String(port), BASE_URL: `http://localhost:${port}` },
  });
  const pages = await startPages(t, service);
  const owner = await service.workspace();
  const look = async (page: Page, name: string): Promise<void> => {
    t.same(await barriersOf(page), [], name);
  };
  /** A device that its owner unlocks at each request. */
  const withAuthenticator = async (page: Page): Promise<void> => {
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
  };
  const signIn = async (page: Page, email: string): Promise<void> => {
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };
  const setUpApp = async (page: Page): Promise<{ secret: string; codes: string[] }> => {
    await page.getByRole('button', { name: 'Set up', exact: true }).click();
    await page.getByRole('heading', { name: 'Set up an authenticator app' }).waitFor();
    await look(page, 'setting up');
    const secret = (await page.locator('dialog .copyable code').textContent()) ?? '';
    await page.getByLabel('Code', { exact: true }).fill(await codeOf(secret, service.clock.now()));
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
    await look(page, 'the codes');
    const codes = await page.locator('.codes code').allTextContents();
    await page.getByRole('button', { name: 'I have saved them' }).click();
    service.clock.advance(minuteMs);
    return { secret, codes };
  };

  t.test(
    'an app is set up in the account, required at the next sign-in, and replaced by a recovery code',
    async (t) => {
      const agent = await service.agent(owner);
      service.clock.advance(15 * minuteMs);
      const page = await pages.open('/account', { token: agent.token });
      await page.getByRole('button', { name: 'Set up', exact: true }).click();
      await page.getByRole('heading', { name: 'Confirm your identity' }).waitFor();
      await page.getByRole('dialog').getByLabel('Password').fill('not the one of it');
      await page.keyboard.press('Enter');
      await page.locator('dialog .error').waitFor();
      await page.getByRole('dialog').getByLabel('Password').fill(password);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Set up an authenticator app' }).waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
      const { secret, codes } = await setUpApp(page);
      t.equal(codes.length, 10);
      await page.getByText('10 left').waitFor();
      await page
        .getByText('Set up just now')
        .or(page.getByText(/^Set up \d+ min ago/))
        .first()
        .waitFor();
      await look(page, 'the account');

      const other = await pages.open('/sign-in');
      await signIn(other, agent.email);
      await other.getByRole('heading', { name: 'One more step' }).waitFor();
      await look(other, 'one more step');
      await other.locator('input:focus').and(other.getByLabel('Code')).waitFor();
      await other.keyboard.type('000000');
      await other.keyboard.press('Enter');
      await other.locator('.error').waitFor();
      await other.getByRole('button', { name: 'Use a recovery code' }).click();
      const recovery = other.getByLabel('Recovery code');
      await other.locator('input:focus').and(recovery).waitFor();
      t.equal(await recovery.inputValue(), '', "an error elsewhere is not a recovery code's");
      t.equal(await other.locator('.error').count(), 0);
      await other.getByRole('button', { name: 'Use an authenticator code' }).click();
      await other.getByLabel('Code').fill(await codeOf(secret, service.clock.now()));
      await other.keyboard.press('Enter');
      await other.waitForURL(/\/inbox/);

      const third = await pages.open('/sign-in');
      await signIn(third, agent.email);
      await third.getByRole('button', { name: 'Use a recovery code' }).click();
      await third.getByLabel('Recovery code').fill(codes[0] ?? '');
      await third.keyboard.press('Enter');
      await third.waitForURL(/\/inbox/);

      service.clock.advance(15 * minuteMs);
      const renew = async (): Promise<void> => {
        await page.getByRole('button', { name: 'Create new codes' }).first().click();
        await page.getByRole('dialog').getByRole('button', { name: 'Create new codes' }).click();
        await page.getByRole('heading', { name: 'Confirm your identity' }).waitFor();
      };
      await renew();
      await page.getByLabel('Code', { exact: true }).waitFor();
      await look(page, 'showing that it is you');
      t.equal(await page.getByRole('dialog').getByLabel('Password').count(), 0, 'a password is not enough');
      await page.getByLabel('Code', { exact: true }).fill('000000');
      await page.keyboard.press('Enter');
      await page.locator('dialog .error').waitFor();
      await page.getByRole('button', { name: 'Use a recovery code' }).click();
      await page.getByRole('textbox', { name: 'Recovery code' }).fill(codes[1] ?? '');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
    },
  );

  t.test('a passkey is added, signs in without a password, and allows an app', async () => {
    const app = await registerApp(service, owner, { redirectUris: [`http://localhost:${port}/healthz`] });
    const page = await pages.open('/account', { token: owner.token });
    await withAuthenticator(page);
    // Passkeys need a host name.
    await page.goto(`http://localhost:${port}/account`);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByLabel('Name', { exact: true }).last().fill('My laptop');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Confirm your identity' }).waitFor();
    await page.getByLabel('Password').last().fill(password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
    await page.getByRole('button', { name: 'I have saved them' }).click();
    await page.getByText('My laptop').waitFor();

    await page.getByRole('button', { name: 'Sign out', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.waitForURL(/\/(inbox|account)/);

    const asks = new URLSearchParams(
      Object.entries({ ...request(app), redirect_uri: `http://localhost:${port}/healthz` }).map(
        ([name, value]): [string, string] => [name, value ?? ''],
      ),
    );
    await page.goto(`http://localhost:${port}/oauth/authorize?${asks}`);
    await page.getByLabel('Email').fill(owner.email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in and allow' }).click();
    await page.getByRole('heading', { name: 'One more step' }).waitFor();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.waitForURL(/\/healthz\?code=/);
  });

  t.test('required for everyone: an agent without one sets one up before anything else', async () => {
    const boss = await service.workspace();
    const agent = await service.agent(boss);
    await enrolApp(service, boss.token);
    const settings = await pages.open('/settings/workspace', { token: boss.token });
    await settings.getByLabel('Require a second factor for everyone').check();
    await settings
      .locator('section', { has: settings.getByRole('heading', { name: 'Signing in' }) })
      .getByRole('button', { name: 'Save' })
      .click();
    await settings.getByText('Saved.', { exact: true }).waitFor();
    await look(settings, 'the settings');
    service.clock.advance(1);
    const page = await pages.open('/sign-in');
    await signIn(page, agent.email);
    await page.getByRole('heading', { name: 'Set up a second factor' }).waitFor();
    await look(page, 'before anything else');
    await setUpApp(page);
    await page.locator('.rail').waitFor();
  });

  t.same(pages.problems, []);
});
