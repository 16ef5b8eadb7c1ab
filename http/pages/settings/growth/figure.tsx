// One figure in a list: its label, the number, and its share.

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
