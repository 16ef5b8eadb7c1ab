// Several of a list, as boxes to tick under one name, with what is wrong below them.

import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Checkbox } from '../../design/field.tsx';

export interface ChoiceWords {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
}

interface ChoicesProps {
  readonly legend: string;
  readonly choices: readonly ChoiceWords[];
  readonly chosen: readonly string[];
  readonly onChosen: (chosen: readonly string[]) => void;
  readonly error?: string | undefined;
  readonly disabled?: boolean;
}

/** What is chosen comes in the order of the list. */
export function Choices({ legend, choices, chosen, onChosen, error, disabled = false }: ChoicesProps): JSX.Element {
  const id = useId();
  const choose = (value: string, checked: boolean): void => onChosen(choices.map((one) => one.value).filter((one) => (one === value ? checked : chosen.includes(one))));
  return (
    <fieldset class="choices" aria-describedby={error === undefined ? undefined : `${id}-error`}>
      <legend>{legend}</legend>
      {choices.map(({ value, label, hint }) => (
        <Checkbox key={value} label={label} {...(hint === undefined ? {} : { hint })} checked={chosen.includes(value)} disabled={disabled} onChecked={(checked) => choose(value, checked)} />
      ))}
      {error !== undefined && (
        <p class="error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}
