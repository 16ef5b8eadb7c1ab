// One import in the list: its progress, what would happen or happened, and what can be done with it.

import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { ApiError } from '../../api-error.ts';
import { Button } from '../../design/button.tsx';
import { Badge, Banner } from '../../design/feedback.tsx';
import { TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { Time } from '../../design/time.tsx';
import { notify, notifyFailure } from '../../notices.ts';
import { agentName } from '../../people.ts';
import type { ImportJob } from '../../records.ts';
import { timeInSentence } from '../../times.ts';
import { figuresOf, isUnderWay, resumeWord, shareOf, stateKinds, stateOf } from './import-jobs.ts';
import { type Kind, needs } from './import-sources.ts';
import { sendFile, sendings, stopSending } from './sending.ts';

interface RowProps {
  readonly job: ImportJob;
  readonly onChanged: (job: ImportJob) => void;
  readonly onDeleted: () => void;
}

export function ImportRow({ job: read, onChanged, onDeleted }: RowProps): JSX.Element {
  const sentBytes = sendings.value.get(read.id);
  const isSending = sentBytes !== undefined;
  const job = isSending ? { ...read, receivedBytes: sentBytes } : read;
  const { id, kind, name, status, stats, error } = job;
  const [busy, setBusy] = useState(false);
  const act = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    try {
      await work();
    } catch (problem) {
      if (problem instanceof ApiError && problem.status === 404) {
        notify({ kind: 'problem', text: `${name} was deleted already.` });
        onDeleted();
      } else notifyFailure(problem);
    }
    setBusy(false);
  };
  const remove = async (): Promise<void> => {
    stopSending(id);
    await call('DELETE', `/imports/${id}`);
    onDeleted();
  };
  const share = shareOf(job);
  const canResume = status === 'stopped' || status === 'failed';
  const asksForToken = status === 'failed' && kind !== 'mbox';
  return (
    <li class="kb-job">
      <div class="row">
        <Badge kind={stateKinds[status]}>{stateOf(job, { isSending })}</Badge>
        <strong class="truncate">{name}</strong>
        <span class="soft">
          {agentName(job.createdByAgentId)}, <Time at={job.finishedAt ?? job.createdAt} format={timeInSentence} />
        </span>
      </div>
      {(isUnderWay(job) || status === 'receiving') && (
        <progress {...(share === undefined ? {} : { max: 1, value: share })} aria-label={`Moving in: ${name}`} />
      )}
      <div class="row">
        <p class="soft">{figuresOf(job)}</p>
        {isUnderWay(job) && (
          <Button
            small
            kind="quiet"
            busy={busy}
            aria-label={`Stop: ${name}`}
            onClick={() => void act(async () => onChanged(await call('POST', `/imports/${id}/stop`)))}
          >
            Stop
          </Button>
        )}
        {canResume && !asksForToken && (
          <Button
            small
            {...(job.isReady ? { kind: 'primary' as const } : {})}
            busy={busy}
            aria-label={`${resumeWord(job)}: ${name}`}
            onClick={() => void act(async () => onChanged(await call('POST', `/imports/${id}/resume`, { body: {} })))}
          >
            {resumeWord(job)}
          </Button>
        )}
        {status === 'receiving' && !isSending && <RestOfFile job={job} onChanged={onChanged} />}
        {!isUnderWay(job) && (
          <Button small kind="quiet" busy={busy} aria-label={`Delete: ${name}`} onClick={() => void act(remove)}>
            {status === 'done' ? 'Remove from the list' : 'Delete'}
          </Button>
        )}
      </div>
      {stats.unknownAgents.length > 0 && (
        <p class="soft">No agents here, so their messages have only their names: {stats.unknownAgents.join(', ')}</p>
      )}
      {stats.reasons.length > 0 && (
        <details>
          <summary>Left out or shortened</summary>
          <ul>
            {stats.reasons.map(({ what, why }, index) => (
              <li key={index} class="soft">
                {what}: {why}
              </li>
            ))}
          </ul>
        </details>
      )}
      {error !== null && (status === 'failed' ? <Banner kind="bad">{error}</Banner> : <p class="soft">{error}</p>)}
      {asksForToken && <OtherToken job={job} kind={kind} onChanged={onChanged} />}
    </li>
  );
}

/** For a file that was broken off, or is sent by another page. */
function RestOfFile({ job, onChanged }: Pick<RowProps, 'job' | 'onChanged'>): JSX.Element {
  const { id, name, bytes } = job;
  const picker = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);
  const goOn = async (file: File): Promise<void> => {
    setBusy(true);
    try {
      if (file.size !== bytes) throw new Error(`Choose ${name} again: this file has another size.`);
      await sendFile(file, await call('GET', `/imports/${id}`), onChanged);
    } catch (problem) {
      notifyFailure(problem);
    }
    setBusy(false);
  };
  return (
    <>
      <input
        ref={picker}
        type="file"
        hidden
        aria-label={`The rest of ${name}`}
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          currentTarget.value = '';
          if (file !== undefined) void goOn(file);
        }}
      />
      <Button small busy={busy} aria-label={`Go on sending: ${name}`} onClick={() => picker.current?.click()}>
        Go on sending
      </Button>
    </>
  );
}

/** Resumes the import of a service, with another token if that was the reason. */
function OtherToken({
  job,
  kind,
  onChanged,
}: Pick<RowProps, 'job' | 'onChanged'> & { readonly kind: Exclude<Kind, 'mbox'> }): JSX.Element {
  const form = useForm({ token: '' }, async ({ token }) => {
    const body = token.trim() === '' ? {} : { token: token.trim() };
    onChanged(await call('POST', `/imports/${job.id}/resume`, { body }));
  });
  const word = resumeWord(job);
  return (
    <Form
      form={form}
      label={`${word}: ${job.name}`}
      actions={
        <Button small type="submit" busy={form.busy} aria-label={`${word}: ${job.name}`}>
          {word}
        </Button>
      }
    >
      <TextField
        label={needs[kind].another}
        type="password"
        optional
        autocomplete="off"
        value={form.values.token}
        onValue={(token) => form.set('token', token)}
        error={form.errorOf('token')}
        hint="If the one you gave was refused or has expired."
      />
    </Form>
  );
}
