// The signed-in agent's second factors: an authenticator app, passkeys, recovery codes. Admins can reset those of an
// agent who lost them.

import Type from 'typebox';
import { refuse } from '../../engine/errors.ts';
import { confirmedUntil, confirmSession, requireConfirmed } from '../../engine/team/agent-sessions.ts';
import {
  addPasskey,
  confirmTotp,
  enrolTotp,
  factorsOf,
  hasSecondFactor,
  methodsOf,
  mustEnrol,
  removePasskey,
  removeTotp,
  renamePasskey,
  renewRecoveryCodes,
  resetSecondFactors,
  viewSecondFactors,
} from '../../engine/team/second-factors.ts';
import { callingAgent } from '../../engine/workspace/access.ts';
import { theWorkspace } from '../../engine/workspace/workspace.ts';
import { ownTry } from '../limits/sign-in-guard.ts';
import { type Access, type Call, route } from '../route.ts';
import { worded } from '../schemas/field-words.ts';
import { Id, Name, nullable, Time } from '../schemas/shared.ts';
import { AnyPassword } from '../secrets/passwords.ts';
import {
  Code,
  challengeIn,
  isProof,
  PasskeySignature,
  RecoveryCode,
  totpName,
  userHandleOf,
} from '../secrets/second-factors.ts';
import { findByOwnPassword, noteFailure } from '../secrets/sign-in.ts';
import { signingOf } from '../secrets/signed-in.ts';
import type { Services } from '../services.ts';
import { PasskeyOptions } from './sign-in.ts';

/** Also for agents who may do nothing else before they have one. */
const access = { kind: 'agent', scope: null, credential: 'person', beforeEnrolment: true } as const satisfies Access;
const tag = 'Auth';
/** The length that RFC 4226 §4 recommends for SHA-1. */
const secretBytes = 20;
const base64url = worded('^[A-Za-z0-9_-]+$', 'letters, digits, hyphens and underscores');
const Bytes = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: base64url });

const Passkey = Type.Object({ id: Id, name: Type.String(), createdAt: Time, lastUsedAt: nullable(Time) });
const RecoveryCodes = Type.Array(Type.String(), {
  description: 'Ten codes, shown once. Each replaces the second factor for one sign-in.',
});
const confirmedLately =
  'Requires a sign-in or a POST /me/confirm within the last fifteen minutes: otherwise returns 403 `confirmation_required`.';
const needsConfirmation = `${confirmedLately} The agent is notified by mail.`;

/** RegistrationResponseJSON of WebAuthn §5.1.7. */
const NewPasskey = Type.Object(
  {
    id: Bytes(1400),
    rawId: Bytes(1400),
    type: Type.Literal('public-key'),
    response: Type.Object({
      clientDataJSON: Bytes(4000),
      attestationObject: Bytes(20_000),
      transports: Type.Optional(Type.Array(Type.String({ maxLength: 40 }), { maxItems: 10 })),
    }),
  },
  { description: 'The result of navigator.credentials.create() as JSON (PublicKeyCredential.toJSON()).' },
);

