// Changes shown before the service confirms them: status and tags. A refused change is reverted and reported, with a
// retry.

import { signal } from '@preact/signals';
import { call } from '../../api.ts';
import { messageOf } from '../../api-error.ts';
import { notify, notifyFailure } from '../../notices.ts';
import type { Conversation } from '../../records.ts';
import { me } from '../../session.ts';
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
  conversation: Pick<Conversation, 'id'>,
  what: Change,
  retry: () => void,
): Promise<Conversation | undefined> {
  try {
    return await attempt(conversation, what);
  } catch (error) {
    notify({ kind: 'problem', text: messageOf(error), action: { label: 'Try again', run: retry } });
    return undefined;
  }
}

/** Rejects as `act` does, after reverting what was shown. */
async function attempt(
  { id }: Pick<Conversation, 'id'>,
  { path, body, method = 'POST', shown }: Change,
): Promise<Conversation> {
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
    throw error;
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

/** `returnTo`: leads back to it when it is undone. */
export async function changeStatus(
  conversation: Conversation,
  status: RequestedStatus,
  { returnTo }: { readonly returnTo?: () => void } = {},
): Promise<void> {
  const before = conversation.status;
  const changed = await change(conversation, toStatus(status), () => void changeStatus(conversation, status));
  if (changed === undefined) return;
  const takeBack = (): void => {
    returnTo?.();
    void undo(changed, before);
  };
  const canUndo = status === 'solved' || status === 'spam';
  notify({
    kind: 'done',
    text: told[status],
    ...(canUndo && before !== 'closed' ? { action: { label: 'Undo', run: takeBack } } : {}),
  });
}

async function undo(conversation: Conversation, to: Conversation['status']): Promise<void> {
  try {
    await restore(conversation, to);
  } catch (error) {
    const again = (): void => void undo(conversation, to);
    notify({ kind: 'problem', text: messageOf(error), action: { label: 'Try again', run: again } });
  }
}

const toStatus = (status: RequestedStatus): Change => ({ path: 'status', body: { status }, shown: { status } });

/** Without notices; rejects as `act` does. */
export function moveTo(conversation: Conversation, status: RequestedStatus): Promise<Conversation> {
  return status === 'spam'
    ? attempt(conversation, { path: 'spam', shown: { status } })
    : attempt(conversation, toStatus(status));
}

/** Back to the status before it was solved or spam: every way leads through open. Rejects as `act` does. */
export async function restore({ id }: Pick<Conversation, 'id'>, to: Conversation['status']): Promise<void> {
  if (peekConversation(id)?.status !== 'open') await attempt({ id }, toStatus('open'));
  if (to === 'pending') await attempt({ id }, toStatus('pending'));
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
export async function setTags({ id }: Pick<Conversation, 'id'>, { from, to }: TagChange): Promise<void> {
  await change({ id }, toTags({ id }, { from, to }), () => void setTags({ id }, { from, to }));
}

interface TagChange {
  readonly from: readonly string[];
  readonly to: readonly string[];
}

function toTags({ id }: Pick<Conversation, 'id'>, { from, to }: TagChange): Change {
  const tags = mergedTags(peekConversation(id)?.tags ?? from, { from, to });
  return { path: 'tags', method: 'PUT', body: { tags }, shown: { tags } };
}

/** Without a notice; rejects as `act` does. */
export function putTags(conversation: Pick<Conversation, 'id'>, tags: TagChange): Promise<Conversation> {
  return attempt(conversation, toTags(conversation, tags));
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

export function unfollow(conversationId: string, agentId: string): Promise<unknown> {
  return act(conversationId, `followers?agentId=${agentId}`, undefined, 'DELETE');
}

/** The reader follows it, or no longer. */
export async function setFollowing({ id }: Pick<Conversation, 'id'>, isFollowing: boolean): Promise<void> {
  const own = me.peek()?.agent.id;
  if (own === undefined) return;
  try {
    await (isFollowing ? act(id, 'followers', {}) : unfollow(id, own));
    notify({
      kind: 'done',
      text: isFollowing ? 'You follow this conversation.' : 'You no longer follow this conversation.',
      action: { label: 'Undo', run: () => void setFollowing({ id }, !isFollowing) },
    });
  } catch (error) {
    notifyFailure(error);
  }
}
