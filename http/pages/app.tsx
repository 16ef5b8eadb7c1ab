// Where the pages start in a browser. Chooses the page by the address, loads its family when it is first opened, and
// leads a reader who is not signed in to the sign-in page and back.

import { effect } from '@preact/signals';
import { type JSX, render } from 'preact';
import { useEffect } from 'preact/hooks';
import { Failure, Loading } from './design/feedback.tsx';
import { Lazy, type Load as LoadOf } from './design/lazy.tsx';
import { Inbox } from './inbox/inbox.tsx';
import { startInbox } from './inbox/start.ts';
import { connection } from './live.ts';
import { match, navigate, path, query } from './location.ts';
import type { PageName } from './paths.ts';
import { isEnrolling, isSignedIn, me, meFailure, readMe } from './session.ts';
import { NotFound, Shell } from './shell.tsx';
import { startPages } from './start.ts';
import type { Start } from './subscriptions.ts';
import { applyTheme } from './theme.ts';

interface PageProps {
  readonly params: Readonly<Record<string, string>>;
}
type Load = LoadOf<PageProps>;

const gettingIn = {
  signIn: async () => (await import('./auth/sign-in.tsx')).SignIn,
  register: async () => (await import('./auth/register.tsx')).Register,
  forgotPassword: async () => (await import('./auth/forgot-password.tsx')).ForgotPassword,
  resetPassword: async () => (await import('./auth/reset-password.tsx')).ResetPassword,
  join: async () => (await import('./auth/join.tsx')).Join,
} satisfies Partial<Record<PageName, Load>>;

const enrol: Load = async () => (await import('./auth/enrol.tsx')).Enrol;
/** Almost every visit needs it, so it is part of what is loaded first. */
const inbox: Load = async () => {
  startOnce(startInbox);
  return Inbox;
};
const calls: Load = async () => (await import('./calls/calls.tsx')).Calls;
const contacts: Load = async () => (await import('./contacts/contacts.tsx')).Contacts;
const reports: Load = async () => (await import('./reports/reports.tsx')).Reports;
const settings: Load = async () => (await import('./settings/settings.tsx')).Settings;

const signedIn: Partial<Record<PageName, Load>> = {
  welcome: async () => (await import('./auth/welcome.tsx')).Welcome,
  inbox,
  inboxList: inbox,
  conversation: inbox,
  calls,
  call: calls,
  contacts,
  contact: contacts,
  search: async () => (await import('./search/search.tsx')).Search,
  reports,
  report: reports,
  settings,
  settingsSection: settings,
  settingsItem: settings,
  account: async () => (await import('./auth/account.tsx')).Account,
};

function App(): JSX.Element {
  const found = match.value;
  const ways: Partial<Record<PageName, Load>> = gettingIn;
  const open = found === undefined ? undefined : ways[found.page];
  const closed = found === undefined ? undefined : signedIn[found.page];
  const isIn = isSignedIn.value;
  const page = found?.page;
  const needsSession = closed !== undefined;

  useEffect(() => {
    if (page === 'start' && isIn) navigate('/inbox', { replace: true });
    else if (page === 'start') void goToFirstPage();
    else if (page === 'billing') navigate('/settings/billing', { replace: true });
    else if (needsSession && !isIn)
      navigate(
        `/sign-in?next=${encodeURIComponent(path.peek() + (query.peek().size === 0 ? '' : `?${query.peek().toString()}`))}`,
        { replace: true },
      );
  }, [page, needsSession, isIn]);

  if (open !== undefined && found !== undefined) return <Lazy load={open} props={{ params: found.params }} />;
  if (closed !== undefined && found !== undefined && isIn) {
    if (isEnrolling.value) return <Lazy load={enrol} props={{ params: found.params }} />;
    if (me.value === undefined)
      return meFailure.value === undefined ? (
        <Loading label="Signing in" />
      ) : (
        <Failure error={meFailure.value} retry={() => void readMe()} />
      );
    return (
      <Shell>
        <Lazy load={closed} props={{ params: found.params }} />
      </Shell>
    );
  }
  return found === undefined ? <NotFound /> : <Loading />;
}

async function goToFirstPage(): Promise<void> {
  const { firstPage } = await import('./auth/registration.ts');
  const to = await firstPage();
  if (match.peek()?.page === 'start') navigate(to, { replace: true });
}

const started = new Set<Start>();

/** What is started here runs for as long as the page is open. */
function startOnce(start: Start): void {
  if (started.has(start)) return;
  started.add(start);
  start();
}

applyTheme();
startOnce(startPages);
// Shows the state of the connection to tests and browser extensions.
effect(() => {
  document.documentElement.dataset['connection'] = connection.value;
});
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
