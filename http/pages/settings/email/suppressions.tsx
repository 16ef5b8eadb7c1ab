// Addresses that mail is no longer sent to, because it bounced.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Confirm } from '../../design/dialog.tsx';
import { usePaged } from '../../design/paged.ts';
import { Time } from '../../design/time.tsx';
import { notify } from '../../notices.ts';
import { readPage } from '../../paging.ts';
import type { Suppression } from '../../records.ts';
import { Pages, Part } from '../parts.tsx';

const reasons = { bounce: 'Email bounced', rejected: 'Permanently refused' } as const satisfies Record<
  Suppression['reason'],
  string
>;

export function Suppressions(): JSX.Element {
  const list = usePaged<Suppression>(
    (cursor, signal) => readPage('/email/suppressions', 'suppressions', { cursor, signal }),
    [],
  );
  const [removing, setRemoving] = useState<Suppression | undefined>(undefined);
  return (
    <Part
      id="suppressions"
      title="Addresses that cannot be reached"
      intro="No email is sent to them, to protect your domain's reputation."
    >
      <Pages of={list} lines={2} empty={<p class="soft">None. Email goes to every address.</p>}>
        {(rows) => (
          <div class="table-frame">
            <table class="table stacks">
              <thead>
                <tr>
                  <th scope="col">Address</th>
                  <th scope="col">Reason</th>
                  <th scope="col">Since</th>
                  <th scope="col">
                    <span class="for-readers">Actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {rows.map((one) => (
                  <tr key={one.email}>
                    <td>{one.email}</td>
                    <td>{reasons[one.reason]}</td>
                    <td>
                      <Time at={one.createdAt} />
                    </td>
                    <td class="actions">
                      <Button small aria-label={`Send again to ${one.email}`} onClick={() => setRemoving(one)}>
                        Send again
                      </Button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Pages>
      {removing !== undefined && (
        <Confirm
          title="Send email there again?"
          action="Send again"
          danger={false}
          onConfirm={async () => {
            await call('DELETE', `/email/suppressions/${encodeURIComponent(removing.email)}`);
            list.change((all) => all.filter(({ email }) => email !== removing.email));
            notify({ kind: 'done', text: `Email to ${removing.email} is allowed again.` });
          }}
          onClose={() => setRemoving(undefined)}
        >
          <p>
            Only do this if you know that {removing.email} accepts email now. If it bounces again, the address returns
            to this list.
          </p>
        </Confirm>
      )}
    </Part>
  );
}
