// The domain that mail is sent from: its DNS records, each with a copy button and whether it was found.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Copyable } from '../../design/copyable.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Badge, Banner } from '../../design/feedback.tsx';
import { TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { useResource } from '../../design/resource.ts';
import { Time } from '../../design/time.tsx';
import { onEvent } from '../../live.ts';
import { notify, notifyFailure } from '../../notices.ts';
import type { DnsRecord, EmailDomain, WholeWorkspace } from '../../records.ts';
import { dayOf, now, timeInSentence } from '../../times.ts';
import { Part, Reading } from '../parts.tsx';

function register(domain: string): Promise<{ domain: EmailDomain }> {
  return call('POST', '/email/domain', { body: { domain } });
}

export function EmailDomainPart(): JSX.Element {
  const { value, failure, loading, reload, set } = useResource(
    (signal) => call<{ domain: EmailDomain | null }>('GET', '/email/domain', { signal }),
    [],
  );
  const [changing, setChanging] = useState(false);
  const domain = value?.domain ?? undefined;
  useEffect(
    () =>
      onEvent(['workspace.updated'], ({ data }) => {
        const { emailDomainId, emailDomainStatus } = (data as { workspace: WholeWorkspace }).workspace;
        if (emailDomainId !== (domain?.id ?? null) || emailDomainStatus !== (domain?.status ?? null)) reload();
      }),
    [domain?.id, domain?.status, reload],
  );
  return (
    <Part
      id="domain"
      title="Your domain"
      intro="Email to customers is sent from it and signed. Email to any of its addresses arrives here."
      actions={
        domain !== undefined && (
          <>
            <Button small busy={loading} onClick={reload}>
              Check again
            </Button>
            <Button small onClick={() => setChanging(true)}>
              Change domain
            </Button>
          </>
        )
      }
    >
      {value === undefined ? (
        <Reading failure={failure} retry={reload} />
      ) : domain === undefined ? (
        <DomainForm label="Domain" onRegistered={set} action="Show DNS records" />
      ) : (
        <Standing domain={domain} onAnswer={set} failure={failure} />
      )}
      {changing && domain !== undefined && (
        <Dialog title="Change the domain" onClose={() => setChanging(false)}>
          <div class="stack">
            <p>
              It replaces {domain.name}. Email is sent from this server's own address until the new records are found.
            </p>
            <DomainForm
              label="New domain"
              action="Use this domain"
              onRegistered={(answer) => {
                set(answer);
                setChanging(false);
              }}
            />
          </div>
        </Dialog>
      )}
    </Part>
  );
}

function DomainForm({
  label,
  action,
  onRegistered,
}: {
  readonly label: string;
  readonly action: string;
  readonly onRegistered: (answer: { domain: EmailDomain }) => void;
}): JSX.Element {
  const form = useForm(
    { domain: '' },
    async ({ domain }) => {
      onRegistered(await register(domain.trim()));
    },
    { conflict: 'domain' },
  );
  return (
    <Form
      form={form}
      label={action}
      actions={
        <Button type="submit" kind="primary" busy={form.busy}>
          {action}
        </Button>
      }
    >
      <TextField
        label={label}
        placeholder="shop.example"
        inputMode="url"
        spellcheck={false}
        autocomplete="off"
        maxLength={253}
        value={form.values.domain}
        onValue={(next) => form.set('domain', next)}
        error={form.errorOf('domain')}
        hint="Without www or any other prefix."
      />
    </Form>
  );
}

function Standing({
  domain,
  onAnswer,
  failure,
}: {
  readonly domain: EmailDomain;
  readonly onAnswer: (answer: { domain: EmailDomain }) => void;
  readonly failure: unknown;
}): JSX.Element {
  const [busy, setBusy] = useState(false);
  const isOver = domain.status === 'pending' && Date.parse(domain.pollUntil) < now.value;
  const startOver = async (): Promise<void> => {
    setBusy(true);
    try {
      onAnswer(await register(domain.name));
      notify({ kind: 'done', text: 'We will check the records for another 7 days.' });
    } catch (error) {
      notifyFailure(error);
    }
    setBusy(false);
  };
  const missing = domain.records.filter(({ status, required }) => required && status === 'pending').length;
  const isComplete = domain.records.every(({ status }) => status === 'verified');
  return (
    <>
      <div class="row">
        <h3>{domain.name}</h3>
        <Badge kind={domain.status === 'verified' ? 'good' : 'warn'}>
          {domain.status === 'verified' ? 'In use' : 'Waiting for its records'}
        </Badge>
        {domain.lastCheckedAt !== null && (
          <span class="soft">
            Last checked <Time at={domain.lastCheckedAt} format={timeInSentence} />
          </span>
        )}
      </div>
      <div role="status">
        {failure !== undefined && <Banner kind="bad">This could not be updated. You see an earlier state.</Banner>}
        {domain.status === 'verified' ? (
          <Banner kind="good">
            {isComplete
              ? `All records are in place. Email is sent from ${domain.name}.`
              : `Email is sent from ${domain.name}. Email to it goes elsewhere: forward it to your first address above, or add the MX record.`}
          </Banner>
        ) : isOver ? (
          <Banner
            kind="warn"
            action={
              <Button small busy={busy} onClick={() => void startOver()}>
                Check again
              </Button>
            }
          >
            The records were not found within 7 days, so checking has stopped.
          </Banner>
        ) : (
          <Banner
            action={
              <Button small busy={busy} onClick={() => void startOver()}>
                I have added them
              </Button>
            }
          >
            {missing === 1 ? 'One record is' : `${missing} records are`} not there yet. Add{' '}
            {missing === 1 ? 'it' : 'them'} where your domain is managed. We check automatically until{' '}
            {dayOf(domain.pollUntil)}. Changes can take a few hours to appear.
          </Banner>
        )}
      </div>
      <ol class="dns" aria-label="DNS records">
        {domain.records.map((record) => (
          <Record key={`${record.type} ${record.name} ${record.value}`} record={record} />
        ))}
      </ol>
    </>
  );
}

/** The purpose of a record. */
function purposeOf({ type, name, value }: Pick<DnsRecord, 'type' | 'name' | 'value'>): string {
  if (type === 'MX') return 'delivers email here';
  if (type === 'CNAME') return 'returns undelivered email';
  if (value.startsWith('v=spf1')) return 'allows this server to send for you';
  return name.includes('._domainkey.') ? 'holds the key that signs email' : 'proves that the domain is yours';
}

function Record({
  record: { type, name, value, priority, status, required },
}: {
  readonly record: DnsRecord;
}): JSX.Element {
  return (
    <li>
      <div class="row">
        <strong>{type}</strong>
        <span class="soft">{purposeOf({ type, name, value })}</span>
        {status === 'verified' ? (
          <Badge kind="good">Found</Badge>
        ) : required ? (
          <Badge kind="warn">Not found yet</Badge>
        ) : (
          <Badge>Not needed if you forward email here</Badge>
        )}
      </div>
      <dl>
        <dt>Name</dt>
        <dd>
          <Copyable text={name} label={`the name of the ${type} record for ${name}`} />
        </dd>
        <dt>Value</dt>
        <dd>
          <Copyable text={value} label={`the value of the ${type} record for ${name}`} />
        </dd>
        {priority !== undefined && (
          <>
            <dt>Priority</dt>
            <dd>
              <Copyable text={String(priority)} label={`the priority of the ${type} record for ${name}`} />
            </dd>
          </>
        )}
      </dl>
    </li>
  );
}
