// Your plan, its seats and your invoices.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Badge, Banner } from '../../design/feedback.tsx';
import { useResource } from '../../design/resource.ts';
import { query } from '../../location.ts';
import { notifyFailure } from '../../notices.ts';
import type { Standing, Subscription } from '../../records.ts';
import { dayOf } from '../../times.ts';
import { Part, Reading } from '../parts.tsx';
import { Section, type SectionProps } from '../section.tsx';
import { BillingActions } from './billing-actions.tsx';
import { intervalNames, planName, statusKinds, statusNames } from './billing-words.ts';
import { Invoices } from './invoices.tsx';
import { Plans } from './plans.tsx';

export function Billing(_props: SectionProps): JSX.Element {
  const { value, failure, reload } = useResource(
    (signal) => call<Standing>('GET', '/billing/subscription', { signal }),
    [],
  );
  return (
    <Section title="Billing" intro="Your plan, its seats and your invoices.">
      {value === undefined ? (
        <Reading failure={failure} retry={reload} />
      ) : (
        <>
          <News standing={value} />
          <Present standing={value} />
          {isFree(value) && <Restore standing={value} onChanged={reload} />}
          {value.billingSource === 'stripe' && (
            <>
              <Plans standing={value} onChanged={reload} />
              <BillingActions standing={value} onChanged={reload} />
              <Invoices />
            </>
          )}
        </>
      )}
    </Section>
  );
}

/** Shown first: whatever needs attention. */
function News({ standing }: { readonly standing: Standing }): JSX.Element {
  const { locked, daysLeftInTrial, billingSource, subscription } = standing;
  const returned = query.value.get('checkout');
  return (
    <div class="stack" role="status">
      {returned === 'done' && (
        <Banner kind="good">
          Thank you. Your new plan appears here once the payment is confirmed, usually within a minute.
        </Banner>
      )}
      {returned === 'cancelled' && <Banner>Nothing has changed, and you have not paid anything.</Banner>}
      {locked && (
        <Banner kind="bad">
          Your workspace is locked because its trial or subscription has ended, or a payment is missing. Nothing is
          lost.{isFree(standing) ? '' : ' Choose a plan below to unlock it.'}
        </Banner>
      )}
      {!locked && daysLeftInTrial !== null && (
        <Banner kind={daysLeftInTrial <= 3 ? 'warn' : undefined}>
          {daysLeftInTrial === 0
            ? 'Your trial ends today.'
            : `Your trial ends in ${daysLeftInTrial} ${daysLeftInTrial === 1 ? 'day' : 'days'}.`}{' '}
          Choose a plan to continue after the trial.
        </Banner>
      )}
      {subscription?.cancelAtPeriodEnd === true && (
        <Banner kind="warn">
          Your subscription ends on {dayOf(subscription.currentPeriodEnd)}.
          {isFree(standing) ? '' : ' Choose a plan to keep it.'}
        </Banner>
      )}
      {billingSource === 'marketplace' && (
        <Banner>Your workspace is billed by a marketplace. Change or cancel it there.</Banner>
      )}
      {isFree(standing) && <Banner>This server does not charge. There is nothing to choose or to pay.</Banner>}
    </div>
  );
}

/** The server's own provider, which moves no money. */
function isFree({ billingSource }: Standing): boolean {
  return billingSource === 'local' || billingSource === null;
}

/** On a server that does not charge, a workspace whose plan was made smaller gets everything back. */
function Restore({
  standing,
  onChanged,
}: {
  readonly standing: Standing;
  readonly onChanged: () => void;
}): JSX.Element | null {
  const [busy, setBusy] = useState(false);
  const { planId, locked, subscription } = standing;
  const hasAll = planId === 'business' || planId === 'enterprise';
  if (hasAll && !locked && subscription?.cancelAtPeriodEnd !== true) return null;
  return (
    <Part id="restore" title="Some features are turned off">
      <p class="soft">They are part of this server and free. Turning them on takes effect at once.</p>
      <Button
        kind="primary"
        busy={busy}
        onClick={() => {
          setBusy(true);
          call('POST', '/billing/checkout', {
            body: { planId: 'business', interval: 'annual' },
          })
            .then(onChanged, notifyFailure)
            .finally(() => setBusy(false));
        }}
      >
        Turn everything on
      </Button>
    </Part>
  );
}

function Present({ standing }: { readonly standing: Standing }): JSX.Element {
  const { planId, subscription, entitlements } = standing;
  const { limit, taken } = entitlements.seats;
  return (
    <Part
      id="plan"
      title={`${planName(planId)} plan`}
      actions={subscription !== null && <State subscription={subscription} />}
    >
      <dl class="facts">
        <div>
          <dt>Seats</dt>
          <dd>
            {taken} {limit === null ? 'in use, with no limit' : `of ${limit} in use`}
            {limit !== null && limit > 0 && (
              <progress class="billing-seats" max={limit} value={Math.min(taken, limit)} aria-label="Seats in use" />
            )}
          </dd>
        </div>
        {subscription !== null && !isFree(standing) && (
          <div>
            <dt>Billed</dt>
            <dd>{intervalNames[subscription.billingInterval]}</dd>
          </div>
        )}
        {subscription !== null && (!isFree(standing) || subscription.cancelAtPeriodEnd) && (
          <div>
            <dt>{subscription.cancelAtPeriodEnd ? 'Ends' : 'Current period'}</dt>
            <dd>
              {subscription.cancelAtPeriodEnd ? '' : `${dayOf(subscription.currentPeriodStart)} to `}
              {dayOf(subscription.currentPeriodEnd)}
            </dd>
          </div>
        )}
        {!isFree(standing) && (
          <div>
            <dt>Add-ons</dt>
            <dd>{standing.addons.includes('ai') ? 'AI' : 'None'}</dd>
          </div>
        )}
      </dl>
    </Part>
  );
}

function State({ subscription }: { readonly subscription: Subscription }): JSX.Element {
  return <Badge kind={statusKinds[subscription.status]}>{statusNames[subscription.status]}</Badge>;
}
