// Whether a webhook is active, why it is not, and a button to resume it.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Badge, Banner } from '../../design/feedback.tsx';
import { notify, notifyFailure } from '../../notices.ts';
import type { Webhook } from '../../records.ts';

const pausedReasons = {
  admin_left: 'the agent who created it is no longer an admin',
  key_revoked: 'the key that created it was revoked',
  app_not_allowed: 'no admin allows its app to subscribe any more',
} as const satisfies Record<NonNullable<Webhook['pausedReason']>, string>;

interface StateProps {
  readonly webhook: Webhook;
  readonly onChanged: (webhook: Webhook) => void;
}

/** Whether events are sent to it. */
export function isActive({ status, pausedReason }: Webhook): boolean {
  return status === 'active' && pausedReason === null;
}

export function WebhookBadge({ webhook }: { readonly webhook: Webhook }): JSX.Element {
  if (isActive(webhook)) return <Badge kind="good">Active</Badge>;
  return webhook.status === 'disabled' ? <Badge kind="bad">Disabled</Badge> : <Badge kind="warn">Paused</Badge>;
}

/** Nothing for an active one. */
export function WebhookState({ webhook, onChanged }: StateProps): JSX.Element | null {
  if (isActive(webhook)) return null;
  const again = (
    <Save
      webhook={webhook}
      status="active"
      label={webhook.status === 'disabled' ? 'Turn on again' : 'Take it over'}
      done="The webhook is on again."
      onChanged={onChanged}
    />
  );
  if (webhook.status === 'disabled') {
    return (
      <Banner kind="bad" action={again}>
        It is disabled, so nothing is sent to it. Check the last answers below for errors. Events that happen while it
        is disabled are not sent later.
      </Banner>
    );
  }
  const reason = webhook.pausedReason === null ? '' : pausedReasons[webhook.pausedReason];
  return webhook.clientId === null ? (
    <Banner kind="warn" action={again}>
      Paused because {reason}. A webhook uses the permissions of the agent who created it. If you take it over, it uses
      yours.
    </Banner>
  ) : (
    <Banner kind="warn">Paused because {reason}. It resumes when an admin allows the app again.</Banner>
  );
}

export function Disable({ webhook, onChanged }: StateProps): JSX.Element {
  return <Save webhook={webhook} status="disabled" label="Turn off" done="The webhook is off." onChanged={onChanged} />;
}

interface SaveProps extends StateProps {
  readonly status: Webhook['status'];
  readonly label: string;
  readonly done: string;
}

function Save({ webhook, status, label, done, onChanged }: SaveProps): JSX.Element {
  const [busy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    setBusy(true);
    try {
      onChanged(await call<Webhook>('PATCH', `/webhooks/${webhook.id}`, { body: { status } }));
      notify({ kind: 'done', text: done });
    } catch (error) {
      notifyFailure(error);
    }
    setBusy(false);
  };
  return (
    <Button busy={busy} onClick={() => void save()}>
      {label}
    </Button>
  );
}
