// One's own second factors: an authenticator app, passkeys, recovery codes; and an agent's, taken away by an admin for
// who lost them.

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

/** Also of who may do nothing else before it has one. */
const access = { kind: 'agent', scope: null, credential: 'person', beforeEnrolment: true } as const satisfies Access;
const tag = 'Auth';
/** As many as RFC 4226 §4 recommends for SHA-1. */
const secretBytes = 20;
const base64url = worded('^[A-Za-z0-9_-]+$', 'of letters, digits, hyphens and underscores alone');
const Bytes = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: base64url });

const Passkey = Type.Object({ id: Id, name: Type.String(), createdAt: Time, lastUsedAt: nullable(Time) });
const RecoveryCodes = Type.Array(Type.String(), {
  description: 'Ten. Each lets in once instead of the second factor; they are shown here and nowhere else.',
});
const confirmedLately =
  'Needs a sign-in or a POST /me/confirm of the last fifteen minutes: else 403 `confirmation_required`.';
const needsConfirmation = `${confirmedLately} The agent is told by mail.`;

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
  { description: 'What navigator.credentials.create() answered, as JSON (PublicKeyCredential.toJSON()).' },
);

export const secondFactorRoutes = [
  route({
    operation: 'me.security',
    method: 'GET',
    path: '/me/security',
    tag,
    summary: "One's second factors",
    access,
    reply: {
      status: 200,
      schema: Type.Object({
        totp: nullable(Type.Object({ createdAt: Time })),
        passkeys: Type.Array(Passkey),
        recoveryCodesLeft: Type.Integer({ minimum: 0 }),
        isRequired: Type.Boolean({ description: 'By the workspace, of everybody.' }),
        mustEnrol: Type.Boolean({ description: 'This sign-in may do nothing else before there is a second factor.' }),
        confirmedUntil: nullable(
          Type.String({
            format: 'date-time',
            description: 'Until when this sign-in may change them; null when POST /me/confirm comes first.',
          }),
        ),
        hasPasskeys: Type.Boolean({
          description: 'Whether this service can have passkeys: not at an address without a name.',
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
    summary: "Ask for a challenge for one of one's passkeys",
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
    summary: 'Show once more that it is you',
    description:
      'By one of code, recoveryCode and passkey (to a challenge of POST /me/confirm/options); who has no second factor by its password. A right password alone of who has one is 401 `second_factor_required`, whose detail names the methods. ' +
      'For fifteen minutes this sign-in may then change what the account is signed in to with. Tries are limited as those of a login.',
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
    summary: 'Begin with an authenticator app',
    description: `It counts for nothing before POST /me/totp/confirm with its first code. ${needsConfirmation}`,
    access,
    httpOnly: true,
    reply: {
      status: 201,
      schema: Type.Object({
        secret: Type.String({ description: 'Base32, to be typed.' }),
        otpauthUrl: Type.String(),
        qrCode: Type.String({ description: 'A picture of otpauthUrl, as a data URL.' }),
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
    summary: "Show the app's first code",
    description: 'From then on a login needs a second factor.',
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
    description: `Recovery codes go with the last second factor. ${needsConfirmation}`,
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
    summary: 'Make new recovery codes',
    description: `The former ones are worth nothing then. ${needsConfirmation}`,
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
    summary: 'Ask what a browser needs to make a passkey',
    description: `Its challenge counts once, for five minutes. ${confirmedLately}`,
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
    description: `With what the browser answered to POST /me/passkeys/options. It signs in alone, and is a second factor beside the password. ${needsConfirmation}`,
    access,
    httpOnly: true,
    body: Type.Object({ name: Name, passkey: NewPasskey }),
    reply: { status: 201, schema: Type.Object({ passkey: Passkey, recoveryCodes: nullable(RecoveryCodes) }) },
    refusals: ['confirmation_required', 'invalid_code', 'conflict', 'semantic_error'],
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
        refuse('invalid_code', { message: 'This passkey was not made for this service, or not in time.' });
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
    summary: 'Call a passkey something else',
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
    description: `Recovery codes go with the last second factor. ${needsConfirmation}`,
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
    summary: "Take an agent's second factors away",
    description:
      'For who lost them all. Its sign-ins end, and the agent is told by mail. It goes on with its password alone; where the workspace requires a second factor it sets up another at its next sign-in.',
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
    message: 'This service is reached at an address without a name, for which browsers have no passkeys.',
  });
}

interface Shown {
  readonly password?: string;
  readonly code?: string;
  readonly recoveryCode?: string;
  readonly passkey?: PasskeySignature;
}

/**
 * A password alone will do for who has nothing else: whoever learned it shall not take away what protects the account
 * from that. Refuses invalid_credentials, rate_limited, second_factor_required.
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
  // Apart from those of the password, since a right one of those forgives the wrong ones before it.
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
    refuse('invalid_credentials', { message: 'This is not right, or was used before.' });
  }
  services.signInGuard.noteSuccess(tried);
}
