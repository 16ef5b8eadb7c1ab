// The agent's second factors: an authenticator app, passkeys, and the recovery codes that come with the first of them.

import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { useConfirming } from '../confirm-self.tsx';
import { Button } from '../design/button.tsx';
import { Copyable, copyText } from '../design/copyable.tsx';
import { Confirm, Dialog } from '../design/dialog.tsx';
import { Badge, Failure, Loading } from '../design/feedback.tsx';
import { TextField } from '../design/field.tsx';
import { Form, useForm } from '../design/form.tsx';
import { useResource } from '../design/resource.ts';
import { Time } from '../design/time.tsx';
import { notify, notifyFailure } from '../notices.ts';
import { hasPasskeys, makePasskey } from '../passkeys.ts';
import { thisDevice } from '../this-browser.ts';
import { timeInSentence } from '../times.ts';

interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

interface Security {
  readonly totp: { readonly createdAt: string } | null;
  readonly passkeys: readonly Passkey[];
  readonly recoveryCodesLeft: number;
  readonly isRequired: boolean;
  readonly hasPasskeys: boolean;
}

interface NewApp {
  readonly secret: string;
  readonly qrCode: string;
}

type Open =
  | { readonly kind: 'app'; readonly app: NewApp }
  | { readonly kind: 'codes'; readonly codes: readonly string[] }
  | { readonly kind: 'passkey' }
  | { readonly kind: 'removeApp' }
  | { readonly kind: 'removePasskey'; readonly passkey: Passkey }
  | { readonly kind: 'renew' };

/** `onDone` is called when a factor was added and its recovery codes were seen. */
export function SecondFactors({ onDone }: { readonly onDone?: () => void }): JSX.Element {
  const security = useResource((signal) => call<Security>('GET', '/me/security', { signal }), []);
  const confirming = useConfirming();
  const [open, setOpen] = useState<Open | undefined>(undefined);
  const close = (): void => setOpen(undefined);
  const { value } = security;
  if (value === undefined)
    return security.failure === undefined ? (
      <Loading lines={3} />
    ) : (
      <Failure error={security.failure} retry={security.reload} />
    );
  const { totp, passkeys, recoveryCodesLeft, isRequired } = value;
  const hasOne = totp !== null || passkeys.length > 0;
  const isLast = isRequired && (totp === null ? 0 : 1) + passkeys.length === 1;

  const added = (text: string, recoveryCodes: readonly string[] | null): void => {
    security.reload();
    notify({ kind: 'done', text });
    if (recoveryCodes === null) {
      close();
      onDone?.();
    } else setOpen({ kind: 'codes', codes: recoveryCodes });
  };
  const removed = (text: string): void => {
    security.reload();
    notify({ kind: 'done', text });
  };
  const beginApp = async (): Promise<void> => {
    try {
      setOpen({ kind: 'app', app: await confirming.run(() => call<NewApp>('POST', '/me/totp')) });
    } catch (error) {
      notifyFailure(error);
    }
  };

  return (
    <div class="stack factors">
      {!hasOne && <p class="soft">With a second factor, your password is not enough to sign in as you.</p>}
      <Factor
        name="Authenticator app"
        state={
          totp === null ? undefined : (
            <>
              Set up <Time at={totp.createdAt} format={timeInSentence} />
            </>
          )
        }
        actions={
          totp === null ? (
            <Button onClick={() => void beginApp()}>Set up</Button>
          ) : (
            <Button disabled={isLast} onClick={() => setOpen({ kind: 'removeApp' })}>
              Remove
            </Button>
          )
        }
      >
        A six-digit code shown on your phone.
      </Factor>
      <Passkeys security={value} isLast={isLast} onOpen={setOpen} />
      {hasOne && (
        <Factor
          name="Recovery codes"
          state={`${recoveryCodesLeft} left`}
          isLow={recoveryCodesLeft < 3}
          actions={<Button onClick={() => setOpen({ kind: 'renew' })}>Create new codes</Button>}
        >
          For when you have lost your other ways to sign in. Each works once.
        </Factor>
      )}
      {isLast && (
        <p class="soft">Your workspace requires a second factor: set up another before you remove this one.</p>
      )}
      {open !== undefined && (
        <OpenDialog
          open={open}
          hasPasskey={passkeys.length > 0}
          confirming={confirming}
          close={close}
          added={added}
          removed={removed}
          renewed={(codes) => {
            security.reload();
            setOpen({ kind: 'codes', codes });
          }}
          seen={() => {
            close();
            onDone?.();
          }}
        />
      )}
      {confirming.dialog}
    </div>
  );
}

