// A list with rows of one height that draws only the visible ones: as fast with ten thousand as with ten. Each row is a
// list item that knows its position in the whole list. During scrolling, items are redrawn in place, in any order; once
// it stops, they are put in the order of the rows. The focused row stays drawn wherever it is. The whole list is one tab
// stop: the arrows, Home, End and the page keys move inside.

import type { ComponentChildren, JSX, Ref, RefObject } from 'preact';
import { useCallback, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { markStop } from './roving.ts';
import { type Drawn, Slots, type Wanted } from './slots.ts';
import { useLatest } from './steady.ts';

export interface VirtualListHandle {
  /** Scrolls the row into view and focuses its link or button. */
  focusRow(index: number): void;
}

interface VirtualListProps {
  readonly label: string;
  readonly count: number;
  /** In pixels. */
  readonly rowHeight: number;
  readonly keyOf: (index: number) => string;
  readonly indexOf: (key: string) => number;
  readonly render: (key: string) => ComponentChildren;
  /** Called when the reader has almost reached the end. */
  readonly onEnd?: () => void;
  /** The rows from `first` to `end`, exclusive, may soon be visible: load what they need. */
  readonly onComing?: (rows: { readonly first: number; readonly end: number }) => void;
  readonly handle?: Ref<VirtualListHandle>;
  /** The row where the Tab key enters the list, until another one had the focus. */
  readonly currentKey?: string | undefined;
  /** After the last row. */
  readonly children?: ComponentChildren;
}

/** As last drawn: an unchanged item is not rendered again. */
interface Item {
  readonly index: number;
  readonly key: string;
  readonly count: number;
  readonly render: VirtualListProps['render'];
  readonly drawn: JSX.Element;
}

const beyondRows = 8;
/** Rows announced in advance beyond those drawn: a fifth of a second at the fastest drag. */
const comingRows = 60;
/** After this time without movement, scrolling has stopped. */
const restMs = 150;

export function VirtualList(props: VirtualListProps): JSX.Element {
  const { label, count, rowHeight, children } = props;
  const element = useRef<HTMLDivElement>(null);
  const { isMoving, moved } = useMovement();
  const { range, seenTop, see } = useSeenRange(element, props, isMoving);
  const focusRow = useFocusRow(element, props, see);
  const drawn = useItems(element, props, { range, isMoving });
  const focused = useTabStop(element, props, { seenTop, isMoving });
  return (
    <div
      class="virtual"
      ref={element}
      onFocusIn={({ target }) => focused(target)}
      onKeyDown={(event) => {
        const to = rowFor(event, element.current, props);
        if (to === undefined) return;
        event.preventDefault();
        focusRow(to);
      }}
      onScroll={() => {
        moved();
        see();
      }}
    >
      <ul aria-label={label} style={{ height: `${count * rowHeight}px` }}>
        {drawn}
      </ul>
      {children}
    </div>
  );
}

type Box = RefObject<HTMLDivElement | null>;

interface Range {
  readonly first: number;
  readonly end: number;
}

/**
 * The rows to draw, how far the list was scrolled when it was looked at, and how to look again. Reports what may be in
 * sight soon.
 */
function useSeenRange(
  element: Box,
  { count, rowHeight, onEnd, onComing }: VirtualListProps,
  isMoving: boolean,
): { readonly range: Range; readonly seenTop: RefObject<number>; readonly see: () => void } {
  const [range, setRange] = useState<Range>({ first: 0, end: 0 });
  /** None until the rows in sight are on the screen. */
  const beyond = useRef(0);
  const seenTop = useRef(0);
  const see = useCallback(() => {
    const box = element.current;
    if (box === null) return;
    seenTop.current = box.scrollTop;
    const first = Math.max(0, Math.floor(seenTop.current / rowHeight) - beyond.current);
    // The same number at every position, so that half a row creates or removes no item.
    const end = first + Math.ceil(box.clientHeight / rowHeight) + 1 + 2 * beyond.current;
    setRange((current) => (current.first === first && current.end === end ? current : { first, end }));
  }, [element, rowHeight]);
  const foresee = useLatest(({ first, end }: Range) =>
    onComing?.({ first: Math.max(0, first - comingRows), end: Math.min(count, end + comingRows) }),
  );
  useEffect(() => {
    if (isMoving) foresee(range);
  }, [isMoving, range]);
  // A shorter list may have been scrolled back by the browser.
  useLayoutEffect(see, [see, count]);
  useEffect(() => {
    beyond.current = beyondRows;
    see();
  }, [see]);
  useEffect(() => {
    const box = element.current;
    if (box === null) return undefined;
    const observer = new ResizeObserver(see);
    observer.observe(box);
    return () => observer.disconnect();
  }, [element, see]);
  /** The number of rows when the last of them may be seen: another one is another end. */
  const endAt = range.end >= count ? count : undefined;
  const reachEnd = useLatest(() => onEnd?.());
  useEffect(() => {
    if (endAt !== undefined) reachEnd();
  }, [endAt]);
  return { range, seenTop, see };
}

/** Scrolls a row into view and gives it the focus, as soon as it is drawn. */
function useFocusRow(
  element: Box,
  { count, rowHeight, handle }: VirtualListProps,
  see: () => void,
): VirtualListHandle['focusRow'] {
  const wanted = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    const row =
      wanted.current === undefined
        ? null
        : element.current?.querySelector<HTMLElement>(`[data-row="${wanted.current}"]`);
    if (row == null) return;
    wanted.current = undefined;
    row.querySelector<HTMLElement>('a, button')?.focus({ preventScroll: true });
  });
  const focusRow = useLatest((index: number) => {
    const box = element.current;
    if (box === null || index < 0 || index >= count) return;
    const top = index * rowHeight;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = top + rowHeight - box.clientHeight;
    wanted.current = index;
    see();
    // If it is drawn, focus it now.
    const row = box.querySelector<HTMLElement>(`[data-row="${index}"]`);
    if (row === null) return;
    wanted.current = undefined;
    row.querySelector<HTMLElement>('a, button')?.focus({ preventScroll: true });
  });
  useImperativeHandle(handle ?? null, () => ({ focusRow }), [focusRow]);
  return focusRow;
}

