// The frame around every page of a signed-in agent: navigation, the state of the connection, notices, the command palette
// and the banner of a ringing call.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { CallBanner } from './calls/call-banner.tsx';
import { worksWithCalls } from './calls/live-calls.ts';
import { type Command, useCommands } from './commands.ts';
import { Avatar } from './design/avatar.tsx';
import { Button, ButtonLink, IconButton } from './design/button.tsx';
import { Empty } from './design/feedback.tsx';
import { Icon, type IconName } from './design/icon.tsx';
import { Lazy } from './design/lazy.tsx';
import { Menu } from './design/menu.tsx';
import { Offers } from './inbox/panel/offers.tsx';
import { startWatching } from './inbox/watch.ts';
import { isCutOff, reconnectNow } from './live.ts';
import { navigate, path } from './location.ts';
import { newMail, writeMail } from './new-mail.ts';
import { dismiss, holdNotices, notices, notifyFailure } from './notices.ts';
import { MailNote } from './provider-notes.tsx';
import type { AgentStatus, Role } from './records.ts';
import { openPalette, openShortcuts, Palette } from './search/palette.tsx';
import { mayWriteFirst, me, setStatus, signOut } from './session.ts';
import { sectionCommands } from './settings/sections.ts';
import { chooseTheme, theme } from './theme.ts';
import { cappedCountOf } from './times.ts';
import { callCount, waitingCount } from './title.ts';

interface Place {
  readonly label: string;
  readonly path: string;
  readonly icon: IconName;
  readonly key: string;
}

const places: readonly Place[] = [
  { label: 'Inbox', path: '/inbox', icon: 'inbox', key: 'i' },
  { label: 'Calls', path: '/calls', icon: 'call', key: 'c' },
  { label: 'Contacts', path: '/contacts', icon: 'people', key: 'p' },
  { label: 'Reports', path: '/reports', icon: 'chart', key: 'r' },
  { label: 'Settings', path: '/settings', icon: 'settings', key: 's' },
];

const statuses: readonly { readonly status: AgentStatus; readonly label: string }[] = [
  { status: 'available', label: 'Available' },
  { status: 'away', label: 'Away' },
  { status: 'offline', label: 'Offline' },
];

export function Shell({ children }: { readonly children: ComponentChildren }): JSX.Element {
  useEffect(startWatching, []);
  const role = me.value?.agent.role;
  const takesCalls = worksWithCalls.value;
  const mayWrite = mayWriteFirst.value;
  useCommands(
    () => (role === undefined ? [] : commandsOf(role, { takesCalls, mayWrite })),
    [role, takesCalls, mayWrite],
  );
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <Rail />
      <div class="shell-page">
        <div>
          <ConnectionLine />
          <MailNote />
        </div>
        <CallBanner />
        <Offers />
        <main id="main" tabIndex={-1}>
          {children}
        </main>
      </div>
      <Palette />
      {newMail.value !== undefined && <Lazy load={newMailDialog} props={{ asked: newMail.value }} />}
      <Notices />
    </div>
  );
}

const newMailDialog = async () => (await import('./inbox/mail/new-mail-dialog.tsx')).NewMailDialog;

function placesOf(takesCalls: boolean): readonly Place[] {
  return places.filter(({ path: to }) => to !== '/calls' || takesCalls);
}

function commandsOf(
  role: Role,
  { takesCalls, mayWrite }: { takesCalls: boolean; mayWrite: boolean },
): readonly Command[] {
  return [
    ...placesOf(takesCalls).map(({ label, path: to, key }) => ({
      id: `go.${key}`,
      title: `Go to ${label.toLowerCase()}`,
      group: 'Go to',
      keys: [`g ${key}`],
      run: () => navigate(to),
    })),
    {
      id: 'palette.open',
      title: 'Find a command',
      group: 'Help',
      keys: ['mod+k'],
      whileTyping: true,
      run: openPalette,
    },
    ...(mayWrite
      ? [
          {
            id: 'mail.new',
            title: 'New email',
            group: 'Conversation',
            keys: ['c'],
            words: 'write mail ticket',
            run: () => writeMail(),
          },
        ]
      : []),
    { id: 'shortcuts.show', title: 'Show keyboard shortcuts', group: 'Help', keys: ['?'], run: openShortcuts },
    {
      id: 'search.open',
      title: 'Search conversations',
      group: 'Go to',
      keys: ['/', 'g f'],
      run: () => navigate('/search'),
    },
    ...(role === 'admin'
      ? [
          {
            id: 'welcome.open',
            title: 'Getting started',
            group: 'Go to',
            words: 'welcome guide first steps',
            run: () => navigate('/welcome'),
          },
        ]
      : []),
    ...statuses.map(({ status, label }) => ({
      id: `status.${status}`,
      title: `Set status to ${label.toLowerCase()}`,
      group: 'You',
      run: () => void choose(status),
    })),
    { id: 'theme.light', title: 'Light colours', group: 'You', words: 'theme', run: () => chooseTheme('light') },
    { id: 'theme.dark', title: 'Dark colours', group: 'You', words: 'theme', run: () => chooseTheme('dark') },
    {
      id: 'theme.system',
      title: 'System colours',
      group: 'You',
      words: 'theme',
      run: () => chooseTheme('system'),
    },
    {
      id: 'account.open',
      title: 'Your account',
      group: 'You',
      words: 'password profile',
      run: () => navigate('/account'),
    },
    { id: 'session.signOut', title: 'Sign out', group: 'You', run: signOut },
    ...sectionCommands(role),
  ];
}

