// Crawls of sites into the knowledge base: what to read, the progress, and the results of the last ones.

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { webAddressOf } from '../../addresses.ts';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Badge, Empty } from '../../design/feedback.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { useResource } from '../../design/resource.ts';
import { SaidChanges } from '../../design/said-changes.tsx';
import { useLatest } from '../../design/steady.ts';
import { Time } from '../../design/time.tsx';
import { onEvent, onResync } from '../../live.ts';
import { notify, notifyFailure } from '../../notices.ts';
import { agentName } from '../../people.ts';
import type { KbJob } from '../../records.ts';
import { hasRole } from '../../session.ts';
import { timeInSentence } from '../../times.ts';
import { OutLink, Part, Reading } from '../parts.tsx';
import { isOver, jobStatusKinds, jobStatusNames, mergeJob, progressOf, saidOf } from './crawl-jobs.ts';
import { ingestFile } from './file-upload.ts';

const depths = [
  { value: '0', label: 'Only that page' },
  { value: '1', label: 'And the pages it links to' },
  { value: '2', label: 'Two links away' },
  { value: '3', label: 'Three links away' },
] as const;

/** `onRead` is called when a crawl changed the documents. */
export function Crawls({ onRead }: { readonly onRead: () => void }): JSX.Element {
  const { value, failure, reload, set } = useResource(
    (signal) => call<{ jobs: KbJob[] }>('GET', '/kb/jobs', { signal }),
    [],
  );
  const shown = useRef<readonly KbJob[]>([]);
  shown.current = value?.jobs ?? [];
  const notifyRead = useLatest(onRead);
  useEffect(() => {
    const stops = [
      onEvent(['kb.job.updated'], ({ data }) => {
        // The data of this event, by the AsyncAPI document.
        const { job } = data as { job: KbJob };
        shown.current = mergeJob(shown.current, job);
        set({ jobs: [...shown.current] });
        if (job.status === 'done') notifyRead();
      }),
      onResync(reload),
    ];
    return () => stops.forEach((stop) => stop());
  }, [set, reload]);
  return (
    <>
      {hasRole('admin') && <CrawlForm />}
      {hasRole('admin') && <Files />}
      <SaidChanges rows={value?.jobs.map(saidOf)} />
      <Part id="crawls" title="Last crawls">
        {value === undefined ? (
          <Reading failure={failure} retry={reload} what="Knowledge bases" />
        ) : value.jobs.length === 0 ? (
          <Empty icon="globe" title="No sites have been read yet">
            <p>Enter the address of your help pages to make them searchable.</p>
          </Empty>
        ) : (
          <ul class="kb-jobs">
            {value.jobs.map((job) => (
              <Job key={job.id} job={job} />
            ))}
          </ul>
        )}
      </Part>
    </>
  );
}

function CrawlForm(): JSX.Element {
  const form = useForm(
    { url: '', maxDepth: '2', maxPages: '200' },
    async ({ url, maxDepth, maxPages }) => {
      await call('POST', '/kb/ingest/url', {
        body: { url: webAddressOf(url), maxDepth: Number(maxDepth), maxPages: Number(maxPages) },
      });
      form.reset({ url: '', maxDepth, maxPages });
      notify({ kind: 'done', text: 'Reading has started. You can search it once it is done.' });
    },
    { website_not_public: 'url' },
  );
  return (
    <Part
      id="crawl"
      title="Read a site"
      intro="Pages are read as a visitor sees them and kept for answers. Reading an address again replaces its earlier content."
    >
      <Form
        form={form}
        label="Read a site"
        actions={
          <Button type="submit" kind="primary" busy={form.busy}>
            Read
          </Button>
        }
      >
        <TextField
          label="Address"
          placeholder="https://help.shop.example/"
          inputMode="url"
          autocomplete="url"
          spellcheck={false}
          value={form.values.url}
          onValue={(next) => form.set('url', next)}
          error={form.errorOf('url')}
        />
        <div class="columns">
          <SelectField
            label="How deep"
            value={form.values.maxDepth}
            choices={depths}
            onValue={(next) => form.set('maxDepth', next)}
            error={form.errorOf('maxDepth')}
          />
          <TextField
            label="Maximum pages"
            type="number"
            min={1}
            max={200}
            value={form.values.maxPages}
            onValue={(next) => form.set('maxPages', next)}
            error={form.errorOf('maxPages')}
            hint="1 to 200."
          />
        </div>
      </Form>
    </Part>
  );
}

