// A list of calls, newest first, kept current by the socket.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { call as ask } from '../api.ts';
import { Button, ButtonLink } from '../design/button.tsx';
import { Badge, Empty, Failure, Loading } from '../design/feedback.tsx';
import { Icon, type IconName } from '../design/icon.tsx';
import { usePaged } from '../design/paged.ts';
import { useRoving } from '../design/roving.ts';
import { useSame } from '../design/steady.ts';
import { Time } from '../design/time.tsx';
import { onResync } from '../live.ts';
import { agentName } from '../people.ts';
import type { Call } from '../records.ts';
import { serverNow } from '../server-clock.ts';
import { durationOf } from '../times.ts';
import { type CallFilter, callQuery, hasFilters, isListed, withCall } from './call-list.ts';
import {
  callerOf,
  type Outcome,
  outcomeOf,
  outcomeWords,
  spacedNumber,
  spansOf,
  telOf,
  waitsForCallBack,
} from './call-story.ts';
import { onCall } from './live-calls.ts';
import { lineOf } from './numbers.ts';

const icons: Readonly<Record<Outcome, IconName>> = {
  ringing: 'bell',
  talking: 'call',
  on_hold: 'pause',
  leaving_voicemail: 'voicemail',
  voicemail: 'voicemail',
  missed: 'hangUp',
  answered: 'call',
};
const kinds: Readonly<Record<Outcome, 'accent' | 'good' | 'warn' | 'bad' | undefined>> = {
  ringing: 'accent',
  talking: 'good',
  on_hold: 'warn',
  leaving_voicemail: 'accent',
  voicemail: 'warn',
  missed: 'bad',
  answered: undefined,
};

export function OutcomeBadge({ call }: { readonly call: Call }): JSX.Element {
  const outcome = outcomeOf(call);
  const kind = kinds[outcome];
  return <Badge {...(kind === undefined ? {} : { kind })}>{outcomeWords[outcome]}</Badge>;
}

export function CallRows({ filter: given }: { readonly filter: CallFilter }): JSX.Element {
  const filter = useSame(given);
  const list = usePaged<Call>(
    async (cursor, signal) => {
      const { calls, nextCursor } = await ask<{ calls: Call[]; nextCursor: string | null }>('GET', '/calls', {
        query: { ...callQuery(filter), cursor },
        signal,
      });
      // The API has no filter for calls that no one answered.
      return { rows: calls.filter((one) => isListed(one, filter)), nextCursor };
    },
    [filter],
  );
  useEffect(() => onResync(list.reload), [list]);
  useEffect(
    () => onCall((now) => list.change((rows, isWhole) => withCall(rows, now, { filter, isWhole }))),
    [list, filter],
  );

  if (list.rows === undefined)
    return list.failure === undefined ? <Loading lines={8} /> : <Failure error={list.failure} retry={list.retry} />;
  return (
    <section class="stack" aria-label={filter.view === 'callback' ? 'Calls to call back' : 'Calls'}>
      {list.rows.length === 0 && !list.hasMore ? <Nothing filter={filter} /> : <Rows calls={list.rows} />}
      {list.failure !== undefined && <Failure error={list.failure} retry={list.retry} />}
      {list.hasMore && (
        <div>
          <Button busy={list.loading} onClick={list.more}>
            Show older calls
          </Button>
        </div>
      )}
    </section>
  );
}

function Rows({ calls }: { readonly calls: readonly Call[] }): JSX.Element {
  const rows = useRef<HTMLUListElement>(null);
  const roving = useRoving(rows, 'li');
  return (
    <ul class="calls-list" ref={rows} {...roving}>
      {calls.map((one) => (
        <Row key={one.id} call={one} />
      ))}
    </ul>
  );
}

function Nothing({ filter }: { readonly filter: CallFilter }): JSX.Element {
  if (filter.view === 'callback' && !hasFilters(filter)) {
    return (
      <Empty icon="check" title="No calls to call back">
        <p>Missed calls appear here until they are solved.</p>
      </Empty>
    );
  }
  return hasFilters(filter) ? (
    <Empty icon="call" title="No matching calls" />
  ) : (
    <Empty icon="call" title="No calls yet">
      <p>Calls to your numbers will appear here.</p>
    </Empty>
  );
}

function Row({ call }: { readonly call: Call }): JSX.Element {
  const caller = callerOf(call);
  const outcome = outcomeOf(call);
  const { talkedMs } = spansOf(call, serverNow());
  const tel = telOf(call.fromE164);
  return (
    <li class={`calls-row ${outcome}`}>
      <span class="calls-icon">
        <Icon name={icons[outcome]} />
      </span>
      <a class="calls-who" href={`/calls/${call.id}`}>
        <strong class="truncate" title={caller}>
          {caller}
        </strong>
        <span class="truncate">
          {call.callerName !== null && call.fromE164 !== null ? `${spacedNumber(call.fromE164)} to ` : 'To '}
          {lineOf(call)}
        </span>
      </a>
      <span class="calls-agent truncate">{call.assignedAgentId === null ? '' : agentName(call.assignedAgentId)}</span>
      <span class="calls-length">{talkedMs === null || call.state !== 'ended' ? '' : durationOf(talkedMs)}</span>
      <span class="row calls-marks">
        <OutcomeBadge call={call} />
        {call.status === 'spam' && <Badge kind="bad">Spam</Badge>}
      </span>
      <span class="calls-when">
        <Time at={call.createdAt} />
      </span>
      <span class="calls-back">
        {waitsForCallBack(call) && tel !== undefined && (
          <ButtonLink small href={tel} icon="call">
            Call back
          </ButtonLink>
        )}
      </span>
    </li>
  );
}
