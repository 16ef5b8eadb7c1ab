// What the agent is notified about, as it chose on its account page. Kept on the server, and so the same in every
// browser; whether a browser may show or play anything is kept in the browser (notifications.ts).

import { effect, signal } from '@preact/signals';
import { call } from './api.ts';
import { chosen, hasSound, isNotifying, isRinging, type Reason } from './notifications.ts';
import { me } from './session.ts';
import { type Stop, stopAll } from './subscriptions.ts';

export type Way = 'push' | 'mail' | 'show' | 'sound';
export type NotifyChoice = Readonly<Record<Way, readonly Reason[]>>;

/** Undefined until it is read. */
export const notifyChoice = signal<NotifyChoice | undefined>(undefined);

export async function readNotifyChoice(): Promise<void> {
  take(await call<NotifyChoice>('GET', '/me/notifications'));
}

export async function chooseNotify(way: Way, reason: Reason, on: boolean): Promise<void> {
  const present = notifyChoice.peek();
  if (present === undefined) return;
  const others = present[way].filter((one) => one !== reason);
  const next = { ...present, [way]: on ? [...others, reason] : others };
  take(next);
  try {
    take(await call<NotifyChoice>('PATCH', '/me/notifications', { body: { [way]: next[way] } }));
  } catch (error) {
    take(present);
    throw error;
  }
}

function take(choice: NotifyChoice): void {
  notifyChoice.value = choice;
  chosen.value = choice;
}

/** Reads it for whoever signs in, in a browser that may show or play something. Until then everything is shown. */
export function startNotifyChoice(): Stop {
  let readFor: string | undefined;
  return stopAll([
    effect(() => {
      void me.value?.agent.id;
      readFor = undefined;
      notifyChoice.value = undefined;
      chosen.value = undefined;
    }),
    effect(() => {
      const agentId = me.value?.agent.id;
      if (agentId === readFor || !(isNotifying.value || hasSound.value || isRinging.value)) return;
      readFor = agentId;
      if (agentId !== undefined) readNotifyChoice().catch(() => undefined);
    }),
  ]);
}