const fileTypes = '.pdf,.docx,.md,.markdown,.txt,.html,.csv';

function Files(): JSX.Element {
  const picker = useRef<HTMLInputElement>(null);
  const [sending, setSending] = useState<string | undefined>(undefined);
  const read = async (files: readonly File[]): Promise<void> => {
    for (const file of files) {
      setSending(file.name);
      try {
        await ingestFile(file);
      } catch (error) {
        notifyFailure(error);
      }
    }
    setSending(undefined);
  };
  return (
    <Part
      id="files"
      title="Read files"
      intro="PDF, Word, Markdown, text, HTML or CSV, up to 20 MB. A file of the same name replaces the earlier one."
    >
      <input
        ref={picker}
        type="file"
        accept={fileTypes}
        multiple
        hidden
        aria-label="Files to read"
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])];
          currentTarget.value = '';
          void read(files);
        }}
      />
      <Button icon="clip" busy={sending !== undefined} onClick={() => picker.current?.click()}>
        {sending === undefined ? 'Choose files' : `Sending ${sending}`}
      </Button>
    </Part>
  );
}

function Job({ job }: { readonly job: KbJob }): JSX.Element {
  const { url, maxPages, maxDepth, fileName } = job.input;
  const name = fileName ?? url;
  const ask = async (path: string, body?: object): Promise<void> => {
    try {
      await call('POST', path, body === undefined ? {} : { body });
    } catch (error) {
      notifyFailure(error);
    }
  };
  const skipped = job.stats?.skipped ?? [];
  return (
    <li class="kb-job">
      <div class="row">
        <Badge kind={jobStatusKinds[job.status]}>{jobStatusNames[job.status]}</Badge>
        <strong class="truncate">{fileName ?? <OutLink url={url} />}</strong>
        <span class="soft">
          {agentName(job.createdByAgentId)}, <Time at={job.finishedAt ?? job.createdAt} format={timeInSentence} />
        </span>
      </div>
      {job.status === 'running' && (
        <progress max={maxPages} value={job.stats?.pagesFetched ?? 0} aria-label={`Reading ${name}`} />
      )}
      <div class="row">
        <p class="soft">
          {progressOf(job)}
          {!isOver(job) && fileName === null && `, at most ${maxPages}, ${depths[maxDepth]?.label.toLowerCase() ?? ''}`}
        </p>
        {job.status === 'failed' && hasRole('admin') && (
          <Button small aria-label={`Resume: ${name}`} onClick={() => void ask(`/kb/jobs/${job.id}/resume`)}>
            Resume
          </Button>
        )}
        {isOver(job) && fileName === null && hasRole('admin') && (
          <Button
            small
            kind="quiet"
            aria-label={`Read again: ${name}`}
            onClick={() => void ask('/kb/ingest/url', { url, maxPages, maxDepth })}
          >
            Read again
          </Button>
        )}
        {!isOver(job) && hasRole('admin') && (
          <Button
            small
            kind="quiet"
            aria-label={`Cancel: ${name}`}
            onClick={() => void ask(`/kb/jobs/${job.id}/cancel`)}
          >
            Cancel
          </Button>
        )}
      </div>
      {skipped.length > 0 && (
        <details>
          <summary>Skipped pages</summary>
          <ul>
            {skipped.map((one) => (
              <li key={one.url} class="soft">
                {URL.canParse(one.url) ? <OutLink url={one.url} /> : one.url} {one.reason}
              </li>
            ))}
          </ul>
        </details>
      )}
      {job.error !== null && <p class="kb-job-error">{job.error}</p>}
    </li>
  );
}
