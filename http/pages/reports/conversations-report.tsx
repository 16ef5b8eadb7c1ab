// The conversations behind a figure, page by page.

import type { JSX } from 'preact';
import { call } from '../api.ts';
import { Button } from '../design/button.tsx';
import { StatusBadge } from '../design/conversation-status.tsx';
import { Empty } from '../design/feedback.tsx';
import { Checkbox, SelectField } from '../design/field.tsx';
import { useResource } from '../design/resource.ts';
import { useSame } from '../design/steady.ts';
import { Time } from '../design/time.tsx';
import { query, setQuery } from '../location.ts';
import { agentName } from '../people.ts';
import type { Conversation } from '../records.ts';
import { clockTime, countOf, dayOf, spanOf } from '../times.ts';
import { Reading } from './parts.tsx';
import { apiQuery, ownChannels, type ReportQuery } from './query.ts';
import { channelNames, type ReportPlace } from './report-list.ts';

const pageRows = 50;
const any = { value: '', label: 'Any' };
const statuses = ['open', 'pending', 'solved', 'closed', 'spam'] as const;

interface Found {
  readonly conversations: readonly Conversation[];
  readonly total: number;
}

/** The filters in the address beyond those that every report has. */
export function drillFlags(address: URLSearchParams): Record<string, string | undefined> {
  const status = address.get('status');
  return {
    status: statuses.find((one) => one === status),
    rated: address.get('rated') === '1' ? '1' : undefined,
    missed: address.get('missed') === '1' ? '1' : undefined,
  };
}

export function Conversations({
  place,
  request,
}: {
  readonly place: ReportPlace;
  readonly request: ReportQuery;
}): JSX.Element {
  const flags = useSame(drillFlags(query.value));
  const offset = Math.max(0, Math.floor(Number(query.value.get('offset') ?? 0)) || 0);
  const asks = useSame(apiQuery(place, request));
  const read = useResource<Found | undefined>(
    async (signal) =>
      asks === undefined
        ? undefined
        : call<Found>('GET', '/reports/conversations', {
            query: { ...asks, ...flags, limit: pageRows, offset },
            signal,
          }),
    [asks, flags, offset],
  );
  const again = { offset: undefined };
  return (
    <>
      <div class="reports-filters">
        <SelectField
          label="Channel"
          value={request.channel ?? ''}
          choices={[any, ...ownChannels().map((channel) => ({ value: channel, label: channelNames[channel] }))]}
          onValue={(channel) => setQuery({ ...again, channel })}
        />
        <SelectField
          label="Status"
          value={flags['status'] ?? ''}
          choices={[
            { value: '', label: 'All except spam' },
            ...statuses.map((status) => ({ value: status, label: status.charAt(0).toUpperCase() + status.slice(1) })),
          ]}
          onValue={(status) => setQuery({ ...again, status })}
        />
        <div class="reports-checks">
          <Checkbox
            label="Rated"
            checked={flags['rated'] === '1'}
            onChecked={(on) => setQuery({ ...again, rated: on ? '1' : undefined })}
          />
          <Checkbox
            label="Left before an answer"
            checked={flags['missed'] === '1'}
            onChecked={(on) => setQuery({ ...again, missed: on ? '1' : undefined })}
          />
        </div>
      </div>
      <Reading of={read} lines={10}>
        {({ conversations, total }) => (
          <>
            <p role="status">
              {total === 0
                ? ''
                : `${countOf(offset + 1)} to ${countOf(offset + conversations.length)} of ${countOf(total)}`}
            </p>
            {conversations.length === 0 ? (
              <Empty icon="search" title="No matching conversations in this period" />
            ) : (
              <Rows conversations={conversations} />
            )}
            {total > pageRows && (
              <div class="row">
                <Button
                  icon="left"
                  disabled={offset === 0}
                  onClick={() => setQuery({ offset: offset - pageRows > 0 ? String(offset - pageRows) : undefined })}
                >
                  Newer
                </Button>
                <Button
                  icon="right"
                  disabled={offset + pageRows >= total}
                  onClick={() => setQuery({ offset: String(offset + pageRows) })}
                >
                  Older
                </Button>
              </div>
            )}
          </>
        )}
      </Reading>
    </>
  );
}

function Rows({ conversations }: { readonly conversations: readonly Conversation[] }): JSX.Element {
  return (
    <div class="table-frame" role="region" aria-label="Conversations" tabIndex={0}>
      <table class="table stacks reports-conversations">
        <thead>
          <tr>
            <th scope="col">Conversation</th>
            <th scope="col">Status</th>
            <th scope="col">Agent</th>
            <th scope="col" class="number">
              First response
            </th>
            <th scope="col" class="number">
              Rating
            </th>
            <th scope="col">Started</th>
          </tr>
        </thead>
        <tbody>
          {conversations.map((one) => (
            <tr key={one.id}>
              <th scope="row">
                <a href={one.channel === 'call' ? `/calls/${one.id}` : `/inbox/all/${one.id}`}>
                  <span class="truncate">{titleOf(one)}</span>
                  <span class="truncate soft">{one.preview ?? ''}</span>
                </a>
              </th>
              <td>
                <StatusBadge status={one.status} />
              </td>
              <td data-label="Agent">
                {one.assignedAgentId === null ? <span class="soft">Unassigned</span> : agentName(one.assignedAgentId)}
              </td>
              <td class="number" data-label="First response">
                {one.firstResponseAt === null || one.firstResponseAt <= one.createdAt
                  ? ''
                  : spanOf((Date.parse(one.firstResponseAt) - Date.parse(one.createdAt)) / 1000)}
              </td>
              <td class="number" data-label="Rating">
                {one.rating === null ? '' : `${one.rating} of 5`}
                {one.ratingComment !== null && <span class="report-comment soft">{one.ratingComment}</span>}
              </td>
              <td>
                <Time at={one.createdAt} format={(at) => `${dayOf(at)}, ${clockTime(at)}`} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function titleOf({ channel, subject, ticketNumber }: Conversation): string {
  const name = { chat: 'Chat', ticket: `Ticket ${ticketNumber ?? ''}`, call: 'Call' }[channel];
  return subject === null || subject.trim() === '' ? name : `${name}: ${subject}`;
}
