// Mailboxes elsewhere: connecting one with a test of both of its servers, and how each is doing.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { messageOf } from '../../api-error.ts';
import { Button } from '../../design/button.tsx';
import { Banner, Empty } from '../../design/feedback.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { useResource } from '../../design/resource.ts';
import { Time } from '../../design/time.tsx';
import { navigate, query } from '../../location.ts';
import { notify, notifyFailure } from '../../notices.ts';
import type { Mailbox } from '../../records.ts';
import { exactTime } from '../../times.ts';
import { Part, Reading } from '../parts.tsx';

type Provider = 'google' | 'microsoft';
type Security = 'starttls' | 'tls';

interface Listed {
  readonly mailboxes: readonly Mailbox[];
  readonly providers: readonly Provider[];
}
interface Tried {
  readonly isWorking: boolean;
  readonly answer: string;
}

const providerNames: Readonly<Record<Provider, string>> = { google: 'Google', microsoft: 'Microsoft' };
/** The address for which access is being granted, while its owner is at the provider. */
const askedKey = 'switchboard.mailbox-asked';

/** `isReturn`: the provider has sent the reader back here. */
export function Mailboxes({ isReturn }: { readonly isReturn: boolean }): JSX.Element {
  const listed = useResource((signal) => call<Listed>('GET', '/workspace/mailboxes', { signal }), []);
  const [isAdding, setAdding] = useState(false);
  const [failure, setFailure] = useState<unknown>(undefined);
  const { reload } = listed;
  useEffect(() => {
    if (!isReturn) return;
    finishGrant()
      .then(() => notify({ kind: 'done', text: 'The mailbox is connected.' }))
      .catch((error: unknown) => setFailure(error))
      .finally(() => {
        navigate('/settings/email', { replace: true });
        reload();
      });
  }, [isReturn, reload]);
  const connected = (): void => {
    setAdding(false);
    reload();
  };
  return (
    <Part id="mailboxes" title="Mailboxes elsewhere">
      <p class="soft">
        A mailbox that you have already, such as at your provider. Its new mail becomes tickets here and stays there as
        it is, and answers leave through it.
      </p>
      {failure !== undefined && <Banner kind="bad">{messageOf(failure)}</Banner>}
      {listed.value === undefined ? (
        <Reading failure={listed.failure} retry={reload} />
      ) : (
        <>
          {listed.value.mailboxes.length === 0 && !isAdding && (
            <Empty icon="ticket" title="No mailbox is connected">
              <p>Connect one to answer its mail here.</p>
            </Empty>
          )}
          <ul class="stack">
            {listed.value.mailboxes.map((mailbox) => (
              <Box key={mailbox.id} mailbox={mailbox} onChanged={reload} />
            ))}
          </ul>
          {isAdding ? (
            <ConnectForm onConnected={connected} onCancel={() => setAdding(false)} />
          ) : (
            <div class="row">
              <Button icon="plus" onClick={() => setAdding(true)}>
                Connect a mailbox
              </Button>
              {listed.value.providers.map((provider) => (
                <GrantButton key={provider} provider={provider} />
              ))}
            </div>
          )}
        </>
      )}
    </Part>
  );
}

function Box({ mailbox, onChanged }: { readonly mailbox: Mailbox; readonly onChanged: () => void }): JSX.Element {
  const [busy, setBusy] = useState(false);
  const path = `/workspace/mailboxes/${mailbox.id}`;
  const act = async (work: () => Promise<unknown>): Promise<void> => {
    setBusy(true);
    try {
      await work();
      onChanged();
    } catch (error) {
      notifyFailure(error);
    }
    setBusy(false);
  };
  const { address, imap, smtp, failure, checkedAt, isPaused } = mailbox;
  return (
    <li class="card compact">
      <p>
        <strong>{address}</strong> <span class="soft">{imap.host}</span>
      </p>
      {isPaused ? (
        <p class="soft">Paused: its mail waits.</p>
      ) : failure !== null ? (
        <Banner kind="bad">It cannot be read: {failure}</Banner>
      ) : (
        <p class="soft">
          {checkedAt === null ? (
            'Being read for the first time.'
          ) : (
            <>
              Read <Time at={checkedAt} format={exactTime} />.
            </>
          )}{' '}
          {smtp === null ? "Answers leave from the workspace's address." : `Answers leave through ${smtp.host}.`}
        </p>
      )}
      <div class="row">
        <Button
          small
          busy={busy}
          onClick={() => void act(() => call('PATCH', path, { body: { isPaused: !isPaused } }))}
        >
          {isPaused ? 'Go on' : 'Pause'}
        </Button>
        {!isPaused && (
          <Button small busy={busy} onClick={() => void act(() => call('POST', `${path}/check`))}>
            Read it now
          </Button>
        )}
        <Button small kind="danger" busy={busy} onClick={() => void act(() => call('DELETE', path))}>
          Disconnect
        </Button>
      </div>
    </li>
  );
}

