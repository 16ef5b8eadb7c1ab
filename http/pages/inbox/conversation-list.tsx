// One list of the inbox: only visible rows are drawn, with keyboard navigation, loading more on scrolling.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useCommands } from '../commands.ts';
import { ButtonLink } from '../design/button.tsx';
import { Empty, Failure, Loading } from '../design/feedback.tsx';
import { useLatest } from '../design/steady.ts';
import { VirtualList, type VirtualListHandle } from '../design/virtual-list.tsx';
import { navigate } from '../location.ts';
import { ConversationRow } from './conversation-row.tsx';
import { peekConversation } from './conversations.ts';
import { expectCustomers } from './customers.ts';
import { type List, listOf, pagers, readOn } from './lists.ts';

export const rowHeight = 84;

export function ConversationList({
  list,
  conversationId,
}: {
  readonly list: List;
  readonly conversationId: string | undefined;
}): JSX.Element {
  const { key, label, source } = list.definition;
  const pager = pagers[source];
  const rows = list.rows;
  const handle = useRef<VirtualListHandle>(null);
  const address = (id: string): string => `/inbox/${key}/${id}`;
  const isUntouched = source !== 'queue' && pager.state.value === 'waiting';
  useEffect(() => {
    if (isUntouched) void pager.next();
  }, [pager, isUntouched]);

  const move = useLatest((step: 1 | -1) => {
    const focused =
      document.activeElement instanceof HTMLElement
        ? document.activeElement.closest<HTMLElement>('[data-row]')?.dataset['row']
        : undefined;
    const open = conversationId === undefined ? -1 : list.indexOf(conversationId);
    const index = focused === undefined ? (open < 0 ? (step === 1 ? 0 : -1) : open + step) : Number(focused) + step;
    handle.current?.focusRow(index);
  });
  useCommands(
    () => [
      { id: 'list.next', title: 'Next conversation', group: 'List', keys: ['j'], run: () => move(1) },
      { id: 'list.previous', title: 'Previous conversation', group: 'List', keys: ['k'], run: () => move(-1) },
      ...(conversationId === undefined
        ? []
        : [
            {
              id: 'list.back',
              title: 'Back to the list',
              group: 'List',
              keys: ['u'],
              run: () => navigate(`/inbox/${key}`),
            },
          ]),
    ],
    [key, conversationId],
  );

  if (rows.length === 0) {
    if (pager.state.value === 'failed') return <Failure error={pager.failure} retry={() => readOn(source)} />;
    if (pager.state.value !== 'complete') return <Loading lines={8} label="Loading conversations" />;
    return <Nothing list={list} />;
  }
  return (
    <div
      class="inbox-rows"
      onKeyDown={(event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        move(step === 1 ? 1 : -1);
      }}
    >
      <VirtualList
        label={label}
        count={rows.length}
        rowHeight={rowHeight}
        keyOf={(index) => rows[index]?.id ?? ''}
        indexOf={(id) => list.indexOf(id)}
        render={(id) => <ConversationRow conversationId={id} href={address(id)} isCurrent={id === conversationId} />}
        onEnd={() => readOn(source)}
        onComing={({ first, end }) => expectCustomers(rows.slice(first, end).map(({ id }) => peekConversation(id)))}
        handle={handle}
      >
        {pager.state.value === 'reading' && source !== 'queue' && <Loading lines={2} label="Loading more" />}
        {pager.state.value === 'failed' && <Failure error={pager.failure} retry={() => readOn(source)} />}
      </VirtualList>
    </div>
  );
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
  const hasAny = (listOf('all')?.rows.length ?? 0) > 0;
  const { title, text } = nothing[key] ?? {
    title: `Nothing in ${label.toLowerCase()}`,
    text: 'New conversations appear here automatically.',
  };
  return (
    <Empty icon={list.definition.icon} title={title}>
      <p>{text}</p>
      {key !== 'solved' &&
        key !== 'spam' &&
        (hasAny ? (
          key !== 'all' && (
            <ButtonLink
              href={key === 'mine' && (listOf('unassigned')?.rows.length ?? 0) > 0 ? '/inbox/unassigned' : '/inbox/all'}
            >
              {key === 'mine' && (listOf('unassigned')?.rows.length ?? 0) > 0 ? 'See unassigned' : 'See all open'}
            </ButtonLink>
          )
        ) : (
          <ButtonLink href="/welcome">Put the chat on your site</ButtonLink>
        ))}
    </Empty>
  );
}
