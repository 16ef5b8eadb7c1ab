// Quality of service: statuses, response times, satisfaction, and each agent's figures.

import type { JSX } from 'preact';
import { Empty } from '../design/feedback.tsx';
import { navigate } from '../location.ts';
import type { PerformanceReport, ResponseTimesReport, SatisfactionReport, StatusReport } from '../records.ts';
import { countOf } from '../times.ts';
import { Chart } from './chart.tsx';
import { granularityOf, longBucket, scoreOf, secondsOf, shortBucket, summaryOf } from './figures.ts';
import { bucketHead, changeSince, Figure, Figures, Reading, SeriesTable, useReport } from './parts.tsx';
import { channelOf, type ReportQuery, reportHref } from './query.ts';
import { bucketRange } from './range.ts';
import { channelNames, type ReportPlace } from './report-list.ts';

interface PanelProps {
  readonly place: ReportPlace;
  readonly request: ReportQuery;
}

const statuses = [
  { status: 'open', label: 'Open' },
  { status: 'pending', label: 'Pending' },
  { status: 'solved', label: 'Solved' },
  { status: 'closed', label: 'Closed' },
] as const;

export function ByStatus({ place, request }: PanelProps): JSX.Element {
  const read = useReport<StatusReport>(place, request);
  const channel = channelOf(place, request);
  return (
    <Reading of={read}>
      {({ now, before }) => (
        <>
          <Figures>
            <Figure
              label={channel === undefined ? 'All' : channelNames[channel]}
              value={countOf(now.total)}
              change={changeSince(now.total, before?.total)}
              href={reportHref('conversations', { channel })}
            />
            {statuses.map(({ status, label }) => (
              <Figure
                key={status}
                label={label}
                value={countOf(now.counts[status])}
                href={now.counts[status] === 0 ? undefined : reportHref('conversations', { channel, status })}
              />
            ))}
          </Figures>
          <Chart
            kind="bars"
            labels={statuses.map(({ label }) => label)}
            longLabels={statuses.map(({ label }) => label)}
            values={statuses.map(({ status }) => now.counts[status])}
            before={before === undefined ? undefined : statuses.map(({ status }) => before.counts[status])}
            format={countOf}
            summary={`Of ${countOf(now.total)}: ${statuses.map(({ status, label }) => `${countOf(now.counts[status])} ${label.toLowerCase()}`).join(', ')}.`}
            onChoose={(index) => {
              const chosen = statuses[index];
              if (chosen !== undefined && now.counts[chosen.status] > 0)
                navigate(reportHref('conversations', { channel, status: chosen.status }));
            }}
          />
          <SeriesTable
            head={['Status', 'Now', ...(before === undefined ? [] : ['Previous'])]}
            rows={statuses.map(({ status, label }) => ({
              name: label,
              cells: [countOf(now.counts[status]), ...(before === undefined ? [] : [countOf(before.counts[status])])],
              href: now.counts[status] === 0 ? undefined : reportHref('conversations', { channel, status }),
            }))}
            label="By status"
          />
        </>
      )}
    </Reading>
  );
}

/** Distances at which axis marks are round: seconds, minutes, hours, days. */
const secondSteps = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400, 172_800, 432_000,
  864_000, 2_592_000,
];

export function ResponseTimes({ place, request }: PanelProps): JSX.Element {
  const read = useReport<ResponseTimesReport>(place, request);
  const channel = channelOf(place, request);
  return (
    <Reading of={read}>
      {({ now, before }) => {
        const rows = [
          {
            name: 'First response, median',
            value: now.firstResponse.medianSeconds,
            past: before?.firstResponse.medianSeconds,
          },
          {
            name: 'First response, 9 in 10',
            value: now.firstResponse.p90Seconds,
            past: before?.firstResponse.p90Seconds,
          },
          { name: 'Solved, median', value: now.resolution.medianSeconds, past: before?.resolution.medianSeconds },
          { name: 'Solved, 9 in 10', value: now.resolution.p90Seconds, past: before?.resolution.p90Seconds },
        ];
        return (
          <>
            <Figures>
              {rows.map(({ name, value, past }) => (
                <Figure key={name} label={name} value={secondsOf(value)} change={changeSince(value, past)} />
              ))}
            </Figures>
            <Chart
              kind="bars"
              labels={['Response', '… 9 in 10', 'Solved', '… 9 in 10']}
              longLabels={rows.map(({ name }) => name)}
              values={rows.map(({ value }) => value)}
              before={before === undefined ? undefined : rows.map(({ past }) => past ?? null)}
              format={(value) => secondsOf(value)}
              steps={secondSteps}
              summary={
                now.firstResponse.medianSeconds === null
                  ? 'Nothing was answered in this period yet.'
                  : `Half of the customers had a first response within ${secondsOf(now.firstResponse.medianSeconds)}, ` +
                    `nine in ten within ${secondsOf(now.firstResponse.p90Seconds)}` +
                    (now.resolution.medianSeconds === null
                      ? '.'
                      : `; half were helped within ${secondsOf(now.resolution.medianSeconds)}, nine in ten within ${secondsOf(now.resolution.p90Seconds)}.`)
              }
            />
            <SeriesTable
              head={['Measure', 'This period', ...(before === undefined ? [] : ['Previous'])]}
              rows={rows.map(({ name, value, past }) => ({
                name,
                cells: [secondsOf(value), ...(before === undefined ? [] : [secondsOf(past ?? null)])],
              }))}
              label="Response times"
            />
            <p>
              <a href={reportHref('conversations', { channel })}>See these conversations</a>
            </p>
          </>
        );
      }}
    </Reading>
  );
}

