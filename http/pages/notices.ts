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
/** A problem stays until it was read. */
const problemShownMs = 15_000;
let count = 0;

export function notify(notice: Omit<Notice, 'id'>): void {
  count += 1;
  const shown = { ...notice, id: count };
  notices.value = [...notices.value.slice(1 - maxShown), shown];
  setTimeout(() => dismiss(shown.id), notice.kind === 'problem' || notice.action !== undefined ? problemShownMs : shownMs);
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

/** Says why something failed that somebody asked for. */
export function notifyFailure(error: unknown): void {
  notify({ kind: 'problem', text: messageOf(error) });
}
