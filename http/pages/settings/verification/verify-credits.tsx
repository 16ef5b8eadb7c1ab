// The balance for one-time codes.

import type { JSX } from 'preact';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Banner } from '../../design/feedback.tsx';
import { TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { useResource } from '../../design/resource.ts';
import { notify } from '../../notices.ts';
import type { VerifyCredits } from '../../records.ts';
import { amountOf } from '../../times.ts';
import { amountError, amountText, centsOf } from '../amounts.ts';
import { Part, Reading } from '../parts.tsx';

export function Credits(): JSX.Element {
  const { value, failure, reload, set } = useResource(
    (signal) => call<VerifyCredits>('GET', '/verify/credits', { signal }),
    [],
  );
  return (
    <Part
      id="credits"
      title="Credits"
      intro="A code costs 1 cent by email, 5 by text message, 10 by phone call. Test keys cost nothing."
    >
      {value === undefined ? (
        <Reading failure={failure} retry={reload} lines={2} />
      ) : (
        <CreditForm credits={value} onSaved={set} />
      )}
    </Part>
  );
}

function CreditForm({
  credits,
  onSaved,
}: {
  readonly credits: VerifyCredits;
  readonly onSaved: (credits: VerifyCredits) => void;
}): JSX.Element {
  const start = { balanceCents: amountText(credits.balanceCents), spendCapCents: amountText(credits.spendCapCents) };
  const form = useForm(start, async ({ balanceCents, spendCapCents }) => {
    const saved = await call<VerifyCredits>('PUT', '/verify/credits', {
      body: { balanceCents: centsOf(balanceCents), spendCapCents: centsOf(spendCapCents) },
    });
    form.reset({ balanceCents: amountText(saved.balanceCents), spendCapCents: amountText(saved.spendCapCents) });
    onSaved(saved);
    notify({ kind: 'done', text: 'Saved.' });
  });
  return (
    <>
      <p>{amountOf(credits.spentCents)} spent this month.</p>
      {credits.balanceCents !== null && credits.balanceCents <= 0 && (
        <Banner kind="warn">The balance is used up. No codes are sent until you add more.</Banner>
      )}
      <Form
        form={form}
        label="Credits"
        actions={
          <Button type="submit" busy={form.busy}>
            Save
          </Button>
        }
      >
        <div class="columns">
          <TextField
            label="Balance in dollars"
            optional
            inputMode="decimal"
            value={form.values.balanceCents}
            onValue={(next) => form.set('balanceCents', next)}
            error={amountError(form.errorOf('balanceCents'))}
            hint="Leave empty not to count credits."
          />
          <TextField
            label="Monthly limit in dollars"
            optional
            inputMode="decimal"
            value={form.values.spendCapCents}
            onValue={(next) => form.set('spendCapCents', next)}
            error={amountError(form.errorOf('spendCapCents'))}
            hint="Leave empty for no limit."
          />
        </div>
      </Form>
    </>
  );
}
