// The main figures at a glance, each with a link to its report.

import type { ComponentChildren, JSX } from 'preact';
import type {
  ConversionsReport,
  CustomersReport,
  ResponseTimesReport,
  SatisfactionReport,
  VolumeReport,
} from '../records.ts';
import { amountOf, countOf } from '../times.ts';
import { useMoves } from './customers-report.tsx';
import { scoreOf, secondsOf } from './figures.ts';
import { CountSeries, changeSince, Figure, Figures, Reading, useReport } from './parts.tsx';
import { channelOf, isOpenTo, ownChannels, type ReportQuery, reportHref } from './query.ts';
import { channelNames, placeOf, type ReportPlace, type ReportSlug } from './report-list.ts';

const chartHeight = 140;

export function Overview({ request }: { readonly request: ReportQuery }): JSX.Element {
  const cards: readonly { readonly slug: ReportSlug; readonly Card: (props: CardProps) => JSX.Element }[] = [
    { slug: 'customers', Card: Queue },
    { slug: 'response-times', Card: Speed },
    { slug: 'satisfaction', Card: Rating },
    { slug: 'conversions', Card: Goals },
    { slug: 'chats', Card: Volume },
    { slug: 'tickets', Card: Volume },
  ];
  return (
    <div class="reports-cards">
      {cards.map(({ slug, Card }) => {
        const place = placeOf(slug);
        return place !== undefined && isOpenTo(place) && <Card key={slug} place={place} request={request} />;
      })}
    </div>
  );
}

interface CardProps {
  readonly place: ReportPlace;
  readonly request: ReportQuery;
}

function Frame({
  place,
  request,
  wide = false,
  children,
}: CardProps & { readonly wide?: boolean; readonly children: ComponentChildren }): JSX.Element {
  return (
    <section class={`card reports-card ${wide ? 'wide' : ''}`} aria-labelledby={`reports-${place.slug}`}>
      <h2 id={`reports-${place.slug}`}>
        <a href={reportHref(place.slug)}>{titleOf(place, request)}</a>
      </h2>
      {children}
    </section>
  );
}

/** "Satisfaction, chats": with the channel, for a report of one. */
function titleOf(place: ReportPlace, request: ReportQuery): string {
  if (place.slug === 'customers') return 'Waiting now';
  const channel = place.channel === 'one' ? channelOf(place, request) : undefined;
  return channel === undefined ? place.title : `${place.title}, ${channelNames[channel].toLowerCase()}`;
}

function Volume({ place, request }: CardProps): JSX.Element {
  const read = useReport<VolumeReport>(place, request);
  const channel = place.channel === 'ticket' ? 'ticket' : 'chat';
  return (
    <Frame place={place} request={request} wide>
      <Reading of={read}>
        {({ now, before }) => (
          <>
            <Figures>
              <Figure
                label="Started"
                value={countOf(now.total)}
                change={changeSince(now.total, before?.total)}
                href={now.total === 0 ? undefined : reportHref('conversations', { channel })}
              />
            </Figures>
            <CountSeries
              report={now}
              before={before}
              what={`${channel}s`}
              drill={{ channel }}
              height={chartHeight}
              isFolded
            />
          </>
        )}
      </Reading>
    </Frame>
  );
}

function Queue({ place, request }: CardProps): JSX.Element {
  const read = useReport<CustomersReport>(place, request);
  useMoves(read.reload);
  return (
    <Frame place={place} request={request}>
      <Reading of={read} lines={2}>
        {({ now }) => (
          <div role="status">
            <Figures>
              {ownChannels().map((channel) => (
                <Figure
                  key={channel}
                  label={channelNames[channel]}
                  value={countOf(now.queued[channel])}
                  href={now.queued[channel] === 0 ? undefined : '/inbox/unassigned'}
                />
              ))}
            </Figures>
          </div>
        )}
      </Reading>
    </Frame>
  );
}

function Speed({ place, request }: CardProps): JSX.Element {
  const read = useReport<ResponseTimesReport>(place, request);
  return (
    <Frame place={place} request={request}>
      <Reading of={read} lines={2}>
        {({ now, before }) => (
          <Figures>
            <Figure
              label="First response, median"
              value={secondsOf(now.firstResponse.medianSeconds)}
              change={changeSince(now.firstResponse.medianSeconds, before?.firstResponse.medianSeconds)}
            />
            <Figure
              label="Solved, median"
              value={secondsOf(now.resolution.medianSeconds)}
              change={changeSince(now.resolution.medianSeconds, before?.resolution.medianSeconds)}
            />
          </Figures>
        )}
      </Reading>
    </Frame>
  );
}

function Rating({ place, request }: CardProps): JSX.Element {
  const read = useReport<SatisfactionReport>(place, request);
  return (
    <Frame place={place} request={request}>
      <Reading of={read} lines={2}>
        {({ now, before }) => (
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
            />
          </Figures>
        )}
      </Reading>
    </Frame>
  );
}

function Goals({ place, request }: CardProps): JSX.Element {
  const read = useReport<ConversionsReport>(place, request);
  return (
    <Frame place={place} request={request}>
      <Reading of={read} lines={2}>
        {({ now, before }) => (
          <Figures>
            <Figure label="Completions" value={countOf(now.total)} change={changeSince(now.total, before?.total)} />
            <Figure
              label="Value"
              value={amountOf(now.totalValueCents)}
              change={changeSince(now.totalValueCents, before?.totalValueCents)}
            />
          </Figures>
        )}
      </Reading>
    </Frame>
  );
}
