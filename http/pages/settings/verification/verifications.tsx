// The latest codes and their outcomes, without the codes themselves, which the service does not store.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Badge } from '../../design/feedback.tsx';
import { SelectField } from '../../design/field.tsx';
import { useResource } from '../../design/resource.ts';
import { Time } from '../../design/time.tsx';
import type { Verification, VerifyService } from '../../records.ts';
import { Part, Reading } from '../parts.tsx';
import { channelName, statusKinds, statusNames } from './verify-words.ts';

const shownRows = 50;

/** `services` is undefined until they are loaded. */
export function Verifications({ services }: { readonly services: readonly VerifyService[] | undefined }): JSX.Element {
  const [serviceId, setServiceId] = useState('');
  const { value, failure, loading, reload } = useResource(
    (signal) =>
      call<{ verifications: Verification[] }>('GET', '/verify', { query: { limit: shownRows, serviceId }, signal }),
    [serviceId],
  );
  const nameOf = (id: string): string =>
    services === undefined ? '' : (services.find((service) => service.id === id)?.name ?? 'A deleted service');
  return (
    <Part
      id="verifications"
      title="Latest codes"
      intro={`The latest ${shownRows}, without test keys. Records are kept for 90 days.`}
      actions={
        <Button small busy={loading} onClick={reload}>
          Refresh
        </Button>
      }
    >
      {services !== undefined && services.length > 1 && (
        <SelectField
          label="Service"
          value={serviceId}
          choices={[{ value: '', label: 'All' }, ...services.map(({ id, name }) => ({ value: id, label: name }))]}
          onValue={setServiceId}
        />
      )}
      {value === undefined ? (
        <Reading failure={failure} retry={reload} lines={3} />
      ) : value.verifications.length === 0 ? (
        <p class="soft">No codes have been sent yet.</p>
      ) : (
        <div class="table-frame">
          <table class="table stacks">
            <thead>
              <tr>
                <th scope="col">To</th>
                <th scope="col">By</th>
                <th scope="col">Service</th>
                <th scope="col">Status</th>
                <th scope="col" class="number">
                  Wrong tries
                </th>
                <th scope="col">Sent</th>
              </tr>
            </thead>
            <tbody>
              {value.verifications.map((row) => (
                <tr key={row.id}>
                  <td>{row.to}</td>
                  <td data-label="By">{channelName(row.channel)}</td>
                  <td data-label="Service">{nameOf(row.serviceId)}</td>
                  <td>
                    <Badge kind={statusKinds[row.status]}>{statusNames[row.status]}</Badge>
                  </td>
                  <td class="number" data-label="Wrong tries">
                    {row.attempts}
                  </td>
                  <td>
                    <Time at={row.createdAt} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Part>
  );
}
