// The queue of what the agent wrote and the server has not acknowledged yet. Each item has its id from the start, so a
// retry does not duplicate it, even from another tab. The queue is kept in the browser and survives a reload. Within a
// conversation items are sent one at a time, in the order they were written.

import { effect, signal, untracked } from '@preact/signals';
import { call } from '../api.ts';
import { ApiError, messageOf } from '../api-error.ts';
import { connection } from '../live.ts';
import { newId } from '../new-id.ts';
import type { Message, Note } from '../records.ts';
import { me } from '../session.ts';
import { onWindow, type Stop, stopAll } from '../subscriptions.ts';
import { takeMessage, takeNote } from './threads.ts';
import type { Outgoing } from './timeline.ts';

/** In the order of writing. */
export const outgoing = signal<readonly Outgoing[]>([]);

const maxPauseMs = 10_000;
const firstPauseMs = 500;
/** After this long the writer is asked before an item is sent. */
const staleMs = 12 * 3600_000;
const prefix = (): string => `switchboard.outgoing.${me.peek()?.agent.id ?? ''}.`;

const draining = new Set<string>();
let failures = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

export function send(draft: Pick<Outgoing, 'conversationId' | 'kind' | 'body' | 'attachments' | 'copy'>): void {
  const writtenAtMs = Math.max(Date.now(), (outgoing.peek().at(-1)?.writtenAtMs ?? 0) + 1);
  put({ ...draft, id: newId(), writtenAtMs, state: 'pending' });
  void drain(draft.conversationId);
}

export function retry(id: string): void {
  const one = outgoing.peek().find((other) => other.id === id);
  if (one === undefined) return;
  const { problem: _, ...rest } = one;
  put({ ...rest, state: 'pending', writtenAtMs: Date.now() });
  void drain(one.conversationId);
}

/** Removes it: the server has it, or its writer no longer wants it sent. */
export function discard(id: string): void {
  outgoing.value = outgoing.peek().filter((one) => one.id !== id);
  keep(id, undefined);
}

async function drain(conversationId: string): Promise<void> {
  if (draining.has(conversationId)) return;
  draining.add(conversationId);
  try {
    for (let next = pendingIn(conversationId); next !== undefined; next = pendingIn(conversationId)) {
      if (!(await deliver(next))) return;
    }
  } finally {
    draining.delete(conversationId);
  }
}

/** Returns false if the rest of the conversation has to wait. */
async function deliver(one: Outgoing): Promise<boolean> {
  if (Date.now() - one.writtenAtMs > staleMs) {
    put({
      ...one,
      state: 'failed',
      problem: 'This message has been waiting for a long time. Do you still want to send it?',
    });
    return true;
  }
  try {
    if (one.kind === 'note')
      takeNote(
        (
          await call<{ note: Note }>('POST', `/conversations/${one.conversationId}/notes`, {
            body: { noteId: one.id, body: one.body },
          })
        ).note,
      );
    else
      takeMessage(
        await call<Message>('POST', `/conversations/${one.conversationId}/messages`, {
          body: {
            messageId: one.id,
            body: one.body,
            ...(one.attachments.length === 0 ? {} : { attachments: one.attachments }),
            ...(one.copy === false ? { copy: false } : {}),
          },
        }),
      );
    failures = 0;
    discard(one.id);
    return true;
  } catch (error) {
    // Another tab has sent it, or its writer signed out and finds it after signing in again.
    if (!outgoing.peek().some(({ id }) => id === one.id)) return true;
    if (
      error instanceof ApiError &&
      error.status !== 0 &&
      error.status < 500 &&
      error.status !== 429 &&
      error.status !== 401
    ) {
      put({ ...one, state: 'failed', problem: messageOf(error) });
      return true;
    }
    put({ ...one, isUncertain: true });
    failures += 1;
    clearTimeout(timer);
    timer = setTimeout(sendAll, Math.min(maxPauseMs, firstPauseMs * 2 ** (failures - 1)));
    return false;
  }
}

/** Sends everything that waits. */
function sendAll(): void {
  for (const conversationId of new Set(outgoing.peek().map((one) => one.conversationId))) void drain(conversationId);
}

function pendingIn(conversationId: string): Outgoing | undefined {
  return outgoing.peek().find((one) => one.conversationId === conversationId && one.state === 'pending');
}

function put(one: Outgoing): void {
  outgoing.value = [...outgoing.peek().filter(({ id }) => id !== one.id), one].sort(
    (a, b) => a.writtenAtMs - b.writtenAtMs,
  );
  keep(one.id, one);
}

function keep(id: string, one: Outgoing | undefined): void {
  try {
    if (one === undefined) localStorage.removeItem(prefix() + id);
    else localStorage.setItem(prefix() + id, JSON.stringify(one));
  } catch {
    // Without storage the queue lasts as long as the page.
    return;
  }
}

function kept(): Outgoing[] {
  try {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix()));
    // Only keep() writes these.
    return keys
      .map((key) => JSON.parse(localStorage.getItem(key) ?? 'null') as Outgoing)
      .sort((a, b) => a.writtenAtMs - b.writtenAtMs);
  } catch {
    return [];
  }
}

export function startOutgoing(): Stop {
  let readFor: string | undefined;
  return stopAll([
    effect(() => {
      const agentId = me.value?.agent.id;
      if (agentId === readFor) return;
      readFor = agentId;
      outgoing.value = agentId === undefined ? [] : kept();
    }),
    // Sent or discarded in another tab: both tabs may have read it from the browser's storage.
    onWindow('storage', ({ key, newValue }) => {
      if (key !== null && newValue === null && key.startsWith(prefix()))
        outgoing.value = outgoing.peek().filter(({ id }) => key !== prefix() + id);
    }),
    effect(() => {
      if (connection.value !== 'live' || me.value === undefined) return;
      failures = 0;
      untracked(sendAll);
    }),
    () => clearTimeout(timer),
  ]);
}