/** Where a key moves the focus from the row that has it. */
function rowFor(
  { key, altKey, ctrlKey, metaKey, shiftKey, target }: KeyboardEvent,
  box: HTMLElement | null,
  { count, rowHeight }: VirtualListProps,
): number | undefined {
  const row = rowOf(target);
  if (row === undefined || box === null || altKey || ctrlKey || metaKey || shiftKey) return undefined;
  const page = Math.max(1, Math.floor(box.clientHeight / rowHeight) - 1);
  const to = {
    ArrowDown: row + 1,
    ArrowUp: row - 1,
    PageDown: row + page,
    PageUp: row - page,
    Home: 0,
    End: count - 1,
  }[key];
  return to === undefined ? undefined : Math.min(count - 1, Math.max(0, to));
}

/** Only one row is reached by the Tab key: the last one that had the focus, the current one, or the first in sight. */
function useTabStop(
  element: Box,
  { currentKey, indexOf, keyOf, rowHeight }: VirtualListProps,
  // Not the element's own position: to ask for that here would lay out all rows, which are laid out again after it.
  { seenTop, isMoving }: { readonly seenTop: RefObject<number>; readonly isMoving: boolean },
): (target: EventTarget | null) => void {
  const lastKey = useRef<string | undefined>(undefined);
  const mark = useLatest(() => {
    const box = element.current;
    if (box === null) return;
    const rows = [...box.querySelectorAll<HTMLElement>('[data-row]')];
    const isDrawn = (index: number): boolean => rows.some(({ dataset }) => Number(dataset['row']) === index);
    const known = [lastKey.current, currentKey].flatMap((key) => (key === undefined ? [] : [indexOf(key)]));
    const stop = known.find((index) => index >= 0 && isDrawn(index)) ?? Math.ceil(seenTop.current / rowHeight);
    markStop(
      rows,
      rows.find((row) => Number(row.dataset['row']) === stop),
    );
  });
  useLayoutEffect(() => {
    if (!isMoving) mark();
  });
  return (target) => {
    const row = rowOf(target);
    if (row === undefined) return;
    lastKey.current = keyOf(row);
    mark();
  };
}

