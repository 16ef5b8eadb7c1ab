// Business hours: the rules of the workspace, its sites and departments, with what is open now and the next change.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { useCommands } from '../../commands.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { Confirm } from '../../design/dialog.tsx';
import { Badge, Empty, Failure, Loading } from '../../design/feedback.tsx';
import { useResource } from '../../design/resource.ts';
import { useLatest } from '../../design/steady.ts';
import { notify } from '../../notices.ts';
import { readAll } from '../../paging.ts';
import { departmentName } from '../../people.ts';
import type { BusinessHours, OfficeHours, OfficeHoursNow, Site } from '../../records.ts';
import { me } from '../../session.ts';
import { now as time } from '../../times.ts';
import { counted } from '../labels.ts';
import { Section, type SectionProps } from '../section.tsx';
import { HoursDialog } from './hours-dialog.tsx';
import { nextChangeInWords } from './opening.ts';
import { dateIn, dateInFull, weekInWords } from './week.ts';

interface Read {
  readonly rules: readonly BusinessHours[];
  readonly now: OfficeHoursNow;
  readonly sites: readonly Site[];
}

async function readHours(signal: AbortSignal): Promise<Read> {
  const [{ businessHours }, now, sites] = await Promise.all([
    call<{ businessHours: BusinessHours[] }>('GET', '/business-hours', { signal }),
    call<OfficeHoursNow>('GET', '/business-hours/now', { signal }),
    readAll<Site>('/sites', 'sites'),
  ]);
  return { rules: businessHours, now, sites };
}

type Open =
  | { readonly kind: 'edit'; readonly rule: BusinessHours | undefined }
  | { readonly kind: 'delete'; readonly rule: BusinessHours };

export function Hours(_props: SectionProps): JSX.Element {
  const [open, setOpen] = useState<Open | undefined>(undefined);
  const hours = useResource(readHours, []);
  const add = useLatest(() => setOpen({ kind: 'edit', rule: undefined }));
  useCommands(
    () => [{ id: 'hours.create', title: 'Add business hours', group: 'This page', keys: ['n'], run: add }],
    [],
  );
  const close = (): void => setOpen(undefined);
  return (
    <Section
      title="Business hours"
      intro={
        `When your team is available, in the time zone ${me.value?.workspace.timezone ?? 'of the workspace'}. ` +
        'They apply to the widget, campaigns and phone numbers.'
      }
      actions={
        <Button kind="primary" icon="plus" onClick={add}>
          Add hours
        </Button>
      }
    >
      {hours.failure !== undefined && <Failure error={hours.failure} retry={hours.reload} />}
      {hours.value === undefined && hours.failure === undefined && <Loading lines={6} />}
      {hours.value !== undefined && (
        <>
          <OpenNow read={hours.value} onPast={hours.reload} />
          {hours.value.rules.length === 0 ? (
            <Empty icon="clock" title="Always open">
              <p>Without hours you count as open day and night. Add some, and customers see when you are away.</p>
            </Empty>
          ) : (
            <ul class="stack">
              {hours.value.rules.map((rule) => (
                <RuleCard key={rule.id} rule={rule} sites={hours.value?.sites ?? []} onOpen={setOpen} />
              ))}
            </ul>
          )}
          {open?.kind === 'edit' && (
            <HoursDialog rule={open.rule} sites={hours.value.sites} onClose={close} onSaved={hours.reload} />
          )}
        </>
      )}
      {open?.kind === 'delete' && (
        <Confirm
          title={`Delete “${open.rule.name}”?`}
          action="Delete"
          onClose={close}
          onConfirm={async () => {
            await call('DELETE', `/business-hours/${open.rule.id}`);
            hours.reload();
            notify({ kind: 'done', text: `“${open.rule.name}” is deleted.` });
          }}
        >
          <p>
            Other hours for the same site, department or workspace still apply, otherwise those of the workspace.
            Without any hours, it is always open.
          </p>
        </Confirm>
      )}
    </Section>
  );
}

/** What is open changes while the page is open: `onPast` is called when the shown state has passed. */
function OpenNow({ read: { now, sites }, onPast }: { readonly read: Read; readonly onPast: () => void }): JSX.Element {
  const zone = me.value?.workspace.timezone ?? 'UTC';
  const isPast = [now.workspace, ...now.sites, ...now.departments].some(
    ({ nextChange }) => nextChange !== null && Date.parse(nextChange) <= time.value,
  );
  const notifyPast = useLatest(onPast);
  useEffect(() => {
    if (isPast) notifyPast();
  }, [isPast]);
  const rows: readonly { readonly key: string; readonly name: string; readonly opening: OfficeHours }[] = [
    { key: 'workspace', name: 'The workspace', opening: now.workspace },
    ...now.sites.map((opening) => ({
      key: opening.siteId,
      name: sites.find(({ id }) => id === opening.siteId)?.name ?? 'A site',
      opening,
    })),
    ...now.departments.map((opening) => ({
      key: opening.departmentId,
      name: departmentName(opening.departmentId),
      opening,
    })),
  ];
  return (
    <section class="card compact" aria-labelledby="open-now">
      <h2 id="open-now">Now</h2>
      <ul class="stack">
        {rows.map(({ key, name, opening }) => (
          <li key={key} class="row open-row">
            <Badge {...(opening.officeHoursOpen ? { kind: 'good' as const } : {})}>
              {opening.officeHoursOpen ? 'Open' : 'Closed'}
            </Badge>
            <strong>{name}</strong>
            <span class="soft">{nextChangeInWords(opening, zone)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function RuleCard({
  rule,
  sites,
  onOpen,
}: {
  readonly rule: BusinessHours;
  readonly sites: readonly Site[];
  readonly onOpen: (open: Open) => void;
}): JSX.Element {
  const of =
    rule.departmentId !== null
      ? departmentName(rule.departmentId)
      : rule.siteId !== null
        ? (sites.find(({ id }) => id === rule.siteId)?.name ?? 'A site')
        : 'The workspace';
  const today = dateIn(me.value?.workspace.timezone ?? 'UTC');
  const holidays = rule.holidays.filter((date) => date >= today).sort();
  return (
    <li class="card compact">
      <header>
        <h2 class="row">
          {rule.name} <Badge>{of}</Badge>
        </h2>
        <div class="row">
          <Button small icon="edit" aria-label={`Edit ${rule.name}`} onClick={() => onOpen({ kind: 'edit', rule })}>
            Edit
          </Button>
          <IconButton
            small
            icon="trash"
            label={`Delete ${rule.name}`}
            onClick={() => onOpen({ kind: 'delete', rule })}
          />
        </div>
      </header>
      <p>{weekInWords(rule.days)}</p>
      {rule.holidays.length > 0 && (
        <p class="soft">
          {counted(rule.holidays.length, 'holiday')}
          {holidays[0] !== undefined && `, next on ${dateInFull(holidays[0])}`}
        </p>
      )}
    </li>
  );
}
