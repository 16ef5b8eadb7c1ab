// Secrets that the API returns only once. They are kept here and not in a component, so that one is not lost when its
// page is drawn again before it was copied. Leaving the page or signing out forgets it for good.

import { effect, signal } from '@preact/signals';
import { token } from '../../api.ts';
import { path } from '../../location.ts';
import type { Stop } from '../../subscriptions.ts';

export interface Once {
  /** "key", "signing secret": the noun, for the middle of a sentence. */
  readonly what: string;
  /** The name of its key, app or webhook. */
  readonly name: string;
  readonly secret: string;
}

const kept = signal<(Once & { readonly at: string }) | undefined>(undefined);

let stopWatching: Stop = () => undefined;

/** Shown at this address until the reader leaves it, dismisses the secret or signs out. */
export function keepOnce(once: Once): void {
  stopWatching();
  const at = path.peek();
  kept.value = { ...once, at };
  stopWatching = effect(() => {
    if (token.value === null || path.value !== at) forgetOnce();
  });
}

export function onceHere(): Once | undefined {
  return kept.value?.at === path.value ? kept.value : undefined;
}

export function forgetOnce(): void {
  stopWatching();
  kept.value = undefined;
}
