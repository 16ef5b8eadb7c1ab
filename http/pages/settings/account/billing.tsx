// The plan, its seats, and what was paid.

import type { JSX } from 'preact';
import { call } from '../../api.ts';
import { Badge, Banner } from '../../design/feedback.tsx';
import { useResource } from '../../design/resource.ts';
import { query } from '../../location.ts';
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
    <Section title="Billing" intro="The plan, its seats, and what was paid.">
      {value === undefined ? (
        <Reading failure={failure} retry={reload} />
      ) : (
        <>
          <News standing={value} />
          <Present standing={value} />
          {value.billingSource !== 'marketplace' && <Plans standing={value} onChanged={reload} />}
          {value.billingSource !== 'marketplace' && <BillingActions standing={value} onChanged={reload} />}
          {value.billingSource === 'stripe' && <Invoices />}
        </>
      )}
    </Section>
  );
}

/** What has to be known before anything else. */
function News({
  standing: { locked, daysLeftInTrial, billingSource, subscription },
}: {
  readonly standing: Standing;
}): JSX.Element {
  const returned = query.value.get('checkout');
  return (
    <div class="stack" role="status">
      {returned === 'done' && (
        <Banner kind="good">
          Thank you. The new plan shows here as soon as the payment is confirmed, mostly within a minute.
        </Banner>
      )}
      {returned === 'cancelled' && <Banner>Nothing was changed, and nothing was paid.</Banner>}
      {locked && (
        <Banner kind="bad">
          Your workspace is locked: its trial is over, or its subscription ended or was not paid. Nothing is lost.
          Choose a plan below, and everything is open again.
        </Banner>
      )}
      {!locked && daysLeftInTrial !== null && (
        <Banner kind={daysLeftInTrial <= 3 ? 'warn' : undefined}>
          {daysLeftInTrial === 0
            ? 'Your trial ends today.'
            : `Your trial ends in ${daysLeftInTrial} ${daysLeftInTrial === 1 ? 'day' : 'days'}.`}{' '}
          Choose a plan to go on after it.
        </Banner>
      )}
      {subscription?.cancelAtPeriodEnd === true && (
        <Banner kind="warn">
          Your subscription ends on {dayOf(subscription.currentPeriodEnd)}. Choosing a plan takes that back.
        </Banner>
      )}
      {billingSource === 'marketplace' && (
        <Banner>Your workspace is billed by a marketplace. Change or cancel it there.</Banner>
      )}
      {(billingSource === 'local' || billingSource === null) && (
        <Banner>This server charges nobody: every plan is free, and a change counts at once.</Banner>
      )}
    </div>
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
        {subscription !== null && (
          <div>
            <dt>Billed</dt>
            <dd>{intervalNames[subscription.billingInterval]}</dd>
          </div>
        )}
        {subscription !== null && (
          <div>
            <dt>{subscription.cancelAtPeriodEnd ? 'Ends' : 'Present period'}</dt>
            <dd>
              {subscription.cancelAtPeriodEnd ? '' : `${dayOf(subscription.currentPeriodStart)} to `}
              {dayOf(subscription.currentPeriodEnd)}
            </dd>
          </div>
        )}
        <div>
          <dt>Add-ons</dt>
          <dd>{standing.addons.includes('ai') ? 'AI' : 'None'}</dd>
        </div>
      </dl>
    </Part>
  );
}

function State({ subscription }: { readonly subscription: Subscription }): JSX.Element {
  return <Badge kind={statusKinds[subscription.status]}>{statusNames[subscription.status]}</Badge>;
}
