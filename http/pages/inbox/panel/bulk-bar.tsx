// What can be done with the selected conversations of a list, in its header. Loaded when the first one is selected.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Command, keysForReading, useCommands } from '../../commands.ts';
import { IconButton } from '../../design/button.tsx';
import type { IconName } from '../../design/icon.tsx';
import { useLatest } from '../../design/steady.ts';
import { countOf } from '../../times.ts';
import type { List } from '../lists.ts';
import { endSelecting, selectAll, selectedIn } from '../selection.ts';
import { BulkAssignDialog, BulkTagsDialog } from './bulk-dialogs.tsx';
import { moveTo, restore } from './changes.ts';
import { changeTogether, progress } from './together.ts';

interface Action {
  readonly id: string;
  readonly title: string;
  readonly keys: string;
  readonly icon: IconName;
  readonly run: (ids: readonly string[]) => void;
}

export function BulkBar({ list }: { readonly list: List }): JSX.Element {
  const [asked, setAsked] = useState<'assign' | 'tags' | undefined>(undefined);
  const ids = selectedIn(list);
  const under = progress.value;
  const actions = actionsOf(list.definition.source, setAsked);
  const run = useLatest((action: Action) => {
    if (ids.length > 0 && under === undefined) action.run(ids);
  });
  const makeCommands = useLatest((): Command[] => [
    ...actions.map((action) => ({
      id: `selected.${action.id}`,
      title: `${action.title}: the selected conversations`,
      group: 'Selected conversations',
      keys: [action.keys],
      run: () => run(action),
    })),
    {
      id: 'selected.end',
      title: 'Clear the selection',
      group: 'Selected conversations',
      keys: ['escape'],
      run: endSelecting,
    },
  ]);
  useCommands(() => makeCommands(), [list.definition.source]);
  return (
    <div class="inbox-bulk" role="toolbar" aria-label="Selected conversations">
      <IconButton icon="cross" label="Clear the selection (Esc)" onClick={endSelecting} />
      <p class="truncate" role="status">
        {under === undefined ? `${countOf(ids.length)} selected` : `${under.done} of ${under.total}…`}
      </p>
      <IconButton icon="list" label="Select all" disabled={under !== undefined} onClick={() => void selectAll(list)} />
      {actions.map((action) => (
        <IconButton
          key={action.id}
          icon={action.icon}
          label={`${action.title} (${keysForReading(action.keys)})`}
          disabled={ids.length === 0 || under !== undefined}
          onClick={() => run(action)}
        />
      ))}
      {asked === 'assign' && <BulkAssignDialog ids={ids} onClose={() => setAsked(undefined)} />}
      {asked === 'tags' && <BulkTagsDialog ids={ids} onClose={() => setAsked(undefined)} />}
    </div>
  );
}

function actionsOf(source: List['definition']['source'], ask: (what: 'assign' | 'tags') => void): readonly Action[] {
  const solve: Action = {
    id: 'solve',
    title: 'Solve',
    keys: 'e',
    icon: 'check',
    run: (ids) =>
      void changeTogether({
        ids,
        change: (one) => moveTo(one, 'solved'),
        done: 'solved',
        undo: (before) => restore(before, before.status),
      }),
  };
  const spam: Action = {
    id: 'spam',
    title: 'Mark as spam',
    keys: '!',
    icon: 'block',
    run: (ids) =>
      void changeTogether({
        ids,
        change: (one) => moveTo(one, 'spam'),
        done: 'marked as spam',
        undo: (before) => restore(before, before.status),
      }),
  };
  const reopen: Action = {
    id: 'reopen',
    title: source === 'spam' ? 'Not spam' : 'Reopen',
    keys: 'e',
    icon: 'inbox',
    run: (ids) => void changeTogether({ ids, change: (one) => moveTo(one, 'open'), done: 'reopened' }),
  };
  const tags: Action = { id: 'tags', title: 'Change tags', keys: 't', icon: 'tag', run: () => ask('tags') };
  const assign: Action = { id: 'assign', title: 'Assign', keys: 'a', icon: 'transfer', run: () => ask('assign') };
  if (source === 'queue') return [assign, tags, solve, spam];
  return source === 'solved' ? [tags, reopen] : [reopen];
}
