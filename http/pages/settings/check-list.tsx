// A group of checkboxes with a name, so that a screen reader announces the choices together with the name and the
// error.

import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Checkbox } from '../design/field.tsx';

export interface CheckItem<Value extends string> {
  readonly value: Value;
  readonly label: string;
  readonly hint?: string;
  readonly disabled?: boolean;
}

interface CheckListProps<Value extends string> {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  readonly items: readonly CheckItem<Value>[];
  readonly chosen: readonly Value[];
  readonly disabled?: boolean;
  /** One per line, for labels that are sentences. */
  readonly wide?: boolean;
  readonly onChosen: (chosen: readonly Value[]) => void;
}

/** The chosen values keep the order of the list; chosen values that are not in the list come first. */
export function CheckList<Value extends string>({
  label,
  hint,
  error,
  items,
  chosen,
  disabled = false,
  wide = false,
  onChosen,
}: CheckListProps<Value>): JSX.Element {
  const id = useId();
  const notes = [...(hint === undefined ? [] : [`${id}-hint`]), ...(error === undefined ? [] : [`${id}-error`])].join(
    ' ',
  );
  const choose = (value: Value, on: boolean): void =>
    onChosen([
      ...chosen.filter((one) => !items.some((item) => item.value === one)),
      ...items.map((item) => item.value).filter((one) => (one === value ? on : chosen.includes(one))),
    ]);
  return (
    <fieldset
      class={`check-list ${wide ? 'wide' : ''}`}
      aria-describedby={notes === '' ? undefined : notes}
      aria-invalid={error === undefined ? undefined : true}
      tabIndex={error === undefined ? undefined : -1}
    >
      <legend>{label}</legend>
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      <div class="check-items">
        {items.map(({ value, label: itemLabel, hint: itemHint, disabled: itemDisabled }) => (
          <Checkbox
            key={value}
            label={itemLabel}
            {...(itemHint === undefined ? {} : { hint: itemHint })}
            disabled={disabled || itemDisabled === true}
            checked={chosen.includes(value)}
            onChecked={(on) => choose(value, on)}
          />
        ))}
      </div>
      {error !== undefined && (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </fieldset>
  );
}
