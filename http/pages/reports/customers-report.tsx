// Customers who wait now, updated live, and those who left before an agent answered.

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { onEvent, onResync } from '../live.ts';
import type { CustomersReport } from '../records.ts';
import { countOf } from '../times.ts';
import { Chart } from './chart.tsx';
import { percentOf } from './figures.ts';
import { changeSince, Figure, Figures, Reading, SeriesTable, useReport } from './parts.tsx';
import { ownChannels, type ReportQuery, reportHref } from './query.ts';
import { channelNames, type ReportPlace } from './report-list.ts';

/** The events that add a customer to the queue or remove one. */
const moves = [
  'conversation.created',
  'conversation.updated',
  'conversation.closed',
  'assignment.accepted',
  'call.answered',
  'call.transferred',
  'call.ended',
];
/** Events within this time cause one reload. */
const settleMs = 400;

/** Reloads when an event changes the figures, not on a timer. */
export function useMoves(reload: () => void): void {
  useEffect(() => {
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const soon = (): void => {
      waiting ??= setTimeout(() => {
        waiting = undefined;
        reload();
      }, settleMs);
    };
    const stops = [onEvent(moves, soon), onResync(soon)];
    return () => {
      clearTimeout(waiting);
      for (const stop of stops) stop();
    };
  }, [reload]);
}

export function Customers({
  place,
  request,
}: {
  readonly place: ReportPlace;
  readonly request: ReportQuery;
}): JSX.Element {
  const read = useReport<CustomersReport>(place, request);
  useMoves(read.reload);
  const channels = request.channel === undefined ? ownChannels() : [request.channel];
  return (
    <Reading of={read}>
      {({ now, before }) => {
        const given = channels.reduce((sum, channel) => sum + now.abandonment[channel].abandoned, 0);
        const all = channels.reduce((sum, channel) => sum + now.abandonment[channel].total, 0);
        return (
          <>
            <section class="stack" aria-labelledby="reports-queue">
              <h2 id="reports-queue">Waiting now</h2>
              <div role="status" aria-live="polite">
                <Figures>
                  {channels.map((channel) => (
                    <Figure
                      key={channel}
                      label={channelNames[channel]}
                      value={countOf(now.queued[channel])}
                      href={now.queued[channel] === 0 ? undefined : '/inbox/unassigned'}
                    />
                  ))}
                </Figures>
              </div>
              <p class="soft">Open and unassigned. Updates automatically.</p>
            </section>
            <section class="stack" aria-labelledby="reports-abandonment">
              <h2 id="reports-abandonment">Left before an answer</h2>
              <Chart
                kind="bars"
                labels={channels.map((channel) => channelNames[channel])}
                longLabels={channels.map((channel) => channelNames[channel])}
                values={channels.map((channel) => now.abandonment[channel].rate * 100)}
                before={
                  before === undefined ? undefined : channels.map((channel) => before.abandonment[channel].rate * 100)
                }
                format={(value) => percentOf(value / 100)}
                isWhole={false}
                max={100}
                summary={
                  all === 0
                    ? 'No one wrote or called in this period.'
                    : `${countOf(given)} of ${countOf(all)} customers left before anyone answered.`
                }
              />
              <SeriesTable
                head={['Channel', 'Left', 'Of', 'Share', 'Change']}
                rows={channels.map((channel) => {
                  const { abandoned, total, rate } = now.abandonment[channel];
                  return {
                    name: channelNames[channel],
                    cells: [
                      countOf(abandoned),
                      countOf(total),
                      percentOf(rate),
                      changeSince(abandoned, before?.abandonment[channel].abandoned) ?? '',
                    ],
                    href: abandoned === 0 ? undefined : reportHref('conversations', { channel, missed: '1' }),
                  };
                })}
                label="Customers who left, by channel"
              />
            </section>
          </>
        );
      }}
    </Reading>
  );
}
