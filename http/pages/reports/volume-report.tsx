// The number of chats, tickets or completions over time.

import type { JSX } from 'preact';
import { Badge, Empty } from '../design/feedback.tsx';
import type { ConversionsReport, VolumeReport } from '../records.ts';
import { amountOf, countOf } from '../times.ts';
import { CountSeries, changeSince, Figure, Figures, Reading, SeriesTable, useReport } from './parts.tsx';
import type { ReportQuery } from './query.ts';
import type { ReportPlace } from './report-list.ts';

interface PanelProps {
  readonly place: ReportPlace;
  readonly request: ReportQuery;
}

export function Volume({ place, request }: PanelProps): JSX.Element {
  const read = useReport<VolumeReport>(place, request);
  const channel = place.channel === 'ticket' ? 'ticket' : 'chat';
  return (
    <Reading of={read}>
      {({ now, before }) => (
        <>
          <Figures>
            <Figure label={place.title} value={countOf(now.total)} change={changeSince(now.total, before?.total)} />
          </Figures>
          <CountSeries report={now} before={before} what={`${channel}s`} drill={{ channel }} />
        </>
      )}
    </Reading>
  );
}

const goalStatus = { active: undefined, paused: 'Paused', archived: 'Archived', deleted: 'Deleted' } as const;

export function Conversions({ place, request }: PanelProps): JSX.Element {
  const read = useReport<ConversionsReport>(place, request);
  return (
    <Reading of={read}>
      {({ now, before }) => (
        <>
          <Figures>
            <Figure label="Completions" value={countOf(now.total)} change={changeSince(now.total, before?.total)} />
            <Figure
              label="Value"
              value={amountOf(now.totalValueCents)}
              change={changeSince(now.totalValueCents, before?.totalValueCents)}
            />
          </Figures>
          <CountSeries report={now} before={before} what="completions" />
          <h2>By goal</h2>
          {now.goals.length === 0 ? (
            <Empty icon="flag" title="There are no goals yet">
              <p>A goal is a page you want visitors to reach, such as the one after a purchase.</p>
            </Empty>
          ) : (
            <>
              <SeriesTable
                head={['Goal', 'Completions', 'Value']}
                rows={now.goals.map(({ name, completions, valueCents }) => ({
                  name,
                  cells: [countOf(completions), amountOf(valueCents)],
                }))}
                label="Completions by goal"
              />
              <p class="row">
                {now.goals
                  .filter(({ status }) => goalStatus[status] !== undefined)
                  .map(({ goalId, name, status }) => (
                    <Badge key={goalId}>
                      {name}: {goalStatus[status]}
                    </Badge>
                  ))}
              </p>
            </>
          )}
        </>
      )}
    </Reading>
  );
}
