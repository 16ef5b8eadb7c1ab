// How a page stays signed in, and how its browser is recognised.

// First, since the pages' modules need a browser's globals when they load.
import './browser-parts.ts';

import t from 'tap';
import { keepToken, token } from '../../http/pages/api.ts';
import { signIn, signOut } from '../../http/pages/session.ts';
import { stayWhileWorking } from '../../http/pages/session-refresh.ts';
import { thisBrowser } from '../../http/pages/this-browser.ts';
import { onRequest, page, turns, until } from './browser-parts.ts';

interface Sent {
  readonly path: string;
  readonly method: string;
  readonly body: any;
  readonly authorization: string | null;
}

const sent: Sent[] = [];
let given = 'the same';
const hours = (count: number): string => String(Date.now() - count * 3600_000);

t.before(() => {
  onRequest(({ method, path, init }) => {
    sent.push({
      path,
      method,
      body: typeof init.body === 'string' ? JSON.parse(init.body) : undefined,
      authorization: new Headers(init.headers).get('authorization'),
    });
    return Promise.resolve(Response.json({ token: given, expiresAt: new Date().toISOString() }));
  });
});
t.teardown(() => onRequest(undefined));

const refreshes = (): number => sent.filter(({ path }) => path === '/auth/refresh').length;

t.test('activity extends the sign-in, a few times a day; an idle page does not', async (t) => {
  stayWhileWorking();
  keepToken('the same');
  await turns(20);
  t.equal(refreshes(), 0);
  page.dispatchEvent(new Event('keydown'));
  await until(() => refreshes() === 1);
  t.equal(sent.at(-1)?.authorization, 'Bearer the same');
  for (let count = 0; count < 5; count += 1) page.dispatchEvent(new Event('pointerdown'));
  await turns(20);
  t.equal(refreshes(), 1);
  t.equal(token.peek(), 'the same');
  localStorage.setItem('switchboard.refreshedAt', hours(5.9));
  page.dispatchEvent(new Event('keydown'));
  await turns(20);
  t.equal(refreshes(), 1);
});

t.test('a browser is known by something that it keeps', async (t) => {
  const browser = thisBrowser();
  t.match(browser, /^[\w-]{43}$/);
  t.equal(thisBrowser(), browser);
  given = 'another';
  await signIn('/auth/login', { email: 'ann@example.com', password: 'x' });
  await until(() => sent.some(({ path }) => path === '/auth/login'));
  t.match(sent.find(({ path }) => path === '/auth/login')?.body, { email: 'ann@example.com', browser });
  t.equal(token.peek(), 'another');
  page.dispatchEvent(new Event('keydown'));
  await turns(20);
  t.equal(refreshes(), 1, 'an agent who has just signed in needs nothing');
});

t.test('signing out ends the sign-in at the service, and here at once', async (t) => {
  signOut();
  t.equal(token.peek(), null);
  await until(() => sent.some(({ method }) => method === 'DELETE'));
  t.match(
    sent.find(({ method }) => method === 'DELETE'),
    { path: '/me/sessions/current', authorization: 'Bearer another' },
  );
});
