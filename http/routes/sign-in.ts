// Signing in with a second factor after the password, or with a passkey.

import Type from 'typebox';
import { refuse } from '../../engine/errors.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { factorsOf } from '../../engine/team/second-factors.ts';
import { signInByPasskey } from '../../engine/team/signing-in.ts';
import { isActive, theRoster } from '../../engine/workspace/roster.ts';
import { theWorkspace } from '../../engine/workspace/workspace.ts';
import { signInsPerNetwork } from '../limits/sign-in-guard.ts';
import { route } from '../route.ts';
import {
  Challenge,
  Code,
  challengeIn,
  isProof,
  PasskeySignature,
  passSecondFactor,
  personIn,
  RecoveryCode,
  refuseLate,
} from '../secrets/second-factors.ts';
import { noteFailure, tryAt } from '../secrets/sign-in.ts';
import { answerSignedIn, Browser, SignedInAnswer, signingOf } from '../secrets/signed-in.ts';

const tag = 'Auth';

/** For navigator.credentials, as JSON; the contents are WebAuthn's. */
export const PasskeyOptions = Type.Object(
  {},
  {
    additionalProperties: true,
    description:
      'For PublicKeyCredential.parseRequestOptionsFromJSON() or parseCreationOptionsFromJSON() (WebAuthn §5.1.8).',
  },
);

export const signInRoutes = [
  route({
    operation: 'signIn.secondFactor',
    method: 'POST',
    path: '/sign-in/second-factor',
    tag,
    summary: 'Sign in with a second factor',
    description:
      'Continues after a 401 `second_factor_required`, with one of `code`, `recoveryCode` and `passkey`. ' +
      'Returns the same as login. ' +
      'Returns 401 `invalid_code` if it is wrong or was used before; after five of those, after five minutes, ' +
      'or once it has been answered, the challenge returns 410 `gone` and the password is needed again. ' +
      'Attempts are limited per agent as for passwords, but counted separately.',
    access: { kind: 'public' },
    limit: { by: 'ip', perMinute: signInsPerNetwork },
    httpOnly: true,
    body: Type.Object({
      challenge: Challenge,
      code: Type.Optional(Code),
      recoveryCode: Type.Optional(RecoveryCode),
      passkey: Type.Optional(PasskeySignature),
    }),
    reply: { status: 200, schema: SignedInAnswer },
    refusals: ['invalid_code', 'gone', 'invalid_credentials', 'reset_token_expired'],
    async run({ body }, services) {
      const step = services.signInSteps.find(body.challenge);
      if (step?.kind !== 'second') return refuseLate();
      // The factor and the challenge count once.
      return services.engine.actOutside(step.member.workspace.id, async () => {
        await passSecondFactor(services, step, { ...body, operation: 'signIn.secondFactor' });
        return answerSignedIn(services, await step.finish());
      });
    },
  }),

  route({
    operation: 'signIn.passkeyOptions',
    method: 'POST',
    path: '/sign-in/passkey/options',
    tag,
    summary: 'Get a passkey challenge',
    description:
      'The challenge works once, for five minutes. ' +
      'Returns 422 `semantic_error` if the service is reached at an address without a host name, where browsers do not support passkeys.',
    access: { kind: 'public' },
    limit: { by: 'ip', perMinute: signInsPerNetwork },
    httpOnly: true,
    reply: { status: 200, schema: Type.Object({ passkey: PasskeyOptions }) },
    refusals: ['semantic_error'],
    async run(_, { signInSteps, passkeys }) {
      if (passkeys === undefined)
        refuse('semantic_error', {
          message: 'This service is reached at an address without a host name, where browsers do not support passkeys.',
        });
      return { passkey: await passkeys.requestOptions({ challenge: signInSteps.ask({ kind: 'passkey' }) }) };
    },
  }),

  route({
    operation: 'signIn.passkey',
    method: 'POST',
    path: '/sign-in/passkey',
    tag,
    summary: 'Sign in with a passkey',
    description:
      'Send what the browser returned for POST /sign-in/passkey/options. ' +
      'A passkey combines possession with a PIN or biometrics, so no other factor is needed. ' +
      'Returns the same as login, and 401 `invalid_credentials` for every kind of failure.',
    access: { kind: 'public' },
    limit: { by: 'ip', perMinute: signInsPerNetwork },
    httpOnly: true,
    body: Type.Object({ passkey: PasskeySignature, browser: Browser }),
    reply: { status: 200, schema: SignedInAnswer },
    refusals: ['invalid_credentials'],
    async run(call, services) {
      const { passkey, browser } = call.body;
      const signing = signingOf(call, services, browser);
      const wrong = (found?: Parameters<typeof noteFailure>[1]['found']): never => {
        const tried = tryAt(services, found, {
          email: found === undefined ? 'nobody passkey' : `${found.agent.email} passkey`,
          origin: signing,
        });
        noteFailure(services, { found: undefined, tried, origin: signing, operation: 'signIn.passkey' });
        return refuse('invalid_credentials', { message: 'This passkey is unknown, or was not used in time.' });
      };
      const challenge = challengeIn(passkey.response.clientDataJSON) ?? wrong();
      const person = personIn(passkey.response.userHandle) ?? wrong();
      const { workspaceId, agentId } = person;
      if (services.signInSteps.find(challenge)?.kind !== 'passkey') wrong();
      await services.engine.whenOpen(workspaceId);
      const view = services.engine.workspace(workspaceId)?.view(systemCaller) ?? wrong();
      return services.engine.actOutside(workspaceId, async () => {
        // Counts where the workspace is served.
        if (!services.signInSteps.end(challenge)) wrong();
        const agent = theRoster(view).agents.get(agentId);
        if (agent === undefined || !isActive(agent) || factorsOf(view, agentId).passkeys.length === 0) return wrong();
        if (!(await isProof(services, { workspaceId, agentId, challenge, proof: { passkey }, origin: signing })))
          return wrong({ agent, workspace: theWorkspace(view) });
        return answerSignedIn(
          services,
          await services.engine.execute(signInByPasskey, {
            workspaceId,
            caller: systemCaller,
            params: { agentId, signing },
          }),
        );
      });
    },
  }),
];
