// One list of the inbox: only visible rows are drawn, with keyboard navigation, loading more on scrolling.

import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { useCommands } from '../commands.ts';
import { Button, ButtonLink } from '../design/button.tsx';
import { Empty, Failure, Loading } from '../design/feedback.tsx';
import { useLatest } from '../design/steady.ts';
import { rowOf, VirtualList, type VirtualListHandle } from '../design/virtual-list.tsx';
import { navigate } from '../location.ts';
import { ConversationRow } from './conversation-row.tsx';
import { peekConversation } from './conversations.ts';
import { countOfList } from './counts.ts';
import { expectCustomers } from './customers.ts';
import { addressIn, type List, listOf } from './lists.ts';
import { endSelecting, isSelected, isSelecting, select, selectTo, toggle } from './selection.ts';

export const rowHeight = 84;
/** Of a new list. On the largest screens, and as many as one request for customers may name. */
const drawnSoon = 50;

export function ConversationList({
  list,
  conversationId,
}: {
  readonly list: List;
  readonly conversationId: string | undefined;
}): JSX.Element {
  const { key, label } = list.definition;
  const { pager } = list;
  const rows = list.rows;
  const handle = useRef<VirtualListHandle>(null);
  const state = pager.state.value;
  // All rows that were read may have left the list.
  const isPaused = state === 'more' && list.isPaused.value;
  const isToRead = state === 'waiting' || (state === 'more' && rows.length === 0 && !isPaused);
  useEffect(() => {
    if (isToRead) void pager.next();
  }, [pager, isToRead]);

  // One request for the customers of the rows in sight and of those that are drawn after them.
  const expectFirst = useLatest(() => expectCustomers(rows.slice(0, drawnSoon).map(({ id }) => peekConversation(id))));
  const hasRows = rows.length > 0;
  useLayoutEffect(() => {
    if (hasRows) expectFirst();
  }, [hasRows]);

  /** Where the open one is, or was before it left the list: the next one is there now. */
  const leftAt = useRef(-1);
  const openAt = conversationId === undefined ? -1 : list.indexOf(conversationId);
  if (conversationId === undefined || openAt >= 0) leftAt.current = openAt;

  useEffect(() => endSelecting, []);
  const move = useLatest((step: 1 | -1) => {
    const focused = rowOf(document.activeElement);
    const open = conversationId === undefined ? -1 : list.indexOf(conversationId);
    const gone = leftAt.current;
    const from = open >= 0 ? open + step : gone >= 0 ? (step === 1 ? gone : gone - 1) : step === 1 ? 0 : -1;
    handle.current?.focusRow(focused === undefined ? from : focused + step);
  });
  const selectHere = useLatest(() => {
    const id = list.rows[rowOf(document.activeElement) ?? -1]?.id ?? conversationId;
    if (id !== undefined && list.indexOf(id) >= 0) toggle(id);
    else isSelecting.value = true;
  });
  useCommands(
    () => [
      { id: 'list.next', title: 'Next conversation', group: 'List', keys: ['j'], run: () => move(1) },
      { id: 'list.previous', title: 'Previous conversation', group: 'List', keys: ['k'], run: () => move(-1) },
      {
        id: 'list.select',
        title: 'Select conversations',
        group: 'List',
        keys: ['x'],
        words: 'bulk several together',
        run: selectHere,
      },
      ...(conversationId === undefined
        ? []
        : [
            {
              id: 'list.back',
              title: 'Back to the list',
              group: 'List',
              keys: ['u'],
              run: () => navigate(addressIn(key)),
            },
          ]),
    ],
    [key, conversationId],
  );

  if (rows.length === 0) {
    if (state === 'failed') return <Failure error={pager.failure} retry={() => void pager.next()} />;
    if (isPaused)
      return (
        <Empty icon="filter" title="Nothing found so far">
          <p>The newest conversations of the list do not fit these filters.</p>
          <Button onClick={() => list.readOn()}>Look further</Button>
        </Empty>
      );
    if (state !== 'complete') return <Loading lines={8} label="Loading conversations" />;
    return <Nothing list={list} />;
  }
  return (
    <div
      class={isSelecting.value ? 'inbox-rows selecting' : 'inbox-rows'}
      onKeyDown={(event) => extend(event, list, handle.current)}
      onClickCapture={(event) => pick(event, list)}
    >
      <VirtualList
        label={label}
        count={rows.length}
        rowHeight={rowHeight}
        keyOf={(index) => rows[index]?.id ?? ''}
        indexOf={(id) => list.indexOf(id)}
        render={(id) => (
          <ConversationRow conversationId={id} href={addressIn(key, id)} isCurrent={id === conversationId} />
        )}
        onEnd={() => void pager.next()}
        onComing={({ first, end }) => {
          expectCustomers(rows.slice(first, end).map(({ id }) => peekConversation(id)));
          // Scrolling: the next page comes before its first row does.
          if (end >= rows.length && pager.state.peek() === 'more') void pager.next();
        }}
        handle={handle}
        currentKey={conversationId}
      >
        {state === 'reading' && <Loading lines={2} label="Loading more" />}
        {state === 'failed' && <Failure error={pager.failure} retry={() => void pager.next()} />}
        {isPaused && <Button onClick={() => list.readOn()}>Look further</Button>}
      </VirtualList>
    </div>
  );
}

