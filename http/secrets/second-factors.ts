// Verifies second factors: which challenge an agent gets, and whether its answer is right. Used after a password, when
// a signed-in agent confirms an action, and for sign-in by passkey only.

import Type, { type Static } from 'typebox';
import { Check } from 'typebox/value';
import { compactId, compactIdChars, workspaceIdIn as idIn } from '../../engine/directory/compact-ids.ts';
import { Refusal, refuse } from '../../engine/errors.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { isoTime } from '../../engine/runtime/clock.ts';
import type { View } from '../../engine/runtime/context.ts';
import type { SignInOrigin } from '../../engine/team/known-origins.ts';
import {
  factorsOf,
  hasSecondFactor,
  methodsOf,
  usePasskey,
  useRecoveryCode,
  useTotpStep,
} from '../../engine/team/second-factors.ts';
import type { SignedIn } from '../../engine/team/signing-in.ts';
import type { PasskeyOptions } from '../../workers/secrets/passkeys.ts';
import { worded } from '../schemas/field-words.ts';
import type { Services } from '../services.ts';
import { type Asked, type Step, stepMs } from '../signed/sign-in-steps.ts';
import { noteFailure, tryAt } from './sign-in.ts';

const base64url = worded('^[A-Za-z0-9_-]+$', 'letters, digits, hyphens and underscores');
const Bytes = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: base64url });

export const Challenge = Bytes(100);
export const Code = Type.String({
  pattern: worded('^\\d{6}$', 'six digits'),
  description: 'From the authenticator app. Each code works once.',
});
export const RecoveryCode = Type.String({
  minLength: 16,
  maxLength: 40,
  description: 'One of your ten recovery codes. Hyphens, spaces and case are ignored.',
});

/** AuthenticationResponseJSON of WebAuthn §5.1.7. Other members are ignored. */
export const PasskeySignature = Type.Object(
  {
    id: Bytes(1400),
    rawId: Bytes(1400),
    type: Type.Literal('public-key'),
    response: Type.Object({
      clientDataJSON: Bytes(4000),
      authenticatorData: Bytes(4000),
      signature: Bytes(4000),
      userHandle: Type.Optional(Bytes(100)),
    }),
  },
  { description: 'The result of navigator.credentials.get() as JSON (PublicKeyCredential.toJSON()).' },
);
export type PasskeySignature = Static<typeof PasskeySignature>;

export interface Proof {
  readonly code?: string;
  readonly recoveryCode?: string;
  readonly passkey?: PasskeySignature;
}

export interface Question {
  readonly challenge: string;
  readonly expiresAt: string;
  readonly methods: readonly string[];
  /** For navigator.credentials.get(); null for an agent without passkeys. */
  readonly passkey: PasskeyOptions | null;
}

/**
 * Completes a sign-in with the right password if the agent has no second factor. Otherwise refuses
 * second_factor_required, with the challenge in its detail.
 */
export async function finishOrAsk(
  services: Services,
  view: View,
  asking: Asked & { finish: () => Promise<SignedIn> },
): Promise<SignedIn> {
  if (!hasSecondFactor(view, asking.member.agent.id)) return asking.finish();
  return refuse('second_factor_required', {
    detail: { ...(await askSecondFactor(services, view, { kind: 'second', ...asking })) },
  });
}

export async function askSecondFactor(
  services: Pick<Services, 'signInSteps' | 'passkeys' | 'clock'>,
  view: View,
  step: Extract<Step, Asked>,
): Promise<Question> {
  return questionOf(services, view, { step, challenge: services.signInSteps.ask(step) });
}

/** The challenge, repeated after a wrong answer. */
export async function questionOf(
  services: Pick<Services, 'passkeys' | 'clock'>,
  view: View,
  asked: { step: Asked; challenge: string },
): Promise<Question> {
  const { id } = asked.step.member.agent;
  const { passkeys: known } = factorsOf(view, id);
  const passkey =
    known.length === 0 ? undefined : await services.passkeys?.requestOptions({ challenge: asked.challenge, known });
  return {
    challenge: asked.challenge,
    expiresAt: isoTime(services.clock.now() + stepMs),
    methods: methodsOf(view, id),
    passkey: passkey ?? null,
  };
}

