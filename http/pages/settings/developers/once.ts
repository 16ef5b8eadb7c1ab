// Secrets that the API tells once. They are kept here and not in a component, so that drawing a page anew, for whatever
// reason, does not lose one before it was copied; leaving the page, or signing out, forgets it for good.

import { effect, signal } from '@preact/signals';
import { token } from '../../api.ts';
import { path } from '../../location.ts';

export interface Once {
  /** "key", "signing secret": what it is, in the middle of a sentence. */
  readonly what: string;
  /** Whose it is. */
  readonly name: string;
  readonly secret: string;
}

const kept = signal<(Once & { readonly at: string }) | undefined>(undefined);

/** Shown at this address until it is left or dismissed. */
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
