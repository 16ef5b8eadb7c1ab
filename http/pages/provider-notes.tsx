// What this server cannot do yet, said where it matters: mail that is kept instead of sent, and numbers and calls that
// only exist here.

import type { JSX } from 'preact';
import { Banner } from './design/feedback.tsx';
import { hasRole, keepsMail, me, simulatesCalls } from './session.ts';

/** On every page of an admin. */
export function MailNote(): JSX.Element | null {
  if (!keepsMail.value || !hasRole('admin')) return null;
  return (
    <aside class="mail-note" aria-label="Mail">
      This server does not send mail yet. <a href="/settings/email">Set up mail</a>
    </aside>
  );
}

/** Above numbers and calls. */
export function SimulationNote(): JSX.Element | null {
  if (!simulatesCalls.value) return null;
  return (
    <Banner>
      The carrier is simulated: these numbers only exist on this server, no one can call them, and calls have no sound.
      The operator of this server can connect a real carrier.
    </Banner>
  );
}

/** Beside a call that rings or is answered. */
export function SoundNote(): JSX.Element | null {
  const carrier = me.value?.providers.carrier;
  if (carrier === undefined) return null;
  return (
    <aside class="calls-sound" aria-label="Sound">
      {carrier === 'simulated'
        ? 'A simulated call, without sound.'
        : 'This page has no sound. Talk on the phone or voice app that your team uses.'}
    </aside>
  );
}
