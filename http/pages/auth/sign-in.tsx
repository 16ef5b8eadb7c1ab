// Signing in by password, with a second factor if there is one, or by a passkey only. A wrong address and a wrong
// password give the same error, as in the service.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { messageOf } from '../api-error.ts';
import { Button } from '../design/button.tsx';
import { Banner } from '../design/feedback.tsx';
import { TextField } from '../design/field.tsx';
import { Form, useForm } from '../design/form.tsx';
import { hasPasskeys, type PasskeyOptions, signWithPasskey } from '../passkeys.ts';
import { keepSignIn, signIn } from '../session.ts';
import { Gate, goOn } from './gate.tsx';
import { useRegistration } from './registration.ts';
import { type Question, questionIn, SecondFactor } from './second-factor.tsx';

export function SignIn(): JSX.Element {
  const registration = useRegistration();
  const [question, setQuestion] = useState<Question | undefined>(undefined);
  const form = useForm({ email: '', password: '' }, async (values) => {
    try {
      await signIn('/auth/login', values);
    } catch (error) {
      const asked = questionIn(error);
      if (asked === undefined) throw error;
      setQuestion(asked);
      return;
    }
    goOn('/inbox');
  });
  if (question !== undefined) {
    const passed = (signedIn: Parameters<typeof keepSignIn>[0]): void => {
      keepSignIn(signedIn);
      goOn('/inbox');
    };
    return <SecondFactor question={question} onPassed={passed} onAgain={() => setQuestion(undefined)} />;
  }
  return (
    <Gate
      title="Sign in"
      aside={
        registration === 'off' ? undefined : (
          <>
            New here? <a href="/register">Create a workspace</a>
          </>
        )
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
        <TextField
          label="Password"
          type="password"
          autocomplete="current-password"
          required
          value={form.values.password}
          onValue={(value) => form.set('password', value)}
          error={form.errorOf('password')}
          hint={<a href="/forgot-password">Forgot password?</a>}
        />
      </Form>
      {hasPasskeys && <ByPasskey />}
    </Gate>
  );
}

function ByPasskey(): JSX.Element {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(undefined);
  const go = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      const { passkey } = await call<{ passkey: PasskeyOptions }>('POST', '/sign-in/passkey/options');
      await signIn('/sign-in/passkey', { passkey: await signWithPasskey(passkey) });
      goOn('/inbox');
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="stack">
      <Button busy={busy} onClick={() => void go()}>
        Sign in with a passkey
      </Button>
      <div role="alert">{failure !== undefined && <Banner kind="bad">{messageOf(failure)}</Banner>}</div>
    </div>
  );
}
