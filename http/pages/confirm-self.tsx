// Showing once more that it is you, where a change could lock somebody out of an account: asked when the service asks for it, and what
// was to be done is done then.

import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { ApiError, call, messageOf } from './api.ts';
import { Button } from './design/button.tsx';
import { Dialog } from './design/dialog.tsx';
import { Banner } from './design/feedback.tsx';
import { TextField } from './design/field.tsx';
import { Form, useForm } from './design/form.tsx';
import { hasPasskeys, type PasskeyOptions, signWithPasskey } from './passkeys.ts';

export interface Confirming {
  /** Does it, after asking where that is needed. Rejects with what went wrong, also when nothing was shown. */
  run<Answer>(act: () => Promise<Answer>): Promise<Answer>;
  /** To be drawn; nothing while nothing is asked. */
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

function ConfirmSelf({ onShown, onClose }: { readonly onShown: () => void; readonly onClose: () => void }): JSX.Element {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(undefined);
  const form = useForm(
    { password: '' },
    async (values) => {
      await call('POST', '/me/confirm', { body: values });
      onShown();
    },
    { invalid_credentials: 'password' },
  );
  const usePasskey = async (): Promise<void> => {
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
  return (
    <Dialog title="Show that it is you" onClose={onClose}>
      <Form
        form={form}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy}>
              Go on
            </Button>
            {hasPasskeys && (
              <Button busy={busy} onClick={() => void usePasskey()}>
                Use a passkey
              </Button>
            )}
            <Button kind="quiet" onClick={onClose}>
              Cancel
            </Button>
          </>
        }
      >
        <TextField label="Password" type="password" autocomplete="current-password" autofocus required value={form.values.password} onValue={(value) => form.set('password', value)} error={form.errorOf('password')} hint="It has been a while since you signed in, and this changes how you do." />
        <div role="alert">{failure !== undefined && <Banner kind="bad">{messageOf(failure)}</Banner>}</div>
      </Form>
    </Dialog>
  );
}
