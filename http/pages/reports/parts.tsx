// Parts of reports: a figure with its previous value, a series as a chart with its table, and the states of loading and
// failure.

import type { ComponentChildren, JSX } from 'preact';
import { call } from '../api.ts';
import { Failure, Loading } from '../design/feedback.tsx';
import { type Resource, useResource } from '../design/resource.ts';
import { useSame } from '../design/steady.ts';
import { navigate } from '../location.ts';
import type { ReportHead, SeriesPoint } from '../records.ts';
import { countOf } from '../times.ts';
import { Chart } from './chart.tsx';
import { changeOf, granularityOf, longBucket, shortBucket, summaryOf } from './figures.ts';
import { apiQuery, type ReportQuery, reportHref } from './query.ts';
import { bucketRange, rangeBefore } from './range.ts';
import type { ReportPlace } from './report-list.ts';

export interface Compared<Report> {
  readonly now: Report;
  /** The period of equal length just before; undefined if it could not be loaded. */
  readonly before: Report | undefined;
}

/** Loads a report, then the one of the previous period. A reload keeps the previous period's. */
export function useReport<Report extends ReportHead>(
  place: ReportPlace,
  request: ReportQuery,
): Resource<Compared<Report> | undefined> {
  const query = useSame(apiQuery(place, request));
  const now = useResource<Report | undefined>(
    async (signal) =>
      query === undefined ? undefined : call<Report>('GET', `/reports/${place.path}`, { query, signal }),
    [place.path, query],
  );
  const range = useSame(now.value?.range);
  const before = useResource<Report | undefined>(
    async (signal) =>
      range === undefined
        ? undefined
        : call<Report>('GET', `/reports/${place.path}`, { query: { ...query, ...rangeBefore(range) }, signal }).catch(
            () => undefined,
          ),
    [place.path, query, range],
  );
  return {
    ...now,
    value: now.value === undefined ? undefined : { now: now.value, before: before.value },
    set: (value) => now.set(value?.now),
  };
}

/** Draws a report once it is loaded. */
export function Reading<Value>({
  of: read,
  lines = 5,
  children,
}: {
  readonly of: Resource<Value | undefined>;
  readonly lines?: number;
  readonly children: (value: Value) => ComponentChildren;
}): JSX.Element | null {
  if (read.value === undefined)
    return read.failure !== undefined ? (
      <Failure error={read.failure} retry={read.reload} />
    ) : read.loading ? (
      <Loading lines={lines} />
    ) : null;
  return (
    <>
      {read.failure !== undefined && <Failure error={read.failure} retry={read.reload} />}
      {children(read.value)}
    </>
  );
}

/** One figure with its label and its previous value. `href` leads to the conversations behind it. */
export function Figure({
  label,
  value,
  change,
  href,
}: {
  readonly label: string;
  readonly value: string;
  readonly change?: string | undefined;
  readonly href?: string | undefined;
}): JSX.Element {
  return (
    <div class="reports-figure">
      <dt>{label}</dt>
      <dd>
        {href === undefined ? value : <a href={href}>{value}</a>}
        {change !== undefined && <span class="change">{change}</span>}
      </dd>
    </div>
  );
}

export function Figures({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <dl class="reports-figures">{children}</dl>;
}

interface SeriesProps {
  readonly report: ReportHead & { readonly series: readonly SeriesPoint[] };
  readonly before?: { readonly series: readonly SeriesPoint[] } | undefined;
  /** The noun, for the middle of a sentence: "chats". */
  readonly what: string;
  /** The filters of the table's links and of a click; undefined if there are no conversations behind the figures. */
  readonly drill?: Readonly<Record<string, string | undefined>>;
  readonly height?: number;
  /** The table is collapsed. */
  readonly isFolded?: boolean;
}

/** A count over time: bars, and a table with the same figures. */
export function CountSeries({ report, before, what, drill, height, isFolded = false }: SeriesProps): JSX.Element {
  const { series, range } = report;
  const granularity = granularityOf(series);
  const hrefOf = (index: number): string | undefined =>
    drill === undefined
      ? undefined
      : reportHref('conversations', { ...drill, range: 'custom', by: undefined, ...bucketRange(series, index, range) });
  const table = (
    <SeriesTable
      head={[bucketHead(granularity), capital(what), ...(before === undefined ? [] : ['Previous'])]}
      rows={series.map(({ bucket, value }, index) => ({
        name: longBucket(bucket, granularity),
        cells: [countOf(value), ...(before === undefined ? [] : [countOf(before.series[index]?.value ?? 0)])],
        href: value === 0 ? undefined : hrefOf(index),
      }))}
      label={`${capital(what)}, ${granularity} by ${granularity}`}
    />
  );
  return (
    <>
      <Chart
        kind="bars"
        labels={series.map(({ bucket }) => shortBucket(bucket, granularity))}
        longLabels={series.map(({ bucket }) => longBucket(bucket, granularity))}
        values={series.map(({ value }) => value)}
        before={before?.series.map(({ value }) => value)}
        format={countOf}
        summary={summaryOf(series, { what, range, isSum: true })}
        {...(height === undefined ? {} : { height })}
        {...(drill === undefined
          ? {}
          : {
              onChoose: (index: number) => {
                const href = hrefOf(index);
                if (href !== undefined && (series[index]?.value ?? 0) > 0) navigate(href);
              },
            })}
      />
      {isFolded ? (
        <details class="reports-folded">
          <summary>Figures</summary>
          {table}
        </details>
      ) : (
        table
      )}
    </>
  );
}

export interface TableRow {
  readonly name: string;
  readonly cells: readonly string[];
  /** The conversations behind the first figure. */
  readonly href?: string | undefined;
}

/** Scrollable by keyboard: it has a name and takes the focus. */
export function SeriesTable({
  head,
  rows,
  label,
}: {
  readonly head: readonly string[];
  readonly rows: readonly TableRow[];
  readonly label: string;
}): JSX.Element {
  return (
    <div class="table-frame reports-table" role="region" aria-label={label} tabIndex={0}>
      <table class={`table ${head.length > 3 ? 'stacks' : ''}`}>
        <thead>
          <tr>
            {head.map((one, index) => (
              <th key={one} scope="col" class={index === 0 ? '' : 'number'}>
                {one}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, cells, href }, row) => (
            <tr key={row}>
              <th scope="row">{name}</th>
              {cells.map((cell, index) => (
                <td key={index} class="number" data-label={head[index + 1]}>
                  {index === 0 && href !== undefined ? (
                    <a href={href} aria-label={`${cell}, ${name}`}>
                      {cell}
                    </a>
                  ) : (
                    cell
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function bucketHead(granularity: string): string {
  return capital(granularity);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The change of a count from the previous period. */
export function changeSince(now: number | null, before: number | null | undefined): string | undefined {
  return before === undefined ? undefined : changeOf(now, before);
}
