// The signatures of the addresses that this workspace sends from.

import type { JSX } from 'preact';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { TextArea } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { useResource } from '../../design/resource.ts';
import { notify } from '../../notices.ts';
import { Part, Reading } from '../parts.tsx';

interface Sender {
  readonly address: string;
  readonly signature: { readonly markdown: string } | null;
}

export function Signatures(): JSX.Element {
  const senders = useResource((signal) => call<{ senders: Sender[] }>('GET', '/email/senders', { signal }), []);
  return (
    <Part id="signatures" title="Signatures">
      <p class="soft">
        Ends every email from the address, below the signature of its author. **Bold**, *italic* and [links](https://…)
        are formatted.
      </p>
      {senders.value === undefined ? (
        <Reading failure={senders.failure} retry={senders.reload} />
      ) : (
        senders.value.senders.map((sender) => <SignatureForm key={sender.address} sender={sender} />)
      )}
    </Part>
  );
}

function SignatureForm({ sender: { address, signature } }: { readonly sender: Sender }): JSX.Element {
  const form = useForm({ signature: signature?.markdown ?? '' }, async (values) => {
    await call('PUT', `/email/senders/${encodeURIComponent(address)}/signature`, {
      body: { signature: values.signature.trim() === '' ? null : values.signature },
    });
    notify({ kind: 'done', text: 'Saved.' });
  });
  return (
    <Form
      form={form}
      label={`Signature of ${address}`}
      actions={
        <Button type="submit" busy={form.busy}>
          Save
        </Button>
      }
    >
      <TextArea
        label={address}
        rows={3}
        maxLength={5000}
        value={form.values.signature}
        onValue={(text) => form.set('signature', text)}
        error={form.errorOf('signature')}
      />
    </Form>
  );
}