/** Shift with an arrow selects the row and the one it goes to; the space bar selects while there are boxes. */
function extend(event: KeyboardEvent, list: List, handle: VirtualListHandle | null): void {
  const row = rowOf(event.target);
  const id = row === undefined ? undefined : list.rows[row]?.id;
  if (row === undefined || id === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.shiftKey && step !== undefined) {
    const next = list.rows[row + step]?.id;
    select(next === undefined ? [id] : [id, next]);
    handle?.focusRow(row + step);
  } else if (event.key === ' ' && isSelecting.peek() && event.target instanceof HTMLAnchorElement) toggle(id);
  else return;
  event.preventDefault();
}

/** A click on a row's picture or box selects it; with Shift, everything up to there. */
function pick(event: MouseEvent, list: List): void {
  const row = rowOf(event.target);
  const id = row === undefined ? undefined : list.rows[row]?.id;
  if (id === undefined || !(event.target instanceof Element)) return;
  const box = event.target.closest('input');
  const isRange = event.shiftKey && isSelecting.peek();
  // A click on a box's label is followed by one on the box.
  if (box === null && !isRange && event.target.closest('.avatar') === null) return;
  if (isRange) selectTo(list, id);
  else toggle(id);
  if (box === null) event.preventDefault();
  else box.checked = isSelected(id);
}

const nothing: Readonly<Record<string, { readonly title: string; readonly text: string }>> = {
  mine: { title: 'Nothing is waiting for you', text: 'Conversations assigned to you appear here.' },
  unassigned: { title: 'Everything is assigned', text: 'Conversations without an agent appear here.' },
  solved: {
    title: 'Nothing is solved yet',
    text: 'Solved conversations appear here and close automatically after a week.',
  },
  spam: { title: 'No spam', text: 'Conversations marked as spam appear here. You can restore them.' },
};

function Nothing({ list }: { readonly list: List }): JSX.Element {
  const { key, label } = list.definition;
  const hasAny = (countOfList('all') ?? 0) > 0;
  const hasUnassigned = (countOfList('unassigned') ?? 0) > 0;
  if (list !== listOf(key))
    return (
      <Empty icon="filter" title="Nothing matches">
        <p>No open conversation fits these filters. New ones that do appear here.</p>
        <ButtonLink href={`/inbox/${key}`}>Show the whole list</ButtonLink>
      </Empty>
    );
  const { title, text } = nothing[key] ?? {
    title: `Nothing in ${list.definition.viewId === undefined ? label.toLowerCase() : label}`,
    text: 'New conversations appear here automatically.',
  };
  return (
    <Empty icon={list.definition.icon} title={title}>
      <p>{text}</p>
      {key !== 'solved' &&
        key !== 'spam' &&
        (hasAny ? (
          key !== 'all' && (
            <ButtonLink href={key === 'mine' && hasUnassigned ? '/inbox/unassigned' : '/inbox/all'}>
              {key === 'mine' && hasUnassigned ? 'See unassigned' : 'See all open'}
            </ButtonLink>
          )
        ) : (
          <ButtonLink href="/welcome">Put the chat on your site</ButtonLink>
        ))}
    </Empty>
  );
}
