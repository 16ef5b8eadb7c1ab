// Mail delivery by a provider's webhook: the address, and the secret that signs it.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Copyable } from '../../design/copyable.tsx';
import { Confirm } from '../../design/dialog.tsx';
import { useResource } from '../../design/resource.ts';
import { notify } from '../../notices.ts';
import type { Integrations } from '../../records.ts';
import { Part, Reading } from '../parts.tsx';

export function InboundWebhook(): JSX.Element {
  const { value, failure, reload, set } = useResource(
    (signal) => call<Integrations>('GET', '/workspace/integrations', { signal }),
    [],
  );
  const [shown, setShown] = useState(false);
  const [rotating, setRotating] = useState(false);
  return (
    <Part
      id="webhook"
      title="Delivery by webhook"
      intro="For an email provider that delivers by HTTP. It signs each request with the secret."
    >
      {value === undefined ? (
        <Reading failure={failure} retry={reload} lines={2} />
      ) : (
        <>
          <h3>Address</h3>
          <Copyable text={`${location.origin}/api/v1/email/inbound`} label="the address of the webhook" />
          <h3>Secret</h3>
          {shown && <Copyable text={value.inboundEmail.secret} label="the secret" />}
          <div class="row">
            <Button aria-expanded={shown} onClick={() => setShown(!shown)}>
              {shown ? 'Hide the secret' : 'Show the secret'}
            </Button>
            <Button kind="danger" onClick={() => setRotating(true)}>
              Replace secret
            </Button>
          </div>
        </>
      )}
      {rotating && (
        <Confirm
          title="Replace the secret?"
          action="Replace"
          onConfirm={async () => {
            set(await call<Integrations>('POST', '/workspace/integrations/inbound-email/rotate-secret'));
            setShown(true);
            notify({ kind: 'done', text: 'The secret is replaced. Give the new one to your email provider.' });
          }}
          onClose={() => setRotating(false)}
        >
          <p>
            Requests signed with the current secret are refused at once. Give the new one to your email provider right
            away.
          </p>
        </Confirm>
      )}
    </Part>
  );
}