export const secondFactorRoutes = [
  route({
    operation: 'me.security',
    method: 'GET',
    path: '/me/security',
    tag,
    summary: 'Get your second factors',
    access,
    reply: {
      status: 200,
      schema: Type.Object({
        totp: nullable(Type.Object({ createdAt: Time })),
        passkeys: Type.Array(Passkey),
        recoveryCodesLeft: Type.Integer({ minimum: 0 }),
        isRequired: Type.Boolean({ description: 'Whether the workspace requires a second factor of every agent.' }),
        mustEnrol: Type.Boolean({ description: 'This sign-in can do nothing else until a second factor is set up.' }),
        confirmedUntil: nullable(
          Type.String({
            format: 'date-time',
            description: 'Until when this sign-in may change them; null if POST /me/confirm is needed first.',
          }),
        ),
        hasPasskeys: Type.Boolean({
          description: 'Whether this service supports passkeys: not at an address without a host name.',
        }),
      }),
    },
    refusals: [],
    read: (view, { sessionId }, { passkeys }) => ({
      ...viewSecondFactors(view),
      isRequired: theWorkspace(view).settings.secondFactorRequiredAt !== null,
      mustEnrol: mustEnrol(view, callingAgent(view).id, sessionId),
      confirmedUntil: confirmedUntil(view, sessionId),
      hasPasskeys: passkeys !== undefined,
    }),
  }),

  route({
    operation: 'me.confirmOptions',
    method: 'POST',
    path: '/me/confirm/options',
    tag,
    summary: 'Get a challenge for one of your passkeys',
    access,
    httpOnly: true,
    reply: { status: 200, schema: Type.Object({ passkey: PasskeyOptions }) },
    refusals: ['semantic_error'],
    async run({ workspaceId, caller }, services) {
      const view = viewOf(services, { workspaceId, caller });
      const { id: agentId } = callingAgent(view);
      const { passkeys } = services;
      if (passkeys === undefined) return refuseNameless();
      return {
        passkey: await passkeys.requestOptions({
          challenge: services.signInSteps.ask({ kind: 'confirm', agentId }),
          known: factorsOf(view, agentId).passkeys,
        }),
      };
    },
  }),

  route({
    operation: 'me.confirm',
    method: 'POST',
    path: '/me/confirm',
    tag,
    summary: 'Confirm your identity',
    description:
      'Send one of `code`, `recoveryCode` and `passkey` (for a challenge from POST /me/confirm/options), ' +
      'or `password` if you have no second factor. ' +
      'A correct password from an agent with a second factor returns 401 `second_factor_required`, whose detail lists the methods. ' +
      'For fifteen minutes this sign-in may then change how the account signs in. Attempts are limited as for login.',
    access,
    httpOnly: true,
    body: Type.Object({
      password: Type.Optional(AnyPassword),
      code: Type.Optional(Code),
      recoveryCode: Type.Optional(RecoveryCode),
      passkey: Type.Optional(PasskeySignature),
    }),
    reply: { status: 200, schema: Type.Object({ confirmedUntil: Time }) },
    refusals: ['invalid_credentials', 'second_factor_required', 'confirmation_required'],
    actsOutside: true,
    async run(call, services) {
      const { workspaceId, caller, sessionId } = call;
      await requireSelf(call, services);
      return {
        confirmedUntil: await services.engine.execute(confirmSession, { workspaceId, caller, params: { sessionId } }),
      };
    },
  }),

  route({
    operation: 'me.enrolTotp',
    method: 'POST',
    path: '/me/totp',
    tag,
    summary: 'Set up an authenticator app',
    description: `Has no effect until POST /me/totp/confirm receives the first code. ${needsConfirmation}`,
    access,
    httpOnly: true,
    reply: {
      status: 201,
      schema: Type.Object({
        secret: Type.String({ description: 'Base32, for typing.' }),
        otpauthUrl: Type.String(),
        qrCode: Type.String({ description: 'otpauthUrl as an image, in a data URL.' }),
      }),
    },
    refusals: ['confirmation_required', 'conflict'],
    async run(call, services) {
      const { workspaceId, caller, sessionId } = call;
      const origin = originOf(call);
      const view = viewOf(services, call);
      const agent = callingAgent(view);
      const bytes = Buffer.from(services.ids.secret(secretBytes), 'base64url');
      const made = await services.totp.enrol({ bytes, issuer: theWorkspace(view).name, account: agent.email });
      const sealedSecret = services.secrets.seal(made.secret, totpName(workspaceId, agent.id));
      await services.engine.execute(enrolTotp, { workspaceId, caller, params: { sessionId, origin, sealedSecret } });
      return made;
    },
  }),

  route({
    operation: 'me.confirmTotp',
    method: 'POST',
    path: '/me/totp/confirm',
    tag,
    summary: 'Confirm the authenticator app with its first code',
    description: 'From then on login requires a second factor.',
    access,
    httpOnly: true,
    body: Type.Object({ code: Code }),
    reply: { status: 200, schema: Type.Object({ recoveryCodes: nullable(RecoveryCodes) }) },
    refusals: ['confirmation_required', 'invalid_code'],
    async run(call, services) {
      const { workspaceId, caller, sessionId, body } = call;
      const origin = originOf(call);
      const agent = callingAgent(viewOf(services, call));
      const tried = ownTry(agent.id);
      services.signInGuard.requireTry(tried);
      const { totp } = factorsOf(viewOf(services, call), agent.id);
      const { sealedSecret } = totp ?? refuse('not_found');
      const step = await services.totp.stepOf({
        secret: services.secrets.open(sealedSecret, totpName(workspaceId, agent.id)),
        code: body.code,
        nowMs: services.clock.now(),
      });
      return {
        recoveryCodes: await services.engine.execute(confirmTotp, {
          workspaceId,
          caller,
          params: { sessionId, origin, step: step ?? null, sealedSecret },
        }),
      };
    },
  }),

  route({
    operation: 'me.removeTotp',
    method: 'DELETE',
    path: '/me/totp',
    tag,
    summary: 'Remove the authenticator app',
    description: `Removing the last second factor removes the recovery codes too. ${needsConfirmation}`,
    access,
    httpOnly: true,
    reply: { status: 204, schema: null },
    refusals: ['confirmation_required', 'semantic_error'],
    run: (call, { engine }) =>
      engine.execute(removeTotp, { workspaceId: call.workspaceId, caller: call.caller, params: byAgent(call) }),
  }),

  route({
    operation: 'me.renewRecoveryCodes',
    method: 'POST',
    path: '/me/recovery-codes',
    tag,
    summary: 'Create new recovery codes',
    description: `The previous codes stop working. ${needsConfirmation}`,
    access,
    httpOnly: true,
    reply: { status: 201, schema: Type.Object({ recoveryCodes: RecoveryCodes }) },
    refusals: ['confirmation_required'],
    run: async (call, { engine }) => ({
      recoveryCodes: await engine.execute(renewRecoveryCodes, {
        workspaceId: call.workspaceId,
        caller: call.caller,
        params: byAgent(call),
      }),
    }),
  }),

  route({
    operation: 'me.passkeyOptions',
    method: 'POST',
    path: '/me/passkeys/options',
    tag,
    summary: 'Get the options for creating a passkey',
    description: `The challenge works once, for five minutes. ${confirmedLately}`,
    access,
    httpOnly: true,
    reply: { status: 200, schema: Type.Object({ passkey: PasskeyOptions }) },
    refusals: ['semantic_error', 'confirmation_required'],
    async run({ workspaceId, caller, sessionId }, services) {
      const view = viewOf(services, { workspaceId, caller });
      const agent = requireConfirmed(view, sessionId);
      const { passkeys } = services;
      if (passkeys === undefined) return refuseNameless();
      const challenge = services.signInSteps.ask({ kind: 'create', agentId: agent.id });
      return {
        passkey: await passkeys.creationOptions({
          challenge,
          userHandle: userHandleOf(workspaceId, agent.id),
          account: agent.email,
          name: agent.name,
          known: factorsOf(view, agent.id).passkeys,
        }),
      };
    },
  }),

  route({
    operation: 'me.addPasskey',
    method: 'POST',
    path: '/me/passkeys',
    tag,
    summary: 'Add a passkey',
    description:
      'Send what the browser returned for POST /me/passkeys/options. ' +
      'A passkey signs in without a password, and is a second factor for sign-ins with one. ' +
      needsConfirmation,
    access,
    httpOnly: true,
    body: Type.Object({ name: Name, passkey: NewPasskey }),
    reply: { status: 201, schema: Type.Object({ passkey: Passkey, recoveryCodes: nullable(RecoveryCodes) }) },
    refusals: ['confirmation_required', 'invalid_code', 'conflict', 'semantic_error'],
    actsOutside: true,
    async run(call, services) {
      const { workspaceId, caller, body } = call;
      const params = byAgent(call);
      const agent = callingAgent(viewOf(services, call));
      const challenge = challengeIn(body.passkey.response.clientDataJSON) ?? '';
      const isAsked =
        services.signInSteps.agentOf(challenge, 'create') === agent.id && services.signInSteps.end(challenge);
      const passkey = isAsked
        ? await services.passkeys?.verifyCreation({ challenge, response: body.passkey })
        : undefined;
      if (passkey === undefined)
        refuse('invalid_code', { message: 'This passkey was not created for this service, or not in time.' });
      return services.engine.execute(addPasskey, {
        workspaceId,
        caller,
        params: { ...params, name: body.name, passkey },
      });
    },
  }),

  route({
    operation: 'me.renamePasskey',
    method: 'PATCH',
    path: '/me/passkeys/{passkeyId}',
    tag,
    summary: 'Rename a passkey',
    access,
    httpOnly: true,
    params: Type.Object({ passkeyId: Id }),
    body: Type.Object({ name: Name }),
    reply: { status: 200, schema: Passkey },
    refusals: [],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(renamePasskey, { workspaceId, caller, params: { ...params, name: body.name } }),
  }),

  route({
    operation: 'me.removePasskey',
    method: 'DELETE',
    path: '/me/passkeys/{passkeyId}',
    tag,
    summary: 'Remove a passkey',
    description: `Removing the last second factor removes the recovery codes too. ${needsConfirmation}`,
    access,
    httpOnly: true,
    params: Type.Object({ passkeyId: Id }),
    reply: { status: 204, schema: null },
    refusals: ['confirmation_required', 'semantic_error'],
    run: (call, { engine }) =>
      engine.execute(removePasskey, {
        workspaceId: call.workspaceId,
        caller: call.caller,
        params: { ...byAgent(call), ...call.params },
      }),
  }),

  route({
    operation: 'agent.resetSecondFactors',
    method: 'DELETE',
    path: '/agents/{agentId}/second-factors',
    tag: 'Agents',
    summary: "Reset an agent's second factors",
    description:
      "For agents who lost all of them. Ends the agent's sign-ins and notifies it by mail. " +
      'The agent then signs in with its password; if the workspace requires a second factor, it sets up a new one at its next sign-in.',
    access: { kind: 'agent', scope: null, role: 'admin', credential: 'person' },
    httpOnly: true,
    params: Type.Object({ agentId: Id }),
    reply: { status: 204, schema: null },
    refusals: ['confirmation_required'],
    run: (call, { engine }) =>
      engine.execute(resetSecondFactors, {
        workspaceId: call.workspaceId,
        caller: call.caller,
        params: { ...call.params, ...byAgent(call) },
      }),
  }),
];

