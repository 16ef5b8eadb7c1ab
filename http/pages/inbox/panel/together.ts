// Changes of several conversations: each is a change of its own, and those that fail stay selected.

import { signal } from '@preact/signals';
import { messageOf } from '../../api-error.ts';
import { notify } from '../../notices.ts';
import type { Conversation } from '../../records.ts';
import { countOf } from '../../times.ts';
import { peekConversation } from '../conversations.ts';
import { deselect, endSelecting } from '../selection.ts';

const atOnce = 4;

/** Of the change under way. */
export const progress = signal<{ readonly done: number; readonly total: number } | undefined>(undefined);

export interface Together {
  readonly ids: readonly string[];
  /** Rejects if it cannot be done. */
  readonly change: (conversation: Conversation) => Promise<unknown>;
  /** "solved", after "12 conversations". */
  readonly done: string;
  /** Given as it was before. */
  readonly undo?: (before: Conversation) => Promise<unknown>;
}

export async function changeTogether({ ids, change, done, undo }: Together): Promise<void> {
  if (progress.peek() !== undefined) return;
  const { changed, failed, error } = await runEach(ids, change);
  deselect(changed.map(({ id }) => id));
  if (failed.length === 0) endSelecting();
  if (changed.length > 0) {
    const takeBack = (): void => void undoAll(changed, undo);
    notify({
      kind: 'done',
      text: `${counted(changed.length)} ${done}.`,
      ...(undo === undefined ? {} : { action: { label: 'Undo', run: takeBack } }),
    });
  }
  if (failed.length > 0) {
    const again = (): void =>
      void changeTogether({ ids: failed, change, done, ...(undo === undefined ? {} : { undo }) });
    notify({
      kind: 'problem',
      text: `${counted(failed.length)} could not be changed. ${messageOf(error)}`,
      action: { label: 'Try again', run: again },
    });
  }
}

async function undoAll(changed: readonly Conversation[], undo: Together['undo']): Promise<void> {
  const before = new Map(changed.map((one) => [one.id, one]));
  const { failed, error } = await runEach([...before.keys()], async ({ id }) => {
    const known = before.get(id);
    if (known !== undefined) await undo?.(known);
  });
  if (failed.length > 0)
    notify({ kind: 'problem', text: `${counted(failed.length)} could not be changed back. ${messageOf(error)}` });
}

interface Outcome {
  /** As they were before. */
  readonly changed: readonly Conversation[];
  readonly failed: readonly string[];
  /** Of the first that failed. */
  readonly error: unknown;
}

async function runEach(ids: readonly string[], change: Together['change']): Promise<Outcome> {
  const waiting = [...ids];
  const changed: Conversation[] = [];
  const failed: string[] = [];
  let firstError: unknown;
  progress.value = { done: 0, total: ids.length };
  const work = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const before = peekConversation(id);
      try {
        if (before === undefined) throw new Error('It is no longer in your reach.');
        await change(before);
        changed.push(before);
      } catch (error) {
        firstError ??= error;
        failed.push(id);
      }
      progress.value = { done: changed.length + failed.length, total: ids.length };
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  progress.value = undefined;
  return { changed, failed, error: firstError };
}

export function counted(count: number): string {
  return count === 1 ? '1 conversation' : `${countOf(count)} conversations`;
}
