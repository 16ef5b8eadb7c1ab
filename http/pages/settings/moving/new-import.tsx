// The form that begins an import: from a service, or from an mbox file that is sent while other imports can begin.

import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { webAddressOf } from '../../addresses.ts';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { notifyFailure } from '../../notices.ts';
import type { ImportJob } from '../../records.ts';
import { Part } from '../parts.tsx';
import { type Kind, needs, sources } from './import-sources.ts';
import { sendFile } from './sending.ts';

const initial = { kind: 'mbox' as Kind, url: '', account: '', token: '', addresses: '' };

/** `onChanged`: it began, or its file was sent. */
export function NewImport({ onChanged }: { readonly onChanged: (job: ImportJob) => void }): JSX.Element {
  const picker = useRef<HTMLInputElement>(null);
  const [file, setFile] = useState<File | undefined>(undefined);
  const form = useForm(initial, async ({ kind, url, account, token, addresses }) => {
    if (kind === 'mbox' && file === undefined) {
      picker.current?.click();
      return;
    }
    const own = addresses.split(/[\s,;]+/).filter((address) => address !== '');
    const job = await call<ImportJob>('POST', '/imports', {
      body: {
        kind,
        isPreview: true,
        ...(file !== undefined && kind === 'mbox'
          ? { name: file.name, bytes: file.size, addresses: own }
          : {
              ...(url.trim() === '' ? {} : { url: webAddressOf(url) }),
              ...(account.trim() === '' ? {} : { account: account.trim() }),
              token: token.trim(),
            }),
      },
    });
    onChanged(job);
    form.reset({ ...initial, kind });
    setFile(undefined);
    // Not awaited: another import can begin meanwhile.
    if (file !== undefined && kind === 'mbox') sendFile(file, job, onChanged).catch(notifyFailure);
  });
  const { values, set, errorOf } = form;
  const need = values.kind === 'mbox' ? undefined : needs[values.kind];
  return (
    <Part id="new-import" title="Where your conversations are">
      <Form
        form={form}
        label="Where your conversations are"
        actions={
          <Button type="submit" kind="primary" busy={form.busy}>
            {values.kind === 'mbox' && file === undefined ? 'Choose a file' : 'Look what would happen'}
          </Button>
        }
      >
        <SelectField label="From" value={values.kind} choices={sources} onValue={(kind) => set('kind', kind)} />
        {need === undefined ? (
          <>
            <input
              ref={picker}
              type="file"
              accept=".mbox,.mbx,application/mbox"
              hidden
              aria-label="The mbox file"
              onChange={({ currentTarget }) => {
                // A picker that was closed without a choice keeps the former one.
                setFile((former) => currentTarget.files?.[0] ?? former);
                currentTarget.value = '';
              }}
            />
            {file !== undefined && (
              <div class="row">
                <p class="soft">{file.name}</p>
                <Button small disabled={form.busy} onClick={() => picker.current?.click()}>
                  Choose another file
                </Button>
              </div>
            )}
            <TextField
              label="Your own addresses"
              optional
              value={values.addresses}
              placeholder="support@shop.example"
              onValue={(addresses) => set('addresses', addresses)}
              error={errorOf('addresses')}
              hint="Mail from them is an answer of yours. Agents and connected mailboxes are known."
            />
          </>
        ) : (
          <>
            {need.url !== undefined && (
              <TextField
                label="Address"
                required
                inputMode="url"
                autocomplete="url"
                spellcheck={false}
                placeholder={need.url}
                value={values.url}
                onValue={(url) => set('url', url)}
                error={errorOf('url')}
              />
            )}
            <div class="columns">
              {need.account !== undefined && (
                <TextField
                  label={need.account[0]}
                  required
                  autocomplete="off"
                  spellcheck={false}
                  value={values.account}
                  onValue={(account) => set('account', account)}
                  error={errorOf('account')}
                  hint={need.account[1]}
                />
              )}
              <TextField
                label={need.token[0]}
                type="password"
                required
                autocomplete="off"
                value={values.token}
                onValue={(token) => set('token', token)}
                error={errorOf('token')}
                hint={`${need.token[1]} It is kept sealed until the import is done.`}
              />
            </div>
          </>
        )}
      </Form>
    </Part>
  );
}
