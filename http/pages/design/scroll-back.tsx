// A long list that is read from its end, with rows of any height. It draws only visible rows. Rows added above, or
// measured late, do not move what the reader sees. New rows at the end are followed only if the reader is there.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Heights } from './heights.ts';
import { useLatest } from './steady.ts';

interface ScrollBackProps {
  readonly label: string;
  readonly keys: readonly string[];
  /** The estimated height of a row that was never drawn, in pixels. */
  readonly guess: (index: number) => number;
  readonly render: (index: number) => ComponentChildren;
  /** When this changes, the list scrolls to the end, since the reader wrote the new row. */
  readonly follow?: string | undefined;
  /** Called when the reader has almost reached the beginning. */
  readonly onBeginning: () => void;
  /** Drawn over the list while its end is out of sight: `added` rows arrived since, `toEnd` scrolls there. */
  readonly below: (end: { readonly added: number; readonly toEnd: () => void }) => ComponentChildren;
}

const beyondPx = 900;
const nearEndPx = 60;
const nearBeginningPx = 1200;

/** Longer than a screen: its steps share which rows are drawn and where the reader is, and run in one order. */
export function ScrollBack({ label, keys, guess, render, follow, onBeginning, below }: ScrollBackProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const heights = useRef(new Heights()).current;
  const known = useRef<readonly string[] | undefined>(undefined);
  /** Undefined while the end is visible. */
  const anchor = useRef<
    { readonly key: string; readonly delta: number; readonly lastKey: string | undefined } | undefined
  >(undefined);
  /** Where the box was when it was last looked at. Elsewhere, the reader has scrolled, and the event is yet to come. */
  const seenTop = useRef(0);
  const [, setRound] = useState(0);
  const drawn = useRef({ first: 0, end: 0 });
  const followed = useRef(follow);
  if (follow !== followed.current) {
    followed.current = follow;
    if (follow !== undefined) anchor.current = undefined;
  }
  if (known.current !== keys) {
    heights.set(
      keys,
      keys.map((_, index) => guess(index)),
    );
    known.current = keys;
  }

  const rangeNow = (): { first: number; end: number } => {
    const viewport = box.current?.clientHeight ?? 900;
    const place = anchor.current === undefined ? undefined : heights.indexOf(anchor.current.key);
    const top = place === undefined ? heights.total - viewport : heights.offsetOf(place) + (anchor.current?.delta ?? 0);
    return heights.between(Math.max(0, top - beyondPx), top + viewport + beyondPx);
  };
  const range = rangeNow();
  drawn.current = range;
  const rowsOf = (): NodeListOf<HTMLElement> | [] =>
    box.current?.querySelectorAll<HTMLElement>(':scope > div > [data-key]') ?? [];

  /** Before painting, replaces estimates with real heights and keeps the visible rows where the reader has them. */
  const settle = (): void => {
    const element = box.current;
    if (element === null) return;
    let changed = false;
    for (const row of rowsOf())
      changed = heights.measure(row.dataset['key'] ?? '', row.getBoundingClientRect().height) || changed;
    const scrolled = element.scrollTop - seenTop.current;
    if (anchor.current === undefined && scrolled < 0) return onScroll();
    if (anchor.current === undefined) element.scrollTop = element.scrollHeight;
    else {
      if (Math.abs(scrolled) >= 1) anchor.current = { ...anchor.current, delta: anchor.current.delta + scrolled };
      const row = [...rowsOf()].find(({ dataset }) => dataset['key'] === anchor.current?.key);
      const wanted = (row?.offsetTop ?? 0) + anchor.current.delta;
      if (row !== undefined && Math.abs(element.scrollTop - wanted) >= 1) element.scrollTop = wanted;
    }
    seenTop.current = element.scrollTop;
    const next = rangeNow();
    if (changed || next.first < drawn.current.first || next.end > drawn.current.end) setRound((round) => round + 1);
  };
  useLayoutEffect(settle);
  const resettle = useLatest(settle);

  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    // An image loads, a part expands, or the window changes its size.
    const observer = new ResizeObserver(resettle);
    observer.observe(element);
    const inner = element.firstElementChild;
    if (inner !== null) observer.observe(inner);
    return () => observer.disconnect();
  }, []);

  const onScroll = (): void => {
    const element = box.current;
    if (element === null) return;
    const { scrollTop, scrollHeight, clientHeight } = element;
    seenTop.current = scrollTop;
    const wasAway = anchor.current !== undefined;
    if (scrollHeight - scrollTop - clientHeight < nearEndPx && drawn.current.end === keys.length)
      anchor.current = undefined;
    else {
      const row = [...rowsOf()].find((one) => one.offsetTop + one.offsetHeight > scrollTop);
      // Scrolled beyond all drawn rows: the sums give the position.
      const index = heights.between(scrollTop, scrollTop).first;
      const key = row?.dataset['key'] ?? keys[index];
      if (key !== undefined)
        anchor.current = {
          key,
          delta: scrollTop - (row?.offsetTop ?? heights.offsetOf(index)),
          lastKey: anchor.current === undefined ? keys.at(-1) : anchor.current.lastKey,
        };
    }
    const next = rangeNow();
    if (next.first < drawn.current.first || next.end > drawn.current.end || wasAway !== (anchor.current !== undefined))
      setRound((round) => round + 1);
    if (scrollTop < nearBeginningPx) onBeginning();
  };
  const readOn = useLatest(() => {
    const element = box.current;
    if (element !== null && element.scrollTop < nearBeginningPx) onBeginning();
  });
  // Other rows may end nearer to the beginning.
  useEffect(readOn, [keys]);

  const toEnd = (): void => {
    anchor.current = undefined;
    setRound((round) => round + 1);
  };
  const lastSeen = anchor.current?.lastKey === undefined ? undefined : heights.indexOf(anchor.current.lastKey);
  return (
    <div class="scroll-back">
      <div class="scroll-back-box" ref={box} onScroll={onScroll} tabIndex={0} role="region" aria-label={label}>
        <div
          style={{
            paddingTop: `${heights.offsetOf(range.first)}px`,
            paddingBottom: `${heights.total - heights.offsetOf(range.end)}px`,
          }}
        >
          {keys.slice(range.first, range.end).map((key, offset) => (
            <div key={key} data-key={key}>
              {render(range.first + offset)}
            </div>
          ))}
        </div>
      </div>
      {anchor.current !== undefined && below({ added: lastSeen === undefined ? 0 : keys.length - 1 - lastSeen, toEnd })}
    </div>
  );
}
