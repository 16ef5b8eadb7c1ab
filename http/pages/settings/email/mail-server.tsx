// The mail server through which this workspace sends, and a test that repeats the server's own words.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { messageOf } from '../../api-error.ts';
import { Button } from '../../design/button.tsx';
import { Banner } from '../../design/feedback.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { useResource } from '../../design/resource.ts';
import { notify } from '../../notices.ts';
import type { MailServer } from '../../records.ts';
import { keepsMail, me, readMe } from '../../session.ts';
import { Part, Reading } from '../parts.tsx';

type Security = 'starttls' | 'tls' | 'none';

const securities: readonly { readonly value: Security; readonly label: string; readonly port: number }[] = [
  { value: 'starttls', label: 'STARTTLS, mostly on port 587', port: 587 },
  { value: 'tls', label: 'TLS from the start, mostly on port 465', port: 465 },
  { value: 'none', label: 'None, only within your own network', port: 25 },
];

export function MailServerPart(): JSX.Element {
  const server = useResource((signal) => call<MailServer>('GET', '/workspace/mail-server', { signal }), []);
  const keep = (saved: MailServer): void => {
    server.set(saved);
    // Every page says whether mail is sent.
    void readMe();
  };
  return (
    <Part id="mail-server" title="Mail server">
      {server.value === undefined ? (
        <Reading failure={server.failure} retry={server.reload} />
      ) : server.value.source === 'environment' ? (
        <>
          <p class="soft">
            {keepsMail.value
              ? 'The operator of this server has set it to keep mail in files: nothing is sent.'
              : 'The operator of this server has set how it sends mail, so there is nothing to set here.'}
          </p>
          {!keepsMail.value && <TestMail />}
        </>
      ) : (
        <>
          {server.value.source === 'none' && (
            <Banner kind="warn">
              No mail leaves this server yet. Invitations, answers to tickets and password links are kept in files on
              it. Enter the mail server of your provider, and they are sent from then on.
            </Banner>
          )}
          <ServerForm key={server.value.source} server={server.value} onSaved={keep} />
          {server.value.source === 'workspace' && <TestMail />}
        </>
      )}
    </Part>
  );
}

function valuesOf({ host, port, security, username, fromAddress }: MailServer) {
  return {
    host: host ?? '',
    port: String(port ?? 587),
    security: security ?? ('starttls' as const),
    username: username ?? '',
    password: '',
    fromAddress: fromAddress ?? me.peek()?.agent.email ?? '',
  };
}

function ServerForm({
  server,
  onSaved,
}: {
  readonly server: MailServer;
  readonly onSaved: (server: MailServer) => void;
}): JSX.Element {
  const [removing, setRemoving] = useState(false);
  const form = useForm(valuesOf(server), async ({ host, port, security, username, password, fromAddress }) => {
    const user = username.trim();
    const saved = await call<MailServer>('PUT', '/workspace/mail-server', {
      body: {
        host: host.trim(),
        port: Number(port),
        security,
        username: user === '' ? null : user,
        ...(password === '' ? {} : { password }),
        fromAddress: fromAddress.trim(),
      },
    });
    form.reset(valuesOf(saved));
    onSaved(saved);
    notify({ kind: 'done', text: 'Saved. Send yourself a test mail now.' });
  });
  const { values } = form;
  const remove = async (): Promise<void> => {
    setRemoving(true);
    try {
      onSaved(await call<MailServer>('PUT', '/workspace/mail-server', { body: { host: null } }));
    } catch (error) {
      notify({ kind: 'problem', text: messageOf(error) });
    }
    setRemoving(false);
  };
  return (
    <Form
      form={form}
      label="Mail server"
      actions={
        <>
          <Button type="submit" kind="primary" busy={form.busy}>
            Save
          </Button>
          {server.source === 'workspace' && (
            <Button kind="quiet" busy={removing} onClick={() => void remove()}>
              Stop using it
            </Button>
          )}
        </>
      }
    >
      <div class="columns">
        <TextField
          label="Server"
          required
          placeholder="smtp.example.com"
          spellcheck={false}
          value={values.host}
          onValue={(host) => form.set('host', host)}
          error={form.errorOf('host')}
        />
        <TextField
          label="Port"
          required
          inputMode="numeric"
          value={values.port}
          onValue={(port) => form.set('port', port)}
          error={form.errorOf('port')}
        />
      </div>
      <SelectField
        label="Security"
        value={values.security}
        choices={securities}
        onValue={(security) => {
          const isUsual = securities.some(({ port }) => String(port) === values.port);
          const usual = securities.find(({ value }) => value === security)?.port;
          form.set('security', security);
          if (isUsual && usual !== undefined) form.set('port', String(usual));
        }}
        error={form.errorOf('security')}
      />
      <div class="columns">
        <TextField
          label="Username"
          optional
          autocomplete="off"
          spellcheck={false}
          value={values.username}
          onValue={(username) => form.set('username', username)}
          error={form.errorOf('username')}
        />
        <TextField
          label="Password"
          type="password"
          optional
          autocomplete="new-password"
          placeholder={server.hasPassword ? 'Kept as it is' : ''}
          value={values.password}
          onValue={(password) => form.set('password', password)}
          error={form.errorOf('password')}
        />
      </div>
      <TextField
        label="Sender"
        type="email"
        required
        value={values.fromAddress}
        onValue={(fromAddress) => form.set('fromAddress', fromAddress)}
        error={form.errorOf('fromAddress')}
        hint="The address your customers see. Your mail server must accept it."
      />
    </Form>
  );
}

function TestMail(): JSX.Element {
  const [busy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<{ readonly sent: boolean; readonly text: string } | undefined>(undefined);
  const send = async (): Promise<void> => {
    setBusy(true);
    setOutcome(undefined);
    try {
      const { sent, to, answer } = await call<{ sent: boolean; to: string; answer: string }>(
        'POST',
        '/workspace/mail-server/test',
      );
      setOutcome({
        sent,
        text: sent ? `The server took the mail for ${to}. It said: ${answer}` : `The mail was not sent: ${answer}`,
      });
    } catch (error) {
      setOutcome({ sent: false, text: messageOf(error) });
    }
    setBusy(false);
  };
  return (
    <div class="stack">
      <div class="row">
        <Button busy={busy} onClick={() => void send()}>
          Send me a test mail
        </Button>
      </div>
      <div role="status">
        {outcome !== undefined && <Banner kind={outcome.sent ? 'good' : 'bad'}>{outcome.text}</Banner>}
      </div>
    </div>
  );
}
