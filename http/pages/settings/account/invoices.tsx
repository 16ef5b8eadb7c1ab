// The invoices.

import type { JSX } from 'preact';
import { call } from '../../api.ts';
import { Badge } from '../../design/feedback.tsx';
import { useResource } from '../../design/resource.ts';
import type { Invoice } from '../../records.ts';
import { amountOf, dayOf } from '../../times.ts';
import { OutLink, Part, Reading } from '../parts.tsx';

export function Invoices(): JSX.Element {
  const { value, failure, reload } = useResource(
    (signal) => call<{ invoices: Invoice[] }>('GET', '/billing/invoices', { signal }),
    [],
  );
  return (
    <Part id="invoices" title="Invoices">
      {value === undefined ? (
        <Reading failure={failure} retry={reload} lines={2} />
      ) : value.invoices.length === 0 ? (
        <p class="soft">None yet.</p>
      ) : (
        <div class="table-frame">
          <table class="table stacks">
            <thead>
              <tr>
                <th scope="col">Invoice</th>
                <th scope="col">Period</th>
                <th scope="col">Status</th>
                <th scope="col" class="number">
                  Amount
                </th>
              </tr>
            </thead>
            <tbody>
              {value.invoices.map(
                ({ id, number, hostedUrl, periodStart, periodEnd, status, amountCents, currency }) => (
                  <tr key={id}>
                    <td>
                      <OutLink url={hostedUrl}>{number ?? id}</OutLink>
                    </td>
                    <td>
                      {dayOf(periodStart)} to {dayOf(periodEnd)}
                    </td>
                    <td>
                      <Badge kind={status === 'paid' ? 'good' : status === 'open' ? 'warn' : undefined}>{status}</Badge>
                    </td>
                    <td class="number">{amountOf(amountCents, currency.toUpperCase())}</td>
                  </tr>
                ),
              )}
            </tbody>
          </table>
        </div>
      )}
    </Part>
  );
}
