// Webhooks for suspected guessing of codes.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Confirm } from '../../design/dialog.tsx';
import { Badge } from '../../design/feedback.tsx';
import { TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { useResource } from '../../design/resource.ts';
import type { Webhook } from '../../records.ts';
import { keepOnce } from '../developers/once.ts';
import { Part, Reading } from '../parts.tsx';

export function VerifyWebhooks(): JSX.Element {
  const { value, failure, reload, set } = useResource(
    (signal) => call<{ webhooks: Webhook[] }>('GET', '/verify/webhooks', { signal }),
    [],
  );
  const [removing, setRemoving] = useState<Webhook | undefined>(undefined);
  const form = useForm(
    { url: '' },
    async ({ url }) => {
      const made = await call<Webhook & { secret: string }>('POST', '/verify/webhooks', { body: { url: url.trim() } });
      keepOnce({ what: 'signing secret', name: made.url, secret: made.secret });
      form.reset({ url: '' });
      reload();
    },
    { forbidden_url: 'url' },
  );
  return (
    <Part
      id="verify-webhooks"
      title="Webhooks"
      intro="Notified once for each code that was entered wrongly five times."
    >
      {value === undefined ? (
        <Reading failure={failure} retry={reload} lines={2} />
      ) : (
        value.webhooks.length > 0 && (
          <ul class="plain-rows">
            {value.webhooks.map((webhook) => (
              <li key={webhook.id}>
                <span>{webhook.url}</span>
                <Badge kind={webhook.status === 'active' ? 'good' : 'bad'}>
                  {webhook.status === 'active' ? 'Active' : 'Disabled'}
                </Badge>
                <Button
                  small
                  kind="danger"
                  aria-label={`Delete the webhook to ${webhook.url}`}
                  onClick={() => setRemoving(webhook)}
                >
                  Delete
                </Button>
              </li>
            ))}
          </ul>
        )
      )}
      <Form
        form={form}
        label="Add a webhook"
        actions={
          <Button type="submit" busy={form.busy}>
            Add a webhook
          </Button>
        }
      >
        <TextField
          label="Address"
          inputMode="url"
          spellcheck={false}
          autocomplete="off"
          placeholder="https://shop.example/hook"
          value={form.values.url}
          onValue={(next) => form.set('url', next)}
          error={form.errorOf('url')}
        />
      </Form>
      {removing !== undefined && (
        <Confirm
          title="Delete this webhook?"
          action="Delete"
          onConfirm={async () => {
            await call('DELETE', `/verify/webhooks/${removing.id}`);
            set({ webhooks: (value?.webhooks ?? []).filter(({ id }) => id !== removing.id) });
          }}
          onClose={() => setRemoving(undefined)}
        >
          <p>{removing.url} is no longer notified.</p>
        </Confirm>
      )}
    </Part>
  );
}
