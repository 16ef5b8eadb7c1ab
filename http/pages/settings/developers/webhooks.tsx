// Webhooks: addresses that receive events.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Empty } from '../../design/feedback.tsx';
import { useResource } from '../../design/resource.ts';
import { Time } from '../../design/time.tsx';
import type { Webhook } from '../../records.ts';
import { Reading } from '../parts.tsx';
import { Section, type SectionProps } from '../section.tsx';
import { Deliveries } from './deliveries.tsx';
import { eventsInWords } from './events.ts';
import { keepOnce } from './once.ts';
import { SecretOnce } from './secret-once.tsx';
import { WebhookDialog } from './webhook-dialog.tsx';
import { WebhookBadge } from './webhook-state.tsx';

/** `item` is a webhook's id, whose deliveries are shown. */
export function Webhooks({ item }: SectionProps): JSX.Element {
  const { value, failure, reload, set } = useResource(
    (signal) => call<{ webhooks: Webhook[] }>('GET', '/webhooks', { signal }),
    [item],
  );
  const [making, setMaking] = useState(false);
  const put = (changed: Webhook): void =>
    set({ webhooks: (value?.webhooks ?? []).map((one) => (one.id === changed.id ? changed : one)) });
  if (item !== undefined)
    return (
      <Deliveries
        key={item}
        webhook={value?.webhooks.find(({ id }) => id === item)}
        isRead={value !== undefined}
        failure={failure}
        retry={reload}
        onChanged={put}
      />
    );
  return (
    <Section
      title="Webhooks"
      intro="Your endpoints for events, signed as in the Standard Webhooks specification."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
          Add a webhook
        </Button>
      }
    >
      <SecretOnce />
      {value === undefined ? (
        <Reading failure={failure} retry={reload} />
      ) : value.webhooks.length === 0 ? (
        <div class="card">
          <Empty icon="hook" title="No webhooks yet">
            <p>Add one to send events to your program as they happen.</p>
          </Empty>
        </div>
      ) : (
        <div class="table-frame">
          <table class="table stacks">
            <thead>
              <tr>
                <th scope="col">Address</th>
                <th scope="col">Events</th>
                <th scope="col">Status</th>
                <th scope="col">Since</th>
              </tr>
            </thead>
            <tbody>
              {value.webhooks.map((webhook) => (
                <tr key={webhook.id}>
                  <td class="kb-title">
                    <a href={`/settings/webhooks/${webhook.id}`}>{webhook.url}</a>
                    {webhook.description !== null && <small class="soft">{webhook.description}</small>}
                  </td>
                  <td>{eventsInWords(webhook.events)}</td>
                  <td>
                    <WebhookBadge webhook={webhook} />
                  </td>
                  <td>
                    <Time at={webhook.createdAt} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {making && (
        <WebhookDialog
          onMade={({ secret, url }) => {
            keepOnce({ what: 'signing secret', name: url, secret });
            setMaking(false);
            reload();
          }}
          onClose={() => setMaking(false)}
        />
      )}
    </Section>
  );
}