/** The index of the row that it is in. */
export function rowOf(target: EventTarget | null): number | undefined {
  const row = target instanceof Element ? target.closest<HTMLElement>('[data-row]')?.dataset['row'] : undefined;
  return row === undefined ? undefined : Number(row);
}

/** The drawn rows, in the order of their elements. */
function useItems(
  element: Box,
  { count, rowHeight, keyOf, indexOf, render }: VirtualListProps,
  { range, isMoving }: { readonly range: Range; readonly isMoving: boolean },
): readonly JSX.Element[] {
  const slots = useRef(new Slots()).current;
  const items = useRef(new Map<number, Item>()).current;
  const first = Math.min(range.first, Math.max(0, count - 1));
  const end = Math.min(count, Math.max(range.end, first));
  const rows: Wanted[] = [];
  for (let index = first; index < end; index += 1) rows.push({ index, key: keyOf(index) });
  const focused = element.current?.contains(document.activeElement) === true ? document.activeElement : null;
  const focusedRow = focused?.closest<HTMLElement>('[data-row]')?.dataset['row'];
  const pinned =
    focusedRow === undefined ? undefined : slots.drawn.find(({ index }) => index === Number(focusedRow))?.key;
  const pinnedIndex = pinned === undefined ? -1 : indexOf(pinned);
  if (pinned !== undefined && pinnedIndex >= 0 && (pinnedIndex < first || pinnedIndex >= end))
    rows.push({ index: pinnedIndex, key: pinned });
  slots.draw(rows, pinned);
  const isSorted = !isMoving && slots.sort();
  // Moving the focused element makes some browsers drop the focus and others scroll to it.
  const top = isSorted && focused !== null ? element.current?.scrollTop : undefined;
  useLayoutEffect(() => {
    if (focused instanceof HTMLElement && focused.isConnected && document.activeElement === document.body)
      focused.focus({ preventScroll: true });
    const box = element.current;
    if (box !== null && top !== undefined && box.scrollTop !== top) box.scrollTop = top;
  });

  const itemOf = ({ slot, index, key }: Drawn): JSX.Element => {
    const known = items.get(slot);
    if (
      known !== undefined &&
      known.index === index &&
      known.key === key &&
      known.count === count &&
      known.render === render
    )
      return known.drawn;
    const item = (
      <li
        key={slot}
        data-row={index}
        aria-setsize={count}
        aria-posinset={index + 1}
        style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px` }}
      >
        {render(key)}
      </li>
    );
    items.set(slot, { index, key, count, render, drawn: item });
    return item;
  };
  const drawn = slots.drawn.map(itemOf);
  if (items.size > drawn.length)
    for (const slot of items.keys()) if (!slots.drawn.some((one) => one.slot === slot)) items.delete(slot);
  return drawn;
}

/** True from the call of `moved` until scrolling stops. */
function useMovement(): { readonly isMoving: boolean; readonly moved: () => void } {
  const [isMoving, setMoving] = useState(false);
  const movedAtMs = useRef(0);
  useEffect(() => {
    if (!isMoving) return undefined;
    let timer: ReturnType<typeof setTimeout>;
    const look = (): void => {
      const leftMs = movedAtMs.current + restMs - performance.now();
      if (leftMs > 0) timer = setTimeout(look, leftMs);
      else setMoving(false);
    };
    timer = setTimeout(look, restMs);
    return () => clearTimeout(timer);
  }, [isMoving]);
  return {
    isMoving,
    moved() {
      movedAtMs.current = performance.now();
      setMoving(true);
    },
  };
}
