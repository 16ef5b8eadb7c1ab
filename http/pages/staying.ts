// Staying signed in: whoever works here has the sign-in made longer, so that it does not end in the middle of a shift.
// One that nobody uses ends by itself.

import { call, keepToken, token } from './api.ts';

const keptAs = 'switchboard.refreshedAt';
/** A few times a day is enough for a sign-in of days. */
const everyMs = 6 * 3600_000;
/** After one that failed. */
const pauseMs = 60_000;

let triedAtMs = 0;

/** Called once, by the app. */
export function stayWhileWorking(): void {
  for (const sign of ['pointerdown', 'keydown']) addEventListener(sign, () => void refreshIfDue(), { passive: true });
}

/** Who signed in just now needs nothing for a while. */
export function noteSignIn(): void {
  try {
    localStorage.setItem(keptAs, String(Date.now()));
  } catch {
    // A browser that keeps nothing asks more often.
    return;
  }
}

async function refreshIfDue(): Promise<void> {
  const now = Date.now();
  const asking = token.peek();
  if (asking === null || now - triedAtMs < pauseMs || now - refreshedAtMs() < everyMs) return;
  triedAtMs = now;
  try {
    const { token: given } = await call<{ token: string }>('POST', '/auth/refresh');
    noteSignIn();
    // Another one only for a token from before sign-ins could be made longer.
    if (given !== asking && token.peek() === asking) keepToken(given);
  } catch {
    // There will be another sign of work.
    return;
  }
}

/** By any tab; 0 when that is not known, or cannot be. */
function refreshedAtMs(): number {
  try {
    const atMs = Number(localStorage.getItem(keptAs) ?? 0);
    return atMs <= Date.now() ? atMs : 0;
  } catch {
    return 0;
  }
}
