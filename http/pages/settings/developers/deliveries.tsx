// One webhook: its deliveries, their outcomes, and sending failed ones again.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Confirm } from '../../design/dialog.tsx';
import { Badge, Empty } from '../../design/feedback.tsx';
import { usePaged } from '../../design/paged.ts';
import { Time } from '../../design/time.tsx';
import { navigate } from '../../location.ts';
import { notify, notifyFailure } from '../../notices.ts';
import { readPage } from '../../paging.ts';
import type { Delivery, Webhook } from '../../records.ts';
import { dayOf, exactTime, now } from '../../times.ts';
import { Pages, Part, Reading } from '../parts.tsx';
import { Section } from '../section.tsx';
import { eventLabel } from './events.ts';
import { Disable, isActive, WebhookState } from './webhook-state.tsx';

const back = { href: '/settings/webhooks', label: 'All webhooks' };
const statusNames = { pending: 'Pending', delivered: 'Delivered', failed: 'Failed' } as const satisfies Record<
  Delivery['status'],
  string
>;
const statusKinds = { pending: 'accent', delivered: 'good', failed: 'bad' } as const satisfies Record<
  Delivery['status'],
  string
>;

interface DeliveriesProps {
  readonly webhook: Webhook | undefined;
  readonly isRead: boolean;
  readonly failure: unknown;
  readonly retry: () => void;
  readonly onChanged: (webhook: Webhook) => void;
}

export function Deliveries({ webhook, isRead, failure, retry, onChanged }: DeliveriesProps): JSX.Element {
  const [removing, setRemoving] = useState(false);
  if (webhook === undefined) {
    return (
      <Section title="Webhook" back={back}>
        {isRead ? (
          <Empty icon="hook" title="This webhook does not exist" />
        ) : (
          <Reading failure={failure} retry={retry} />
        )}
      </Section>
    );
  }
  const types = webhook.events.includes('*') ? ['Everything that happens'] : webhook.events.map(eventLabel);
  return (
    <Section
      title={webhook.url}
      back={back}
      intro={webhook.description ?? undefined}
      actions={
        <>
          {webhook.status === 'active' && <Disable webhook={webhook} onChanged={onChanged} />}
          <Button kind="danger" onClick={() => setRemoving(true)}>
            Delete
          </Button>
        </>
      }
    >
      <WebhookState webhook={webhook} onChanged={onChanged} />
      <Part id="told" title="Events">
        <ul class="bullets">
          {types.map((type) => (
            <li key={type}>{type}</li>
          ))}
        </ul>
        <p class="soft">Since {dayOf(webhook.createdAt)}. The signing secret was shown when it was added.</p>
      </Part>
      <Log webhook={webhook} />
      {removing && (
        <Confirm
          title="Delete this webhook?"
          action="Delete"
          onConfirm={async () => {
            await call('DELETE', `/webhooks/${webhook.id}`);
            notify({ kind: 'done', text: 'The webhook is deleted.' });
            navigate(back.href, { replace: true });
          }}
          onClose={() => setRemoving(false)}
        >
          <p>Pending deliveries to {webhook.url} are dropped, and its log is deleted.</p>
        </Confirm>
      )}
    </Section>
  );
}

function Log({ webhook }: { readonly webhook: Webhook }): JSX.Element {
  const list = usePaged<Delivery>(
    (cursor, signal) => readPage(`/webhooks/${webhook.id}/deliveries`, 'deliveries', { cursor, signal }),
    [webhook.id],
  );
  const [testing, setTesting] = useState(false);
  const test = async (): Promise<void> => {
    setTesting(true);
    try {
      await call<Delivery>('POST', `/webhooks/${webhook.id}/test`);
      notify({ kind: 'done', text: 'A test is on its way. Refresh to see the result.' });
      list.reload();
    } catch (error) {
      notifyFailure(error);
    }
    setTesting(false);
  };
  const put = (delivery: Delivery): void =>
    list.change((all) => all.map((one) => (one.id === delivery.id ? delivery : one)));
  return (
    <Part
      id="deliveries"
      title="Deliveries"
      intro="From the last 7 days, newest first."
      actions={
        <>
          {isActive(webhook) && (
            <Button small busy={testing} onClick={() => void test()}>
              Send a test
            </Button>
          )}
          <Button small busy={list.loading} onClick={list.reload}>
            Refresh
          </Button>
        </>
      }
    >
      <Pages of={list} lines={3} empty={<p class="soft">Nothing has been sent yet.</p>}>
        {(rows) => (
          <div class="table-frame">
            <table class="table stacks">
              <thead>
                <tr>
                  <th scope="col">Event</th>
                  <th scope="col">Status</th>
                  <th scope="col">Last answer</th>
                  <th scope="col" class="number">
                    Tries
                  </th>
                  <th scope="col">Time</th>
                  <th scope="col">
                    <span class="for-readers">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {rows.map((delivery) => (
                  <Row key={delivery.id} webhook={webhook} delivery={delivery} onChanged={put} />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Pages>
    </Part>
  );
}

function Row({
  webhook,
  delivery,
  onChanged,
}: {
  readonly webhook: Webhook;
  readonly delivery: Delivery;
  readonly onChanged: (delivery: Delivery) => void;
}): JSX.Element {
  const [busy, setBusy] = useState(false);
  const { event, status, lastAnswer, attempts, lastAttemptAt, nextAttemptAt, createdAt } = delivery;
  const again = async (): Promise<void> => {
    setBusy(true);
    try {
      onChanged(await call<Delivery>('POST', `/webhooks/${webhook.id}/deliveries/${delivery.id}/retry`));
      notify({ kind: 'done', text: 'It is being sent again. Refresh to see the result.' });
    } catch (error) {
      notifyFailure(error);
    }
    setBusy(false);
  };
  return (
    <tr>
      <td>
        {eventLabel(event)}
        <br />
        <small class="soft">{event}</small>
      </td>
      <td>
        <Badge kind={statusKinds[status]}>{statusNames[status]}</Badge>
      </td>
      <td class="answer" data-label="Last answer">
        {lastAnswer ?? '–'}
      </td>
      <td class="number" data-label="Tries">
        {attempts}
      </td>
      <td>
        <Time at={lastAttemptAt ?? createdAt} />
        {status === 'pending' && nextAttemptAt !== null && attempts > 0 && (
          <small class="soft">
            <br />
            again <Time at={nextAttemptAt} format={untilTime} />
          </small>
        )}
      </td>
      <td class="actions">
        {isActive(webhook) && (
          <Button
            small
            busy={busy}
            aria-label={`Send again: ${event} of ${exactTime(createdAt)}`}
            onClick={() => void again()}
          >
            Send again
          </Button>
        )}
      </td>
    </tr>
  );
}

/** For a time in the future. */
function untilTime(at: string): string {
  const minutes = Math.ceil((Date.parse(at) - now.value) / 60_000);
  if (minutes <= 1) return 'in a moment';
  return minutes < 90 ? `in ${minutes} min` : `in ${Math.round(minutes / 60)} h`;
}
