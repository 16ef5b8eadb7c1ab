// Short notices at the edge of the page: what was done, and what failed. Announced to screen readers.

import { signal } from '@preact/signals';
import { messageOf } from './api-error.ts';
import { isInUse } from './visibility.ts';

export interface Notice {
  readonly id: number;
  readonly kind: 'done' | 'problem' | 'news';
  readonly text: string;
  readonly action?: { readonly label: string; readonly run: () => void };
}

export const notices = signal<readonly Notice[]>([]);

const maxShown = 4;
const shownMs = 6000;
/** A problem takes longer to read. */
const problemShownMs = 15_000;
let count = 0;
/** The pointer or the focus is on the notices. */
let isHeld = false;

export function notify(notice: Omit<Notice, 'id'>): void {
  count += 1;
  const shown = { ...notice, id: count };
  notices.value = [...notices.value.slice(1 - maxShown), shown];
  dismissAfter(shown.id, notice.kind === 'problem' || notice.action !== undefined ? problemShownMs : shownMs);
}

/** Restarts the time if the page was hidden, or the reader is about to use the notice. */
function dismissAfter(id: number, ms: number): void {
  setTimeout(() => {
    if (notices.peek().every((notice) => notice.id !== id)) return;
    if (isHeld || !isInUse.peek()) dismissAfter(id, ms);
    else dismiss(id);
  }, ms);
}

export function holdNotices(held: boolean): void {
  isHeld = held;
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

/** Reports why a user's action failed. */
export function notifyFailure(error: unknown): void {
  notify({ kind: 'problem', text: messageOf(error) });
}