/** The answer to a challenge of `step`, which counts once. Refuses gone, invalid_code, rate_limited. */
export async function passSecondFactor(
  services: Services,
  step: Asked,
  answer: Proof & { challenge: string; operation: string },
): Promise<void> {
  const { challenge, operation } = answer;
  const { member, origin } = step;
  const tried = tryAt(services, member, { email: `${member.agent.email} second factor`, origin });
  services.signInGuard.requireTry(tried);
  const isRight = await isProof(services, {
    workspaceId: member.workspace.id,
    agentId: member.agent.id,
    challenge,
    proof: answer,
    origin,
  });
  if (!isRight) {
    services.signInSteps.noteWrong(challenge);
    noteFailure(services, { found: member, tried, origin, operation, isPasswordKnown: true });
    refuse('invalid_code');
  }
  services.signInGuard.noteSuccess(tried);
  if (!services.signInSteps.end(challenge)) refuseLate();
}

export function refuseLate(): never {
  return refuse('gone', { message: 'That took too long, or there were too many attempts. Start again.' });
}

/** Whether the code or signature is the agent's. A valid one counts only once. */
export async function isProof(
  services: Services,
  shown: { workspaceId: string; agentId: string; challenge: string; proof: Proof; origin: SignInOrigin },
): Promise<boolean> {
  const { workspaceId, agentId, challenge, proof, origin } = shown;
  const { engine, secrets, totp: totpCodes, clock, passkeys } = services;
  const view = engine.workspace(workspaceId)?.view(systemCaller);
  if (view === undefined) return false;
  const { totp, passkeys: known } = factorsOf(view, agentId);
  const taken = (taking: Promise<void>): Promise<boolean> => taking.then(() => true, isWrong);
  if (proof.passkey !== undefined) {
    const { passkey: response } = proof;
    const passkey = known.find(({ credentialId }) => credentialId === response.id);
    const signature =
      passkey === undefined ? undefined : await passkeys?.verifySignature({ challenge, response, passkey });
    return (
      signature !== undefined &&
      taken(
        engine.execute(usePasskey, {
          workspaceId,
          caller: systemCaller,
          params: { agentId, credentialId: response.id, counter: signature.counter },
        }),
      )
    );
  }
  if (proof.code !== undefined) {
    if (totp === undefined || totp.confirmedAt === null) return false;
    const step = await totpCodes.stepOf({
      secret: secrets.open(totp.sealedSecret, totpName(workspaceId, agentId)),
      code: proof.code,
      nowMs: clock.now(),
    });
    return (
      step !== undefined &&
      taken(engine.execute(useTotpStep, { workspaceId, caller: systemCaller, params: { agentId, step } }))
    );
  }
  if (proof.recoveryCode === undefined) return false;
  return taken(
    engine.execute(useRecoveryCode, {
      workspaceId,
      caller: systemCaller,
      params: { agentId, code: proof.recoveryCode, origin },
    }),
  );
}

/** The purpose under which an authenticator app's secret is sealed. */
export function totpName(workspaceId: string, agentId: string): string {
  return `${workspaceId}:agent-totp:${agentId}`;
}

/** The user handle that a passkey returns: the workspace, then the agent. */
export function userHandleOf(workspaceId: string, agentId: string): Uint8Array {
  return Buffer.from(compactId(workspaceId) + compactId(agentId));
}

/** Undefined for a handle that no passkey of this service has. */
export function personIn(userHandle: string | undefined): { workspaceId: string; agentId: string } | undefined {
  const text = Buffer.from(userHandle ?? '', 'base64url').toString('latin1');
  const [workspaceId, agentId] = [idIn(text), idIn(text.slice(compactIdChars))];
  return workspaceId === undefined || agentId === undefined ? undefined : { workspaceId, agentId };
}

/** The challenge that the browser answered; undefined for an invalid answer. */
export function challengeIn(clientDataJson: string): string | undefined {
  try {
    const { challenge } = JSON.parse(Buffer.from(clientDataJson, 'base64url').toString()) as { challenge?: unknown };
    return typeof challenge === 'string' ? challenge : undefined;
  } catch {
    return undefined;
  }
}

/** From a form field, which is text; undefined for anything but a signature. */
export function signatureIn(text: string): PasskeySignature | undefined {
  try {
    const given: unknown = JSON.parse(text);
    return Check(PasskeySignature, given) ? given : undefined;
  } catch {
    return undefined;
  }
}

function isWrong(error: unknown): false {
  if (error instanceof Refusal && error.slug === 'invalid_code') return false;
  throw error;
}
