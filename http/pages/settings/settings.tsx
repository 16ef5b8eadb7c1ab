// The frame of the settings: the list of sections at the side, on a phone as a menu, and the open one beside it.

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { ButtonLink } from '../design/button.tsx';
import { Empty } from '../design/feedback.tsx';
import { Icon } from '../design/icon.tsx';
import { Lazy } from '../design/lazy.tsx';
import { Menu } from '../design/menu.tsx';
import { navigate } from '../location.ts';
import { hasRole } from '../session.ts';
import { ownSections, type SettingsSection, sections } from './sections.ts';

export function Settings({ params }: { readonly params: Readonly<Record<string, string>> }): JSX.Element | null {
  const own = ownSections();
  const slug = params['section'];
  const section = own.find((one) => one.slug === slug);
  const first = own[0];
  useEffect(() => {
    if (slug === undefined && first !== undefined) navigate(`/settings/${first.slug}`, { replace: true });
  }, [slug, first]);
  if (slug === undefined) return null;
  return (
    <div class="settings">
      <nav class="settings-side" aria-label="Settings">
        <p class="settings-name">Settings</p>
        {groupsOf(own).map(([group, members]) => (
          <ul key={group} aria-label={group}>
            <li class="settings-group" aria-hidden="true">
              {group}
            </li>
            {members.map((one) => (
              <li key={one.slug}>
                <a href={`/settings/${one.slug}`} aria-current={one.slug === slug ? 'page' : undefined}>
                  <Icon name={one.icon} size={18} />
                  {one.title}
                </a>
              </li>
            ))}
          </ul>
        ))}
        {hasRole('admin') && (
          <p>
            <a href="/welcome">Getting started</a>
          </p>
        )}
      </nav>
      <div class="settings-menu">
        <Menu
          label={`Settings: ${section?.title ?? 'choose'}`}
          class="button"
          align="start"
          items={[
            ...own.map((one) => ({
              kind: 'link' as const,
              label: one.title,
              icon: <Icon name={one.icon} size={18} />,
              href: `/settings/${one.slug}`,
            })),
            ...(hasRole('admin') ? [{ kind: 'link' as const, label: 'Getting started', href: '/welcome' }] : []),
          ]}
        >
          <Icon name={section?.icon ?? 'settings'} size={18} />
          {section?.title ?? 'Settings'}
          <Icon name="down" size={16} />
        </Menu>
      </div>
      <div class="settings-section">
        {section === undefined ? (
          <Missing slug={slug} />
        ) : (
          <Lazy key={section.slug} load={section.load} props={{ item: params['item'] }} />
        )}
      </div>
    </div>
  );
}

/** By group, in the order of the table. */
function groupsOf(shown: readonly SettingsSection[]): readonly (readonly [string, readonly SettingsSection[]])[] {
  return [...new Set(shown.map(({ group }) => group))].map((group) => [
    group,
    shown.filter((one) => one.group === group),
  ]);
}

function Missing({ slug }: { readonly slug: string }): JSX.Element {
  const isThere = sections.some((one) => one.slug === slug);
  return (
    <div class="page">
      <h1 class="for-readers">Settings</h1>
      <Empty
        icon={isThere ? 'key' : 'info'}
        title={isThere ? 'Not available for your role' : 'This section does not exist'}
      >
        <p>{isThere ? 'An admin of your workspace can change this.' : 'The link may be wrong.'}</p>
        <ButtonLink href="/settings">To the settings</ButtonLink>
      </Empty>
    </div>
  );
}
