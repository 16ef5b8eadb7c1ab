// Moving in: conversations of another system, by its API or from an mbox file. Every import looks first and tells what
// would happen; then it runs on the server, with its progress shown here.

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { webAddressOf } from '../../addresses.ts';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Badge, Banner, Empty } from '../../design/feedback.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { useResource } from '../../design/resource.ts';
import { Time } from '../../design/time.tsx';
import { onEvent, onResync } from '../../live.ts';
import { notifyFailure } from '../../notices.ts';
import { agentName } from '../../people.ts';
import type { ImportJob } from '../../records.ts';
import { timeInSentence } from '../../times.ts';
import { Part, Reading } from '../parts.tsx';
import { Section, type SectionProps } from '../section.tsx';
import { figuresOf, isUnderWay, mergeImport, shareOf, stateKinds, stateOf } from './import-jobs.ts';
import { sendFile } from './sending.ts';

const sources = [
  { value: 'mbox', label: 'An mbox file' },
  { value: 'chatwoot', label: 'Chatwoot' },
  { value: 'zendesk', label: 'Zendesk' },
  { value: 'intercom', label: 'Intercom' },
  { value: 'helpscout', label: 'Help Scout' },
] as const;
type Kind = (typeof sources)[number]['value'];

/** What each service needs to be read. */
const needs: Readonly<
  Record<
    Exclude<Kind, 'mbox'>,
    { url?: string; account?: readonly [label: string, hint: string]; token: readonly [label: string, hint: string] }
  >
> = {
  chatwoot: {
    url: 'https://app.chatwoot.com',
    account: ['Account number', 'As in the addresses of its pages: /app/accounts/1.'],
    token: ['Access token', 'In its profile settings, of an administrator.'],
  },
  zendesk: {
    url: 'https://acme.zendesk.com',
    account: ['Email address of the token\u2019s user', 'An admin\u2019s.'],
    token: ['API token', 'In its Admin Center, under Apps and integrations.'],
  },
  intercom: { token: ['Access token', 'Of an app of yours in its Developer Hub.'] },
  helpscout: {
    account: ['App id', 'Of an app of yours, under Your profile, My apps.'],
    token: ['App secret', 'Beside the id.'],
  },
};

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
  return (
    <Section
      title="Move in"
      intro="Bring your conversations from another system. No one is mailed or notified, and doing it again adds only what is new."
    >
      <NewImport onStarted={show} />
      <Part id="imports" title="Imports">
        {value === undefined ? (
          <Reading failure={failure} retry={reload} />
        ) : value.imports.length === 0 ? (
          <Empty icon="download" title="Nothing has been moved in yet">
            <p>Choose where your conversations are. You see what would happen before anything does.</p>
          </Empty>
        ) : (
          <ul class="kb-jobs" aria-live="polite">
            {value.imports.map((job) => (
              <Job key={job.id} job={job} onChanged={show} onDeleted={reload} />
            ))}
          </ul>
        )}
      </Part>
    </Section>
  );
}

const initial = { kind: 'mbox' as Kind, url: '', account: '', token: '', addresses: '' };

