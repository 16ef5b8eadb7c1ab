// The shop's data about a customer, requested on demand: it is another system, which may be slow or unavailable.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { messageOf } from '../../api-error.ts';
import { Button } from '../../design/button.tsx';
import { Badge, Banner } from '../../design/feedback.tsx';
import { amountOf } from '../../times.ts';

interface Enrichment {
  readonly source: string;
  readonly matched: boolean;
  readonly customer: { readonly email: string; readonly lifetimeValueCents: number } | null;
  readonly orders: readonly { readonly id: string; readonly total: string; readonly status: string }[];
}

export function Shop({ visitorId, hasEmail }: { readonly visitorId: string; readonly hasEmail: boolean }): JSX.Element {
  const [found, setFound] = useState<Enrichment | undefined>(undefined);
  const [failure, setFailure] = useState<unknown>(undefined);
  const [busy, setBusy] = useState(false);

  const ask = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      setFound((await call<{ enrichment: Enrichment }>('GET', `/visitors/${visitorId}/enrichment`)).enrichment);
    } catch (error) {
      setFailure(error);
    }
    setBusy(false);
  };

  return (
    <div class="side-shop">
      <div role="status">{found !== undefined && <Answer found={found} />}</div>
      <div role="alert">
        {failure !== undefined && <Banner kind="bad">The shop did not respond. {messageOf(failure)}</Banner>}
      </div>
      {!hasEmail && found === undefined ? (
        <p class="soft">The shop finds customers by email, and this customer has not given one.</p>
      ) : (
        <Button small busy={busy} onClick={() => void ask()}>
          {failure !== undefined ? 'Try again' : found === undefined ? 'Look up in the shop' : 'Refresh'}
        </Button>
      )}
    </div>
  );
}

function Answer({ found }: { readonly found: Enrichment }): JSX.Element {
  if (found.source === 'none') return <p class="soft">No shop is connected.</p>;
  if (!found.matched) return <p class="soft">{found.source} does not know this customer.</p>;
  return (
    <div class="stack">
      {found.customer !== null && (
        <p>
          Total spent <strong>{amountOf(found.customer.lifetimeValueCents)}</strong> at {found.source}.
        </p>
      )}
      {found.orders.length === 0 ? (
        <p class="soft">No orders.</p>
      ) : (
        <ul class="side-orders" aria-label="Orders">
          {found.orders.map(({ id, total, status }) => (
            <li key={id}>
              <span class="truncate">#{id}</span>
              <span>{total}</span>
              <Badge>{status}</Badge>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
