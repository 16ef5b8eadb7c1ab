// The signed-in agent's sign-ins: extending, listing and ending them; and changing the password, which ends them all.
// Decisions 4.1.

import Type from 'typebox';
import { refuse } from '../../engine/errors.ts';
import { endOtherSessions, endOwnSession, listSessions, refreshSession } from '../../engine/team/agent-sessions.ts';
import { changePassword } from '../../engine/team/passwords.ts';
import { callingAgent } from '../../engine/workspace/access.ts';
import { theWorkspace } from '../../engine/workspace/workspace.ts';
import { type Access, route } from '../route.ts';
import { Id, Time } from '../schemas/shared.ts';
import { AnyPassword, Password, requireStrong } from '../secrets/passwords.ts';
import { findByOwnPassword } from '../secrets/sign-in.ts';
import { answerSignedIn, Browser, SignedInAnswer, signingOf } from '../secrets/signed-in.ts';

const access = { kind: 'agent', scope: null, credential: 'person', beforeEnrolment: true } as const satisfies Access;
const tag = 'Auth';

const SessionRow = Type.Object({
  id: Id,
  isCurrent: Type.Boolean({ description: 'The sign-in that makes this request.' }),
  device: Type.String({ description: 'As its browser or client reports: "Firefox on Linux".' }),
  address: Type.String({ description: 'Where it was last used.' }),
  createdAt: Time,
  lastUsedAt: Type.String({ format: 'date-time', description: 'Accurate to five minutes.' }),
  expiresAt: Time,
});

export const sessionRoutes = [
  route({
    operation: 'auth.refresh',
    method: 'POST',
    path: '/auth/refresh',
    tag,
    summary: 'Extend a sign-in',
    description:
      'Extends the current sign-in by its original duration, up to 90 days after it began. ' +
      'Returns the same as login. ' +
      'The token stays the same, except one issued before sign-ins could be ended one by one. ' +
      'Call it about once a day while an agent is active.',
    access,
    httpOnly: true,
    reply: { status: 200, schema: SignedInAnswer },
    refusals: [],
    async run(call, services) {
      const { workspaceId, caller, sessionId, token = '' } = call;
      const session = await services.engine.execute(refreshSession, {
        workspaceId,
        caller,
        params: { sessionId, signing: signingOf(call, services, undefined) },
      });
      const view = services.engine.workspace(workspaceId)?.view(caller) ?? refuse('unauthorized');
      const answer = await answerSignedIn(services, {
        agent: callingAgent(view),
        workspace: theWorkspace(view),
        session,
      });
      return sessionId === undefined ? answer : { ...answer, token };
    },
  }),

  route({
    operation: 'me.sessions',
    method: 'GET',
    path: '/me/sessions',
    tag,
    summary: 'List your sign-ins',
    description:
      'Most recently used first. ' +
      'A token from before sign-ins could be ended one by one is not listed; it ends within TOKEN_TTL_DAYS, ' +
      'and with DELETE /me/sessions.',
    access,
    reply: { status: 200, schema: Type.Object({ sessions: Type.Array(SessionRow) }) },
    refusals: [],
    read: (view, { sessionId }) => ({ sessions: listSessions(view, sessionId) }),
  }),

  route({
    operation: 'me.endSession',
    method: 'DELETE',
    path: '/me/sessions/{sessionId}',
    tag,
    summary: 'End one of your sign-ins',
    description: 'Its token returns 401 `token_revoked` from then on; its sockets close with 4401.',
    access,
    httpOnly: true,
    params: Type.Object({
      sessionId: Type.Union([Id, Type.Literal('current')], {
        description: '`current` is the sign-in that makes this request.',
      }),
    }),
    reply: { status: 204, schema: null },
    refusals: [],
    async run({ workspaceId, caller, params, sessionId }, { engine, dropEnded }) {
      await engine.execute(endOwnSession, {
        workspaceId,
        caller,
        params: { sessionId: params.sessionId === 'current' ? (sessionId ?? refuse('not_found')) : params.sessionId },
      });
      if (caller.kind === 'agent') dropEnded(workspaceId, caller.agentId);
    },
  }),

  route({
    operation: 'me.endOtherSessions',
    method: 'DELETE',
    path: '/me/sessions',
    tag,
    summary: 'End all of your other sign-ins',
    description:
      'Also ends tokens from before sign-ins could be ended one by one, ' +
      'including the requesting one if it is such a token, since they cannot be told apart.',
    access,
    httpOnly: true,
    reply: { status: 204, schema: null },
    refusals: [],
    async run({ workspaceId, caller, sessionId }, { engine, dropEnded }) {
      await engine.execute(endOtherSessions, { workspaceId, caller, params: { sessionId } });
      if (caller.kind === 'agent') dropEnded(workspaceId, caller.agentId);
    },
  }),

  route({
    operation: 'me.changePassword',
    method: 'POST',
    path: '/me/password',
    tag,
    summary: 'Change your password',
    description:
      'Requires the current password; attempts are limited as for login. ' +
      'Ends every sign-in of the agent and starts a new one, which is returned as by login. ' +
      'Grants to apps stay; the agent is notified by mail.',
    access,
    httpOnly: true,
    body: Type.Object({ currentPassword: AnyPassword, newPassword: Password, browser: Browser }),
    reply: { status: 200, schema: SignedInAnswer },
    refusals: ['invalid_credentials'],
    async run(call, services) {
      const { workspaceId, caller, sessionId, body } = call;
      const signing = signingOf(call, services, body.browser);
      const { agent, workspace } =
        (await findByOwnPassword(services, {
          workspaceId,
          caller,
          password: body.currentPassword,
          origin: signing,
          operation: 'me.changePassword',
        })) ?? refuse('invalid_credentials', { message: 'The current password is wrong.' });
      await requireStrong(services, {
        password: body.newPassword,
        field: 'newPassword',
        known: [agent.email, agent.name, workspace.name],
      });
      const passwordHash = await services.hasher.hash(body.newPassword, signing.network);
      return answerSignedIn(
        services,
        await services.engine.execute(changePassword, {
          workspaceId,
          caller,
          params: { sessionId, formerHash: agent.passwordHash, passwordHash, signing },
        }),
      );
    },
  }),
];