function Rail(): JSX.Element {
  const current = path.value;
  return (
    <nav class="rail" aria-label="Main">
      <ul>
        {placesOf(worksWithCalls.value).map(({ label, path: to, icon }) => (
          <li key={to}>
            <a href={to} aria-current={current === to || current.startsWith(`${to}/`) ? 'page' : undefined}>
              <Icon name={icon} size={22} />
              <span>{label}</span>
              {to === '/inbox' && <Waiting count={waitingCount.value} what="waiting" />}
              {to === '/calls' && <Waiting count={callCount.value} what="missed" />}
            </a>
          </li>
        ))}
      </ul>
      <div class="rail-end">
        {mayWriteFirst.value && <IconButton icon="edit" label="New email" onClick={() => writeMail()} />}
        <IconButton icon="search" label="Search and commands" onClick={openPalette} />
        <Own />
      </div>
    </nav>
  );
}

function Waiting({ count, what }: { readonly count: number; readonly what: string }): JSX.Element | null {
  if (count === 0) return null;
  return (
    <span class="count" aria-label={`${cappedCountOf(count)} ${what}`}>
      {count > 99 ? '99+' : count}
    </span>
  );
}

/** The agent's menu: its status, its account and signing out. */
function Own(): JSX.Element | null {
  const current = me.value;
  if (current === undefined) return null;
  const { agent, workspace } = current;
  return (
    <Menu
      label={`${agent.name}, ${agent.status}`}
      class="own"
      align="start"
      above
      items={[
        ...statuses.map(({ status, label }) => ({
          label,
          checked: agent.status === status,
          icon: <span class={`dot ${status}`} />,
          run: () => void choose(status),
        })),
        { kind: 'line' },
        { kind: 'link', label: 'Your account', hint: workspace.name, href: '/account' },
        { label: 'Keyboard shortcuts', hint: '?', run: openShortcuts },
        ...(['system', 'light', 'dark'] as const).map((one) => ({
          label: { system: 'System colours', light: 'Light', dark: 'Dark' }[one],
          checked: theme.value === one,
          run: () => chooseTheme(one),
        })),
        { kind: 'line' },
        { label: 'Sign out', run: signOut },
      ]}
    >
      <Avatar name={agent.name} url={agent.avatarUrl} presence={agent.status} />
    </Menu>
  );
}

async function choose(status: AgentStatus): Promise<void> {
  try {
    await setStatus(status);
  } catch (error) {
    notifyFailure(error);
  }
}

function ConnectionLine(): JSX.Element {
  return (
    <div role="status" class="connection">
      {isCutOff.value && (
        <p>
          No connection. This page may be out of date and will update automatically.
          <Button small kind="quiet" onClick={reconnectNow}>
            Try now
          </Button>
        </p>
      )}
    </div>
  );
}

/** A button that is removed sends no event for the focus or the pointer that it had. */
function takeAway(id: number): void {
  dismiss(id);
  holdNotices(false);
}

function Notices(): JSX.Element {
  return (
    <div
      class="notices"
      role="log"
      aria-live="polite"
      aria-label="Notices"
      onMouseEnter={() => holdNotices(true)}
      onMouseLeave={() => holdNotices(false)}
      onFocusIn={() => holdNotices(true)}
      onFocusOut={() => holdNotices(false)}
    >
      {notices.value.map(({ id, kind, text, action }) => (
        <div class={`notice ${kind}`} key={id}>
          <p>{text}</p>
          {action !== undefined && (
            <Button
              small
              onClick={() => {
                takeAway(id);
                action.run();
              }}
            >
              {action.label}
            </Button>
          )}
          <IconButton icon="cross" small label="Dismiss" onClick={() => takeAway(id)} />
        </div>
      ))}
    </div>
  );
}

export function NotFound(): JSX.Element {
  return (
    <main class="page">
      <Empty icon="info" title="Page not found">
        <p>The link may be wrong, or the page no longer exists.</p>
        <ButtonLink href="/inbox" kind="primary">
          To the inbox
        </ButtonLink>
      </Empty>
    </main>
  );
}
