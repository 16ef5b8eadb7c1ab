// The lists of the inbox with their counts: at the side, or in a menu on narrow screens.

import type { JSX } from 'preact';
import { Icon } from '../design/icon.tsx';
import { Menu, type MenuItem } from '../design/menu.tsx';
import { cappedCountOf } from '../times.ts';
import { countOfList } from './counts.ts';
import { definitions, type ListDefinition } from './list-definitions.ts';
import type { List } from './lists.ts';

const groupNames = {
  yours: 'Open',
  views: 'Views',
  channels: 'Channels',
  departments: 'Departments',
  over: 'Done',
} as const;

/** Undefined for none, and while it is unknown. Only open conversations are counted. */
function countIn({ key }: ListDefinition): string | undefined {
  const count = countOfList(key) ?? 0;
  return count === 0 ? undefined : cappedCountOf(count);
}

export function ListNav({ current }: { readonly current: string }): JSX.Element {
  const all = definitions.value;
  return (
    <nav class="inbox-lists" aria-label="Lists">
      {(['yours', 'views', 'channels', 'departments', 'over'] as const).map((group) => {
        const shown = all.filter((definition) => definition.group === group);
        return shown.length === 0 ? null : (
          <div key={group}>
            <h2>{groupNames[group]}</h2>
            <ul>
              {shown.map((definition) => (
                <li key={definition.key}>
                  <a href={`/inbox/${definition.key}`} aria-current={definition.key === current ? 'page' : undefined}>
                    <Icon name={definition.icon} size={18} />
                    <span class="truncate" title={definition.label}>
                      {definition.label}
                    </span>
                    <span class="inbox-count">{countIn(definition)}</span>
                  </a>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}

export function ListMenu({ list }: { readonly list: List }): JSX.Element {
  const items = definitions.value.flatMap((definition, index, all): MenuItem[] => {
    const count = countIn(definition);
    const link: MenuItem = {
      kind: 'link',
      label: definition.label,
      href: `/inbox/${definition.key}`,
      icon: <Icon name={definition.icon} size={18} />,
      ...(count === undefined ? {} : { hint: count }),
    };
    return index > 0 && all[index - 1]?.group !== definition.group ? [{ kind: 'line' }, link] : [link];
  });
  return (
    <Menu label={`List: ${list.definition.label}`} class="button quiet inbox-list-menu" align="start" items={items}>
      <Icon name={list.definition.icon} size={18} />
      <span class="truncate">{list.definition.label}</span>
      <Icon name="down" size={16} />
    </Menu>
  );
}
