// A conversation's timeline: only visible rows are drawn, older ones load on scrolling, new ones are announced.

import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { Button } from '../design/button.tsx';
import { Failure, Loading } from '../design/feedback.tsx';
import { ScrollBack } from '../design/scroll-back.tsx';
import { agentName } from '../people.ts';
import type { Conversation } from '../records.ts';
import { customerName } from './customers.ts';
import { outgoing } from './outgoing.ts';
import { readNewest, readOlder, type Thread } from './threads.ts';
import { type Item, itemsOf } from './timeline.ts';
import { senderName, TimelineItem } from './timeline-items.tsx';
import { typists } from './typing.ts';

const lineChars = 70;
const lineHeight = 21;

export function Timeline({
  conversation,
  thread,
}: {
  readonly conversation: Conversation;
  readonly thread: Thread;
}): JSX.Element {
  const messages = thread.messages.value;
  const notes = thread.notes.value;
  const onTheirWay = outgoing.value;
  const hasOlder = thread.older.value === 'more' || thread.older.value === 'reading';
  const { items, keys } = useMemo(() => {
    const made = itemsOf({
      messages,
      notes,
      outgoing: onTheirWay.filter(({ conversationId }) => conversationId === conversation.id),
      from: hasOlder ? messages[0]?.createdAt : undefined,
    });
    return { items: made, keys: made.map(({ key }) => key) };
  }, [messages, notes, onTheirWay, hasOlder, conversation.id]);

  if (thread.older.value === 'unknown') {
    return (
      <div class="inbox-timeline">
        {thread.failure.value === undefined ? (
          <Loading lines={6} label="Loading messages" />
        ) : (
          <Failure error={thread.failure.value} retry={() => void readNewest(thread)} />
        )}
      </div>
    );
  }
  const last = messages.at(-1);
  return (
    <div class="inbox-timeline">
      <ScrollBack
        label="Messages"
        keys={keys}
        guess={(index) => guessOf(items[index])}
        render={(index) => {
          const item = items[index];
          return item === undefined ? null : <TimelineItem item={item} conversation={conversation} />;
        }}
        follow={items.at(-1)?.kind === 'outgoing' ? items.at(-1)?.key : undefined}
        onBeginning={() => void readOlder(thread)}
        below={({ added, toEnd }) => {
          // Days, lines of the service and notes do not count as messages.
          const count = added === 0 ? 0 : items.slice(-added).filter(({ kind }) => kind === 'message').length;
          return (
            <Button small class="inbox-to-end" icon="down" onClick={toEnd}>
              {count === 0 ? 'Go to the newest message' : count === 1 ? '1 new message' : `${count} new messages`}
            </Button>
          );
        }}
      />
      {thread.failure.value !== undefined && (
        <Failure error={thread.failure.value} retry={() => void readNewest(thread)} />
      )}
      <p class="for-readers" role="status">
        {last !== undefined && last.senderType === 'visitor'
          ? `${senderName(last, conversation)}: ${last.body.slice(0, 300)}`
          : ''}
      </p>
      <Rating conversation={conversation} />
      <Typing conversation={conversation} />
    </div>
  );
}

/** A row's estimated height, from its content. */
function guessOf(item: Item | undefined): number {
  if (item === undefined) return 0;
  if (item.kind === 'day') return 52;
  if (item.kind === 'line') return 30;
  const text = item.kind === 'message' ? item.message.body : item.kind === 'note' ? item.note.body : item.outgoing.body;
  const lines = text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / lineChars)), 0);
  return lines * lineHeight + (item.kind === 'message' && !item.isFirst ? 22 : 50);
}

/** The customer's rating and comment. */
function Rating({
  conversation: { rating, ratingComment },
}: {
  readonly conversation: Conversation;
}): JSX.Element | null {
  if (rating === null || ratingComment === null) return null;
  return (
    <figure class="inbox-rating">
      <figcaption class="soft">Rated {rating} of 5</figcaption>
      <blockquote>{ratingComment}</blockquote>
    </figure>
  );
}

function Typing({ conversation }: { readonly conversation: Conversation }): JSX.Element {
  const names = typists.value
    .filter(({ conversationId }) => conversationId === conversation.id)
    .map(({ senderType, senderId }) => (senderType === 'visitor' ? customerName(conversation) : agentName(senderId)));
  return (
    <p class="inbox-typing" role="status">
      {names.length > 0 && `${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} typing…`}
    </p>
  );
}
