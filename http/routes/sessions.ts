// One's own sign-ins: going on with one, seeing them, ending them; and the password, which ends them all. Decisions
// 4.1.

import Type from 'typebox';
import { refuse } from '../../engine/errors.ts';
import { endOtherSessions, endOwnSession, listSessions, refreshSession } from '../../engine/team/agent-sessions.ts';
import { changePassword } from '../../engine/team/joining.ts';
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
  isCurrent: Type.Boolean({ description: 'The one that asks.' }),
  device: Type.String({ description: 'What its browser or client says it is: "Firefox on Linux".' }),
  address: Type.String({ description: 'Where it was used last.' }),
  createdAt: Time,
  lastUsedAt: Type.String({ format: 'date-time', description: 'To five minutes.' }),
  expiresAt: Time,
});

export const sessionRoutes = [
  route({
    operation: 'auth.refresh',
    method: 'POST',
    path: '/auth/refresh',
    tag,
    summary: 'Stay signed in',
    description:
      'The sign-in of the token that asks lasts as long again as at its beginning, up to 90 days after that. Answers as login does; the token stays the same, but for one that was issued before sign-ins could be ended one by one. ' +
      'Ask while somebody is at work, once a day or so.',
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
    summary: 'Where one is signed in',
    description:
      'The one that was used last comes first. A token from before sign-ins could be ended one by one is not among them; it ends within TOKEN_TTL_DAYS, and with DELETE /me/sessions.',
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
    summary: "End one of one's sign-ins",
    description: 'Its token is token_revoked from then on; its sockets close with 4401.',
    access,
    httpOnly: true,
    params: Type.Object({
      sessionId: Type.Union([Id, Type.Literal('current')], { description: 'current is the one that asks.' }),
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
    summary: "End all of one's sign-ins but this one",
    description:
      'Tokens from before sign-ins could be ended one by one end, too; of those also the one that asks, since they cannot be told apart.',
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
    summary: "Change one's password",
    description:
      'Needs the present one, which may be tried as often as at a login. Ends every sign-in of the agent and begins a new one, which is answered as by login. What apps were allowed stays; the agent is told by mail.',
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
        })) ?? refuse('invalid_credentials', { message: 'The present password is wrong.' });
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
