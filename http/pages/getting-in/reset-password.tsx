// Where a reset link leads. Every sign-in of before ends with the new password.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { Button, ButtonLink } from '../design/button.tsx';
import { Banner } from '../design/feedback.tsx';
import { Form, useForm } from '../design/form.tsx';
import { query } from '../location.ts';
import { thisBrowser } from '../this-browser.ts';
import { Gate } from './gate.tsx';
import { PasswordField } from './password-field.tsx';

export function ResetPassword(): JSX.Element {
  const [done, setDone] = useState(false);
  const token = query.value.get('token') ?? '';
  const form = useForm({ newPassword: '' }, async ({ newPassword }) => {
    await call('POST', '/auth/reset-password', { body: { token, newPassword, browser: thisBrowser() } });
    setDone(true);
  });
  return (
    <Gate title="Choose a new password" aside={done ? undefined : <a href="/forgot-password">Ask for another link</a>}>
      {done ? (
        <div class="stack" role="status">
          <Banner kind="good">Your password is changed. Sign in with it.</Banner>
          <ButtonLink href="/sign-in" kind="primary">
            Sign in
          </ButtonLink>
        </div>
      ) : (
        <Form
          form={form}
          actions={
            <Button type="submit" kind="primary" busy={form.busy}>
              Save
            </Button>
          }
        >
          <PasswordField label="New password" value={form.values.newPassword} onValue={(value) => form.set('newPassword', value)} error={form.errorOf('newPassword')} />
        </Form>
      )}
    </Gate>
  );
}
