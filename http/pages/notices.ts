// Short notices at the edge of the page: what was done, and what could not be. Read aloud where the reader is read to.

import { signal } from '@preact/signals';
import { messageOf } from './api.ts';

export interface Notice {
  readonly id: number;
  readonly kind: 'done' | 'problem' | 'news';
  readonly text: string;
  readonly action?: { readonly label: string; readonly run: () => void };
}

export const notices = signal<readonly Notice[]>([]);

const maxShown = 4;
const shownMs = 6000;
const actionShownMs = 15_000;
let count = 0;
/** Somebody points at them or has the focus among them: none goes away meanwhile. */
let isHeld = false;
const due = new Set<number>();

export function notify(notice: Omit<Notice, 'id'>): void {
  count += 1;
  const shown = { ...notice, id: count };
  notices.value = [...notices.value.slice(1 - maxShown), shown];
  // A problem stays until somebody takes it away, or newer ones do.
  if (notice.kind !== 'problem') setTimeout(() => (isHeld ? void due.add(shown.id) : dismiss(shown.id)), notice.action === undefined ? shownMs : actionShownMs);
}

export function holdNotices(held: boolean): void {
  isHeld = held;
  if (held) return;
  for (const id of due) dismiss(id);
  due.clear();
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

/** Says why something failed that somebody asked for. */
export function notifyFailure(error: unknown): void {
  notify({ kind: 'problem', text: messageOf(error) });
}
