// Form fields: a label, the control, a hint and an error. The label names the control for everyone.

import { type ComponentChildren, createContext, type JSX, type TextareaHTMLAttributes } from 'preact';
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks';

/** How often the form around the field was sent; undefined outside of a form. */
export const Attempts = createContext<number | undefined>(undefined);

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  readonly optional?: boolean;
}

interface Described {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean | undefined;
}

/** For other controls than those below: `children` receives the attributes that link it to its label. */
export function Field({
  label,
  hint,
  error: refused,
  optional = false,
  children,
}: FieldProps & { readonly children: (described: Described) => JSX.Element }): JSX.Element {
  const id = useId();
  // The error is about the value that was sent: it goes as soon as the reader changes it.
  const attempts = useContext(Attempts);
  const [mendedAfter, setMendedAfter] = useState<number | undefined>(undefined);
  const error = attempts !== undefined && mendedAfter === attempts ? undefined : refused;
  const notes = [hint === undefined ? undefined : `${id}-hint`, error === undefined ? undefined : `${id}-error`]
    .filter((one) => one !== undefined)
    .join(' ');
  return (
    <div class="field" onInput={() => setMendedAfter(attempts)}>
      <label for={id}>
        {label} {optional && <span class="optional">(optional)</span>}
      </label>
      {children({
        id,
        'aria-describedby': notes === '' ? undefined : notes,
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

export interface TextFieldProps extends FieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly type?:
    | 'text'
    | 'email'
    | 'password'
    | 'url'
    | 'tel'
    | 'search'
    | 'number'
    | 'date'
    | 'time'
    | 'datetime-local'
    | 'color';
  readonly placeholder?: string;
  readonly autocomplete?: string;
  readonly autofocus?: boolean;
  readonly required?: boolean;
  readonly disabled?: boolean;
  readonly readOnly?: boolean;
  readonly maxLength?: number;
  readonly min?: number | string;
  readonly max?: number | string;
  readonly step?: number | string;
  readonly inputMode?: 'text' | 'email' | 'url' | 'tel' | 'numeric' | 'decimal' | 'search';
  readonly spellcheck?: boolean;
}

export function TextField({
  label,
  hint,
  error,
  optional,
  value,
  onValue,
  type = 'text',
  ...rest
}: TextFieldProps): JSX.Element {
  // Each type of input has its own props; all types in this list accept those passed here.
  const shared = { ...rest, type } as { type: 'text' };
  const input = useRef<HTMLInputElement>(null);
  // Browsers use the attribute only when they load a page or open a dialog.
  const { autofocus } = rest;
  useEffect(() => {
    if (autofocus === true) input.current?.focus();
  }, [autofocus]);
  return (
    <Field label={label} hint={hint} error={error} optional={optional ?? false}>
      {(described) => (
        <input
          class="input"
          ref={input}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
          {...shared}
          {...described}
        />
      )}
    </Field>
  );
}

export function TextArea({
  label,
  hint,
  error,
  optional,
  value,
  onValue,
  ...rest
}: FieldProps & { readonly value: string; readonly onValue: (value: string) => void } & Omit<
    TextareaHTMLAttributes<HTMLTextAreaElement>,
    'label' | 'onInput' | 'value'
  >): JSX.Element {
  return (
    <Field label={label} hint={hint} error={error} optional={optional ?? false}>
      {(described) => (
        <textarea
          class="input"
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
          {...rest}
          {...described}
        />
      )}
    </Field>
  );
}

export interface Choice<Value extends string> {
  readonly value: Value;
  readonly label: string;
}

export function SelectField<Value extends string>({
  label,
  hint,
  error,
  optional,
  value,
  choices,
  onValue,
  disabled,
}: FieldProps & {
  readonly value: Value;
  readonly choices: readonly Choice<Value>[];
  readonly onValue: (value: Value) => void;
  readonly disabled?: boolean;
}): JSX.Element {
  return (
    <Field label={label} hint={hint} error={error} optional={optional ?? false}>
      {(described) => (
        <select
          class="input"
          value={value}
          disabled={disabled}
          onChange={(event) => onValue(event.currentTarget.value as Value)}
          {...described}
        >
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function Checkbox({
  label,
  hint,
  checked,
  onChecked,
  disabled,
  type = 'checkbox',
  name,
}: {
  readonly label: ComponentChildren;
  readonly hint?: ComponentChildren;
  readonly checked: boolean;
  readonly onChecked: (checked: boolean) => void;
  readonly disabled?: boolean;
  readonly type?: 'checkbox' | 'radio';
  readonly name?: string;
}): JSX.Element {
  return (
    <label class="choice">
      <input
        type={type}
        name={name}
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChecked(event.currentTarget.checked)}
      />
      <span>
        {label}
        {hint !== undefined && <span class="hint">{hint}</span>}
      </span>
    </label>
  );
}
