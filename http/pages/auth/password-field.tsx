// A field for a new password: shows its length while typing, and the text on demand. The service judges its strength.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Checkbox, TextField } from '../design/field.tsx';

const minChars = 10;

export function PasswordField({
  label = 'Password',
  value,
  onValue,
  error,
}: {
  readonly label?: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly error?: string | undefined;
}): JSX.Element {
  const [shown, setShown] = useState(false);
  const missing = minChars - value.length;
  return (
    <div class="stack">
      <TextField
        label={label}
        type={shown ? 'text' : 'password'}
        autocomplete="new-password"
        required
        maxLength={1024}
        value={value}
        onValue={onValue}
        error={error}
        hint={
          value === '' || missing <= 0
            ? 'At least 10 characters that are hard to guess. A few unusual words work well.'
            : `${missing} more ${missing === 1 ? 'character' : 'characters'}.`
        }
      />
      <Checkbox label="Show password" checked={shown} onChecked={setShown} />
    </div>
  );
}
