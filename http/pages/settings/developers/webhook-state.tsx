// Whether a webhook is told what happens, why it is not, and taking it up again.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Badge, Banner } from '../../design/feedback.tsx';
import { notify, notifyFailure } from '../../notices.ts';
import type { Webhook } from '../../records.ts';

const pausedReasons = {
  admin_left: 'who made it is no admin any more',
  key_revoked: 'the key that made it is revoked',
  app_not_allowed: 'nobody allows its app to subscribe any more',
} as const satisfies Record<NonNullable<Webhook['pausedReason']>, string>;

interface StateProps {
  readonly webhook: Webhook;
  readonly onChanged: (webhook: Webhook) => void;
}

/** Whether what happens is sent to it. */
export function isTold({ status, pausedReason }: Webhook): boolean {
  return status === 'active' && pausedReason === null;
}

export function WebhookBadge({ webhook }: { readonly webhook: Webhook }): JSX.Element {
  if (isTold(webhook)) return <Badge kind="good">Active</Badge>;
  return webhook.status === 'disabled' ? <Badge kind="bad">Disabled</Badge> : <Badge kind="warn">Resting</Badge>;
}

/** Nothing for one that is told. */
export function WebhookState({ webhook, onChanged }: StateProps): JSX.Element | null {
  if (isTold(webhook)) return null;
  const again = (
    <Save
      webhook={webhook}
      status="active"
      label={webhook.status === 'disabled' ? 'Turn it on again' : 'Answer for it'}
      done="It is told again what happens."
      onChanged={onChanged}
    />
  );
  if (webhook.status === 'disabled') {
    return (
      <Banner kind="bad" action={again}>
        It is disabled, so nothing is sent to it. The last answers below say whether its receiver was to blame. What
        happens meanwhile is not sent later.
      </Banner>
    );
  }
  const reason = webhook.pausedReason === null ? '' : pausedReasons[webhook.pausedReason];
  return webhook.clientId === null ? (
    <Banner kind="warn" action={again}>
      It rests: {reason}. A webhook lives by the rights of who made it; when you answer for it, it lives by yours.
    </Banner>
  ) : (
    <Banner kind="warn">It rests: {reason}. It goes on when an admin lets the app in again.</Banner>
  );
}

export function Disable({ webhook, onChanged }: StateProps): JSX.Element {
  return (
    <Save
      webhook={webhook}
      status="disabled"
      label="Turn it off"
      done="Nothing is sent to it any more."
      onChanged={onChanged}
    />
  );
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
