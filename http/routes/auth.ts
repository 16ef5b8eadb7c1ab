// Getting in and out. Specification 4.1, decisions 4.1.

import Type from 'typebox';
import { refuse, refuseField } from '../../engine/errors.ts';
import { join, logout, register, requestReset, resetPassword, type SignedIn } from '../../engine/joining.ts';
import { minPasswordChars, minPasswordScore } from '../../engine/limits.ts';
import { workspaceIdIn } from '../../engine/locator.ts';
import { isActive, theRoster } from '../../engine/roster.ts';
import { isoTime } from '../../engine/runtime/clock.ts';
import { systemCaller } from '../../engine/runtime/command.ts';
import { theWorkspace } from '../../engine/workspace.ts';
import { route } from '../route.ts';
import { Email, Id, Role, Time, Url } from '../schemas.ts';
import type { Services } from '../services.ts';

const Session = Type.Object({
  token: Type.String({ description: 'A workspace token, to be sent as Authorization: Bearer.' }),
  expiresAt: Time,
  agent: Type.Object({ id: Id, email: Email, role: Role, workspaceId: Id }),
  workspace: Type.Object({ id: Id, name: Type.String(), subdomain: Type.String() }),
});

/** Longer ones are refused rather than hashed at length. */
const Password = Type.String({ minLength: minPasswordChars, maxLength: 1024 });
const anyPassword = Type.String({ minLength: 1, maxLength: 1024 });
const dayMs = 24 * 3600_000;

export const authRoutes = [
  route({
    operation: 'auth.register',
    method: 'POST',
    path: '/auth/register',
    tag: 'Auth',
    summary: 'Start a workspace',
    description: 'Creates the workspace, its owner (an admin, available, in all channels) and, with siteUrl, a site for its host. The subdomain is a free one like the name.',
    access: { kind: 'public' },
    limit: { by: 'ip', perMinute: 5 },
    httpOnly: true,
    body: Type.Object({ email: Email, password: Password, workspaceName: Type.String({ minLength: 1, maxLength: 120 }), siteUrl: Type.Optional(Url) }),
    reply: { status: 201, schema: Session },
    refusals: ['email_taken', 'invalid_body'],
    async run({ body }, services) {
      const { engine, directory, ids } = services;
      const email = body.email.toLowerCase();
      const name = body.workspaceName.trim();
      if (name === '') refuseField('invalid_body', 'workspaceName', 'must not be empty');
      if (directory.findEmail(email) !== undefined) refuse('email_taken');
      const passwordHash = await hashNew(services, { password: body.password, field: 'password', known: [email, name] });
      const reserved = { workspaceId: ids.uuid(), agentId: ids.uuid(), email };
      const siteDomain = body.siteUrl === undefined ? {} : { siteDomain: new URL(body.siteUrl).hostname };
      const signedIn = await directory.withWorkspace(
        { ...reserved, name, subdomain: slugOf(name) },
        {
          make: async (subdomain) => {
            const { workspaceId, agentId } = reserved;
            engine.create(workspaceId);
            const params = { agentId, email, passwordHash, workspaceName: name, subdomain, autoCloseDays: services.config.autoCloseDays, ...siteDomain };
            return engine.execute(register, { workspaceId, caller: systemCaller, params });
          },
          remove: () => engine.discard(reserved.workspaceId),
        },
      );
      return sessionOf(services, signedIn);
    },
  }),

  route({
    operation: 'auth.login',
    method: 'POST',
    path: '/auth/login',
    tag: 'Auth',
    summary: 'Sign in',
    description: 'One answer for an unknown email and a wrong password, in the same time.',
    access: { kind: 'public' },
    limit: { by: 'email', perMinute: 5 },
    httpOnly: true,
    body: Type.Object({ email: Email, password: anyPassword }),
    reply: { status: 200, schema: Session },
    refusals: ['invalid_credentials'],
    async run({ body }, services) {
      const found = findAgent(services, body.email);
      const matches = await services.hasher.verify(found?.agent.passwordHash ?? undefined, body.password);
      if (!matches || found === undefined || !isActive(found.agent)) refuse('invalid_credentials');
      return sessionOf(services, found);
    },
  }),

  route({
    operation: 'auth.forgotPassword',
    method: 'POST',
    path: '/auth/forgot-password',
    tag: 'Auth',
    summary: 'Ask for a reset link',
    description: 'Always 204. The link works once, for 30 minutes, until the next is asked for.',
    access: { kind: 'public' },
    limit: { by: 'ip', perMinute: 3 },
    httpOnly: true,
    body: Type.Object({ email: Email }),
    reply: { status: 204, schema: null },
    refusals: [],
    async run({ body }, services) {
      const found = findAgent(services, body.email);
      // An unknown address waits for a disk too, so that the time tells nothing.
      if (found === undefined) await services.directory.change(() => undefined);
      else await services.engine.execute(requestReset, { workspaceId: found.workspace.id, caller: systemCaller, params: { agentId: found.agent.id, baseUrl: services.config.baseUrl } });
    },
  }),

  route({
    operation: 'auth.resetPassword',
    method: 'POST',
    path: '/auth/reset-password',
    tag: 'Auth',
    summary: 'Choose a new password with a reset token',
    description: 'Revokes every earlier token of the agent.',
    access: { kind: 'public' },
    limit: { by: 'ip', perMinute: 5 },
    httpOnly: true,
    body: Type.Object({ token: Type.String({ minLength: 1, maxLength: 200 }), newPassword: Password }),
    reply: { status: 200, schema: Session },
    refusals: ['reset_token_expired', 'invalid_body'],
    async run({ body }, services) {
      const workspaceId = workspaceOfSecret(services, body.token) ?? refuse('reset_token_expired');
      const passwordHash = await hashNew(services, { password: body.newPassword, field: 'newPassword', known: [] });
      return sessionOf(services, await services.engine.execute(resetPassword, { workspaceId, caller: systemCaller, params: { token: body.token, passwordHash } }));
    },
  }),

  route({
    operation: 'auth.logout',
    method: 'POST',
    path: '/auth/logout',
    tag: 'Auth',
    summary: 'Sign out everywhere',
    description: 'Revokes every token of the agent; its sockets close with 4401.',
    access: { kind: 'agent', scope: null },
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
    summary: 'Redeem an invitation',
    access: { kind: 'public' },
    limit: { by: 'ip', perMinute: 5 },
    httpOnly: true,
    body: Type.Object({ code: Type.String({ minLength: 1, maxLength: 200 }), password: Password, name: Type.Optional(Type.String({ minLength: 1, maxLength: 120 })) }),
    reply: { status: 200, schema: Session },
    refusals: ['gone', 'invalid_body'],
    async run({ body }, services) {
      const workspaceId = workspaceOfSecret(services, body.code) ?? refuse('not_found');
      const passwordHash = await hashNew(services, { password: body.password, field: 'password', known: body.name === undefined ? [] : [body.name] });
      const params = { code: body.code, passwordHash, ...(body.name === undefined ? {} : { name: body.name }) };
      return sessionOf(services, await services.engine.execute(join, { workspaceId, caller: systemCaller, params }));
    },
  }),
];

