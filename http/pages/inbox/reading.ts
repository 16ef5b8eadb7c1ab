// Marks what the customer wrote as read once an agent has it before the eyes: the conversation is open, the page visible and focused.

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Conversation } from '../records.ts';
import { act } from './conversations.ts';
import { isUnread } from './merging.ts';

/** Whether somebody looks at this page. */
export const isLookedAt = signal(looks());

function looks(): boolean {
  return document.visibilityState === 'visible' && document.hasFocus();
}

const look = (): void => {
  isLookedAt.value = looks();
};
addEventListener('focus', look);
addEventListener('blur', look);
document.addEventListener('visibilitychange', look);

const underWay = new Set<string>();

/** `isThere`: its newest messages were read from the service. */
export function useReading(conversation: Conversation, isThere: boolean): void {
  const shallRead = isThere && isLookedAt.value && isUnread(conversation);
  useEffect(() => {
    if (!shallRead || underWay.has(conversation.id)) return;
    underWay.add(conversation.id);
    // What fails is asked for again with the next message, or the next look.
    act(conversation.id, 'read')
      .catch(() => undefined)
      .finally(() => underWay.delete(conversation.id));
  }, [shallRead, conversation.id, conversation.lastCustomerMessageAt]);
}
