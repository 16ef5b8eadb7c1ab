// One figure of a list of figures: what it counts, how many, and what share that is.

import type { JSX } from 'preact';

export function Figure({
  label,
  value,
  more,
}: {
  readonly label: string;
  readonly value: string;
  readonly more?: string;
}): JSX.Element {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        {value} {more !== undefined && <small class="soft">{more}</small>}
      </dd>
    </div>
  );
}