/** The body of register, login, reset and join: a new token for who signed in. */
async function sessionOf(services: Services, { agent, workspace }: SignedIn) {
  const expiresMs = services.clock.now() + services.config.tokenTtlDays * dayMs;
  const token = await services.accessTokens.issue({ agentId: agent.id, workspaceId: workspace.id, tokenVersion: agent.tokenVersion, expiresMs });
  return {
    token,
    expiresAt: isoTime(Math.floor(expiresMs / 1000) * 1000),
    agent: { id: agent.id, email: agent.email, role: agent.role, workspaceId: workspace.id },
    workspace: { id: workspace.id, name: workspace.name, subdomain: workspace.subdomain },
  };
}

function findAgent(services: Services, email: string): SignedIn | undefined {
  const entry = services.directory.findEmail(email.toLowerCase());
  const workspace = entry === undefined ? undefined : services.engine.workspace(entry.workspaceId);
  if (entry === undefined || workspace === undefined) return undefined;
  const view = workspace.view(systemCaller);
  const agent = theRoster(view).agents.get(entry.agentId);
  return agent === undefined ? undefined : { agent, workspace: theWorkspace(view) };
}

function workspaceOfSecret(services: Services, secret: string): string | undefined {
  const workspaceId = workspaceIdIn(secret);
  return workspaceId !== undefined && services.engine.workspace(workspaceId) !== undefined ? workspaceId : undefined;
}

async function hashNew(services: Services, options: { password: string; field: string; known: readonly string[] }): Promise<string> {
  const score = await services.strength.score(options.password, options.known);
  if (score < minPasswordScore) refuseField('invalid_body', options.field, 'is too easy to guess; use a longer or less common one');
  return services.hasher.hash(options.password);
}

/** A workspace's name as a host label: letters, digits and single hyphens. */
function slugOf(name: string): string {
  const slug = name.normalize('NFKD').toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 40).replace(/-+$/, '');
  return slug === '' ? 'workspace' : slug;
}

