// The workspace's phone numbers by id: which line a caller rang. Read when an agent who works with calls is first shown
// one.

import { effect, signal } from '@preact/signals';
import { token } from '../api.ts';
import { readAll } from '../paging.ts';
import type { Stop } from '../subscriptions.ts';
import { spacedNumber } from './call-story.ts';
import { worksWithCalls } from './live-calls.ts';

export interface PhoneNumber {
  readonly id: string;
  readonly e164: string;
  readonly displayName: string;
}

export const numbers = signal<ReadonlyMap<string, PhoneNumber>>(new Map());
let reading: Promise<void> | undefined;
/** Missing in the last read: claimed since, or no longer readable. Each is requested once. */
const unknown = new Set<string>();

/** Forgets them when the agent signs out. */
export function startNumbers(): Stop {
  return effect(() => {
    if (token.value !== null) return;
    numbers.value = new Map();
    unknown.clear();
    reading = undefined;
  });
}

/** If they cannot be read, the number itself is shown instead. */
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

/** For a line that rings: reads them again if it is new. */
export function readNumber(phoneNumberId: string): void {
  if (numbers.peek().has(phoneNumberId) || unknown.has(phoneNumberId) || reading === undefined) return;
  unknown.add(phoneNumberId);
  void reading.then(() => {
    if (numbers.peek().has(phoneNumberId)) return undefined;
    reading = undefined;
    return readNumbers();
  });
}

/** The line's name, or its number. */
export function lineOf({ phoneNumberId, toE164 }: { readonly phoneNumberId: string; readonly toE164: string }): string {
  return numbers.value.get(phoneNumberId)?.displayName ?? spacedNumber(toE164);
}