function Passkeys({
  security: { passkeys, hasPasskeys: isOffered },
  isLast,
  onOpen,
}: {
  readonly security: Security;
  readonly isLast: boolean;
  readonly onOpen: (open: Open) => void;
}): JSX.Element {
  return (
    <>
      <Factor
        name="Passkeys"
        actions={hasPasskeys && isOffered && <Button onClick={() => onOpen({ kind: 'passkey' })}>Add a passkey</Button>}
      >
        {hasPasskeys && isOffered
          ? 'The screen lock of this device, or a security key. It can also sign you in without a password.'
          : 'This browser does not support passkeys at this address.'}
      </Factor>
      {passkeys.length > 0 && (
        <ul class="factor-list">
          {passkeys.map((passkey) => (
            <li key={passkey.id} class="factor">
              <div>
                <strong>{passkey.name}</strong>
                <p class="soft">
                  Added <Time at={passkey.createdAt} format={timeInSentence} />,{' '}
                  {passkey.lastUsedAt === null ? (
                    'not used yet'
                  ) : (
                    <>
                      last used <Time at={passkey.lastUsedAt} format={timeInSentence} />
                    </>
                  )}
                </p>
              </div>
              <Button
                small
                disabled={isLast}
                aria-label={`Remove ${passkey.name}`}
                onClick={() => onOpen({ kind: 'removePasskey', passkey })}
              >
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

type Confirming = ReturnType<typeof useConfirming>;

interface OpenProps {
  readonly open: Open;
  readonly hasPasskey: boolean;
  readonly confirming: Confirming;
  readonly close: () => void;
  readonly added: (text: string, recoveryCodes: readonly string[] | null) => void;
  readonly removed: (text: string) => void;
  readonly renewed: (recoveryCodes: readonly string[]) => void;
  /** The reader has seen the recovery codes. */
  readonly seen: () => void;
}

function OpenDialog({ open, hasPasskey, confirming, close, added, removed, renewed, seen }: OpenProps): JSX.Element {
  switch (open.kind) {
    case 'app':
      return (
        <SetUpApp
          app={open.app}
          onAdded={(codes) => added('Your authenticator app is set up.', codes)}
          onClose={close}
        />
      );
    case 'passkey':
      return (
        <AddPasskey run={confirming.run} onAdded={(codes) => added('The passkey is added.', codes)} onClose={close} />
      );
    case 'codes':
      return <RecoveryCodes codes={open.codes} onClose={seen} />;
    case 'removeApp':
      return (
        <Confirm
          title="Remove the authenticator app?"
          action="Remove"
          onClose={close}
          onConfirm={async () => {
            await confirming.run(() => call('DELETE', '/me/totp'));
            removed('The authenticator app is removed.');
          }}
        >
          <p>
            {hasPasskey ? 'Its codes stop working.' : 'Its codes stop working, and your password is enough to sign in.'}
          </p>
        </Confirm>
      );
    case 'removePasskey':
      return (
        <Confirm
          title={`Remove ${open.passkey.name}?`}
          action="Remove"
          onClose={close}
          onConfirm={async () => {
            await confirming.run(() => call('DELETE', `/me/passkeys/${open.passkey.id}`));
            removed('The passkey is removed.');
          }}
        >
          <p>You can no longer sign in with it. Remove it from the device too.</p>
        </Confirm>
      );
    case 'renew':
      return <RenewCodes confirming={confirming} close={close} renewed={renewed} />;
  }
}

function RenewCodes({ confirming, close, renewed }: Pick<OpenProps, 'confirming' | 'close' | 'renewed'>): JSX.Element {
  return (
    <Dialog title="Create new recovery codes?" onClose={close}>
      <div class="form">
        <p>Your current codes stop working.</p>
        <div class="actions">
          <Button
            kind="primary"
            onClick={() => {
              confirming
                .run(() => call<{ recoveryCodes: string[] }>('POST', '/me/recovery-codes'))
                .then(({ recoveryCodes }) => renewed(recoveryCodes), notifyFailure);
            }}
          >
            Create new codes
          </Button>
          <Button kind="quiet" onClick={close}>
            Cancel
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function Factor({
  name,
  state,
  isLow = false,
  actions,
  children,
}: {
  readonly name: string;
  readonly state?: ComponentChildren;
  readonly isLow?: boolean;
  readonly actions: ComponentChildren;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="factor">
      <div>
        <strong>{name}</strong> {state !== undefined && <Badge kind={isLow ? 'warn' : 'good'}>{state}</Badge>}
        <p class="soft">{children}</p>
      </div>
      {actions}
    </div>
  );
}

function SetUpApp({
  app,
  onAdded,
  onClose,
}: {
  readonly app: NewApp;
  readonly onAdded: (codes: readonly string[] | null) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const form = useForm(
    { code: '' },
    async ({ code }) => {
      const { recoveryCodes } = await call<{ recoveryCodes: string[] | null }>('POST', '/me/totp/confirm', {
        body: { code: code.replace(/\s/g, '') },
      });
      onAdded(recoveryCodes);
    },
    { invalid_code: 'code' },
  );
  return (
    <Dialog title="Set up an authenticator app" onClose={onClose}>
      <Form
        form={form}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy}>
              Confirm
            </Button>
            <Button kind="quiet" onClick={onClose}>
              Cancel
            </Button>
          </>
        }
      >
        <p>Scan this with the app, or enter the secret.</p>
        <img class="qr" src={app.qrCode} alt="A QR code with the secret below" width={200} height={200} />
        <Copyable text={app.secret} label="the secret" />
        <TextField
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
          hint="The six digits that the app shows now."
        />
      </Form>
    </Dialog>
  );
}

function AddPasskey({
  run,
  onAdded,
  onClose,
}: {
  readonly run: <Answer>(act: () => Promise<Answer>) => Promise<Answer>;
  readonly onAdded: (codes: readonly string[] | null) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const form = useForm({ name: thisDevice() }, async ({ name }) => {
    const passkey = await run(makePasskey);
    const { recoveryCodes } = await run(() =>
      call<{ recoveryCodes: string[] | null }>('POST', '/me/passkeys', { body: { name, passkey } }),
    );
    onAdded(recoveryCodes);
  });
  return (
    <Dialog title="Add a passkey" onClose={onClose}>
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
          label="Name"
          required
          autofocus
          maxLength={120}
          value={form.values.name}
          onValue={(value) => form.set('name', value)}
          error={form.errorOf('name')}
          hint="To recognize it in the list. Your device will ask you next."
        />
      </Form>
    </Dialog>
  );
}

function RecoveryCodes({
  codes,
  onClose,
}: {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}): JSX.Element {
  return (
    <Dialog title="Save your recovery codes" onClose={onClose}>
      <div class="form">
        <p>
          Each signs you in once if you lose your other ways to sign in. They are shown only now: print them, or keep
          them with your passwords.
        </p>
        <ul class="codes">
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ul>
        <div class="actions">
          <Button kind="primary" onClick={onClose}>
            I have saved them
          </Button>
          <Button
            icon="copy"
            onClick={() => {
              void copyText(codes.join('\n')).then((isCopied) => isCopied && notify({ kind: 'done', text: 'Copied.' }));
            }}
          >
            Copy all
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
