// Registering, signing in and out. Specification 4.1, decisions 4.1.

import Type from 'typebox';
import { workspaceIdIn } from '../../engine/directory/compact-ids.ts';
import { isEmptyServer, modeNow, requireMayRegister } from '../../engine/directory/registration.ts';
import { refuseTaken } from '../../engine/directory/taken-emails.ts';
import { refuse, refuseField } from '../../engine/errors.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import type { View } from '../../engine/runtime/context.ts';
import { join, register, requireInvited } from '../../engine/team/joining.ts';
import { requestReset, requireResetting, resetPassword } from '../../engine/team/passwords.ts';
import { logout, signIn } from '../../engine/team/signing-in.ts';
import { slugOf } from '../../engine/text.ts';
import { hostNameOf, isPlausibleHost } from '../../engine/workspace/sites.ts';
import { theWorkspace } from '../../engine/workspace/workspace.ts';
import { signInsPerMinute, signInsPerNetwork } from '../limits/sign-in-guard.ts';
import { ceilingsOf } from '../process/config.ts';
import { route } from '../route.ts';
import { Email, Name, TypedUrl } from '../schemas/shared.ts';
import { AnyPassword, Password, requireStrong } from '../secrets/passwords.ts';
import { finishOrAsk } from '../secrets/second-factors.ts';
import { findAgent, findByPassword, tryAt } from '../secrets/sign-in.ts';
import { answerSignedIn, Browser, SignedInAnswer, signingOf } from '../secrets/signed-in.ts';
import type { Services } from '../services.ts';

const InviteCode = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'The code from `switchboard invite`, where new workspaces need an invitation.',
});
const readsPerMinute = 120;

