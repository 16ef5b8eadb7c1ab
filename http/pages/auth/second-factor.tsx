// The second step of signing in: a code from the authenticator app, a passkey, or a recovery code.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { ApiError, messageOf } from '../api-error.ts';
import { Button } from '../design/button.tsx';
import { Banner } from '../design/feedback.tsx';
import { TextField } from '../design/field.tsx';
import { Form, type FormState, useForm } from '../design/form.tsx';
import { hasPasskeys, type PasskeyOptions, signWithPasskey } from '../passkeys.ts';
import type { SignedIn } from '../session.ts';
import { Gate } from './gate.tsx';

/** The answer to a correct password. */
export interface Question {
  readonly challenge: string;
  readonly methods: readonly ('totp' | 'passkey' | 'recovery_code')[];
  readonly passkey: PasskeyOptions | null;
}

/** The question, if a refusal asks for a second factor. */
export function questionIn(error: unknown): Question | undefined {
  // The form is that of the login's description.
  return error instanceof ApiError && error.slug === 'second_factor_required'
    ? (error.detail as unknown as Question)
    : undefined;
}

interface Passing {
  readonly form: FormState<{ code: string }>;
  /** A recovery code is asked for. */
  readonly isRecovering: boolean;
  /** A passkey is being used. */
  readonly busy: boolean;
  /** Why the passkey was not accepted. */
  readonly failure: unknown;
  passkeyInstead(): Promise<void>;
  recover(on: boolean): void;
}

function usePassing({ challenge, methods, passkey }: Question, onPassed: (signedIn: SignedIn) => void): Passing {
  const [isRecovering, setRecovering] = useState(
    !methods.includes('totp') && !(methods.includes('passkey') && hasPasskeys),
  );
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(undefined);
  const pass = async (proof: object): Promise<void> =>
    onPassed(await call<SignedIn>('POST', '/sign-in/second-factor', { body: { challenge, ...proof } }));
  const form = useForm(
    { code: '' },
    async ({ code }) => {
      setFailure(undefined);
      await pass(isRecovering ? { recoveryCode: code } : { code: code.replace(/\s/g, '') });
    },
    { invalid_code: 'code' },
  );
  const passkeyInstead = async (): Promise<void> => {
    if (passkey === null) return;
    setBusy(true);
    setFailure(undefined);
    try {
      await pass({ passkey: await signWithPasskey(passkey) });
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  const recover = (on: boolean): void => {
    setRecovering(on);
    setFailure(undefined);
    form.reset({ code: '' });
  };
  return { form, isRecovering, busy, failure, passkeyInstead, recover };
}

export function SecondFactor({
  question,
  onPassed,
  onAgain,
}: {
  readonly question: Question;
  readonly onPassed: (signedIn: SignedIn) => void;
  readonly onAgain: () => void;
}): JSX.Element {
  const { methods, passkey } = question;
  const { form, isRecovering, busy, failure, passkeyInstead, recover } = usePassing(question, onPassed);
  const hasField = isRecovering || methods.includes('totp');
  const hasOtherWay = methods.includes('totp') || (passkey !== null && hasPasskeys);
  return (
    <Gate
      title="One more step"
      aside={
        <Button kind="quiet" onClick={onAgain}>
          Start over
        </Button>
      }
    >
      {passkey !== null && hasPasskeys && !isRecovering && (
        <div class="stack">
          <Button kind={hasField ? 'plain' : 'primary'} busy={busy} onClick={() => void passkeyInstead()}>
            Use a passkey
          </Button>
          <div role="alert">{failure !== undefined && <Banner kind="bad">{messageOf(failure)}</Banner>}</div>
        </div>
      )}
      {hasField && (
        <Form
          form={form}
          actions={
            <Button type="submit" kind="primary" busy={form.busy}>
              Continue
            </Button>
          }
        >
          <CodeField form={form} isRecovering={isRecovering} />
        </Form>
      )}
      {methods.includes('recovery_code') && !isRecovering && (
        <Button kind="quiet" onClick={() => recover(true)}>
          Use a recovery code
        </Button>
      )}
      {isRecovering && hasOtherWay && (
        <Button kind="quiet" onClick={() => recover(false)}>
          {methods.includes('totp') ? 'Use an authenticator code' : 'Use a passkey'}
        </Button>
      )}
      {!methods.includes('recovery_code') && (
        <p class="soft">Lost it? An admin of your workspace can remove your second factor.</p>
      )}
    </Gate>
  );
}

function CodeField({ form, isRecovering }: Pick<Passing, 'form' | 'isRecovering'>): JSX.Element {
  return isRecovering ? (
    <TextField
      key="recovery"
      label="Recovery code"
      required
      autofocus
      autocomplete="off"
      spellcheck={false}
      maxLength={40}
      value={form.values.code}
      onValue={(value) => form.set('code', value)}
      error={form.errorOf('code') ?? form.errorOf('recoveryCode')}
      hint="One of the ten you saved. Each works once."
    />
  ) : (
    <TextField
      key="code"
      label="Code"
      required
      autofocus
      autocomplete="one-time-code"
      inputMode="numeric"
      spellcheck={false}
      maxLength={10}
      value={form.values.code}
      onValue={(value) => form.set('code', value)}
      error={form.errorOf('code')}
      hint="Six digits, from your authenticator app."
    />
  );
}
