// Offers once, at the first conversation, to be notified of new ones. A browser asks for permission only on a click.

import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { Button } from '../design/button.tsx';
import { hasSound, isNotifying, permission, turnAllOn } from '../notifications.ts';
import { canPush, setPushed } from '../push.ts';
import { countOfList } from './counts.ts';

const keptAs = 'switchboard.noticesOffered';
const isAnswered = signal(wasAnswered());

function wasAnswered(): boolean {
  try {
    return localStorage.getItem(keptAs) !== null;
  } catch {
    return false;
  }
}

function answer(): void {
  isAnswered.value = true;
  try {
    localStorage.setItem(keptAs, 'yes');
  } catch {
    // Offered again after a reload.
    return;
  }
}

async function turnOn(): Promise<void> {
  answer();
  await turnAllOn();
  // Without a push service the page still notifies while it is open.
  if (canPush && permission.peek() === 'granted') await setPushed(true).catch(() => undefined);
}

export function NoticesOffer(): JSX.Element | null {
  const isBarred = permission.value === 'denied' || permission.value === 'unsupported';
  const isOn = hasSound.value && (isNotifying.value || isBarred);
  if (isAnswered.value || isOn || (countOfList('all') ?? 0) === 0) return null;
  return (
    <section class="inbox-offer" aria-label="Notifications">
      <p>
        <strong>Do not miss the next one.</strong>{' '}
        {isBarred
          ? 'Hear a sound when a customer writes.'
          : `Get a notification and a sound when a customer writes${canPush ? ', even while this page is closed' : ''}.`}
      </p>
      <div class="row">
        <Button small kind="primary" onClick={() => void turnOn()}>
          Turn on
        </Button>
        <Button small kind="quiet" onClick={answer}>
          Not now
        </Button>
      </div>
    </section>
  );
}
