// What sorts and narrows a list of open conversations: a menu at its head, and the filters that hold as chips. They are
// in the address, so a link or a reload keeps them.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { keysForReading, useCommands } from '../commands.ts';
import { IconButton } from '../design/button.tsx';
import { Badge } from '../design/feedback.tsx';
import { Icon } from '../design/icon.tsx';
import { LazyDialog, type Load } from '../design/lazy.tsx';
import { Menu, type MenuItem } from '../design/menu.tsx';
import { query, setQuery } from '../location.ts';
import { hasRole } from '../session.ts';
import { countOf } from '../times.ts';
import { type List, listOf } from './lists.ts';
import { narrowingOf, queryOf, type Sort, sortNames } from './narrowing.ts';
import { isSelecting } from './selection.ts';
import type { ViewDialogProps } from './view-dialogs.tsx';
import { views, wordsOf } from './views.ts';

const sorts: readonly Sort[] = ['newest', 'oldest', 'longest_waiting'];
const menuClass = 'inbox-filter-menu';
const dialogs: Load<ViewDialogProps> = async () => (await import('./view-dialogs.tsx')).ViewDialogs;

export function ListFilter({ list }: { readonly list: List }): JSX.Element | null {
  const [asked, ask] = useState<ViewDialogProps['asked'] | undefined>(undefined);
  const { key, source, viewId, sort: sorted = 'newest' } = list.definition;
  useCommands(
    () =>
      source !== 'queue'
        ? []
        : [
            {
              id: 'list.filter',
              title: 'Filter the list',
              group: 'List',
              words: 'narrow tag site',
              run: () => ask('filter'),
            },
            {
              id: 'list.save',
              title: 'Save the list as a view',
              group: 'List',
              words: 'filter',
              run: () => ask('save'),
            },
          ],
    [key, source],
  );
  const select: MenuItem = {
    label: 'Select conversations',
    hint: keysForReading('x'),
    run: () => void (isSelecting.value = true),
  };
  if (source !== 'queue')
    return (
      <Menu label="More" class="button quiet icon-only" items={[select]}>
        <Icon name="more" size={18} />
      </Menu>
    );
  const view = views.value.find(({ id }) => id === viewId);
  const whole = listOf(key)?.definition.sort ?? 'newest';
  const items: MenuItem[] = [
    ...sorts.map(
      (sort): MenuItem => ({
        label: sortNames[sort],
        checked: sort === sorted,
        run: () => setQuery({ sort: sort === whole ? undefined : sort }),
      }),
    ),
    { kind: 'line' },
    { label: 'Filter…', run: () => ask('filter') },
    { label: 'Save as view…', run: () => ask('save') },
    { kind: 'line' },
    select,
  ];
  if (view !== undefined && (view.scope === 'own' || hasRole('supervisor')))
    items.push(
      { kind: 'line' },
      { label: 'Change this view…', run: () => ask('change') },
      { label: 'Delete this view…', danger: true, run: () => ask('delete') },
    );
  return (
    <>
      <Menu label="Sort and filter" class={`button quiet icon-only ${menuClass}`} items={items}>
        <Icon name="filter" size={18} />
      </Menu>
      {asked !== undefined && <LazyDialog load={dialogs} props={{ asked, list, onClose: () => ask(undefined) }} />}
    </>
  );
}

/** A view's own filters, and those of the address, which can be taken off. */
export function ListChips({ list }: { readonly list: List }): JSX.Element | null {
  const { key, source, viewId } = list.definition;
  if (source !== 'queue') return null;
  const { filter, sort } = narrowingOf(query.value);
  const whole = listOf(key)?.definition;
  const fixed = viewId === undefined ? [] : wordsOf(whole?.filter ?? {});
  const removable = [
    ...wordsOf(filter).map(({ name, text }) => ({ text, without: { [name]: undefined } })),
    ...(sort === undefined ? [] : [{ text: sortNames[sort], without: { sort: undefined } }]),
  ];
  if (fixed.length === 0 && removable.length === 0) return null;
  const remove = (without: object): void => {
    setQuery(queryOf({ filter: { ...filter, ...without }, sort: 'sort' in without ? undefined : sort }));
    // The button goes with its chip.
    document.querySelector<HTMLElement>(`.${menuClass}`)?.focus();
  };
  return (
    <div class="inbox-chips">
      <ul aria-label="Filters">
        {fixed.map(({ text }) => (
          <li key={text}>
            <Badge>{text}</Badge>
          </li>
        ))}
        {removable.map(({ text, without }) => (
          <li key={text} class="tag">
            <span class="truncate">{text}</span>
            <IconButton icon="cross" small label={`Remove: ${text}`} onClick={() => remove(without)} />
          </li>
        ))}
      </ul>
      <p class="for-readers" role="status">
        {countOf(list.rows.length)}
        {list.pager.state.value === 'complete' ? '' : '+'} open
      </p>
    </div>
  );
}
