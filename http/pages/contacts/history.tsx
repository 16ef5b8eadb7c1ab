// A customer's conversations, newest first, for pages that show a customer.

import type { JSX } from 'preact';
import { StatusBadge } from '../design/conversation-status.tsx';
import { Icon } from '../design/icon.tsx';
import { Time } from '../design/time.tsx';
import type { HistoryItem } from '../records.ts';
import { spanOf } from '../times.ts';

export function History({
  items,
  currentId,
}: {
  readonly items: readonly HistoryItem[];
  readonly currentId?: string;
}): JSX.Element {
  return (
    <ul class="history">
      {items.map((item) => (
        <li key={item.id}>
          <a href={`/inbox/all/${item.id}`} aria-current={item.id === currentId ? 'true' : undefined}>
            <Icon name={item.type} size={18} />
            <span class="said">
              {item.preview ??
                (item.type === 'call' ? `Call from ${item.callPeerE164 ?? 'a hidden number'}` : 'No messages')}
            </span>
            <span class="when">
              <Time at={item.startedAt} />
            </span>
            <span class="about">
              <StatusBadge status={item.status} />
              <span>{aboutOf(item)}</span>
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}

/** "Ann, 12 min, rated 4 of 5" */
function aboutOf({ agentName, durationSec, rating, callPeerE164, preview }: HistoryItem): string {
  return [
    agentName ?? undefined,
    durationSec === null ? undefined : spanOf(durationSec),
    rating === null ? undefined : `rated ${rating} of 5`,
    callPeerE164 !== null && preview !== null ? callPeerE164 : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}
