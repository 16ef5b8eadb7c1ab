// Changes of a conversation that are shown before the service has confirmed them: its status and its tags. What it refuses is
// taken back, told, and offered again.

import { call, messageOf } from '../../api.ts';
import { notify } from '../../notices.ts';
import type { Conversation } from '../../records.ts';
import { act, loadConversation, remember } from '../conversations.ts';
import type { RequestedStatus } from './moves.ts';

type Shown = Partial<Pick<Conversation, 'status' | 'tags'>>;

interface Change {
  readonly path: string;
  readonly body?: object;
  readonly method?: 'POST' | 'PUT';
  /** How it is until the answer comes. */
  readonly shown: Shown;
}

/** Resolves to the record that the service answered, or undefined when it refused. */
async function change(conversation: Conversation, { path, body, method = 'POST', shown }: Change): Promise<Conversation | undefined> {
  remember({ ...conversation, ...shown });
  try {
    return (await act(conversation.id, path, body, method)).conversation;
  } catch (error) {
    remember(conversation);
    // What else happened to it meanwhile may be newer than what was there before.
    void loadConversation(conversation.id).catch(() => undefined);
    notify({ kind: 'problem', text: messageOf(error), action: { label: 'Try again', run: () => void change(conversation, { path, ...(body === undefined ? {} : { body }), method, shown }) } });
    return undefined;
  }
}

const told: Readonly<Record<RequestedStatus, string>> = { open: 'Open again.', pending: 'Waits for the customer.', solved: 'Solved.', spam: 'Marked as spam.' };

export async function changeStatus(conversation: Conversation, status: RequestedStatus): Promise<void> {
  const before = conversation.status;
  const changed = await change(conversation, { path: 'status', body: { status }, shown: { status } });
  if (changed === undefined) return;
  const canUndo = status === 'solved' || status === 'spam';
  notify({ kind: 'done', text: told[status], ...(canUndo && before !== 'closed' ? { action: { label: 'Undo', run: () => void undo(changed, before) } } : {}) });
}

/** From solved and spam every way back leads over open. */
async function undo(conversation: Conversation, to: Conversation['status']): Promise<void> {
  const opened = await change(conversation, { path: 'status', body: { status: 'open' }, shown: { status: 'open' } });
  if (opened !== undefined && to === 'pending') await change(opened, { path: 'status', body: { status: 'pending' }, shown: { status: 'pending' } });
}

export async function markSpam(conversation: Conversation): Promise<void> {
  const changed = await change(conversation, { path: 'spam', shown: { status: 'spam' } });
  if (changed !== undefined) notify({ kind: 'done', text: told.spam, action: { label: 'Undo', run: () => void unmarkSpam(changed) } });
}

export async function unmarkSpam(conversation: Conversation): Promise<void> {
  if ((await change(conversation, { path: 'not-spam', shown: { status: 'open' } })) !== undefined) notify({ kind: 'done', text: 'Not spam. It is open again.' });
}

export async function setTags(conversation: Conversation, tags: readonly string[]): Promise<void> {
  await change(conversation, { path: 'tags', method: 'PUT', body: { tags }, shown: { tags: [...tags] } });
}

/** The whole record as a file. */
export async function downloadRecord({ id, ticketNumber }: Pick<Conversation, 'id' | 'ticketNumber'>): Promise<void> {
  const record = await call('GET', `/conversations/${id}/export`);
  const url = URL.createObjectURL(new Blob([JSON.stringify(record, null, 2)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `conversation-${ticketNumber ?? id}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