export function Satisfaction({ place, request }: PanelProps): JSX.Element {
  const read = useReport<SatisfactionReport>(place, request);
  const channel = channelOf(place, request);
  return (
    <Reading of={read}>
      {({ now, before }) => {
        const { series } = now;
        const granularity = granularityOf(series);
        const hrefOf = (index: number): string =>
          reportHref('conversations', {
            channel,
            rated: '1',
            range: 'custom',
            by: undefined,
            ...bucketRange(series, index, now.range),
          });
        return (
          <>
            <Figures>
              <Figure
                label="Mean rating"
                value={scoreOf(now.average)}
                change={changeSince(now.average, before?.average)}
              />
              <Figure
                label="Ratings"
                value={countOf(now.responses)}
                change={changeSince(now.responses, before?.responses)}
                href={now.responses === 0 ? undefined : reportHref('conversations', { channel, rated: '1' })}
              />
            </Figures>
            <Chart
              kind="line"
              max={5.2}
              isWhole={false}
              labels={series.map(({ bucket }) => shortBucket(bucket, granularity))}
              longLabels={series.map(({ bucket }) => longBucket(bucket, granularity))}
              values={series.map(({ value, responses }) => (responses === 0 ? null : value))}
              before={before?.series.map(({ value, responses }) => (responses === 0 ? null : value))}
              format={(value) => value.toFixed(1)}
              summary={summaryOf(series, {
                what: 'ratings',
                range: now.range,
                format: (value) => `${value.toFixed(1)} of 5`,
                isSum: false,
              })}
              onChoose={(index) => {
                if ((series[index]?.responses ?? 0) > 0) navigate(hrefOf(index));
              }}
            />
            <SeriesTable
              head={[bucketHead(granularity), 'Ratings', 'Mean']}
              rows={series.map(({ bucket, value, responses }, index) => ({
                name: longBucket(bucket, granularity),
                cells: [countOf(responses), responses === 0 ? '' : value.toFixed(2)],
                href: responses === 0 ? undefined : hrefOf(index),
              }))}
              label={`Ratings, ${granularity} by ${granularity}`}
            />
          </>
        );
      }}
    </Reading>
  );
}

export function Performance({ place, request }: PanelProps): JSX.Element {
  const read = useReport<PerformanceReport>(place, request);
  return (
    <Reading of={read}>
      {({ now, before }) => {
        const rows = [...now.agents].sort((a, b) => b.conversations - a.conversations);
        if (rows.length === 0) return <Empty icon="people" title="No agent had a conversation in this period" />;
        const past = new Map(before?.agents.map((one) => [one.agent.id, one.conversations]));
        const most = rows[0];
        return (
          <>
            <Chart
              kind="bars"
              labels={rows.map(({ agent }) => shortName(agent.name))}
              longLabels={rows.map(({ agent }) => agent.name)}
              values={rows.map(({ conversations }) => conversations)}
              before={before === undefined ? undefined : rows.map(({ agent }) => past.get(agent.id) ?? 0)}
              format={countOf}
              summary={
                most === undefined
                  ? ''
                  : `${rows.length === 1 ? 'One agent' : `${rows.length} agents`} had ${countOf(rows.reduce((sum, { conversations }) => sum + conversations, 0))} conversations. ` +
                    `The most: ${most.agent.name}, ${countOf(most.conversations)}.`
              }
              onChoose={(index) => {
                const chosen = rows[index];
                if (chosen !== undefined && chosen.conversations > 0)
                  navigate(reportHref('conversations', { agent: chosen.agent.id }));
              }}
            />
            <SeriesTable
              head={['Agent', 'Conversations', 'First response, median', 'Solved, median', 'Mean rating', 'Ratings']}
              rows={rows.map(
                ({
                  agent,
                  conversations,
                  firstResponseMedianSeconds,
                  fullResolutionMedianSeconds,
                  csatScore,
                  csatResponses,
                }) => ({
                  name: agent.name,
                  cells: [
                    countOf(conversations),
                    secondsOf(firstResponseMedianSeconds),
                    secondsOf(fullResolutionMedianSeconds),
                    scoreOf(csatScore),
                    countOf(csatResponses),
                  ],
                  href: conversations === 0 ? undefined : reportHref('conversations', { agent: agent.id }),
                }),
              )}
              label="Figures by agent"
            />
          </>
        );
      }}
    </Reading>
  );
}

const shortNameChars = 14;

function shortName(name: string): string {
  const first = name.trim().split(/\s+/u)[0] ?? '';
  return first.length > shortNameChars ? `${first.slice(0, shortNameChars)}…` : first;
}
