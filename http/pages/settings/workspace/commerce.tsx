// The connected shop: its address, and the secret that signs our requests.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Confirm } from '../../design/dialog.tsx';
import { Failure, Loading } from '../../design/feedback.tsx';
import { TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { useResource } from '../../design/resource.ts';
import { same } from '../../design/three-way.ts';
import { notify } from '../../notices.ts';
import type { Commerce } from '../../records.ts';
import { readMe } from '../../session.ts';
import { SaveLine } from '../save-line.tsx';

const secretBytes = 24;

export function CommerceCard(): JSX.Element {
  const commerce = useResource((signal) => call<Commerce>('GET', '/workspace/commerce', { signal }), []);
  return (
    <section class="card" aria-labelledby="workspace-commerce">
      <h2 id="workspace-commerce">Your shop</h2>
      <p class="soft">
        Next to a conversation, agents see the customer's orders and total from your shop. We look them up by email at
        an address you provide.{' '}
        <a href="/docs#commerce.set" target="_blank" rel="noreferrer">
          How your shop should respond
        </a>
      </p>
      {commerce.failure !== undefined && <Failure error={commerce.failure} retry={commerce.reload} />}
      {commerce.value === undefined && commerce.failure === undefined && <Loading lines={2} />}
      {commerce.value !== undefined && (
        <CommerceForm
          key={commerce.value.url ?? ''}
          commerce={commerce.value}
          onSaved={(saved) => {
            commerce.set(saved);
            // Conversations show the shop from now on, or no longer.
            void readMe();
          }}
        />
      )}
    </section>
  );
}

function valuesOf({ url, secret, source }: Commerce): {
  readonly url: string;
  readonly secret: string;
  readonly source: string;
} {
  return { url: url ?? '', secret: secret ?? '', source: source ?? '' };
}

function newSecret(): string {
  return [...crypto.getRandomValues(new Uint8Array(secretBytes))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}

function CommerceForm({
  commerce,
  onSaved,
}: {
  readonly commerce: Commerce;
  readonly onSaved: (commerce: Commerce) => void;
}): JSX.Element {
  const [removing, setRemoving] = useState(false);
  const form = useForm(
    valuesOf(commerce),
    async (values) => {
      const saved = await call<Commerce>('PUT', '/workspace/commerce', { body: { ...values, url: values.url.trim() } });
      form.reset(valuesOf(saved));
      onSaved(saved);
      notify({ kind: 'done', text: 'Saved. It applies from the next customer on.' });
    },
    { forbidden_url: 'url' },
  );
  const { values } = form;
  return (
    <>
      <Form
        form={form}
        actions={
          <SaveLine
            busy={form.busy}
            label={commerce.url === null ? 'Connect the shop' : 'Save'}
            changed={commerce.url !== null && !same(values, valuesOf(commerce))}
          >
            {commerce.url !== null && (
              <Button kind="danger" onClick={() => setRemoving(true)}>
                Disconnect
              </Button>
            )}
          </SaveLine>
        }
      >
        <div class="columns">
          <TextField
            label="Address"
            type="url"
            required
            maxLength={2048}
            spellcheck={false}
            placeholder="https://shop.example/switchboard"
            value={values.url}
            onValue={(value) => form.set('url', value)}
            error={form.errorOf('url')}
          />
          <TextField
            label="Shop software"
            required
            maxLength={60}
            placeholder="WooCommerce"
            value={values.source}
            onValue={(value) => form.set('source', value)}
            error={form.errorOf('source')}
          />
        </div>
        <SecretLine
          value={values.secret}
          onValue={(value) => form.set('secret', value)}
          error={form.errorOf('secret')}
        />
      </Form>
      {removing && (
        <Confirm
          title="Disconnect the shop?"
          action="Disconnect"
          onClose={() => setRemoving(false)}
          onConfirm={async () => {
            onSaved(await call<Commerce>('PUT', '/workspace/commerce', { body: { url: null } }));
            notify({ kind: 'done', text: 'The shop is disconnected.' });
          }}
        >
          <p>Agents no longer see orders next to conversations. The secret is deleted.</p>
        </Confirm>
      )}
    </>
  );
}

function SecretLine({
  value,
  onValue,
  error,
}: {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly error: string | undefined;
}): JSX.Element {
  const [shown, setShown] = useState(false);
  return (
    <div class="secret-line">
      <TextField
        label="Secret"
        required
        type={shown ? 'text' : 'password'}
        maxLength={200}
        spellcheck={false}
        autocomplete="off"
        value={value}
        onValue={onValue}
        error={error}
        hint="At least 16 characters. Your shop needs it too, to verify our requests by X-Signature."
      />
      <Button onClick={() => setShown(!shown)} aria-pressed={shown}>
        Show
      </Button>
      <Button
        onClick={() => {
          onValue(newSecret());
          setShown(true);
        }}
      >
        Generate
      </Button>
    </div>
  );
}
