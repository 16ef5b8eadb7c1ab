// The lists of the inbox with their counts: at the side, or in a menu on narrow screens.

import { useComputed } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import { Menu, type MenuItem } from '../design/menu.tsx';
import { useRoving } from '../design/roving.ts';
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

/** A group of more lists is drawn after the list that is shown, and is one stop of the Tab key. */
const maxShort = 30;

/** `list` is the one that is shown. */
export function ListNav({ list }: { readonly list: List }): JSX.Element {
  const isAfterList = useAfter(['more', 'complete', 'failed'].includes(list.pager.state.value));
  const all = definitions.value;
  return (
    <nav class="inbox-lists" aria-label="Lists">
      {(['yours', 'views', 'channels', 'departments', 'over'] as const).map((group) => {
        const lists = all.filter((definition) => definition.group === group);
        const isLong = lists.length > maxShort;
        if (lists.length === 0 || (isLong && !isAfterList)) return null;
        const links = lists.map((definition) => (
          <ListLink key={definition.key} definition={definition} isCurrent={definition.key === list.definition.key} />
        ));
        return (
          <div key={group}>
            <h2>{groupNames[group]}</h2>
            {isLong ? <LongList>{links}</LongList> : <ul>{links}</ul>}
          </div>
        );
      })}
    </nav>
  );
}

/** True once the page was drawn with `isDone`, and from then on. */
function useAfter(isDone: boolean): boolean {
  const [isAfter, setAfter] = useState(false);
  useEffect(() => {
    if (isDone) setAfter(true);
  }, [isDone]);
  return isAfter;
}

function LongList({ children }: { readonly children: readonly JSX.Element[] }): JSX.Element {
  const list = useRef<HTMLUListElement>(null);
  const roving = useRoving(list, 'li');
  return (
    <ul ref={list} {...roving}>
      {children}
    </ul>
  );
}

/** Follows its own number, so that a change of one draws one. */
function ListLink({
  definition,
  isCurrent,
}: {
  readonly definition: ListDefinition;
  readonly isCurrent: boolean;
}): JSX.Element {
  const { key, icon, label } = definition;
  const count = useComputed(() => countIn(definition));
  return (
    <li>
      <a href={`/inbox/${key}`} aria-current={isCurrent ? 'page' : undefined}>
        <Icon name={icon} size={18} />
        <span class="truncate" title={label}>
          {label}
        </span>
        <span class="inbox-count">{count.value}</span>
      </a>
    </li>
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
