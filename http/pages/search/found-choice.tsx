// A field that searches, and the results as choices of which one can be taken: for dialogs that ask for a conversation
// or a contact.

import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { messageOf } from '../api-error.ts';
import { TextField } from '../design/field.tsx';
import type { SearchState } from './results.ts';

export interface Choice {
  readonly id: string;
  readonly title: string;
  readonly hint: string;
}

interface FoundChoiceProps {
  readonly label: string;
  readonly hint: string;
  /** Names the choices to screen readers. */
  readonly legend: string;
  readonly typed: string;
  readonly onTyped: (typed: string) => void;
  readonly found: SearchState<readonly Choice[]>;
  readonly chosenId: string | undefined;
  readonly onChoose: (choice: Choice) => void;
}

export function FoundChoice(props: FoundChoiceProps): JSX.Element {
  const { label, hint, legend, typed, onTyped, found, chosenId, onChoose } = props;
  const name = useId();
  const choices = found.value ?? [];
  return (
    <>
      <TextField
        label={label}
        hint={hint}
        autofocus
        autocomplete="off"
        spellcheck={false}
        maxLength={200}
        value={typed}
        onValue={onTyped}
      />
      {choices.length > 0 && (
        <fieldset class="choices">
          <legend class="for-readers">{legend}</legend>
          {choices.map((choice) => (
            <label key={choice.id}>
              <input
                type="radio"
                name={name}
                value={choice.id}
                checked={choice.id === chosenId}
                onChange={() => onChoose(choice)}
              />
              <span class="truncate">
                {choice.title} <span class="soft">{choice.hint}</span>
              </span>
            </label>
          ))}
        </fieldset>
      )}
      <p class="soft" role="status">
        {found.failure !== undefined
          ? messageOf(found.failure)
          : choices.length > 0 || typed.trim() === ''
            ? ''
            : found.asking
              ? 'Searching…'
              : 'No results.'}
      </p>
    </>
  );
}