export const authRoutes = [
  route({
    operation: 'auth.register',
    method: 'POST',
    path: '/auth/register',
    tag: 'Auth',
    summary: 'Register a workspace',
    description:
      'Creates the workspace, its owner (an admin, available, in all channels) and, with `siteUrl`, a site for its host. ' +
      'The subdomain is derived from the name. ' +
      'After the first workspace, the operator can require an `inviteCode` or turn registration off; ' +
      'the request then returns 403 `forbidden`.',
    access: { kind: 'public' },
    takesRoom: 'onDisk',
    limit: { by: 'ip', perMinute: 5 },
    httpOnly: true,
    body: Type.Object({
      email: Email,
      password: Password,
      workspaceName: Name,
      siteUrl: Type.Optional(TypedUrl),
      inviteCode: Type.Optional(InviteCode),
      browser: Browser,
    }),
    reply: { status: 201, schema: SignedInAnswer },
    refusals: ['email_taken', 'forbidden'],
    async run(call, services) {
      const { body } = call;
      const { engine, directory, ids, hasher, config } = services;
      const signing = signingOf(call, services, body.browser);
      const email = body.email.toLowerCase();
      const name = body.workspaceName;
      const siteDomain = body.siteUrl === undefined ? undefined : hostOf(body.siteUrl);
      if (siteDomain !== undefined && !isPlausibleHost(siteDomain))
        refuseField('invalid_body', 'siteUrl', 'must be a web address, such as https://shop.example');
      const codeId =
        body.inviteCode === undefined
          ? undefined
          : (services.registrationCodes.idIn(body.inviteCode, services.clock.now()) ?? null);
      const registration = {
        mode: config.registration,
        ceilings: ceilingsOf(config),
        network: signing.network,
        codeId,
      };
      requireMayRegister(directory.db, registration);
      await requireStrong(services, { password: body.password, field: 'password', known: [email, name] });
      const present = directory.findEmail(email);
      if (present !== undefined) refuseTaken('email_taken', present);
      const passwordHash = await hasher.hash(body.password, signing.network);
      const workspaceId = ids.uuid();
      const agentId = ids.uuid();
      const signedIn = await directory.withWorkspace(
        { workspaceId, agentId, email, name, subdomain: slugOf(name), registration },
        {
          make: async (subdomain) => {
            await engine.create(workspaceId);
            return engine.execute(register, {
              workspaceId,
              caller: systemCaller,
              params: {
                agentId,
                email,
                passwordHash,
                workspaceName: name,
                subdomain,
                siteDomain,
                autoCloseDays: config.autoCloseDays,
                trialDays: config.billing.provider === 'stripe' ? config.billing.trialDays : undefined,
                signing,
              },
            });
          },
          remove: () => engine.discard(workspaceId),
        },
      );
      return answerSignedIn(services, signedIn);
    },
  }),

  route({
    operation: 'auth.registration',
    method: 'GET',
    path: '/auth/registration',
    tag: 'Auth',
    summary: 'Get the registration mode',
    description:
      '`open`: anyone can register; always so while the server has no workspace. ' +
      '`invite`: an `inviteCode` from the operator is required. `off`: no one can register.',
    access: { kind: 'public' },
    limit: { by: 'ip', perMinute: readsPerMinute },
    httpOnly: true,
    reply: {
      status: 200,
      schema: Type.Object({
        registration: Type.Enum(['open', 'invite', 'off']),
        hasWorkspaces: Type.Boolean({ description: 'Whether the server has a workspace.' }),
      }),
    },
    refusals: [],
    run: async (_, { directory, config }) => ({
      registration: modeNow(directory.db, config.registration),
      hasWorkspaces: !isEmptyServer(directory.db),
    }),
  }),

  route({
    operation: 'auth.login',
    method: 'POST',
    path: '/auth/login',
    tag: 'Auth',
    summary: 'Sign in',
    description:
      'Returns the same error, in the same time, for an unknown email and a wrong password. ' +
      'At most 5 attempts a minute per email. ' +
      'From the 20th wrong password in a row on, each attempt has to wait, ' +
      'one minute at first and then twice as long each time, up to an hour; ' +
      'the agent is notified by mail at most once a day. ' +
      'Attempts from a browser (`browser`) or a network that the account recently signed in from are counted separately, ' +
      'so strangers cannot lock an agent out. ' +
      'For an agent with a second factor the reply is 401 `second_factor_required`; its detail has `challenge`, ' +
      '`expiresAt` (five minutes), `methods` (totp, passkey, ' +
      'recovery_code) and `passkey` (options for navigator.credentials.get(), or null). ' +
      'Continue with POST /sign-in/second-factor.',
    access: { kind: 'public' },
    limit: { by: 'account', perMinute: signInsPerMinute, networkPerMinute: signInsPerNetwork },
    httpOnly: true,
    body: Type.Object({ email: Email, password: AnyPassword, browser: Browser }),
    reply: { status: 200, schema: SignedInAnswer },
    refusals: ['invalid_credentials', 'second_factor_required'],
    async run(call, services) {
      const { body } = call;
      const signing = signingOf(call, services, body.browser);
      const { agent, workspace } =
        (await findByPassword(services, { ...body, origin: signing, operation: 'auth.login' })) ??
        refuse('invalid_credentials');
      const view = services.engine.workspace(workspace.id)?.view(systemCaller) ?? refuse('invalid_credentials');
      const finish = () =>
        services.engine.execute(signIn, {
          workspaceId: workspace.id,
          caller: systemCaller,
          params: { agentId: agent.id, passwordHash: agent.passwordHash, signing },
        });
      return answerSignedIn(
        services,
        await finishOrAsk(services, view, { member: { agent, workspace }, origin: signing, finish }),
      );
    },
  }),

  route({
    operation: 'auth.forgotPassword',
    method: 'POST',
    path: '/auth/forgot-password',
    tag: 'Auth',
    summary: 'Request a password reset link',
    description:
      'Always returns 204. The link works once, for 30 minutes, until a newer one is requested. ' +
      'One address receives at most 10 mails an hour; requests from places that the account knows have a separate budget of 10.',
    access: { kind: 'public' },
    limit: { by: 'ip', perMinute: 3 },
    httpOnly: true,
    body: Type.Object({ email: Email, browser: Browser }),
    reply: { status: 204, schema: null },
    refusals: [],
    async run(call, services) {
      const { body } = call;
      const found = await findAgent(services, body.email);
      services.signInGuard.requireResetMail(
        tryAt(services, found, { email: body.email, origin: signingOf(call, services, body.browser) }),
      );
      // An unknown address waits for the disk too, so that the response time reveals nothing.
      if (found === undefined) await services.directory.change('nothing', {});
      else
        await services.engine.execute(requestReset, {
          workspaceId: found.workspace.id,
          caller: systemCaller,
          params: { agentId: found.agent.id },
        });
    },
  }),

  route({
    operation: 'auth.resetPassword',
    method: 'POST',
    path: '/auth/reset-password',
    tag: 'Auth',
    summary: 'Reset a password',
    description:
      'Revokes every earlier token of the agent and every grant it gave to apps. Its API keys stay valid. ' +
      'The agent is notified by mail. ' +
      'For an agent with a second factor nothing changes yet: the reply is 401 `second_factor_required`, ' +
      'as at login, and POST /sign-in/second-factor then changes the password and signs in.',
    access: { kind: 'public' },
    limit: { by: 'ip', perMinute: 5 },
    httpOnly: true,
    body: Type.Object({
      token: Type.String({ minLength: 1, maxLength: 200 }),
      newPassword: Password,
      browser: Browser,
    }),
    reply: { status: 200, schema: SignedInAnswer },
    refusals: ['reset_token_expired', 'second_factor_required'],
    async run(call, services) {
      const { body } = call;
      const signing = signingOf(call, services, body.browser);
      const view = (await viewOfSecret(services, body.token)) ?? refuse('reset_token_expired');
      const agent = requireResetting(view, body.token);
      await requireStrong(services, {
        password: body.newPassword,
        field: 'newPassword',
        known: [agent.email, agent.name, theWorkspace(view).name],
      });
      const passwordHash = await services.hasher.hash(body.newPassword, signing.network);
      const finish = () =>
        services.engine.execute(resetPassword, {
          workspaceId: view.workspaceId,
          caller: systemCaller,
          params: { token: body.token, passwordHash, signing },
        });
      return answerSignedIn(
        services,
        await finishOrAsk(services, view, {
          member: { agent, workspace: theWorkspace(view) },
          origin: signing,
          finish,
        }),
      );
    },
  }),

  route({
    operation: 'auth.logout',
    method: 'POST',
    path: '/auth/logout',
    tag: 'Auth',
    summary: 'Sign out everywhere',
    description:
      'Revokes every token of the agent and closes its sockets with 4401. The agent is offline until it signs in again.',
    access: { kind: 'agent', scope: null, beforeEnrolment: true },
    httpOnly: true,
    reply: { status: 204, schema: null },
    refusals: [],
    run: ({ workspaceId, caller }, { engine }) => engine.execute(logout, { workspaceId, caller, params: {} }),
  }),

  route({
    operation: 'auth.join',
    method: 'POST',
    path: '/auth/join',
    tag: 'Auth',
    summary: 'Accept an invitation',
    description:
      'Returns 409 `email_taken` if an agent of another workspace has joined with this address since the invitation.',
    access: { kind: 'public' },
    limit: { by: 'ip', perMinute: 5 },
    httpOnly: true,
    body: Type.Object({
      code: Type.String({ minLength: 1, maxLength: 200 }),
      password: Password,
      name: Type.Optional(Name),
      browser: Browser,
    }),
    reply: { status: 200, schema: SignedInAnswer },
    refusals: ['gone', 'email_taken'],
    async run(call, services) {
      const { body } = call;
      const signing = signingOf(call, services, body.browser);
      const view = (await viewOfSecret(services, body.code)) ?? refuse('not_found');
      const agent = requireInvited(view, body.code);
      await requireStrong(services, {
        password: body.password,
        field: 'password',
        known: [agent.email, body.name ?? agent.name, theWorkspace(view).name],
      });
      const passwordHash = await services.hasher.hash(body.password, signing.network);
      const { workspaceId } = view;
      const joining = () =>
        services.engine.execute(join, {
          workspaceId,
          caller: systemCaller,
          params: { code: body.code, passwordHash, name: body.name, signing },
        });
      return answerSignedIn(
        services,
        await services.directory.changeSignIn(
          { workspaceId, agentId: agent.id, email: agent.email.toLowerCase(), taken: 'email_taken' },
          joining,
        ),
      );
    },
  }),
];

async function viewOfSecret(services: Services, secret: string): Promise<View | undefined> {
  const workspaceId = workspaceIdIn(secret);
  if (workspaceId !== undefined) await services.engine.whenOpen(workspaceId);
  return workspaceId === undefined ? undefined : services.engine.workspace(workspaceId)?.view(systemCaller);
}

/** An IP address in brackets can be the service's own address, but not a site. */
function hostOf(siteUrl: string): string {
  const host = hostNameOf(URL.parse(siteUrl)?.hostname ?? '');
  return host === undefined || host.startsWith('[')
    ? refuseField('invalid_body', 'siteUrl', 'must have a host name')
    : host;
}
