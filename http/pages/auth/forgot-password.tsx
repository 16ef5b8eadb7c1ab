// Requests a reset link. The answer is the same for known and unknown addresses.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { Button } from '../design/button.tsx';
import { Banner } from '../design/feedback.tsx';
import { TextField } from '../design/field.tsx';
import { Form, useForm } from '../design/form.tsx';
import { thisBrowser } from '../this-browser.ts';
import { Gate } from './gate.tsx';

export function ForgotPassword(): JSX.Element {
  const [sentTo, setSentTo] = useState<string | undefined>(undefined);
  const form = useForm({ email: '' }, async ({ email }) => {
    await call('POST', '/auth/forgot-password', { body: { email, browser: thisBrowser() } });
    setSentTo(email);
  });
  return (
    <Gate title="Reset your password" aside={<a href="/sign-in">Back to sign in</a>}>
      {sentTo === undefined ? (
        <Form
          form={form}
          actions={
            <Button type="submit" kind="primary" busy={form.busy}>
              Email me a link
            </Button>
          }
        >
          <TextField
            label="Email"
            type="email"
            autocomplete="username"
            autofocus
            required
            value={form.values.email}
            onValue={(value) => form.set('email', value)}
            error={form.errorOf('email')}
          />
        </Form>
      ) : (
        <div role="status">
          <Banner kind="good">
            If {sentTo} has an account here, a link is on its way. It works once, for 30 minutes.
          </Banner>
        </div>
      )}
    </Gate>
  );
}
