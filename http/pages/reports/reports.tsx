// The pages of reports: the overview, and each report with its filters.

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Empty } from '../design/feedback.tsx';
import { Tabs } from '../design/tabs.tsx';
import { hasRole } from '../session.ts';
import { setTitle } from '../title.ts';
import { Conversations } from './conversations-report.tsx';
import { Customers } from './customers-report.tsx';
import { Overview } from './overview.tsx';
import { ByStatus, Performance, ResponseTimes, Satisfaction } from './quality-reports.tsx';
import { currentQuery, isOpenTo, type ReportQuery, reportHref, timeZone } from './query.ts';
import { rangeQuery } from './range.ts';
import { ExportMenu, ReportBar } from './report-bar.tsx';
import { placeOf, type ReportPlace, type ReportSlug, reportPlaces } from './report-list.ts';
import { Conversions, Volume } from './volume-report.tsx';

type Panel = (props: { readonly place: ReportPlace; readonly request: ReportQuery }) => JSX.Element;

const panels: Readonly<Record<ReportSlug, Panel>> = {
  chats: Volume,
  tickets: Volume,
  status: ByStatus,
  'response-times': ResponseTimes,
  satisfaction: Satisfaction,
  agents: Performance,
  customers: Customers,
  conversions: Conversions,
  conversations: Conversations,
};

export function Reports({ params }: { readonly params: Readonly<Record<string, string>> }): JSX.Element {
  const slug = params['report'];
  const place = slug === undefined ? undefined : placeOf(slug);
  const request = currentQuery();
  const title = place?.title ?? 'Reports';
  useEffect(() => setTitle(title), [title]);
  const isUnknown = slug !== undefined && (place === undefined || !isOpenTo(place));
  const isReady = rangeQuery(request, timeZone()) !== undefined;
  const Shown = place === undefined ? undefined : panels[place.slug];
  return (
    <div class="page reports">
      <header>
        <div>
          <h1>{title}</h1>
          <p>
            {place?.about ??
              (hasRole('admin')
                ? 'The work of the whole workspace.'
                : hasRole('supervisor')
                  ? 'The work of your departments.'
                  : 'Your own work.')}
          </p>
        </div>
        {place !== undefined && !isUnknown && <ExportMenu place={place} request={request} />}
      </header>
      <Tabs
        label="Reports"
        tabs={[
          { href: reportHref(''), label: 'Overview', isCurrent: slug === undefined },
          ...reportPlaces.filter(isOpenTo).map((one) => ({
            href: reportHref(one.slug),
            label: one.short ?? one.title,
            isCurrent: slug === one.slug,
          })),
        ]}
      />
      {isUnknown ? (
        <Empty
          icon="chart"
          title={place === undefined ? 'This report does not exist' : 'This report is for a channel you do not work in'}
        />
      ) : (
        <>
          <ReportBar place={place} request={request} />
          {!isReady ? (
            <p class="soft">Choose the days to see the figures.</p>
          ) : place === undefined || Shown === undefined ? (
            <Overview request={request} />
          ) : (
            <Shown key={place.slug} place={place} request={request} />
          )}
          <p class="soft reports-foot">
            Conversations that started in this period, as they are now, without spam. Days are in the time zone{' '}
            {timeZone().replaceAll('_', ' ')}.
          </p>
        </>
      )}
    </div>
  );
}
