// Unanswered challenges of a sign-in: a second factor after a password, or a passkey's signature. Each counts once and
// lasts some minutes. In memory, so that after a restart a sign-in starts over. Bounded: an agent's own oldest
// challenge is evicted when it has too many, and a stranger's when strangers have, so that no one's attempts end
// another agent's.

import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Ids } from '../../engine/runtime/ids.ts';
import { KeptElsewhere } from '../../engine/runtime/placement.ts';
import type { SignInOrigin } from '../../engine/team/known-origins.ts';
import type { Member, SignedIn } from '../../engine/team/signing-in.ts';

/** The challenged agent, and where it signed in from. */
export interface Asked {
  readonly member: Member;
  readonly origin: SignInOrigin;
}

export type Step =
  /** The password or the reset link was right; the second factor completes it. */
  | (Asked & { readonly kind: 'second'; readonly finish: () => Promise<SignedIn> })
  /** The password was right on the consent page of an app. */
  | (Asked & { readonly kind: 'consent'; readonly clientId: string })
  /** Anyone with a passkey of this service. */
  | { readonly kind: 'passkey' }
  /** A signed-in agent adds a passkey, or confirms with one. */
  | { readonly kind: 'create'; readonly agentId: string }
  | { readonly kind: 'confirm'; readonly agentId: string };

interface Waiting {
  readonly step: Step;
  readonly owner: string;
  readonly endsMs: number;
  wrong: number;
}

export const stepMs = 5 * 60_000;
/** After this many wrong answers, the password is required again. */
const maxWrong = 5;
const maxSteps = 20_000;
/** Challenges of clients that have proved nothing yet. */
const maxOfStrangers = maxSteps / 2;
/**
 * Challenges of one agent: more than the password attempts allowed while one lasts, so that someone who knows only the
 * password cannot evict the owner's.
 */
const maxOfAgent = 30;
/** WebAuthn §13.4.3 requires at least 16. */
const challengeBytes = 32;

/** Of several nodes, the one that asked is part of its challenges, unless any of them may go on. */
export interface AskingNode {
  readonly tag: Uint8Array;
  /** The other node that has this tag and is there. */
  otherBy(tag: Uint8Array): string | undefined;
  /** By all nodes alike. */
  sign(bytes: Uint8Array): Buffer;
}

/** A challenge that any node knows by its signature: its time, in seconds, then random bytes, then the signature. */
const signedFrom = 16;

export class SignInSteps {
  readonly #node: AskingNode | undefined;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #ids: Pick<Ids, 'secret'>;
  /** The oldest first. */
  readonly #asked = new Map<string, Waiting>();
  /** Signed challenges that were answered here, and until when they could be again. The oldest first. */
  readonly #used = new Map<string, number>();
  /** Number of challenges by owner. */
  readonly #counts = new Map<string, number>();

  constructor(clock: Pick<Clock, 'now'>, ids: Pick<Ids, 'secret'>, node?: AskingNode) {
    this.#node = node;
    this.#clock = clock;
    this.#ids = ids;
  }

  /** Answers the challenge, in base64url. */
  ask(step: Step): string {
    const now = this.#clock.now();
    // Who has only a passkey has not said yet in which workspace, so another node goes on.
    if (this.#node !== undefined && step.kind === 'passkey') return this.#signedChallenge(this.#node, now);
    for (const [challenge, { endsMs }] of this.#asked) {
      if (endsMs > now && this.#asked.size < maxSteps) break;
      this.end(challenge);
    }
    const owner = ownerOf(step);
    if ((this.#counts.get(owner) ?? 0) >= (owner === strangers ? maxOfStrangers : maxOfAgent)) this.#endOldestOf(owner);
    const challenge = this.#newChallenge();
    this.#asked.set(challenge, { step, owner, endsMs: now + stepMs, wrong: 0 });
    this.#counts.set(owner, (this.#counts.get(owner) ?? 0) + 1);
    return challenge;
  }

  /** Throws KeptElsewhere if another node asked it. */
  find(challenge: string): Step | undefined {
    const asked = this.#asked.get(challenge);
    if (asked === undefined && this.#isOpenToAll(challenge)) return this.#used.has(challenge) ? undefined : passkeyStep;
    const other = asked === undefined ? this.#node?.otherBy(Buffer.from(challenge, 'base64url')) : undefined;
    if (other !== undefined) throw new KeptElsewhere(other);
    return asked === undefined || asked.endsMs <= this.#clock.now() ? undefined : asked.step;
  }

  /** The owner of the challenge; undefined for one of another kind. */
  agentOf(challenge: string, kind: 'create' | 'confirm'): string | undefined {
    const step = this.find(challenge);
    return step?.kind === kind ? step.agentId : undefined;
  }

  /** Marks it as answered. False for the second of two simultaneous answers. */
  end(challenge: string): boolean {
    const asked = this.#asked.get(challenge);
    if (asked === undefined) return this.#isOpenToAll(challenge) && this.#use(challenge);
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

  #signedChallenge(node: AskingNode, nowMs: number): string {
    const bytes = Buffer.from(this.#ids.secret(challengeBytes), 'base64url');
    bytes.writeUInt32BE(Math.floor(nowMs / 1000));
    node.sign(bytes.subarray(0, signedFrom)).copy(bytes, signedFrom, 0, challengeBytes - signedFrom);
    return bytes.toString('base64url');
  }

  #isOpenToAll(challenge: string): boolean {
    const bytes = Buffer.from(challenge, 'base64url');
    if (this.#node === undefined || bytes.length !== challengeBytes) return false;
    const signature = this.#node.sign(bytes.subarray(0, signedFrom)).subarray(0, challengeBytes - signedFrom);
    const ageMs = this.#clock.now() - bytes.readUInt32BE() * 1000;
    return timingSafeEqual(signature, bytes.subarray(signedFrom)) && Math.abs(ageMs) < stepMs;
  }

  /** False for the second time. One too old to be used is forgotten. */
  #use(challenge: string): boolean {
    const now = this.#clock.now();
    if (this.#used.has(challenge)) return false;
    for (const [used, endsMs] of this.#used) {
      if (endsMs > now && this.#used.size < maxSteps) break;
      this.#used.delete(used);
    }
    this.#used.set(challenge, now + 2 * stepMs);
    return true;
  }

  #newChallenge(): string {
    const secret = this.#ids.secret(challengeBytes);
    if (this.#node === undefined) return secret;
    const random = Buffer.from(secret, 'base64url');
    random.set(this.#node.tag);
    return random.toString('base64url');
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
const passkeyStep: Step = { kind: 'passkey' };

function ownerOf(step: Step): string {
  if (step.kind === 'passkey') return strangers;
  return 'member' in step ? step.member.agent.id : step.agentId;
}
