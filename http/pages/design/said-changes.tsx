// What a screen reader says of rows that change by themselves: those whose state is another than before. Their figures
// change too often to be read aloud.

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export interface SaidRow {
  readonly id: string;
  readonly state: string;
  /** Said when the state changed. */
  readonly sentence: string;
}

/** Says nothing of the rows that it is given first; undefined before they are read. */
export function SaidChanges({ rows }: { readonly rows: readonly SaidRow[] | undefined }): JSX.Element {
  const before = useRef<ReadonlyMap<string, string> | undefined>(undefined);
  const [said, setSaid] = useState('');
  useEffect(() => {
    if (rows === undefined) return;
    const changed = rows.filter(({ id, state }) => before.current !== undefined && before.current.get(id) !== state);
    before.current = new Map(rows.map(({ id, state }) => [id, state]));
    if (changed.length > 0) setSaid(changed.map(({ sentence }) => sentence).join(' '));
  }, [rows]);
  return (
    <p class="for-readers" role="status">
      {said}
    </p>
  );
}
