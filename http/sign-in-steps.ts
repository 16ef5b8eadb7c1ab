// What was asked and not answered yet on the way in: a second factor after a password, a passkey's signature. Each is a challenge that
// counts once, for some minutes. In memory: who is asked when the process ends begins again. Bounded: the oldest goes.

import type { Member, SignedIn } from '../engine/joining.ts';
import type { SignInOrigin } from '../engine/known-origins.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import type { Ids } from '../engine/runtime/ids.ts';

/** Who is asked, and where it was when it showed its password. */
export interface Asked {
  readonly member: Member;
  readonly origin: SignInOrigin;
}

export type Step =
  /** The password, or the link of a reset, was right: what is done with the second factor. */
  | (Asked & { readonly kind: 'second'; readonly finish: () => Promise<SignedIn> })
  /** The password was right where an app is allowed to act for the agent. */
  | (Asked & { readonly kind: 'consent'; readonly clientId: string })
  /** Anybody who has a passkey of this service. */
  | { readonly kind: 'passkey' }
  /** Who is signed in makes a passkey, or shows one. */
  | { readonly kind: 'create'; readonly agentId: string }
  | { readonly kind: 'confirm'; readonly agentId: string };

interface Waiting {
  readonly step: Step;
  readonly endsMs: number;
  wrong: number;
}

export const stepMs = 5 * 60_000;
/** Then the password has to be shown again. */
const maxWrong = 5;
const maxSteps = 20_000;
/** WebAuthn §13.4.3 asks for 16 at the least. */
const challengeBytes = 32;

export class SignInSteps {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #ids: Pick<Ids, 'secret'>;
  /** The oldest first. */
  readonly #asked = new Map<string, Waiting>();

  constructor(clock: Pick<Clock, 'now'>, ids: Pick<Ids, 'secret'>) {
    this.#clock = clock;
    this.#ids = ids;
  }

  /** Answers the challenge, in base64url. */
  ask(step: Step): string {
    const now = this.#clock.now();
    for (const [challenge, { endsMs }] of this.#asked) {
      if (endsMs > now && this.#asked.size < maxSteps) break;
      this.#asked.delete(challenge);
    }
    const challenge = this.#ids.secret(challengeBytes);
    this.#asked.set(challenge, { step, endsMs: now + stepMs, wrong: 0 });
    return challenge;
  }

  find(challenge: string): Step | undefined {
    const asked = this.#asked.get(challenge);
    return asked === undefined || asked.endsMs <= this.#clock.now() ? undefined : asked.step;
  }

  /** Whose it is; undefined for one of another kind. */
  agentOf(challenge: string, kind: 'create' | 'confirm'): string | undefined {
    const step = this.find(challenge);
    return step?.kind === kind ? step.agentId : undefined;
  }

  /** It was answered. False for one of two that answer it at once. */
  end(challenge: string): boolean {
    return this.#asked.delete(challenge);
  }

  noteWrong(challenge: string): void {
    const asked = this.#asked.get(challenge);
    if (asked === undefined) return;
    asked.wrong += 1;
    if (asked.wrong >= maxWrong) this.#asked.delete(challenge);
  }

  get size(): number {
    return this.#asked.size;
  }
}
