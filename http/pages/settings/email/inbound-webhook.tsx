// How a mail provider delivers mail by webhook: where to, and the secret that it signs with.

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
      intro="For a mail provider that hands mail over by HTTP. It signs each request with the secret."
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
              Change the secret
            </Button>
          </div>
        </>
      )}
      {rotating && (
        <Confirm
          title="Change the secret?"
          action="Change it"
          onConfirm={async () => {
            set(await call<Integrations>('POST', '/workspace/integrations/inbound-email/rotate-secret'));
            setShown(true);
            notify({ kind: 'done', text: 'The secret is another now. Give it to your mail provider.' });
          }}
          onClose={() => setRotating(false)}
        >
          <p>
            What is signed with the present one is refused from that moment on, until your mail provider has the new
            one.
          </p>
        </Confirm>
      )}
    </Part>
  );
}
