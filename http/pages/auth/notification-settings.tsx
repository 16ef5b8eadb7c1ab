// What may reach this agent while it looks elsewhere, on this browser.

import type { JSX } from 'preact';
import { Checkbox } from '../design/field.tsx';
import { hasSound, isNotifying, isRinging, permission, setNotifying, setRinging, setSound } from '../notifications.ts';

export function NotificationSettings(): JSX.Element {
  const hint = {
    granted: 'When a customer writes or something is offered to you while you look elsewhere.',
    default:
      'When a customer writes or something is offered to you while you look elsewhere. Your browser asks you once.',
    denied: 'Your browser does not let this site show any. Its settings for this site can change that.',
    unsupported: 'Your browser has none.',
  }[permission.value];
  return (
    <section class="card" aria-labelledby="account-notices">
      <h2 id="account-notices">While you look elsewhere</h2>
      <Checkbox
        label="Show notifications on the desktop"
        hint={hint}
        checked={isNotifying.value}
        disabled={permission.value === 'denied' || permission.value === 'unsupported'}
        onChecked={(on) => void setNotifying(on)}
      />
      <Checkbox label="Play a sound when a customer writes" checked={hasSound.value} onChecked={setSound} />
      <Checkbox
        label="Ring when somebody calls or something is offered to you"
        hint="Sounds once as you turn it on."
        checked={isRinging.value}
        onChecked={setRinging}
      />
    </section>
  );
}
