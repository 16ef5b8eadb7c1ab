// Extends the session while the agent is working, so that it does not end in the middle of a shift. An unused session
// expires on its own.

import { call, keepToken, token } from './api.ts';
import { onWindow, type Stop, stopAll } from './subscriptions.ts';

const keptAs = 'switchboard.refreshedAt';
/** A few times a day is enough: a session lasts for days. */
const everyMs = 6 * 3600_000;
/** The pause after a failed attempt. */
const pauseMs = 60_000;

let triedAtMs = 0;

export function stayWhileWorking(): Stop {
  const signs = ['pointerdown', 'keydown'] as const;
  return stopAll(signs.map((sign) => onWindow(sign, () => void refreshIfDue(), { passive: true })));
}

/** Records a new sign-in, which needs no refresh for a while. */
export function noteSignIn(): void {
  try {
    localStorage.setItem(keptAs, String(Date.now()));
  } catch {
    // Without storage, the session is refreshed more often.
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
    // The server returns a new token only for one from before sessions could be extended.
    if (given !== asking && token.peek() === asking) keepToken(given);
  } catch {
    // The next click or key press tries again.
    return;
  }
}

/** The last refresh by any tab; 0 if unknown or in the future. */
function refreshedAtMs(): number {
  try {
    const atMs = Number(localStorage.getItem(keptAs) ?? 0);
    return atMs <= Date.now() ? atMs : 0;
  } catch {
    return 0;
  }
}
