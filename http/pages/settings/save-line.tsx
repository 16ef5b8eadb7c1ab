// The end of a form: the button to save, and whether there are unsaved changes.

import type { ComponentChildren, JSX } from 'preact';
import { Button } from '../design/button.tsx';

export function SaveLine({
  busy,
  changed,
  label = 'Save',
  children,
}: {
  readonly busy: boolean;
  readonly changed: boolean;
  readonly label?: string;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="save-line">
      <Button type="submit" kind="primary" busy={busy}>
        {label}
      </Button>
      {children}
      {changed && <span class="soft">Not saved yet.</span>}
    </div>
  );
}
