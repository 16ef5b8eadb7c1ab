// The plans side by side, and changing the plan.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { webUrl } from '../../addresses.ts';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Confirm } from '../../design/dialog.tsx';
import { Badge } from '../../design/feedback.tsx';
import { SelectField } from '../../design/field.tsx';
import { notify } from '../../notices.ts';
import type { BillingInterval, Standing, Subscription } from '../../records.ts';
import { Part } from '../parts.tsx';
import { intervalNames, type PlanWords, plans } from './billing-words.ts';

interface Checkout {
  readonly url?: string;
  readonly subscription?: Subscription;
}

/** Opens a page of the billing provider, which leads back here. */
export function goTo(url: string | undefined): void {
  const target = webUrl(url);
  if (target !== undefined) location.assign(target);
}

export function Plans({
  standing,
  onChanged,
}: {
  readonly standing: Standing;
  readonly onChanged: () => void;
}): JSX.Element {
  const { subscription, planId, locked } = standing;
  const [interval, setInterval] = useState<BillingInterval>(subscription?.billingInterval ?? 'monthly');
  const [chosen, setChosen] = useState<PlanWords | undefined>(undefined);
  const isPresent = (plan: PlanWords): boolean =>
    !locked &&
    plan.id === planId &&
    subscription !== null &&
    subscription.status !== 'trialing' &&
    !subscription.cancelAtPeriodEnd &&
    subscription.billingInterval === interval;
  return (
    <Part
      id="plans"
      title="Plans"
      actions={
        <SelectField
          label="Billed"
          value={interval}
          choices={[
            { value: 'monthly', label: 'Monthly' },
            { value: 'annual', label: 'Yearly' },
          ]}
          onValue={setInterval}
        />
      }
    >
      <ul class="plans">
        {plans.map((plan) => (
          <li key={plan.id} class={isPresent(plan) ? 'present' : ''}>
            <h3>
              {plan.name} {isPresent(plan) && <Badge kind="accent">Current</Badge>}
            </h3>
            <p class="soft">{plan.seats} seats</p>
            <ul>
              {plan.what.map((one) => (
                <li key={one}>{one}</li>
              ))}
            </ul>
            <Button
              disabled={isPresent(plan)}
              aria-label={isPresent(plan) ? `${plan.name} is your plan` : `Choose ${plan.name}`}
              onClick={() => setChosen(plan)}
            >
              {isPresent(plan) ? 'Your plan' : 'Choose'}
            </Button>
          </li>
        ))}
      </ul>
      {chosen !== undefined && (
        <Confirm
          title={`Change to ${chosen.name}?`}
          action="Continue"
          danger={false}
          onConfirm={async () => {
            const back = `${location.origin}/settings/billing?checkout=`;
            const answer = await call<Checkout>('POST', '/billing/checkout', {
              body: { planId: chosen.id, interval, successUrl: `${back}done`, cancelUrl: `${back}cancelled` },
            });
            if (answer.url !== undefined) return goTo(answer.url);
            notify({ kind: 'done', text: `You have the ${chosen.name} plan, ${intervalNames[interval]}.` });
            onChanged();
          }}
          onClose={() => setChosen(undefined)}
        >
          <p>
            {chosen.seats} seats, billed {intervalNames[interval]}.{' '}
            {subscription === null || locked || subscription.status === 'trialing'
              ? "You pay on our billing provider's page."
              : 'What you have already paid is credited.'}
          </p>
        </Confirm>
      )}
    </Part>
  );
}
