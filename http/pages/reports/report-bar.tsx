// A report's period, the length of its buckets, its filters, and the export. All are in the address.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { SelectField, TextField } from '../design/field.tsx';
import { Icon } from '../design/icon.tsx';
import { Menu } from '../design/menu.tsx';
import { query, setQuery } from '../location.ts';
import { notify, notifyFailure } from '../notices.ts';
import { serverNow } from '../server-clock.ts';
import { drillFlags } from './conversations-report.tsx';
import {
  agentsToChoose,
  apiQuery,
  channelOf,
  departmentsToChoose,
  ownChannels,
  type ReportQuery,
  timeZone,
} from './query.ts';
import {
  customRange,
  dayOfInstant,
  type Granularity,
  maxRangeDays,
  mayBeHourly,
  type RangeProblem,
  rangeNames,
} from './range.ts';
import { channelNames, type ReportPlace } from './report-list.ts';

const any = { value: '', label: 'All' };
const lengths: readonly { readonly value: Granularity | ''; readonly label: string }[] = [
  { value: '', label: 'Automatic' },
  { value: 'hour', label: 'Hour' },
  { value: 'day', label: 'Day' },
  { value: 'week', label: 'Week' },
  { value: 'month', label: 'Month' },
];

/** `place` is undefined on the overview, which has no buckets to choose. */
export function ReportBar({
  place,
  request,
}: {
  readonly place: ReportPlace | undefined;
  readonly request: ReportQuery;
}): JSX.Element {
  const zone = timeZone();
  const agents = agentsToChoose();
  const groups = departmentsToChoose();
  const hourly = mayBeHourly(request, zone);
  const found = request.range === 'custom' ? customRange(request, zone) : {};
  const problem: RangeProblem = 'fromMs' in found ? {} : found;
  const again = { offset: undefined };
  return (
    <form class="reports-filters" aria-label="Report filters" onSubmit={(event) => event.preventDefault()}>
      <SelectField
        label="Period"
        value={request.range}
        choices={rangeNames}
        onValue={(range) =>
          setQuery({
            ...again,
            range,
            ...(range === 'custom' ? lastDays(request, zone) : { from: undefined, to: undefined }),
            ...(request.granularity === 'hour' && range === '90d' ? { by: undefined } : {}),
          })
        }
      />
      {request.range === 'custom' && (
        <>
          <TextField
            label="First day"
            type="date"
            value={dayOfInstant(request.from, zone)}
            max={dayOfInstant(request.to, zone)}
            onValue={(from) => setQuery({ ...again, from })}
            error={problem.from}
          />
          <TextField
            label="Last day"
            type="date"
            value={lastDayOf(request.to, zone)}
            onValue={(to) => setQuery({ ...again, to })}
            error={problem.to}
            hint={`Up to ${maxRangeDays} days.`}
          />
        </>
      )}
      {place?.hasSeries === true && (
        <SelectField
          label="By"
          value={request.granularity ?? ''}
          choices={lengths.filter(({ value }) => value !== 'hour' || hourly)}
          onValue={(by) => setQuery({ by })}
        />
      )}
      {place?.channel === 'one' && ownChannels().length > 1 && (
        <SelectField
          label="Channel"
          value={channelOf(place, request) ?? 'chat'}
          choices={ownChannels().map((channel) => ({ value: channel, label: channelNames[channel] }))}
          onValue={(channel) => setQuery({ channel })}
        />
      )}
      {groups.length > 0 && (
        <SelectField
          label="Department"
          value={request.departmentId ?? ''}
          choices={[any, ...groups.map(({ id, name }) => ({ value: id, label: name }))]}
          onValue={(department) => setQuery({ ...again, department })}
        />
      )}
      {agents.length > 1 && (
        <SelectField
          label="Agent"
          value={request.agentId ?? ''}
          choices={[any, ...agents.map(({ id, name }) => ({ value: id, label: name }))]}
          onValue={(agent) => setQuery({ ...again, agent })}
        />
      )}
    </form>
  );
}

/** A custom range starts with the last seven days. */
function lastDays({ from, to }: ReportQuery, zone: string): { from: string; to: string } {
  if (from !== '' && to !== '') return { from, to };
  const dayMs = 24 * 3600_000;
  const today = dayOfInstant(new Date(serverNow()).toISOString(), zone);
  return { from: new Date(Date.parse(today) - 6 * dayMs).toISOString().slice(0, 10), to: today };
}

/** The end of a range is exclusive, so the last day is that of the moment before. */
function lastDayOf(to: string, zone: string): string {
  return to.includes('T') && !Number.isNaN(Date.parse(to))
    ? dayOfInstant(new Date(Date.parse(to) - 1).toISOString(), zone)
    : dayOfInstant(to, zone);
}

export function ExportMenu({
  place,
  request,
}: {
  readonly place: ReportPlace;
  readonly request: ReportQuery;
}): JSX.Element {
  const [busy, setBusy] = useState(false);
  const download = async (format: 'csv' | 'json'): Promise<void> => {
    const asks = apiQuery(place, request);
    if (asks === undefined || busy) return;
    setBusy(true);
    try {
      const flags = place.slug === 'conversations' ? drillFlags(query.peek()) : {};
      const { url } = await call<{ url: string }>('GET', '/reports/export', {
        query: { type: place.path, format, ...asks, ...flags },
      });
      // The service's address in the link may differ from the one used here.
      const { pathname, search } = new URL(url);
      const link = document.createElement('a');
      link.href = pathname + search;
      link.download = '';
      link.click();
      notify({ kind: 'done', text: 'Your download has started. Its link works for 15 minutes.' });
    } catch (error) {
      notifyFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Menu
      label="Export"
      class="button plain"
      items={[
        { label: 'Table', hint: 'CSV', run: () => void download('csv') },
        { label: 'Data', hint: 'JSON', run: () => void download('json') },
      ]}
    >
      {busy ? <span class="spinner" /> : <Icon name="download" size={18} />}
      Export
    </Menu>
  );
}