const securities: readonly { readonly value: Security; readonly label: string }[] = [
  { value: 'tls', label: 'TLS from the start' },
  { value: 'starttls', label: 'STARTTLS' },
];
const afterwards = [
  { value: 'nothing', label: 'Stay there as it is' },
  { value: 'seen', label: 'Be marked as read there' },
  { value: 'move', label: 'Be moved to a folder there' },
] as const;

const initial = {
  address: '',
  username: '',
  password: '',
  imapHost: '',
  imapPort: '993',
  imapSecurity: 'tls' as Security,
  smtpHost: '',
  smtpPort: '465',
  smtpSecurity: 'tls' as Security,
  afterwards: 'nothing' as (typeof afterwards)[number]['value'],
  moveTo: '',
};

function bodyOf(values: typeof initial) {
  const { address, username, password, smtpHost, moveTo } = values;
  return {
    address: address.trim(),
    ...(username.trim() === '' ? {} : { username: username.trim() }),
    ...(password === '' ? {} : { password }),
    imap: { host: values.imapHost.trim(), port: Number(values.imapPort), security: values.imapSecurity },
    smtp:
      smtpHost.trim() === ''
        ? null
        : { host: smtpHost.trim(), port: Number(values.smtpPort), security: values.smtpSecurity },
    afterwards: values.afterwards,
    ...(values.afterwards === 'move' ? { moveTo: moveTo.trim() } : {}),
  };
}

function ConnectForm({
  onConnected,
  onCancel,
}: {
  readonly onConnected: () => void;
  readonly onCancel: () => void;
}): JSX.Element {
  const form = useForm(initial, async (values) => {
    await call('POST', '/workspace/mailboxes', { body: bodyOf(values) });
    notify({ kind: 'done', text: 'Connected. New mail becomes tickets from now on.' });
    onConnected();
  });
  const [busy, setBusy] = useState(false);
  const [tried, setTried] = useState<{ imap: Tried; smtp: Tried | null } | undefined>(undefined);
  const [failure, setFailure] = useState<unknown>(undefined);
  const { values, set, errorOf } = form;
  const test = async (): Promise<void> => {
    setBusy(true);
    setTried(undefined);
    setFailure(undefined);
    try {
      setTried(await call('POST', '/workspace/mailboxes/test', { body: bodyOf(values) }));
    } catch (error) {
      setFailure(error);
    }
    setBusy(false);
  };
  return (
    <Form
      form={form}
      label="Connect a mailbox"
      actions={
        <>
          <Button type="submit" kind="primary" busy={form.busy}>
            Connect
          </Button>
          <Button busy={busy} onClick={() => void test()}>
            Test both servers
          </Button>
          <Button kind="quiet" onClick={onCancel}>
            Cancel
          </Button>
        </>
      }
    >
      <TextField
        label="Address"
        type="email"
        required
        value={values.address}
        onValue={(address) => set('address', address)}
        error={errorOf('address')}
      />
      <div class="columns">
        <TextField
          label="Username"
          optional
          autocomplete="off"
          spellcheck={false}
          value={values.username}
          onValue={(username) => set('username', username)}
          error={errorOf('username')}
          hint="If it is not the address."
        />
        <TextField
          label="Password"
          type="password"
          required
          autocomplete="new-password"
          value={values.password}
          onValue={(password) => set('password', password)}
          error={errorOf('password')}
          hint="Many providers want one that they make for an app."
        />
      </div>
      <ServerFields
        name="Incoming mail (IMAP)"
        placeholder="imap.example.com"
        host={values.imapHost}
        port={values.imapPort}
        security={values.imapSecurity}
        error={errorOf('imap')}
        onHost={(host) => {
          // Most providers name both alike.
          if (values.smtpHost === '' || values.smtpHost === values.imapHost.replace(/^imap\./, 'smtp.'))
            set('smtpHost', host.replace(/^imap\./, 'smtp.'));
          set('imapHost', host);
        }}
        onPort={(port) => set('imapPort', port)}
        onSecurity={(security) => set('imapSecurity', security)}
      />
      <ServerFields
        name="Outgoing mail (SMTP)"
        placeholder="smtp.example.com"
        host={values.smtpHost}
        port={values.smtpPort}
        security={values.smtpSecurity}
        error={errorOf('smtp')}
        onHost={(host) => set('smtpHost', host)}
        onPort={(port) => set('smtpPort', port)}
        onSecurity={(security) => set('smtpSecurity', security)}
      />
      <SelectField
        label="A mail that is here should"
        value={values.afterwards}
        choices={afterwards}
        onValue={(chosen) => set('afterwards', chosen)}
        error={errorOf('afterwards')}
      />
      {values.afterwards === 'move' && (
        <TextField
          label="Folder"
          required
          value={values.moveTo}
          onValue={(moveTo) => set('moveTo', moveTo)}
          error={errorOf('moveTo')}
        />
      )}
      <div role="status">
        {failure !== undefined && <Banner kind="bad">{messageOf(failure)}</Banner>}
        {tried !== undefined && (
          <>
            <Banner kind={tried.imap.isWorking ? 'good' : 'bad'}>Incoming: {tried.imap.answer}</Banner>
            {tried.smtp !== null && (
              <Banner kind={tried.smtp.isWorking ? 'good' : 'bad'}>
                Outgoing:{' '}
                {tried.smtp.isWorking ? `a test mail is on its way to you. ${tried.smtp.answer}` : tried.smtp.answer}
              </Banner>
            )}
          </>
        )}
      </div>
    </Form>
  );
}

