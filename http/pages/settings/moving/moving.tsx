// Moving in: conversations of another system, by its API or from an mbox file. Every import looks first and tells what
// would happen; then it runs on the server, with its progress shown here.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { call } from '../../api.ts';
import { Empty } from '../../design/feedback.tsx';
import { useResource } from '../../design/resource.ts';
import { SaidChanges } from '../../design/said-changes.tsx';
import { onEvent, onResync } from '../../live.ts';
import type { ImportJob } from '../../records.ts';
import { Part, Reading } from '../parts.tsx';
import { Section, type SectionProps } from '../section.tsx';
import { mergeImport, saidOf } from './import-jobs.ts';
import { ImportRow } from './import-row.tsx';
import { NewImport } from './new-import.tsx';
import { sendings } from './sending.ts';

export function MoveIn(_props: SectionProps): JSX.Element {
  const { value, failure, reload, set } = useResource(
    (signal) => call<{ imports: ImportJob[] }>('GET', '/imports', { signal }),
    [],
  );
  const shown = useRef<readonly ImportJob[]>([]);
  shown.current = value?.imports ?? [];
  const show = useRef((job: ImportJob): void => {
    shown.current = mergeImport(shown.current, job);
    set({ imports: [...shown.current] });
  }).current;
  useEffect(() => {
    const stops = [
      // The data of this event, by the AsyncAPI document.
      onEvent(['import.updated'], ({ data }) => {
        // The event tells how far it is; the lists of what was left out are read.
        const { id } = (data as { import: ImportJob }).import;
        call<ImportJob>('GET', `/imports/${id}`).then(show, () => undefined);
      }),
      onResync(reload),
    ];
    return () => stops.forEach((stop) => stop());
  }, [show, reload]);
  const sent = sendings.value;
  return (
    <Section
      title="Move in"
      intro="Bring your conversations from another system. No one is mailed or notified, and doing it again adds only what is new."
    >
      <NewImport onChanged={show} />
      <SaidChanges rows={value?.imports.map((job) => saidOf(job, { isSending: sent.has(job.id) }))} />
      <Part id="imports" title="Imports">
        {value === undefined ? (
          <Reading failure={failure} retry={reload} />
        ) : value.imports.length === 0 ? (
          <Empty icon="download" title="Nothing has been moved in yet">
            <p>Choose where your conversations are. You see what would happen before anything does.</p>
          </Empty>
        ) : (
          <ul class="kb-jobs">
            {value.imports.map((job) => (
              <ImportRow key={job.id} job={job} onChanged={show} onDeleted={reload} />
            ))}
          </ul>
        )}
      </Part>
    </Section>
  );
}
