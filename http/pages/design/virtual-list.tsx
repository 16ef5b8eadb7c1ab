// A list with rows of one height that draws only the visible ones: as fast with ten thousand as with ten. Each row is a
// list item that knows its position in the whole list. During scrolling, items are redrawn in place, in any order; once
// it stops, they are put in the order of the rows. The focused row stays drawn wherever it is.

import type { ComponentChildren, JSX, Ref, RefObject } from 'preact';
import { useCallback, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'preact/hooks';
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
  const { range, see } = useSeenRange(element, props, isMoving);
  useFocusRow(element, props, see);
  const drawn = useItems(element, props, { range, isMoving });
  return (
    <div
      class="virtual"
      ref={element}
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

/** The rows to draw, and how to look again after the list was scrolled. Reports what may be in sight soon. */
function useSeenRange(
  element: Box,
  { count, rowHeight, onEnd, onComing }: VirtualListProps,
  isMoving: boolean,
): { readonly range: Range; readonly see: () => void } {
  const [range, setRange] = useState<Range>({ first: 0, end: 24 });
  const see = useCallback(() => {
    const box = element.current;
    if (box === null) return;
    const first = Math.max(0, Math.floor(box.scrollTop / rowHeight) - beyondRows);
    // The same number at every position, so that half a row creates or removes no item.
    const end = first + Math.ceil(box.clientHeight / rowHeight) + 1 + 2 * beyondRows;
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
  return { range, see };
}

/** Scrolls a row into view and gives it the focus, as soon as it is drawn. */
function useFocusRow(element: Box, { count, rowHeight, handle }: VirtualListProps, see: () => void): void {
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
  useImperativeHandle(
    handle ?? null,
    () => ({
      focusRow(index) {
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
      },
    }),
    [element, count, rowHeight, see],
  );
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
