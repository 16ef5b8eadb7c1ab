// Notifications on this browser while the agent looks elsewhere.

import type { JSX } from 'preact';
import { Checkbox } from '../design/field.tsx';
import { hasSound, isNotifying, isRinging, permission, setNotifying, setRinging, setSound } from '../notifications.ts';

export function NotificationSettings(): JSX.Element {
  const hint = {
    granted: 'When a customer writes or a conversation is offered to you while this tab is in the background.',
    default:
      'When a customer writes or a conversation is offered to you while this tab is in the background. Your browser will ask for permission once.',
    denied: 'Your browser blocks notifications from this site. You can allow them in its site settings.',
    unsupported: 'Your browser does not support notifications.',
  }[permission.value];
  return (
    <section class="card" aria-labelledby="account-notices">
      <h2 id="account-notices">When this tab is in the background</h2>
      <Checkbox
        label="Show desktop notifications"
        hint={hint}
        checked={isNotifying.value}
        disabled={permission.value === 'denied' || permission.value === 'unsupported'}
        onChecked={(on) => void setNotifying(on)}
      />
      <Checkbox label="Play a sound when a customer writes" checked={hasSound.value} onChecked={setSound} />
      <Checkbox
        label="Ring for calls and for conversations offered to you"
        hint="Plays once when you turn it on."
        checked={isRinging.value}
        onChecked={setRinging}
      />
    </section>
  );
}
