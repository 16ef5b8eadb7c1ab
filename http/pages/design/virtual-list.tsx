// A list of which only what can be seen is drawn, with rows of one height: as fast with ten thousand as with ten. Each row is drawn
// as a list item that knows its place among all.

import type { ComponentChildren, JSX, Ref } from 'preact';
import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface VirtualListHandle {
  /** Scrolls it into view and gives its link or button the focus. */
  focusRow(index: number): void;
}

interface VirtualListProps {
  readonly label: string;
  readonly count: number;
  /** In pixels. */
  readonly rowHeight: number;
  readonly keyOf: (index: number) => string;
  readonly render: (index: number) => ComponentChildren;
  /** Somebody has almost scrolled to the end. */
  readonly onEnd?: () => void;
  readonly handle?: Ref<VirtualListHandle>;
  /** After the last row. */
  readonly children?: ComponentChildren;
}

const beyondRows = 8;

export function VirtualList({ label, count, rowHeight, keyOf, render, onEnd, handle, children }: VirtualListProps): JSX.Element {
  const element = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState({ first: 0, end: 24 });
  const wanted = useRef<number | undefined>(undefined);

  const see = (): void => {
    const box = element.current;
    if (box === null) return;
    const first = Math.max(0, Math.floor(box.scrollTop / rowHeight) - beyondRows);
    const end = Math.ceil((box.scrollTop + box.clientHeight) / rowHeight) + beyondRows;
    setRange((current) => (current.first === first && current.end === end ? current : { first, end }));
  };
  useLayoutEffect(see, [count]);
  useEffect(() => {
    const box = element.current;
    if (box === null) return undefined;
    const observer = new ResizeObserver(see);
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (range.end >= count) onEnd?.();
  }, [range.end >= count, count]);
  useLayoutEffect(() => {
    const row = wanted.current === undefined ? null : element.current?.querySelector<HTMLElement>(`[data-row="${wanted.current}"]`);
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
        // Drawn already: the focus goes there at once.
        const row = box.querySelector<HTMLElement>(`[data-row="${index}"]`);
        if (row === null) return;
        wanted.current = undefined;
        row.querySelector<HTMLElement>('a, button')?.focus({ preventScroll: true });
      },
    }),
    [count, rowHeight],
  );

  const first = Math.min(range.first, Math.max(0, count - 1));
  const end = Math.min(count, Math.max(range.end, first));
  return (
    <div class="virtual" ref={element} onScroll={see}>
      <ul aria-label={label} style={{ height: `${count * rowHeight}px` }}>
        {Array.from({ length: end - first }, (_, offset) => {
          const index = first + offset;
          return (
            <li key={keyOf(index)} data-row={index} aria-setsize={count} aria-posinset={index + 1} style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px` }}>
              {render(index)}
            </li>
          );
        })}
      </ul>
      {children}
    </div>
  );
}
