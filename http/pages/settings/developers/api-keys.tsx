// API keys for the workspace's own programs.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Confirm, Dialog } from '../../design/dialog.tsx';
import { Badge, Empty } from '../../design/feedback.tsx';
import { Checkbox, TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { useResource } from '../../design/resource.ts';
import { Time } from '../../design/time.tsx';
import { notify } from '../../notices.ts';
import type { ApiKey } from '../../records.ts';
import { timeInSentence } from '../../times.ts';
import { CheckList } from '../check-list.tsx';
import { Reading } from '../parts.tsx';
import { Section, type SectionProps } from '../section.tsx';
import { keepOnce } from './once.ts';
import { everything, scopeLabel, scopes } from './scopes.ts';
import { SecretOnce } from './secret-once.tsx';

export function ApiKeys(_props: SectionProps): JSX.Element {
  const { value, failure, reload, set } = useResource(
    (signal) => call<{ apiKeys: ApiKey[] }>('GET', '/api-keys', { signal }),
    [],
  );
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey | undefined>(undefined);
  return (
    <Section
      title="API keys"
      intro={
        <>
          Keys for your own programs to use the API. See the <a href="/docs">API documentation</a>.
        </>
      }
      actions={
        <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
          Create a key
        </Button>
      }
    >
      <SecretOnce />
      {value === undefined ? (
        <Reading failure={failure} retry={reload} />
      ) : value.apiKeys.length === 0 ? (
        <div class="card">
          <Empty icon="key" title="No keys yet">
            <p>Create one for each program, so that you can revoke them separately.</p>
          </Empty>
        </div>
      ) : (
        <ul class="entries">
          {value.apiKeys.map((key) => (
            <li key={key.id} class="card">
              <header>
                <div class="row">
                  <h2>{key.name}</h2>
                  <Badge kind={isTest(key) ? 'warn' : 'good'}>{isTest(key) ? 'Test' : 'Live'}</Badge>
                  <code>{key.prefix}…</code>
                </div>
                <Button small kind="danger" aria-label={`Revoke ${key.name}`} onClick={() => setRevoking(key)}>
                  Revoke
                </Button>
              </header>
              <ul class="bullets">
                {key.scopes.map((scope) => (
                  <li key={scope}>{scopeLabel(scope)}</li>
                ))}
              </ul>
              <p class="soft">
                Created <Time at={key.createdAt} format={timeInSentence} />,{' '}
                {key.lastUsedAt === null ? (
                  'not used yet'
                ) : (
                  <>last used {<Time at={key.lastUsedAt} format={timeInSentence} />}</>
                )}
                .
              </p>
            </li>
          ))}
        </ul>
      )}
      {making && (
        <KeyDialog
          onCreated={({ key, ...made }) => {
            keepOnce({ what: 'key', name: made.name, secret: key });
            setMaking(false);
            reload();
          }}
          onClose={() => setMaking(false)}
        />
      )}
      {revoking !== undefined && (
        <Confirm
          title={`Revoke “${revoking.name}”?`}
          action="Revoke"
          onConfirm={async () => {
            await call('DELETE', `/api-keys/${revoking.id}`);
            set({ apiKeys: (value?.apiKeys ?? []).filter(({ id }) => id !== revoking.id) });
            notify({ kind: 'done', text: 'The key is revoked.' });
          }}
          onClose={() => setRevoking(undefined)}
        >
          <p>Programs that use it are refused at once. This cannot be undone.</p>
        </Confirm>
      )}
    </Section>
  );
}

function isTest({ prefix }: ApiKey): boolean {
  return prefix.startsWith('sk_test_');
}

function KeyDialog({
  onCreated,
  onClose,
}: {
  readonly onCreated: (made: ApiKey & { readonly key: string }) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const start: { name: string; all: boolean; scopes: readonly string[]; isTest: boolean } = {
    name: '',
    all: false,
    scopes: [],
    isTest: false,
  };
  const form = useForm(start, async ({ name, all, scopes: some, isTest: test }) => {
    onCreated(
      await call('POST', '/api-keys', {
        body: { name, scopes: all ? [everything.scope] : some, mode: test ? 'test' : 'live' },
      }),
    );
  });
  const { name, all, scopes: chosen, isTest: test } = form.values;
  return (
    <Dialog title="Create a key" onClose={onClose}>
      <Form
        form={form}
        label="Create a key"
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy}>
              Create key
            </Button>
            <Button kind="quiet" onClick={onClose}>
              Cancel
            </Button>
          </>
        }
      >
        <TextField
          label="Name"
          maxLength={120}
          placeholder="Shop"
          value={name}
          onValue={(next) => form.set('name', next)}
          error={form.errorOf('name')}
          hint="The program that will use it."
        />
        <Checkbox
          label={everything.label}
          hint="Required for settings. Give it only to programs you trust fully."
          checked={all}
          onChecked={(next) => form.set('all', next)}
        />
        {!all && (
          <CheckList
            wide
            label="Or choose permissions"
            items={scopes.map(({ scope, label }) => ({ value: scope, label }))}
            chosen={chosen}
            onChosen={(next) => form.set('scopes', next)}
            error={form.errorOf('scopes')}
          />
        )}
        <Checkbox
          label="Test key"
          hint="Only for testing one-time codes: nothing is sent, and the code is always 000000."
          checked={test}
          onChecked={(next) => form.set('isTest', next)}
        />
      </Form>
    </Dialog>
  );
}
