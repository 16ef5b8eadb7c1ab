// Adds a webhook: its address and its events.

import type { JSX } from 'preact';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Checkbox, TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import type { Webhook } from '../../records.ts';
import { CheckList } from '../check-list.tsx';
import { eventGroups } from './events.ts';

export function WebhookDialog({
  onMade,
  onClose,
}: {
  readonly onMade: (made: Webhook & { readonly secret: string }) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const start: { url: string; description: string; all: boolean; events: readonly string[] } = {
    url: '',
    description: '',
    all: true,
    events: [],
  };
  const form = useForm(
    start,
    async ({ url, description, all, events }) => {
      onMade(
        await call('POST', '/webhooks', {
          body: {
            url: url.trim(),
            events: all ? ['*'] : events,
            description: description.trim() === '' ? null : description,
          },
        }),
      );
    },
    { forbidden_url: 'url' },
  );
  const { url, description, all, events } = form.values;
  return (
    <Dialog title="Add a webhook" wide onClose={onClose}>
      <Form
        form={form}
        label="Add a webhook"
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy}>
              Add
            </Button>
            <Button kind="quiet" onClick={onClose}>
              Cancel
            </Button>
          </>
        }
      >
        <TextField
          label="Address"
          inputMode="url"
          spellcheck={false}
          autocomplete="off"
          placeholder="https://shop.example/hook"
          value={url}
          onValue={(next) => form.set('url', next)}
          error={form.errorOf('url')}
          hint="It receives JSON by POST and must answer with a 2xx within 10 seconds."
        />
        <TextField
          label="Description"
          optional
          maxLength={500}
          value={description}
          onValue={(next) => form.set('description', next)}
          error={form.errorOf('description')}
        />
        <Checkbox
          label="All events"
          hint="Including event types added later."
          checked={all}
          onChecked={(next) => form.set('all', next)}
        />
        {!all && (
          <div class="columns">
            {eventGroups.map(({ title, events: members }) => (
              <CheckList
                key={title}
                wide
                label={title}
                items={members.map(({ type, label }) => ({ value: type, label }))}
                chosen={events}
                onChosen={(next) => form.set('events', next)}
              />
            ))}
          </div>
        )}
        {!all && form.errorOf('events') !== undefined && (
          <p class="error" role="alert">
            Choose at least one event.
          </p>
        )}
      </Form>
    </Dialog>
  );
}
