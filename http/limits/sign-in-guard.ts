// Limits sign-in attempts per account, whoever makes them: passwords per minute, and pauses that grow with consecutive
// failures. A browser or network that the account knows has a budget of its own, so that strangers cannot lock anyone
// out. Checked before a password is hashed, for a valid request, after the limit of its network. In memory and bounded.

import { hashOf } from '../../engine/directory/compact-ids.ts';
import { refuse } from '../../engine/errors.ts';
import { comparable } from '../../engine/mail-addresses.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { KnownOrigin } from '../../store/workspace/known-origins.ts';
import { Pauses } from './pauses.ts';
import { RateLimiter } from './rate-limiter.ts';

/** Specification 8. */
export const signInsPerMinute = 5;
/**
 * For all accounts together, from one network: more than an office needs when it opens, and a fiftieth of what the
 * processor could hash.
 */
export const signInsPerNetwork = 60;
/** Mails to one address. A person who waits in vain for a link asks again; more mails than this are a flood. */
const resetMailsPerHour = 10;
const hourMs = 3600_000;

/** One attempt: every key counts it, and one of them decides. */
export interface Try {
  readonly counted: readonly string[];
  readonly judged: string;
}

/** A sign-in by email. `known`: what the account knows about the origin of the request. */
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

/** An attempt by a signed-in agent, such as its password, by agent id. */
export function ownTry(what: string): Try {
  const key = `own ${what}`;
  return { counted: [key], judged: key };
}

export class SignInGuard {
  readonly #tries: RateLimiter;
  readonly #resetMails: RateLimiter;
  readonly #pauses: Pauses;
  readonly #isOn: boolean;

  /** `isOn`: false disables every limit (RATE_LIMITS=off). */
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
        message: 'Too many failed attempts in a row. Wait, or sign in from where you did before.',
        retryAfter: Math.ceil(restMs / 1000),
      });
    const budgets = new Map(counted.map((key) => [key, this.#tries.take(key, signInsPerMinute)]));
    const budget = budgets.get(judged);
    if (budget?.allowed === false) refuse('rate_limited', { retryAfter: budget.resetSeconds });
  }

  /** Returns the number of consecutive failures if it is enough for a pause. */
  noteFailure({ judged }: Try): number | undefined {
    return this.#isOn ? this.#pauses.fail(judged) : undefined;
  }

  noteSuccess({ judged }: Try): void {
    this.#pauses.succeed(judged);
  }

  /** Counts one mail with a reset link, whether or not an agent has the address. Refuses rate_limited. */
  requireResetMail({ counted, judged }: Try): void {
    if (!this.#isOn) return;
    const budgets = new Map(counted.map((key) => [key, this.#resetMails.take(key, resetMailsPerHour)]));
    const budget = budgets.get(judged);
    if (budget?.allowed === false) refuse('rate_limited', { retryAfter: budget.resetSeconds });
  }
}
