// Changes shown before the service confirms them: status and tags. A refused change is reverted and reported, with a
// retry.

import { signal } from '@preact/signals';
import { call } from '../../api.ts';
import { messageOf } from '../../api-error.ts';
import { notify } from '../../notices.ts';
import type { Conversation } from '../../records.ts';
import { act, loadConversation, peekConversation, remember } from '../conversations.ts';
import { mergedTags, type RequestedStatus } from './rules.ts';

type Shown = Partial<Pick<Conversation, 'status' | 'tags'>>;

interface Change {
  readonly path: string;
  readonly body?: object;
  readonly method?: 'POST' | 'PUT';
  /** The state shown until the answer. */
  readonly shown: Shown;
}

/** The number of unconfirmed changes of each conversation. */
export const unconfirmed = signal<ReadonlyMap<string, number>>(new Map());

function count(conversationId: string, step: 1 | -1): void {
  const left = (unconfirmed.peek().get(conversationId) ?? 0) + step;
  const next = new Map(unconfirmed.peek());
  if (left > 0) next.set(conversationId, left);
  else next.delete(conversationId);
  unconfirmed.value = next;
}

/** Resolves to the service's record, or undefined if it refused; `retry` is offered in the notice. */
async function change(
  { id }: Pick<Conversation, 'id'>,
  { path, body, method = 'POST', shown }: Change,
  retry: () => void,
): Promise<Conversation | undefined> {
  // Messages may have arrived since the button was drawn.
  const before = peekConversation(id);
  if (before !== undefined) remember({ ...before, ...shown });
  count(id, 1);
  try {
    return (await act(id, path, body, method)).conversation;
  } catch (error) {
    const now = peekConversation(id);
    // Other agents' changes in the meantime stay.
    if (before !== undefined && now !== undefined && now.version === before.version)
      remember({
        ...now,
        ...(shown.status === undefined ? {} : { status: before.status }),
        ...(shown.tags === undefined ? {} : { tags: before.tags }),
      });
    void loadConversation(id).catch(() => undefined);
    notify({ kind: 'problem', text: messageOf(error), action: { label: 'Try again', run: retry } });
    return undefined;
  } finally {
    count(id, -1);
  }
}

const told: Readonly<Record<RequestedStatus, string>> = {
  open: 'Reopened.',
  pending: 'Waiting for the customer.',
  solved: 'Solved.',
  spam: 'Marked as spam.',
};

export async function changeStatus(conversation: Conversation, status: RequestedStatus): Promise<void> {
  const before = conversation.status;
  const changed = await change(
    conversation,
    { path: 'status', body: { status }, shown: { status } },
    () => void changeStatus(conversation, status),
  );
  if (changed === undefined) return;
  const canUndo = status === 'solved' || status === 'spam';
  notify({
    kind: 'done',
    text: told[status],
    ...(canUndo && before !== 'closed' ? { action: { label: 'Undo', run: () => void undo(changed, before) } } : {}),
  });
}

/** From solved and spam, every way back leads through open. */
async function undo(conversation: Conversation, to: Conversation['status']): Promise<void> {
  const again = (): void => void undo(conversation, to);
  const opened = await change(
    conversation,
    { path: 'status', body: { status: 'open' }, shown: { status: 'open' } },
    again,
  );
  if (opened !== undefined && to === 'pending')
    await change(
      opened,
      { path: 'status', body: { status: 'pending' }, shown: { status: 'pending' } },
      () => void changeStatus(opened, 'pending'),
    );
}

export async function markSpam(conversation: Conversation): Promise<void> {
  const changed = await change(
    conversation,
    { path: 'spam', shown: { status: 'spam' } },
    () => void markSpam(conversation),
  );
  if (changed !== undefined)
    notify({ kind: 'done', text: told.spam, action: { label: 'Undo', run: () => void unmarkSpam(changed) } });
}

export async function unmarkSpam(conversation: Conversation): Promise<void> {
  const changed = await change(
    conversation,
    { path: 'not-spam', shown: { status: 'open' } },
    () => void unmarkSpam(conversation),
  );
  if (changed !== undefined) notify({ kind: 'done', text: 'Marked as not spam and reopened.' });
}

/** Applies only the reader's additions and removals, so that changes of others stay. */
export async function setTags(
  { id }: Pick<Conversation, 'id'>,
  { from, to }: { readonly from: readonly string[]; readonly to: readonly string[] },
): Promise<void> {
  const tags = mergedTags(peekConversation(id)?.tags ?? from, { from, to });
  await change(
    { id },
    { path: 'tags', method: 'PUT', body: { tags }, shown: { tags } },
    () => void setTags({ id }, { from, to }),
  );
}

/** The complete record as a file. */
export async function downloadRecord({ id, ticketNumber }: Pick<Conversation, 'id' | 'ticketNumber'>): Promise<void> {
  const record = await call('GET', `/conversations/${id}/export`);
  const url = URL.createObjectURL(new Blob([JSON.stringify(record, null, 2)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `conversation-${ticketNumber ?? id}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