function NewImport({ onStarted }: { readonly onStarted: (job: ImportJob) => void }): JSX.Element {
  const picker = useRef<HTMLInputElement>(null);
  const [file, setFile] = useState<File | undefined>(undefined);
  const form = useForm(initial, async ({ kind, url, account, token, addresses }) => {
    if (kind === 'mbox' && file === undefined) {
      picker.current?.click();
      return;
    }
    const own = addresses.split(/[\s,;]+/).filter((address) => address !== '');
    const job = await call<ImportJob>('POST', '/imports', {
      body: {
        kind,
        isPreview: true,
        ...(file !== undefined && kind === 'mbox'
          ? { name: file.name, bytes: file.size, addresses: own }
          : {
              ...(url.trim() === '' ? {} : { url: webAddressOf(url) }),
              ...(account.trim() === '' ? {} : { account: account.trim() }),
              token: token.trim(),
            }),
      },
    });
    onStarted(job);
    form.reset({ ...initial, kind });
    setFile(undefined);
    if (file !== undefined && kind === 'mbox') await send(file, job, onStarted);
  });
  const { values, set, errorOf } = form;
  const need = values.kind === 'mbox' ? undefined : needs[values.kind];
  return (
    <Part id="new-import" title="Where your conversations are">
      <Form
        form={form}
        label="Where your conversations are"
        actions={
          <Button type="submit" kind="primary" busy={form.busy}>
            {values.kind === 'mbox' && file === undefined ? 'Choose a file' : 'Look what would happen'}
          </Button>
        }
      >
        <SelectField label="From" value={values.kind} choices={sources} onValue={(kind) => set('kind', kind)} />
        {need === undefined ? (
          <>
            <input
              ref={picker}
              type="file"
              accept=".mbox,.mbx,application/mbox"
              hidden
              aria-label="The mbox file"
              onChange={({ currentTarget }) => {
                setFile(currentTarget.files?.[0]);
                currentTarget.value = '';
              }}
            />
            {file !== undefined && <p class="soft">{file.name}</p>}
            <TextField
              label="Your own addresses"
              optional
              value={values.addresses}
              placeholder="support@shop.example"
              onValue={(addresses) => set('addresses', addresses)}
              error={errorOf('addresses')}
              hint="Mail from them is an answer of yours. Agents and connected mailboxes are known."
            />
          </>
        ) : (
          <>
            {need.url !== undefined && (
              <TextField
                label="Address"
                required
                inputMode="url"
                autocomplete="url"
                spellcheck={false}
                placeholder={need.url}
                value={values.url}
                onValue={(url) => set('url', url)}
                error={errorOf('url')}
              />
            )}
            <div class="columns">
              {need.account !== undefined && (
                <TextField
                  label={need.account[0]}
                  required
                  autocomplete="off"
                  spellcheck={false}
                  value={values.account}
                  onValue={(account) => set('account', account)}
                  error={errorOf('account')}
                  hint={need.account[1]}
                />
              )}
              <TextField
                label={need.token[0]}
                type="password"
                required
                autocomplete="off"
                value={values.token}
                onValue={(token) => set('token', token)}
                error={errorOf('token')}
                hint={`${need.token[1]} It is kept sealed until the import is done.`}
              />
            </div>
          </>
        )}
      </Form>
    </Part>
  );
}

async function send(file: File, job: ImportJob, onSent: (job: ImportJob) => void): Promise<void> {
  try {
    await sendFile(file, job, {
      signal: new AbortController().signal,
      onSent: (receivedBytes) => {
        if (receivedBytes < file.size) onSent({ ...job, receivedBytes });
      },
    });
  } catch (error) {
    notifyFailure(error);
  }
}

interface JobProps {
  readonly job: ImportJob;
  readonly onChanged: (job: ImportJob) => void;
  readonly onDeleted: () => void;
}

function Job({ job, onChanged, onDeleted }: JobProps): JSX.Element {
  const { id, name, status, isPreview, stats, error } = job;
  const [busy, setBusy] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const act = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    try {
      await work();
    } catch (problem) {
      notifyFailure(problem);
    }
    setBusy(false);
  };
  const post = (what: 'stop' | 'resume') => (): Promise<void> =>
    act(async () => onChanged(await call('POST', `/imports/${id}/${what}`, what === 'resume' ? { body: {} } : {})));
  const share = shareOf(job);
  const isReady = status === 'stopped' && isPreview && stats.read > 0;
  return (
    <li class="kb-job">
      <div class="row">
        <Badge kind={stateKinds[status]}>{stateOf(job)}</Badge>
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
          <Button small kind="quiet" busy={busy} aria-label={`Stop: ${name}`} onClick={() => void post('stop')()}>
            Stop
          </Button>
        )}
        {(status === 'stopped' || status === 'failed') && (
          <Button
            small
            {...(isReady ? { kind: 'primary' as const } : {})}
            busy={busy}
            aria-label={`${isReady ? 'Move in' : 'Go on'}: ${name}`}
            onClick={() => void post('resume')()}
          >
            {isReady ? 'Move in' : 'Go on'}
          </Button>
        )}
        {status === 'receiving' && (
          <>
            <input
              ref={picker}
              type="file"
              hidden
              aria-label={`The rest of ${name}`}
              onChange={({ currentTarget }) => {
                const file = currentTarget.files?.[0];
                currentTarget.value = '';
                if (file === undefined) return;
                void act(async () => {
                  if (file.size !== job.bytes) throw new Error(`Choose ${name} again: this file has another size.`);
                  await send(file, await call('GET', `/imports/${id}`), onChanged);
                });
              }}
            />
            <Button small busy={busy} aria-label={`Go on sending: ${name}`} onClick={() => picker.current?.click()}>
              Go on sending
            </Button>
          </>
        )}
        {!isUnderWay(job) && (
          <Button
            small
            kind="quiet"
            busy={busy}
            aria-label={`Delete: ${name}`}
            onClick={() => void act(() => call('DELETE', `/imports/${id}`).then(onDeleted))}
          >
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
    </li>
  );
}
