// The workspace's phone numbers by id: which line a caller rang. Read once somebody who works with calls shows one.

import { effect, signal } from '@preact/signals';
import { token } from '../api.ts';
import { readAll } from '../people.ts';
import { spacedNumber } from './call-story.ts';
import { worksWithCalls } from './live-calls.ts';

export interface PhoneNumber {
  readonly id: string;
  readonly e164: string;
  readonly displayName: string;
}

export const numbers = signal<ReadonlyMap<string, PhoneNumber>>(new Map());
let reading: Promise<void> | undefined;

effect(() => {
  if (token.value === null) {
    numbers.value = new Map();
    reading = undefined;
  }
});

/** Where they cannot be read, the number itself is shown instead. */
export function readNumbers(): Promise<void> {
  if (!worksWithCalls.peek()) return Promise.resolve();
  reading ??= readAll<PhoneNumber>('/phone-numbers', 'numbers').then(
    (all) => {
      numbers.value = new Map(all.map((one) => [one.id, one]));
    },
    () => {
      reading = undefined;
    },
  );
  return reading;
}

/** What the line is called, else its number. */
export function lineOf({ phoneNumberId, toE164 }: { readonly phoneNumberId: string; readonly toE164: string }): string {
  return numbers.value.get(phoneNumberId)?.displayName ?? spacedNumber(toE164);
}
