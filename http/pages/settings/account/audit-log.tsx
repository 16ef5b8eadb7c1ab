// Who changed what, and when: each entry as a sentence, with the values before and after.

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { Empty, Failure, Loading } from '../../design/feedback.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { usePaged } from '../../design/paged.ts';
import { Time } from '../../design/time.tsx';
import { query, setQuery } from '../../location.ts';
import { readPage } from '../../paging.ts';
import { agentName, agents, departmentName } from '../../people.ts';
import type { AuditEntry } from '../../records.ts';
import { clockTime, countOf, dayHeading, exactTime, isSameDay } from '../../times.ts';
import { Section, type SectionProps } from '../section.tsx';
import { changesOf } from './audit-changes.ts';
import { type AuditFilter, filterEntries, isFiltered } from './audit-filter.ts';
import { actorOf, areas, deedOf, type Names } from './audit-sentences.ts';

const pageSize = 100;
/** A search reads on by itself until it shows 20 entries or has read 1,000. */
const wantedRows = 20;
const maxRead = 1000;

const names: Names = { agent: agentName, department: departmentName, time: exactTime };

export function AuditLog(_props: SectionProps): JSX.Element {
  const list = usePaged<AuditEntry>(
    (cursor, signal) => readPage('/workspace/audit-log', 'entries', { cursor, signal, limit: pageSize }),
    [],
  );
  const filter: AuditFilter = {
    area: query.value.get('area') ?? '',
    actor: query.value.get('actor') ?? '',
    words: query.value.get('words') ?? '',
  };
  const { rows } = list;
  const found = rows === undefined ? [] : filterEntries(rows, filter, names);
  const readsOn =
    isFiltered(filter) &&
    rows !== undefined &&
    list.hasMore &&
    list.failure === undefined &&
    found.length < wantedRows &&
    rows.length < maxRead;
  useEffect(() => {
    if (readsOn && !list.loading) list.more();
  }, [readsOn, list, list.loading]);
  const oldest = rows?.at(-1);
  return (
    <Section title="Audit log" intro="Who changed what, and when. Entries cannot be changed.">
      <div class="stack">
        <Filters filter={filter} />
        <p class="soft" role="status">
          {isFiltered(filter) &&
            rows !== undefined &&
            `${countOf(found.length)} of the last ${countOf(rows.length)} entries` +
              (oldest === undefined || !list.hasMore ? '' : `, back to ${exactTime(oldest.createdAt)}`)}
        </p>
      </div>
      {list.failure !== undefined && <Failure error={list.failure} retry={list.retry} />}
      {rows === undefined ? (
        list.failure === undefined && <Loading lines={8} />
      ) : (
        <>
          {found.length === 0 && !list.loading ? (
            <div class="card">
              <Empty icon="list" title={isFiltered(filter) ? 'No matching entries' : 'No entries yet'} />
            </div>
          ) : (
            <ol class="audit">
              {found.map((entry, index) => (
                <Entry
                  key={entry.id}
                  entry={entry}
                  startsDay={index === 0 || !isSameDay(entry.createdAt, found[index - 1]?.createdAt ?? '')}
                />
              ))}
            </ol>
          )}
          {list.hasMore && (
            <div class="row">
              <Button busy={list.loading} onClick={() => void list.more()}>
                {isFiltered(filter) ? 'Load older entries' : 'Show more'}
              </Button>
            </div>
          )}
        </>
      )}
    </Section>
  );
}

function Filters({ filter }: { readonly filter: AuditFilter }): JSX.Element {
  const people = [...agents.value.values()]
    .sort((a, b) => a.name.localeCompare(b.name))
    .map(({ id, name }) => ({ value: id, label: name }));
  return (
    <div class="columns" role="search" aria-label="Audit log">
      <SelectField
        label="About"
        value={filter.area}
        choices={[{ value: '', label: 'Everything' }, ...areas]}
        onValue={(area) => setQuery({ area })}
      />
      <SelectField
        label="By"
        value={filter.actor}
        choices={[{ value: '', label: 'Everyone' }, { value: 'service', label: 'The service' }, ...people]}
        onValue={(actor) => setQuery({ actor })}
      />
      <TextField label="Text" type="search" value={filter.words} onValue={(words) => setQuery({ words })} />
    </div>
  );
}

function Entry({ entry, startsDay }: { readonly entry: AuditEntry; readonly startsDay: boolean }): JSX.Element {
  const changes = changesOf(entry, names);
  const sentence = (
    <>
      <strong>{actorOf(entry, names)}</strong> {deedOf(entry, names)}
    </>
  );
  return (
    <li>
      {startsDay && <h2>{dayHeading(entry.createdAt)}</h2>}
      <div class="audit-entry">
        <span class="audit-time soft">
          <Time at={entry.createdAt} format={clockTime} />
        </span>
        {changes.length === 0 ? (
          <p>{sentence}</p>
        ) : (
          <details>
            <summary>{sentence}</summary>
            <p class="soft">{exactTime(entry.createdAt)}</p>
            <div class="table-frame">
              <table class="table stacks">
                <thead>
                  <tr>
                    <th scope="col">What</th>
                    <th scope="col">Before</th>
                    <th scope="col">After</th>
                  </tr>
                </thead>
                <tbody>
                  {changes.map(({ name, before, after }, index) => (
                    <tr key={index}>
                      <th scope="row">{name}</th>
                      <td data-label="Before">{before ?? '–'}</td>
                      <td data-label="After">{after ?? '–'}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </details>
        )}
      </div>
    </li>
  );
}
