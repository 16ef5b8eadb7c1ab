// The agent's own account: name, picture, colours, and where and how it signs in.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call, token } from '../api.ts';
import { Button } from '../design/button.tsx';
import { Confirm } from '../design/dialog.tsx';
import { Checkbox, TextField } from '../design/field.tsx';
import { Form, useForm } from '../design/form.tsx';
import { notify } from '../notices.ts';
import { PictureField } from '../picture-field.tsx';
import type { Agent } from '../records.ts';
import { keepAgent, me, signOut, signOutEverywhere } from '../session.ts';
import { chooseTheme, type Theme, theme } from '../theme.ts';
import { setTitle } from '../title.ts';
import { ChangePassword } from './change-password.tsx';
import { MailHabits } from './mail-habits.tsx';
import { NotificationSettings } from './notification-settings.tsx';
import { SecondFactors } from './second-factors.tsx';
import { SignIns } from './sign-ins.tsx';

const themes: readonly { readonly value: Theme; readonly label: string }[] = [
  { value: 'system', label: 'Same as the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];

export function Account(): JSX.Element | null {
  const [ending, setEnding] = useState(false);
  const [changing, setChanging] = useState(false);
  useEffect(() => setTitle('Your account'), []);
  const agent = me.value?.agent;
  const form = useForm(
    { name: agent?.name ?? '', publicName: agent?.publicName ?? '' },
    async ({ name, publicName }) => {
      if (agent === undefined) return;
      keepAgent(
        await call<Agent>('PATCH', `/agents/${agent.id}`, {
          body: { name, publicName: publicName.trim() === '' ? null : publicName },
        }),
      );
      notify({ kind: 'done', text: 'Saved.' });
    },
  );
  if (agent === undefined) return null;
  return (
    <div class="page">
      <header>
        <div>
          <h1>Your account</h1>
          <p>
            {agent.email}, {agent.role} of {me.value?.workspace.name}
          </p>
        </div>
      </header>
      <section class="card" aria-labelledby="account-name">
        <h2 id="account-name">How colleagues and customers see you</h2>
        <PictureField
          label="Your picture"
          name={agent.name}
          url={agent.avatarUrl}
          onUrl={async (avatarUrl) => {
            keepAgent(await call<Agent>('PATCH', `/agents/${agent.id}`, { body: { avatarUrl } }));
            notify({ kind: 'done', text: 'Saved.' });
          }}
        />
        <Form
          form={form}
          actions={
            <Button type="submit" kind="primary" busy={form.busy}>
              Save
            </Button>
          }
        >
          <TextField
            label="Name"
            required
            maxLength={120}
            autocomplete="name"
            value={form.values.name}
            onValue={(value) => form.set('name', value)}
            error={form.errorOf('name')}
          />
          <TextField
            label="Name for customers"
            maxLength={120}
            autocomplete="nickname"
            value={form.values.publicName}
            onValue={(value) => form.set('publicName', value)}
            error={form.errorOf('publicName')}
            hint="Shown in the chat. Left empty: your first name."
          />
        </Form>
      </section>
      <section class="card" aria-labelledby="account-mail">
        <h2 id="account-mail">Your email</h2>
        <MailHabits />
      </section>
      <section class="card" aria-labelledby="account-colours">
        <h2 id="account-colours">Colours</h2>
        <div class="stack" role="radiogroup" aria-labelledby="account-colours">
          {themes.map(({ value, label }) => (
            <Checkbox
              key={value}
              type="radio"
              name="theme"
              label={label}
              checked={theme.value === value}
              onChecked={() => chooseTheme(value)}
            />
          ))}
        </div>
      </section>
      <NotificationSettings />
      <section class="card" aria-labelledby="account-sign-in">
        <h2 id="account-sign-in">Signing in</h2>
        <div class="row">
          <Button onClick={() => setChanging(true)}>Change password</Button>
          <Button onClick={signOut}>Sign out</Button>
          <Button kind="danger" onClick={() => setEnding(true)}>
            Sign out everywhere
          </Button>
        </div>
      </section>
      <section class="card" aria-labelledby="account-factors">
        <h2 id="account-factors">Second factor</h2>
        <SecondFactors />
      </section>
      <section class="card" aria-labelledby="account-sign-ins">
        <h2 id="account-sign-ins">Where you are signed in</h2>
        <SignIns key={token.value} />
      </section>
      {changing && <ChangePassword onClose={() => setChanging(false)} />}
      {ending && (
        <Confirm
          title="Sign out everywhere?"
          action="Sign out everywhere"
          onConfirm={signOutEverywhere}
          onClose={() => setEnding(false)}
        >
          <p>Every browser and app where you are signed in must sign in again, including this one.</p>
        </Confirm>
      )}
    </div>
  );
}
