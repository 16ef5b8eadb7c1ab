// A goal's status as a badge.

import type { JSX } from 'preact';
import { Badge } from '../../design/feedback.tsx';
import type { GoalStatus } from '../../records.ts';
import { goalStatusNames } from './goal.ts';

const kinds: Readonly<Record<GoalStatus, 'good' | 'warn' | undefined>> = {
  active: 'good',
  paused: 'warn',
  archived: undefined,
};

export function GoalBadge({ status }: { readonly status: GoalStatus }): JSX.Element {
  const kind = kinds[status];
  return <Badge {...(kind === undefined ? {} : { kind })}>{goalStatusNames[status]}</Badge>;
}
