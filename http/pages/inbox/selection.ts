// The conversations of a list that are selected to be changed together. Leaving the list forgets them.

import { signal } from '@preact/signals';
import { notify } from '../notices.ts';
import type { List } from './lists.ts';

/** Each of them is a request, and an agent has 600 a minute. */
export const maxSelected = 100;

/** The rows have boxes. */
export const isSelecting = signal(false);
const selected = signal<ReadonlySet<string>>(new Set());
/** Where a range begins. */
let lastId: string | undefined;

export function isSelected(conversationId: string): boolean {
  return selected.value.has(conversationId);
}

/** Those that are still in the list. */
export function selectedIn(list: List): readonly string[] {
  void list.rows;
  return [...selected.value].filter((id) => list.indexOf(id) >= 0);
}

export function toggle(conversationId: string): void {
  if (selected.peek().has(conversationId)) deselect([conversationId]);
  else select([conversationId]);
  lastId = conversationId;
}

/** Everything from the last one that was selected to this one. */
export function selectTo(list: List, conversationId: string): void {
  const from = lastId === undefined ? -1 : list.indexOf(lastId);
  const to = list.indexOf(conversationId);
  if (from < 0 || to < 0) toggle(conversationId);
  else select(list.rows.slice(Math.min(from, to), Math.max(from, to) + 1).map(({ id }) => id));
}

/** As many as can be changed together, also of a list that was not read so far yet. */
export async function selectAll(list: List): Promise<void> {
  // The page that is being read, and the next one.
  for (let pages = 0; pages < 2 && list.length < maxSelected; pages += 1) await list.pager.next();
  // The agent may have gone to another list meanwhile.
  if (!list.isShown || !isSelecting.peek()) return;
  select(list.rows.slice(0, maxSelected).map(({ id }) => id));
  if (list.length > maxSelected || (list.length === maxSelected && list.pager.state.peek() !== 'complete'))
    notify({
      kind: 'news',
      text: `The first ${maxSelected} are selected, which is as many as can be changed together.`,
    });
}

/** Up to the limit. */
export function select(conversationIds: readonly string[]): void {
  selected.value = new Set([...selected.peek(), ...conversationIds].slice(0, maxSelected));
  isSelecting.value = true;
}

export function deselect(conversationIds: readonly string[]): void {
  selected.value = new Set([...selected.peek()].filter((id) => !conversationIds.includes(id)));
}

export function endSelecting(): void {
  isSelecting.value = false;
  selected.value = new Set();
  lastId = undefined;
}
