// The fields of a goal: its name, the page, and its value.

import type { JSX } from 'preact';
import { TextField } from '../../design/field.tsx';
import type { FormState } from '../../design/form.tsx';
import { amountError } from '../amounts.ts';
import type { GoalValues } from './goal.ts';
import { UrlMatchFields } from './url-match.tsx';

export function GoalFields({
  form,
  autofocus = false,
}: {
  readonly form: FormState<GoalValues>;
  readonly autofocus?: boolean;
}): JSX.Element {
  const { values } = form;
  return (
    <>
      <TextField
        label="Name"
        required
        autofocus={autofocus}
        maxLength={120}
        value={values.name}
        onValue={(value) => form.set('name', value)}
        error={form.errorOf('name')}
      />
      <UrlMatchFields
        match={values.condition}
        onMatch={(value) => form.set('condition', value)}
        errorOf={(name) => form.errorOf(`condition.${name}`)}
      />
      <TextField
        label="Value, in US dollars"
        optional
        inputMode="decimal"
        placeholder="49.90"
        value={values.value}
        onValue={(value) => form.set('value', value)}
        error={amountError(form.errorOf('valueCents'))}
        hint="What one visitor who reaches it is worth to you. A change applies to later visitors."
      />
    </>
  );
}
