// How often an account may be tried, whoever tries it: so many passwords a minute. Asked before a password is hashed, with a request
// that is known to be valid, after its network's budget. In memory, and bounded.

import { refuse } from '../engine/errors.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import { RateLimiter } from './rate-limiter.ts';

/** Specification 8. */
export const signInsPerMinute = 5;
/** Of all accounts together, from one network: more than an office needs when it opens, and a fiftieth of what the processor could do. */
export const signInsPerNetwork = 60;
/** To one address. A person who waits for a link in vain asks again; who is sent more is being flooded. */
const resetMailsPerHour = 10;
const hourMs = 3600_000;

export class SignInGuard {
  readonly #tries: RateLimiter;
  readonly #resetMails: RateLimiter;
  readonly #isOn: boolean;

  /** `isOn`: false lifts every limit (RATE_LIMITS=off). */
  constructor(clock: Pick<Clock, 'now'>, isOn: boolean) {
    this.#tries = new RateLimiter(clock);
    this.#resetMails = new RateLimiter(clock, hourMs);
    this.#isOn = isOn;
  }

  /** Counts one try of a password. Refuses rate_limited. */
  requireTry(email: string): void {
    this.#require(this.#tries, email, signInsPerMinute);
  }

  /** Counts one mail with a reset link, whether or not somebody has the address. Refuses rate_limited. */
  requireResetMail(email: string): void {
    this.#require(this.#resetMails, email, resetMailsPerHour);
  }

  #require(limiter: RateLimiter, email: string, limit: number): void {
    if (!this.#isOn) return;
    const { allowed, resetSeconds } = limiter.take(email.toLowerCase(), limit);
    if (!allowed) refuse('rate_limited', { retryAfter: resetSeconds });
  }
}
