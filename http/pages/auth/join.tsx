// The page behind an invitation's link: a name, a password, and the agent is signed in.

import type { JSX } from 'preact';
import { Button } from '../design/button.tsx';
import { TextField } from '../design/field.tsx';
import { Form, useForm } from '../design/form.tsx';
import { navigate } from '../location.ts';
import { signIn } from '../session.ts';
import { Gate } from './gate.tsx';
import { PasswordField } from './password-field.tsx';

export function Join({ params }: { readonly params: Readonly<Record<string, string>> }): JSX.Element {
  const form = useForm({ name: '', password: '' }, async ({ name, password }) => {
    await signIn('/auth/join', { code: params['code'], password, ...(name.trim() === '' ? {} : { name }) });
    navigate('/inbox', { replace: true });
  });
  return (
    <Gate
      title="Join your team"
      aside={
        <>
          Joined already? <a href="/sign-in">Sign in</a>
        </>
      }
    >
      <Form
        form={form}
        actions={
          <Button type="submit" kind="primary" busy={form.busy}>
            Join
          </Button>
        }
      >
        <TextField
          label="Your name"
          optional
          autofocus
          maxLength={120}
          autocomplete="name"
          value={form.values.name}
          onValue={(value) => form.set('name', value)}
          error={form.errorOf('name')}
          hint="Your colleagues and customers see it."
        />
        <PasswordField
          value={form.values.password}
          onValue={(value) => form.set('password', value)}
          error={form.errorOf('password')}
        />
      </Form>
    </Gate>
  );
}