interface ServerFieldsProps {
  readonly name: string;
  readonly placeholder: string;
  readonly host: string;
  readonly port: string;
  readonly security: Security;
  readonly error: string | undefined;
  readonly onHost: (host: string) => void;
  readonly onPort: (port: string) => void;
  readonly onSecurity: (security: Security) => void;
}

function ServerFields(props: ServerFieldsProps): JSX.Element {
  const { name, placeholder, host, port, security, error, onHost, onPort, onSecurity } = props;
  return (
    <div class="columns">
      <TextField
        label={name}
        spellcheck={false}
        placeholder={placeholder}
        value={host}
        onValue={onHost}
        error={error}
      />
      <TextField label="Port" inputMode="numeric" value={port} onValue={onPort} />
      <SelectField label="Security" value={security} choices={securities} onValue={onSecurity} />
    </div>
  );
}

function GrantButton({ provider }: { readonly provider: Provider }): JSX.Element {
  const [isAsking, setAsking] = useState(false);
  const [address, setAddress] = useState('');
  const go = async (): Promise<void> => {
    try {
      const { url } = await call<{ url: string }>('POST', '/workspace/mailboxes/authorize', {
        body: { provider, address: address.trim() },
      });
      sessionStorage.setItem(askedKey, address.trim());
      location.assign(url);
    } catch (error) {
      notifyFailure(error);
    }
  };
  if (!isAsking)
    return (
      <Button icon="out" onClick={() => setAsking(true)}>
        Connect with {providerNames[provider]}
      </Button>
    );
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        void go();
      }}
    >
      <TextField
        label={`Address at ${providerNames[provider]}`}
        type="email"
        required
        autofocus
        value={address}
        onValue={setAddress}
      />
      <Button type="submit" kind="primary">
        Continue at {providerNames[provider]}
      </Button>
    </form>
  );
}

async function finishGrant(): Promise<void> {
  const [code, state] = [query.peek().get('code'), query.peek().get('state')];
  if (code === null || state === null) throw new Error('The provider granted no access. Connect the mailbox again.');
  const address = sessionStorage.getItem(askedKey) ?? '';
  sessionStorage.removeItem(askedKey);
  await call('POST', '/workspace/mailboxes', { body: { address, grant: { code, state } } });
}
