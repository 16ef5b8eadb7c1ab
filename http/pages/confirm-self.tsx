// Confirms the agent's identity before a change that could lock the owner out. The service asks for it; afterwards the
// change is made.

import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { call } from './api.ts';
import { ApiError, messageOf } from './api-error.ts';
import { Button } from './design/button.tsx';
import { Dialog } from './design/dialog.tsx';
import { Banner, Failure, Loading } from './design/feedback.tsx';
import { TextField } from './design/field.tsx';
import { Form, useForm } from './design/form.tsx';
import { useResource } from './design/resource.ts';
import { hasPasskeys, type PasskeyOptions, signWithPasskey } from './passkeys.ts';

export interface Confirming {
  /** Runs it, after asking if needed. Rejects with its error, also if the agent cancels. */
  run<Answer>(act: () => Promise<Answer>): Promise<Answer>;
  /** To be drawn; null while nothing is asked. */
  readonly dialog: JSX.Element | null;
}

export function useConfirming(): Confirming {
  const [isAsking, setAsking] = useState(false);
  const settle = useRef<(isShown: boolean) => void>(() => undefined);
  const end = (isShown: boolean): void => {
    setAsking(false);
    settle.current(isShown);
  };
  return {
    async run(act) {
      try {
        return await act();
      } catch (error) {
        if (!(error instanceof ApiError) || error.slug !== 'confirmation_required') throw error;
        setAsking(true);
        const isShown = await new Promise<boolean>((resolve) => {
          settle.current = resolve;
        });
        if (!isShown) throw error;
        return act();
      }
    },
    dialog: isAsking ? <ConfirmSelf onShown={() => end(true)} onClose={() => end(false)} /> : null,
  };
}

interface Ways {
  readonly totp: object | null;
  readonly passkeys: readonly object[];
  readonly recoveryCodesLeft: number;
}

function ConfirmSelf({
  onShown,
  onClose,
}: {
  readonly onShown: () => void;
  readonly onClose: () => void;
}): JSX.Element {
  const ways = useResource((signal) => call<Ways>('GET', '/me/security', { signal }), []);
  const { value, failure } = ways;
  const shared = { onShown, onClose };
  return (
    <Dialog title="Confirm your identity" onClose={onClose}>
      {value === undefined ? (
        failure === undefined ? (
          <Loading lines={2} />
        ) : (
          <Failure error={failure} retry={ways.reload} />
        )
      ) : value.totp === null && value.passkeys.length === 0 ? (
        <ByPassword {...shared} />
      ) : (
        <BySecondFactor ways={value} {...shared} />
      )}
    </Dialog>
  );
}

interface Showing {
  readonly onShown: () => void;
  readonly onClose: () => void;
}

const why = 'You signed in a while ago. Confirm your identity to change your sign-in settings.';

function ByPassword({ onShown, onClose }: Showing): JSX.Element {
  const form = useForm(
    { password: '' },
    async (values) => {
      await call('POST', '/me/confirm', { body: values });
      onShown();
    },
    { invalid_credentials: 'password' },
  );
  return (
    <Form
      form={form}
      actions={
        <>
          <Button type="submit" kind="primary" busy={form.busy}>
            Continue
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </>
      }
    >
      <TextField
        label="Password"
        type="password"
        autocomplete="current-password"
        autofocus
        required
        value={form.values.password}
        onValue={(value) => form.set('password', value)}
        error={form.errorOf('password')}
        hint={why}
      />
    </Form>
  );
}

/** Protects the account from a person who only knows the password. */
function BySecondFactor({ ways, onShown, onClose }: Showing & { readonly ways: Ways }): JSX.Element {
  const canUsePasskey = ways.passkeys.length > 0 && hasPasskeys;
  const [isRecovering, setRecovering] = useState(ways.totp === null && !canUsePasskey);
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(undefined);
  const form = useForm(
    { code: '' },
    async ({ code }) => {
      setFailure(undefined);
      await call('POST', '/me/confirm', {
        body: isRecovering ? { recoveryCode: code } : { code: code.replace(/\s/g, '') },
      });
      onShown();
    },
    { invalid_credentials: 'code' },
  );
  const passkeyInstead = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      const { passkey } = await call<{ passkey: PasskeyOptions }>('POST', '/me/confirm/options');
      await call('POST', '/me/confirm', { body: { passkey: await signWithPasskey(passkey) } });
      onShown();
    } catch (error) {
      setFailure(error);
      setBusy(false);
    }
  };
  const hasField = isRecovering || ways.totp !== null;
  return (
    <Form
      form={form}
      actions={
        <>
          {hasField && (
            <Button type="submit" kind="primary" busy={form.busy}>
              Continue
            </Button>
          )}
          {canUsePasskey && !isRecovering && (
            <Button kind={hasField ? 'plain' : 'primary'} busy={busy} onClick={() => void passkeyInstead()}>
              Use a passkey
            </Button>
          )}
          {ways.recoveryCodesLeft > 0 && !isRecovering && (
            <Button kind="quiet" onClick={() => setRecovering(true)}>
              Use a recovery code
            </Button>
          )}
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </>
      }
    >
      {!hasField && <p class="soft">{why}</p>}
      {hasField &&
        (isRecovering ? (
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
            hint={`Six digits, from your authenticator app. ${why}`}
          />
        ))}
      <div role="alert">{failure !== undefined && <Banner kind="bad">{messageOf(failure)}</Banner>}</div>
    </Form>
  );
}
