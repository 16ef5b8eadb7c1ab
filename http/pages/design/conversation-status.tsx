// A conversation's status as a badge.

import type { JSX } from 'preact';
import type { ConversationStatus } from '../records.ts';
import { Badge } from './feedback.tsx';

const names = {
  open: 'Open',
  pending: 'Pending',
  solved: 'Solved',
  closed: 'Closed',
  spam: 'Spam',
} as const satisfies Record<ConversationStatus, string>;
const kinds = {
  open: 'accent',
  pending: 'warn',
  solved: undefined,
  closed: undefined,
  spam: 'bad',
} as const satisfies Record<ConversationStatus, string | undefined>;

export function StatusBadge({ status }: { readonly status: ConversationStatus }): JSX.Element {
  return <Badge kind={kinds[status]}>{names[status]}</Badge>;
}
