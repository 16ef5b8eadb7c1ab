// How often an account may be tried, whoever tries it: so many passwords a minute, and pauses that grow with what is
// wrong in a row. Who comes from a browser or a network that the account knows is counted for itself, so that strangers
// keep nobody out. Asked before a password is hashed, with a request that is known to be valid, after its network's
// budget. In memory, and bounded.

import { hashOf } from '../../engine/directory/locator.ts';
import { refuse } from '../../engine/errors.ts';
import { comparable } from '../../engine/mail-addresses.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { KnownOrigin } from '../../store/workspace/known-origins.ts';
import { Pauses } from './pauses.ts';
import { RateLimiter } from './rate-limiter.ts';

/** Specification 8. */
export const signInsPerMinute = 5;
/**
 * Of all accounts together, from one network: more than an office needs when it opens, and a fiftieth of what the
 * processor could do.
 */
export const signInsPerNetwork = 60;
/** To one address. A person who waits for a link in vain asks again; who is sent more is being flooded. */
const resetMailsPerHour = 10;
const hourMs = 3600_000;

/** What is tried, as it is counted: everything that it belongs to counts it, and one of those decides. */
export interface Try {
  readonly counted: readonly string[];
  readonly judged: string;
}

/** A sign-in by email. `known` is what the account knows of where it comes from. */
export function tryOf(
  email: string,
  origin: { readonly network: string; readonly browser: string | undefined },
  known: KnownOrigin | undefined,
): Try {
  const account = comparable(email);
  const keyOf = ({ kind, value }: KnownOrigin): string => `${account} ${kind} ${value}`;
  const own = [
    keyOf({ kind: 'network', value: origin.network }),
    ...(origin.browser === undefined ? [] : [keyOf({ kind: 'browser', value: hashOf(origin.browser) })]),
  ];
  return { counted: [account, ...own], judged: known === undefined ? account : keyOf(known) };
}

/** By who is signed in: what is tried, such as the agent's password by its id. */
export function ownTry(what: string): Try {
  const key = `own ${what}`;
  return { counted: [key], judged: key };
}

export class SignInGuard {
  readonly #tries: RateLimiter;
  readonly #resetMails: RateLimiter;
  readonly #pauses: Pauses;
  readonly #isOn: boolean;

  /** `isOn`: false lifts every limit (RATE_LIMITS=off). */
  constructor(clock: Pick<Clock, 'now'>, isOn: boolean) {
    this.#tries = new RateLimiter(clock);
    this.#resetMails = new RateLimiter(clock, hourMs);
    this.#pauses = new Pauses(clock);
    this.#isOn = isOn;
  }

  /** Refuses rate_limited. */
  requireTry({ counted, judged }: Try): void {
    if (!this.#isOn) return;
    const restMs = this.#pauses.restMs(judged);
    if (restMs > 0)
      refuse('rate_limited', {
        message: 'Too often wrong in a row. Wait, or sign in from where you did before.',
        retryAfter: Math.ceil(restMs / 1000),
      });
    const budgets = new Map(counted.map((key) => [key, this.#tries.take(key, signInsPerMinute)]));
    const budget = budgets.get(judged);
    if (budget?.allowed === false) refuse('rate_limited', { retryAfter: budget.resetSeconds });
  }

  /** Answers how many were wrong in a row, where that are so many that the next has to wait. */
  noteFailure({ judged }: Try): number | undefined {
    return this.#isOn ? this.#pauses.fail(judged) : undefined;
  }

  noteSuccess({ judged }: Try): void {
    this.#pauses.succeed(judged);
  }

  /** Counts one mail with a reset link, whether or not somebody has the address. Refuses rate_limited. */
  requireResetMail({ counted, judged }: Try): void {
    if (!this.#isOn) return;
    const budgets = new Map(counted.map((key) => [key, this.#resetMails.take(key, resetMailsPerHour)]));
    const budget = budgets.get(judged);
    if (budget?.allowed === false) refuse('rate_limited', { retryAfter: budget.resetSeconds });
  }
}
