// The inbox: its lists, one of them, one conversation, and the customer beside it. A phone shows one of these at a
// time.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../api-error.ts';
import { ButtonLink } from '../design/button.tsx';
import { Empty, Failure, Loading } from '../design/feedback.tsx';
import { Lazy, type Load } from '../design/lazy.tsx';
import { useResource } from '../design/resource.ts';
import { navigate } from '../location.ts';
import { arePeopleRead, peopleFailure } from '../people.ts';
import type { Conversation } from '../records.ts';
import { me } from '../session.ts';
import { setTitle } from '../title.ts';
import { Composer } from './composer.tsx';
import { ConversationFacts } from './conversation-facts.tsx';
import { ConversationHeader } from './conversation-header.tsx';
import { ConversationList } from './conversation-list.tsx';
import { conversationOf, loadConversation } from './conversations.ts';
import { customerName } from './customers.ts';
import { definitions, isReachable } from './list-definitions.ts';
import { ListChips, ListFilter } from './list-filter.tsx';
import { ListMenu, ListNav } from './list-nav.tsx';
import { addressIn, type List, shownListOf } from './lists.ts';
import { NoteDialogs } from './note-dialogs.tsx';
import { NoticesMenu } from './notices-menu.tsx';
import { NoticesOffer } from './notices-offer.tsx';
import { CustomerPanel } from './panel/customer-panel.tsx';
import { HandshakeBanner } from './panel/handshake.tsx';
import { useReading } from './reading.ts';
import { isSelecting } from './selection.ts';
import { threadOf } from './threads.ts';
import { Timeline } from './timeline-view.tsx';
import { areViewsRead } from './views.ts';

const bulkBar: Load<{ readonly list: List }> = async () => (await import('./panel/bulk-bar.tsx')).BulkBar;

export function Inbox({ params }: { readonly params: Readonly<Record<string, string>> }): JSX.Element {
  const { list: key = 'mine', conversationId } = params;
  const list = shownListOf(key);
  const [isPanelOpen, setPanelOpen] = useState(() => innerWidth >= 1200);
  useEffect(() => {
    if (params['list'] === undefined) navigate('/inbox/mine', { replace: true });
    else if (conversationId === undefined && list !== undefined) setTitle(list.definition.label);
  }, [params['list'], conversationId, list]);
  // Departments load shortly after the page.
  if (list === undefined && key.startsWith('department-') && !arePeopleRead.value && peopleFailure.value === undefined)
    return <Loading />;
  const isView = key.startsWith('view-');
  if (list === undefined && isView && !areViewsRead.value) return <Loading />;
  if (list === undefined) {
    return (
      <Empty icon="list" title={isView ? 'This view does not exist' : 'This list does not exist'}>
        <p>
          {isView
            ? 'It may have been deleted, or it is another agent’s own.'
            : 'Its department may have been deleted, or you are not a member.'}
        </p>
        <ButtonLink href={`/inbox/${definitions.value[0]?.key ?? 'mine'}`}>To the inbox</ButtonLink>
      </Empty>
    );
  }
  return (
    <div class={`inbox ${conversationId === undefined ? '' : 'with-conversation'} ${isPanelOpen ? 'with-panel' : ''}`}>
      <ListNav list={list} />
      <section class="inbox-list" aria-label={list.definition.label}>
        <header>
          {conversationId === undefined ? (
            <h1 class="for-readers">{list.definition.label}</h1>
          ) : (
            <h2 class="for-readers">{list.definition.label}</h2>
          )}
          {isSelecting.value ? (
            <Lazy load={bulkBar} props={{ list }} />
          ) : (
            <>
              <ListMenu list={list} />
              <ListFilter list={list} />
              <NoticesMenu />
            </>
          )}
        </header>
        <NoticesOffer />
        <ListChips list={list} />
        <ConversationList key={addressIn(key)} list={list} conversationId={conversationId} />
      </section>
      {conversationId === undefined ? (
        <div class="inbox-nothing">
          <Empty icon="chat" title="Choose a conversation">
            <p>
              <kbd>J</kbd> and <kbd>K</kbd> move through the list, <kbd>Enter</kbd> opens.
            </p>
          </Empty>
        </div>
      ) : (
        <Opened
          key={conversationId}
          conversationId={conversationId}
          back={addressIn(key)}
          isPanelOpen={isPanelOpen}
          onPanel={() => setPanelOpen(!isPanelOpen)}
        />
      )}
    </div>
  );
}

interface OpenedProps {
  readonly conversationId: string;
  readonly back: string;
  readonly isPanelOpen: boolean;
  readonly onPanel: () => void;
}

function Opened({ conversationId, back, isPanelOpen, onPanel }: OpenedProps): JSX.Element {
  const conversation = conversationOf(conversationId);
  const agent = me.value?.agent;
  // Also loads a conversation known from a list: the record may be older than the conversation.
  const loaded = useResource((signal) => loadConversation(conversationId, signal), [conversationId]);
  const isOut = conversation !== undefined && agent !== undefined && !isReachable(conversation, agent);
  if (conversation !== undefined && !isOut) {
    return (
      <>
        <ConversationView conversation={conversation} back={back} isPanelOpen={isPanelOpen} onPanel={onPanel} />
        {isPanelOpen && <CustomerPanel conversation={conversation} />}
      </>
    );
  }
  // It was known and left this agent's reach; or it never existed.
  const isGone = isOut || (conversation === undefined && loaded.value !== undefined);
  if (isGone || (loaded.failure instanceof ApiError && [400, 403, 404].includes(loaded.failure.status))) {
    return (
      <div class="inbox-nothing">
        <Empty icon="info" title={isGone ? 'You can no longer see this conversation' : 'Conversation not found'}>
          <p>
            {isGone
              ? 'It moved to a department you are not in, or your channels have changed.'
              : 'It may belong to a department you are not in, or the link may be wrong.'}
          </p>
          <ButtonLink href={back}>Back to the list</ButtonLink>
        </Empty>
      </div>
    );
  }
  return (
    <div class="inbox-nothing">
      {loaded.failure === undefined ? <Loading /> : <Failure error={loaded.failure} retry={loaded.reload} />}
    </div>
  );
}

function ConversationView({
  conversation,
  back,
  isPanelOpen,
  onPanel,
}: Omit<OpenedProps, 'conversationId'> & { readonly conversation: Conversation }): JSX.Element {
  const thread = threadOf(conversation.id);
  const name = customerName(conversation);
  useEffect(() => setTitle(name), [name]);
  useReading(conversation, thread.older.value !== 'unknown');
  return (
    <section class="inbox-conversation" aria-label={`Conversation with ${name}`}>
      <ConversationHeader conversation={conversation} back={back} isPanelOpen={isPanelOpen} onPanel={onPanel} />
      <ConversationFacts conversation={conversation} />
      <HandshakeBanner conversation={conversation} />
      <Timeline conversation={conversation} thread={thread} />
      <Composer key={conversation.id} conversation={conversation} thread={thread} />
      <NoteDialogs key={`notes ${conversation.id}`} thread={thread} />
    </section>
  );
}
