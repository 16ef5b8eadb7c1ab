// Signing in. One answer for a wrong address and a wrong password, as the service gives it.

import type { JSX } from 'preact';
import { Button } from '../design/button.tsx';
import { TextField } from '../design/field.tsx';
import { Form, useForm } from '../design/form.tsx';
import { signIn } from '../session.ts';
import { Gate, goOn } from './gate.tsx';

export function SignIn(): JSX.Element {
  const form = useForm({ email: '', password: '' }, async (values) => {
    await signIn('/auth/login', values);
    goOn('/inbox');
  });
  return (
    <Gate
      title="Sign in"
      aside={
        <>
          New here? <a href="/register">Make a workspace</a>
        </>
      }
    >
      <Form
        form={form}
        actions={
          <Button type="submit" kind="primary" busy={form.busy}>
            Sign in
          </Button>
        }
      >
        <TextField label="Email" type="email" autocomplete="username" autofocus required value={form.values.email} onValue={(value) => form.set('email', value)} error={form.errorOf('email')} />
        <TextField label="Password" type="password" autocomplete="current-password" required value={form.values.password} onValue={(value) => form.set('password', value)} error={form.errorOf('password')} hint={<a href="/forgot-password">Forgot it?</a>} />
      </Form>
    </Gate>
  );
}
