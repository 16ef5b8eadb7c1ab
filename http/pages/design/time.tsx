// A time as text, with the exact one on hover and for machines.

import type { JSX } from 'preact';
import { exactTime, shortTime } from '../times.ts';

export function Time({
  at,
  format = shortTime,
}: {
  readonly at: string;
  readonly format?: (at: string) => string;
}): JSX.Element {
  return (
    <time dateTime={at} title={exactTime(at)}>
      {format(at)}
    </time>
  );
}
