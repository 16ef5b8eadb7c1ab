// The pages of calls: the list with its filters, the voicemails, and one call.

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { ButtonLink } from '../design/button.tsx';
import { Empty } from '../design/feedback.tsx';
import { Icon } from '../design/icon.tsx';
import { Menu } from '../design/menu.tsx';
import { Tabs } from '../design/tabs.tsx';
import { query } from '../location.ts';
import { isNotifying, isRinging, permission, setNotifying, setRinging } from '../notifications.ts';
import { SimulationNote } from '../provider-notes.tsx';
import { hasRole, me } from '../session.ts';
import { setTitle } from '../title.ts';
import { CallFilters } from './call-filters.tsx';
import { type CallView, filterOf } from './call-list.ts';
import { CallPage } from './call-page.tsx';
import { CallRows } from './call-rows.tsx';
import { worksWithCalls } from './live-calls.ts';
import { numbers, readNumbers } from './numbers.ts';
import { Voicemails } from './voicemails.tsx';

const views: readonly { readonly view: CallView; readonly label: string; readonly href: string }[] = [
  { view: 'all', label: 'All calls', href: '/calls' },
  { view: 'callback', label: 'To call back', href: '/calls?view=callback' },
  { view: 'voicemails', label: 'Voicemails', href: '/calls?view=voicemails' },
];

export function Calls({ params }: { readonly params: Readonly<Record<string, string>> }): JSX.Element | null {
  const { conversationId } = params;
  useEffect(() => void readNumbers(), []);
  if (me.value === undefined) return null;
  if (!worksWithCalls.value) {
    return (
      <div class="page">
        <Empty icon="call" title="You do not work in the calls channel">
          <p>An admin can change this under Settings, Agents.</p>
        </Empty>
      </div>
    );
  }
  return conversationId === undefined ? <Lists /> : <CallPage key={conversationId} conversationId={conversationId} />;
}

function Lists(): JSX.Element {
  const filter = filterOf(query.value);
  useEffect(() => setTitle('Calls'), []);
  return (
    <div class="page">
      <header>
        <div>
          <h1>Calls</h1>
          <p>
            {numbers.value.size === 0
              ? 'Calls to your numbers are shown here.'
              : `Calls to ${[...numbers.value.values()]
                  .map(({ displayName }) => displayName)
                  .slice(0, 4)
                  .join(', ')}${numbers.value.size > 4 ? ' and others' : ''} are shown here.`}
          </p>
        </div>
        <div class="row">
          <AlertMenu />
          {hasRole('admin') && (
            <ButtonLink href="/settings/phone-numbers" kind="quiet" icon="settings">
              Numbers
            </ButtonLink>
          )}
        </div>
      </header>
      <SimulationNote />
      <Tabs
        label="Call lists"
        tabs={views.map(({ view, label, href }) => ({ href, label, isCurrent: filter.view === view }))}
      />
      {filter.view === 'voicemails' ? (
        <Voicemails />
      ) : (
        <>
          <CallFilters filter={filter} />
          <CallRows filter={filter} />
        </>
      )}
    </div>
  );
}

/** The alerts for ringing calls, besides the banner. */
function AlertMenu(): JSX.Element {
  const isPossible = permission.value === 'default' || permission.value === 'granted';
  return (
    <Menu
      label="Call alerts"
      items={[
        { label: 'Ring tone', checked: isRinging.value, isToggle: true, run: () => setRinging(!isRinging.peek()) },
        {
          label:
            permission.value === 'denied'
              ? 'Notifications are blocked by your browser'
              : isPossible
                ? 'Desktop notifications'
                : 'No notifications in this browser',
          checked: isNotifying.value,
          isToggle: true,
          disabled: !isPossible,
          run: () => void setNotifying(!isNotifying.peek()),
        },
      ]}
    >
      <Icon name="bell" size={18} />
      Alerts
    </Menu>
  );
}
