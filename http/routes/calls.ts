// Calls and voicemails. Specification 4.8, decisions 4.8.

import Type, { type TSchema } from 'typebox';
import { answerCall, hangUp, holdCall, listCalls, readCall, transferCall } from '../../engine/calls/actions.ts';
import { listenToVoicemail, listVoicemails } from '../../engine/calls/voicemails.ts';
import { byCreated, pageOf, parseTime } from '../pipeline/cursor.ts';
import { route } from '../route.ts';
import {
  Call,
  ConversationStatus,
  CursorQuery,
  ExpectedVersion,
  Id,
  NextCursor,
  Voicemail,
} from '../schemas/shared.ts';

const ById = Type.Object({ conversationId: Id });

/** What the routes that act on one call and answer with it have in common. */
const action = <Step extends string, Body extends TSchema | undefined>(step: Step, summary: string, body: Body) =>
  ({
    operation: `call.${step}` as const,
    method: 'POST',
    path: `/calls/{conversationId}/${step}` as const,
    tag: 'Calls',
    summary,
    access: { kind: 'agent', scope: 'conversations:write', feature: 'calls' },
    params: ById,
    body,
    reply: { status: 200, schema: Call },
  }) as const;

export const callRoutes = [
  route({
    operation: 'call.list',
    method: 'GET',
    path: '/calls',
    tag: 'Calls',
    summary: 'List calls',
    description: 'Newest first, what the agent may see. For backfill; live changes come over the socket.',
    access: { kind: 'agent', scope: 'conversations:read', feature: 'calls' },
    query: Type.Object({
      status: Type.Optional(ConversationStatus),
      assigneeId: Type.Optional(
        Type.Union([Id, Type.Literal('none')], { description: 'An agent, or none for what nobody has.' }),
      ),
      departmentId: Type.Optional(Id),
      phoneNumberId: Type.Optional(Id),
      visitorId: Type.Optional(Id),
      state: Type.Optional(
        Type.Enum(['ringing', 'answered', 'on_hold', 'live'], { description: 'What goes on now; live is all three.' }),
      ),
      from: Type.Optional(Type.String({ format: 'date-time', description: 'Came in at this time or after it.' })),
      to: Type.Optional(Type.String({ format: 'date-time', description: 'Came in before this time.' })),
      ...CursorQuery,
    }),
    reply: { status: 200, schema: Type.Object({ calls: Type.Array(Call), nextCursor: NextCursor }) },
    refusals: [],
    read(view, { query }) {
      const filter = { ...query, from: parseTime(query.from, 'from'), to: parseTime(query.to, 'to') };
      const { rows, nextCursor } = pageOf(query, (page) => listCalls(view, { filter, ...page }), byCreated);
      return { calls: rows, nextCursor };
    },
  }),

  route({
    operation: 'call.read',
    method: 'GET',
    path: '/calls/{conversationId}',
    tag: 'Calls',
    summary: 'Read a call with its timeline',
    access: { kind: 'agent', scope: 'conversations:read', feature: 'calls' },
    params: ById,
    reply: { status: 200, schema: Call },
    refusals: ['forbidden'],
    read: (view, { params }) => readCall(view, params.conversationId),
  }),

  route({
    ...action('answer', 'Answer a ringing call', Type.Object({ expectedVersion: Type.Optional(ExpectedVersion) })),
    description:
      'One agent wins. Every other gets 409 call_unavailable, whose detail.reason is already_claimed, call_ended (or gone to voicemail), agent_busy (in another call) or stale_version. ' +
      "A number that rings one agent is answered by that agent or an admin. The winner's own repetition is answered as the first time.",
    refusals: ['forbidden', 'call_unavailable'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(answerCall, { workspaceId, caller, params: { ...params, expectedVersion: body.expectedVersion } }),
  }),

  route({
    ...action('hangup', 'Hang up', undefined),
    description:
      'By who is assigned, or an admin. After an answer the conversation is solved. An admin may hang up a ringing call: it ends as missed and stays open. A call that is over already: 409 call_unavailable with reason call_ended.',
    refusals: ['forbidden', 'not_assigned', 'call_unavailable'],
    run: ({ workspaceId, caller, params }, { engine }) => engine.execute(hangUp, { workspaceId, caller, params }),
  }),

  route({
    ...action(
      'hold',
      'Put the caller on hold, or take off',
      Type.Object({
        hold: Type.Optional(Type.Boolean({ description: 'Default true.' })),
        expectedVersion: Type.Optional(ExpectedVersion),
      }),
    ),
    description:
      'By who is assigned, or an admin. No body puts on hold; hold false resumes. What is so already, or rings still: 409 conflict. What is over: 409 call_unavailable.',
    refusals: ['forbidden', 'not_assigned', 'call_unavailable', 'conflict', 'stale_version'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(holdCall, {
        workspaceId,
        caller,
        params: { ...params, hold: body.hold, expectedVersion: body.expectedVersion },
      }),
  }),

  route({
    ...action(
      'transfer',
      'Offer the call to another agent',
      Type.Object({
        agentId: Id,
        expectedVersion: ExpectedVersion,
        note: Type.Optional(Type.String({ maxLength: 1000 })),
      }),
    ),
    description:
      'By who is assigned, or an admin. The recipient has 30 seconds to accept or decline, as with assign-to-agent and by the same routes; the caller stays with who has them until then. ' +
      'Accepting moves the caller and adds transferred to the timeline. A recipient in another call: 422 semantic_error.',
    refusals: ['forbidden', 'not_assigned', 'call_unavailable', 'conflict', 'stale_version', 'semantic_error'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(transferCall, {
        workspaceId,
        caller,
        params: { ...params, agentId: body.agentId, expectedVersion: body.expectedVersion, note: body.note },
      }),
  }),

  route({
    operation: 'voicemail.list',
    method: 'GET',
    path: '/voicemails',
    tag: 'Calls',
    summary: 'List voicemails',
    description: 'Newest first, of the calls that the agent may see.',
    access: { kind: 'agent', scope: 'conversations:read', feature: 'calls' },
    query: Type.Object({
      conversationId: Type.Optional(
        Type.String({ format: 'uuid', description: 'The one that was left in this call.' }),
      ),
      ...CursorQuery,
    }),
    reply: { status: 200, schema: Type.Object({ voicemails: Type.Array(Voicemail), nextCursor: NextCursor }) },
    refusals: [],
    read(view, { query }) {
      const { rows, nextCursor } = pageOf(
        query,
        (page) => listVoicemails(view, { conversationId: query.conversationId, ...page }),
        byCreated,
      );
      return { voicemails: rows, nextCursor };
    },
  }),

  route({
    operation: 'voicemail.read',
    method: 'GET',
    path: '/voicemails/{voicemailId}',
    tag: 'Calls',
    summary: 'Read a voicemail',
    description: 'The first reading sets listenedAt.',
    access: { kind: 'agent', scope: 'conversations:read', feature: 'calls' },
    params: Type.Object({ voicemailId: Id }),
    reply: { status: 200, schema: Voicemail },
    refusals: ['forbidden'],
    run: ({ workspaceId, caller, params }, { engine }) =>
      engine.execute(listenToVoicemail, { workspaceId, caller, params }),
  }),
];
