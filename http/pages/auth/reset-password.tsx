// The page behind a reset link. The new password ends every earlier sign-in.

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
import { type Question, questionIn, SecondFactor } from './second-factor.tsx';

export function ResetPassword(): JSX.Element {
  const [done, setDone] = useState(false);
  const token = query.value.get('token') ?? '';
  const [question, setQuestion] = useState<Question | undefined>(undefined);
  const form = useForm({ newPassword: '' }, async ({ newPassword }) => {
    try {
      await call('POST', '/auth/reset-password', { body: { token, newPassword, browser: thisBrowser() } });
    } catch (error) {
      const asked = questionIn(error);
      if (asked === undefined) throw error;
      setQuestion(asked);
      return;
    }
    setDone(true);
  });
  if (question !== undefined && !done)
    return <SecondFactor question={question} onPassed={() => setDone(true)} onAgain={() => setQuestion(undefined)} />;
  return (
    <Gate title="Choose a new password" aside={done ? undefined : <a href="/forgot-password">Get a new link</a>}>
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
          <PasswordField
            label="New password"
            value={form.values.newPassword}
            onValue={(value) => form.set('newPassword', value)}
            error={form.errorOf('newPassword')}
          />
        </Form>
      )}
    </Gate>
  );
}
