// A list of links as one stop of the Tab key: the arrows, Home and End move inside. For lists that are drawn whole;
// design/virtual-list.tsx has its own.

import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

const stops = 'a, button, input';

export interface Roving {
  readonly onFocusIn: (event: FocusEvent) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** Handlers for the list. `rows` selects its rows, each with a link. The last focused, current or first is the stop. */
export function useRoving(list: RefObject<HTMLElement | null>, rows: string): Roving {
  const last = useRef<Element | undefined>(undefined);
  const all = (): HTMLElement[] => [...(list.current?.querySelectorAll<HTMLElement>(rows) ?? [])];
  const mark = (): void => {
    const found = all();
    const current = list.current?.querySelector('[aria-current]') ?? null;
    markStop(
      found,
      found.find((row) => row === last.current) ?? found.find((row) => row.contains(current)) ?? found[0],
    );
  };
  useLayoutEffect(mark);
  const rowOf = (target: EventTarget | null): Element | undefined =>
    (target instanceof Element ? target.closest(rows) : null) ?? undefined;
  return {
    onFocusIn({ target }) {
      last.current = rowOf(target) ?? last.current;
      mark();
    },
    onKeyDown(event) {
      const found = all();
      const at = found.findIndex((row) => row === rowOf(event.target));
      if (at < 0 || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: found.length - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      found[Math.min(Math.max(to, 0), found.length - 1)]?.querySelector<HTMLElement>(stops)?.focus();
    },
  };
}

/** Only this row is reached by the Tab key. */
export function markStop(rows: readonly HTMLElement[], stop: HTMLElement | undefined): void {
  for (const row of rows)
    for (const one of row.querySelectorAll<HTMLElement>(stops)) one.tabIndex = row === stop ? 0 : -1;
}
