// What the agent is notified about, and whether this browser may show, play and receive it.

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Checkbox } from '../design/field.tsx';
import { notifyFailure } from '../notices.ts';
import {
  hasSound,
  isNotifying,
  isRinging,
  permission,
  type Reason,
  setNotifying,
  setRinging,
  setSound,
} from '../notifications.ts';
import { chooseNotify, notifyChoice, readNotifyChoice, type Way } from '../notify-choice.ts';
import { canPush, isPushed, setPushed } from '../push.ts';

const reasons: readonly { readonly reason: Reason; readonly label: string }[] = [
  { reason: 'own_messages', label: 'A customer writes in a conversation of yours' },
  { reason: 'queue', label: 'A conversation waits for anyone' },
  { reason: 'offers', label: 'A conversation is offered to you' },
  { reason: 'calls', label: 'A call, a missed call or a voicemail' },
];
const ways: readonly { readonly way: Way; readonly label: string }[] = [
  { way: 'show', label: 'Shown' },
  { way: 'sound', label: 'Sound' },
  { way: 'push', label: 'Push' },
  { way: 'mail', label: 'Mail' },
];

export function NotificationSettings(): JSX.Element {
  return (
    <>
      <ThisBrowser />
      <Choices />
    </>
  );
}

function ThisBrowser(): JSX.Element {
  const hint = {
    granted: 'While this page is open in the background.',
    default: 'While this page is open in the background. Your browser will ask for permission once.',
    denied: 'Your browser blocks notifications from this site. You can allow them in its site settings.',
    unsupported: 'Your browser does not support notifications.',
  }[permission.value];
  const isBarred = permission.value === 'denied' || permission.value === 'unsupported';
  return (
    <section class="card" aria-labelledby="account-notices">
      <h2 id="account-notices">Notifications in this browser</h2>
      <Checkbox
        label="Show desktop notifications"
        hint={hint}
        checked={isNotifying.value}
        disabled={isBarred}
        onChecked={(on) => void setNotifying(on)}
      />
      <Checkbox
        label="Push while no page is open"
        hint={
          canPush
            ? "Delivered by your browser's push service, which cannot read them. On a phone, add this page to the home screen first."
            : 'Your browser does not support push on this page. It needs https.'
        }
        checked={isPushed.value}
        disabled={!canPush || permission.value === 'denied'}
        onChecked={(on) => void setPushed(on).catch(notifyFailure)}
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

/** The same in every browser. */
function Choices(): JSX.Element | null {
  const choice = notifyChoice.value;
  useEffect(() => {
    if (notifyChoice.peek() === undefined) readNotifyChoice().catch(notifyFailure);
  }, []);
  if (choice === undefined) return null;
  return (
    <section class="card" aria-labelledby="account-choices">
      <h2 id="account-choices">What you are notified about</h2>
      <p class="soft">Push reaches you while no page is open. Mail is sent when no one has looked for five minutes.</p>
      <table class="choices">
        <thead>
          <tr>
            <td />
            {ways.map(({ way, label }) => (
              <th key={way} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {reasons.map(({ reason, label }) => (
            <tr key={reason}>
              <th scope="row">{label}</th>
              {ways.map((one) => (
                <td key={one.way}>
                  <input
                    type="checkbox"
                    aria-label={`${label}: ${one.label.toLowerCase()}`}
                    checked={choice[one.way].includes(reason)}
                    onChange={({ currentTarget }) =>
                      void chooseNotify(one.way, reason, currentTarget.checked).catch(notifyFailure)
                    }
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
