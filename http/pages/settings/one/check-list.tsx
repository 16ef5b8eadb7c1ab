// Several of a list, by ticking them: one group with a name, so that what is ticked is heard together with what it is about.

import type { ComponentChildren, JSX } from 'preact';
import { Checkbox } from '../../design/field.tsx';
import { toggled } from './words.ts';

export interface CheckItem {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
  readonly disabled?: boolean;
}

interface CheckListProps<Value extends string> {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  readonly items: readonly (CheckItem & { readonly value: Value })[];
  readonly chosen: readonly Value[];
  readonly disabled?: boolean;
  readonly onChosen: (chosen: readonly Value[]) => void;
}

export function CheckList<Value extends string>({ label, hint, error, items, chosen, disabled = false, onChosen }: CheckListProps<Value>): JSX.Element {
  return (
    <fieldset class="check-list" aria-invalid={error === undefined ? undefined : true} tabIndex={error === undefined ? undefined : -1}>
      <legend>{label}</legend>
      {hint !== undefined && <p class="hint">{hint}</p>}
      <div class="check-items">
        {items.map(({ value, label: itemLabel, hint: itemHint, disabled: itemDisabled }) => (
          <Checkbox key={value} label={itemLabel} {...(itemHint === undefined ? {} : { hint: itemHint })} disabled={disabled || itemDisabled === true} checked={chosen.includes(value)} onChecked={(on) => onChosen(toggled(chosen, value, on))} />
        ))}
      </div>
      {error !== undefined && <p class="error">{error}</p>}
    </fieldset>
  );
}