function originOf({ ip, userAgent }: Pick<Call, 'ip' | 'userAgent'>) {
  return { address: ip, userAgent };
}

function byAgent(call: Pick<Call, 'sessionId' | 'ip' | 'userAgent'>) {
  return { sessionId: call.sessionId, origin: originOf(call) };
}

function viewOf({ engine }: Pick<Services, 'engine'>, { workspaceId, caller }: Pick<Call, 'workspaceId' | 'caller'>) {
  return engine.workspace(workspaceId)?.view(caller) ?? refuse('unauthorized');
}

function refuseNameless(): never {
  return refuse('semantic_error', {
    message: 'This service is reached at an address without a host name, where browsers do not support passkeys.',
  });
}

interface Shown {
  readonly password?: string;
  readonly code?: string;
  readonly recoveryCode?: string;
  readonly passkey?: PasskeySignature;
}

/**
 * A password is only enough for agents without a second factor: someone who learned the password must not be able to
 * remove the protection against exactly that. Refuses invalid_credentials, rate_limited, second_factor_required.
 */
async function requireSelf(
  call: Pick<Call, 'workspaceId' | 'caller' | 'ip' | 'userAgent'> & { readonly body: Shown },
  services: Services,
): Promise<void> {
  const { workspaceId, caller, body } = call;
  const origin = signingOf(call, services, undefined);
  const operation = 'me.confirm';
  if (body.password !== undefined) {
    if (
      (await findByOwnPassword(services, { workspaceId, caller, password: body.password, origin, operation })) ===
      undefined
    )
      refuse('invalid_credentials', { message: 'The password is wrong.' });
    const view = viewOf(services, call);
    const { id } = callingAgent(view);
    if (!hasSecondFactor(view, id)) return;
    if (body.code === undefined && body.recoveryCode === undefined && body.passkey === undefined)
      refuse('second_factor_required', { detail: { methods: methodsOf(view, id) } });
  }
  const view = viewOf(services, call);
  const member = { agent: callingAgent(view), workspace: theWorkspace(view) };
  // Counted apart from password attempts, since a correct password forgives the wrong ones before it.
  const tried = ownTry(`${member.agent.id} second factor`);
  services.signInGuard.requireTry(tried);
  const challenge = body.passkey === undefined ? '' : (challengeIn(body.passkey.response.clientDataJSON) ?? '');
  const isAsked =
    body.passkey === undefined ||
    (services.signInSteps.agentOf(challenge, 'confirm') === member.agent.id && services.signInSteps.end(challenge));
  if (
    !isAsked ||
    !(await isProof(services, { workspaceId, agentId: member.agent.id, challenge, proof: body, origin }))
  ) {
    noteFailure(services, { found: member, tried, origin, operation });
    refuse('invalid_credentials', { message: 'The code is wrong or was already used.' });
  }
  services.signInGuard.noteSuccess(tried);
}
