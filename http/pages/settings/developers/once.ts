// Secrets that the API returns only once. They are kept here and not in a component, so that a redraw does not lose one
// before it was copied. Leaving the page or signing out drops it.

import { effect, signal } from '@preact/signals';
import { token } from '../../api.ts';
import { path } from '../../location.ts';

export interface Once {
  /** "key", "signing secret": the noun, for the middle of a sentence. */
  readonly what: string;
  /** The name of its key, app or webhook. */
  readonly name: string;
  readonly secret: string;
}

const kept = signal<(Once & { readonly at: string }) | undefined>(undefined);

/** Shown at this address until the page is left or the secret dismissed. */
export function keepOnce(once: Once): void {
  kept.value = { ...once, at: path.peek() };
}

export function onceHere(): Once | undefined {
  return kept.value?.at === path.value ? kept.value : undefined;
}

export function forgetOnce(): void {
  kept.value = undefined;
}

effect(() => {
  const current = path.value;
  if (token.value === null || (kept.peek() !== undefined && kept.peek()?.at !== current)) forgetOnce();
});
