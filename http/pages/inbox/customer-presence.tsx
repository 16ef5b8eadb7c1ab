// Whether the customer of a chat is there: now, typing, or since when gone.

import type { JSX } from 'preact';
import { Time } from '../design/time.tsx';
import type { AgentStatus, Conversation } from '../records.ts';
import { timeInSentence } from '../times.ts';
import { visitorOf } from './customers.ts';
import { typists } from './typing.ts';

/** The lamp at the customer's picture, while its browser is connected. */
export function lampOf({ visitorId }: Pick<Conversation, 'visitorId'>): AgentStatus | undefined {
  return visitorOf(visitorId)?.isOnline === true ? 'available' : undefined;
}

/** Nothing for tickets and calls: mails and phones have no presence. */
export function CustomerPresence({
  conversation: { id, channel, visitorId },
}: {
  readonly conversation: Pick<Conversation, 'id' | 'channel' | 'visitorId'>;
}): JSX.Element | null {
  const visitor = visitorOf(visitorId);
  if (visitor === undefined || channel !== 'chat') return null;
  const isTyping = typists.value.some(
    ({ conversationId, senderType }) => conversationId === id && senderType === 'visitor',
  );
  if (isTyping) return <span>typing</span>;
  if (visitor.isOnline) return <span>here now</span>;
  return (
    <span>
      left <Time at={visitor.lastSeenAt} format={timeInSentence} />
    </span>
  );
}
