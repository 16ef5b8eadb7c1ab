// What was asked and not answered yet on the way in: a second factor after a password, a passkey's signature. Each is a
// challenge that counts once, for some minutes. In memory: who is asked when the process ends begins again. Bounded:
// the oldest goes, of an agent with too many its own and of strangers a stranger's, so that nobody's tries put an end
// to another's.

import type { Clock } from '../../engine/runtime/clock.ts';
import type { Ids } from '../../engine/runtime/ids.ts';
import type { Member, SignedIn } from '../../engine/team/joining.ts';
import type { SignInOrigin } from '../../engine/team/known-origins.ts';

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
  readonly owner: string;
  readonly endsMs: number;
  wrong: number;
}

export const stepMs = 5 * 60_000;
/** Then the password has to be shown again. */
const maxWrong = 5;
const maxSteps = 20_000;
/** Of those whom nobody has shown anything of yet. */
const maxOfStrangers = maxSteps / 2;
/**
 * Of one agent: more than the passwords that may be tried while a challenge lasts, so that who knows the password alone
 * ends none of its owner's.
 */
const maxOfAgent = 30;
/** WebAuthn §13.4.3 asks for 16 at the least. */
const challengeBytes = 32;

export class SignInSteps {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #ids: Pick<Ids, 'secret'>;
  /** The oldest first. */
  readonly #asked = new Map<string, Waiting>();
  /** How many each owner has. */
  readonly #counts = new Map<string, number>();

  constructor(clock: Pick<Clock, 'now'>, ids: Pick<Ids, 'secret'>) {
    this.#clock = clock;
    this.#ids = ids;
  }

  /** Answers the challenge, in base64url. */
  ask(step: Step): string {
    const now = this.#clock.now();
    for (const [challenge, { endsMs }] of this.#asked) {
      if (endsMs > now && this.#asked.size < maxSteps) break;
      this.end(challenge);
    }
    const owner = ownerOf(step);
    if ((this.#counts.get(owner) ?? 0) >= (owner === strangers ? maxOfStrangers : maxOfAgent)) this.#endOldestOf(owner);
    const challenge = this.#ids.secret(challengeBytes);
    this.#asked.set(challenge, { step, owner, endsMs: now + stepMs, wrong: 0 });
    this.#counts.set(owner, (this.#counts.get(owner) ?? 0) + 1);
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
    const asked = this.#asked.get(challenge);
    if (asked === undefined) return false;
    this.#asked.delete(challenge);
    const left = (this.#counts.get(asked.owner) ?? 0) - 1;
    if (left > 0) this.#counts.set(asked.owner, left);
    else this.#counts.delete(asked.owner);
    return true;
  }

  noteWrong(challenge: string): void {
    const asked = this.#asked.get(challenge);
    if (asked === undefined) return;
    asked.wrong += 1;
    if (asked.wrong >= maxWrong) this.end(challenge);
  }

  get size(): number {
    return this.#asked.size;
  }

  #endOldestOf(owner: string): void {
    for (const [challenge, asked] of this.#asked) {
      if (asked.owner !== owner) continue;
      this.end(challenge);
      return;
    }
  }
}

const strangers = '';

function ownerOf(step: Step): string {
  if (step.kind === 'passkey') return strangers;
  return 'member' in step ? step.member.agent.id : step.agentId;
}
