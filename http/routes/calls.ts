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

/** Shared by the routes that act on one call and return it. */
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
    description:
      'Lists the calls that the agent may see, newest first. Use it for backfill; live changes arrive over the socket.',
    access: { kind: 'agent', scope: 'conversations:read', feature: 'calls' },
    query: Type.Object({
      status: Type.Optional(ConversationStatus),
      assigneeId: Type.Optional(
        Type.Union([Id, Type.Literal('none')], { description: "An agent's id, or `none` for unassigned calls." }),
      ),
      departmentId: Type.Optional(Id),
      phoneNumberId: Type.Optional(Id),
      visitorId: Type.Optional(Id),
      state: Type.Optional(
        Type.Enum(['ringing', 'answered', 'on_hold', 'live'], {
          description: 'The state of an active call; `live` matches all three.',
        }),
      ),
      from: Type.Optional(
        Type.String({ format: 'date-time', description: 'Calls that came in at or after this time.' }),
      ),
      to: Type.Optional(Type.String({ format: 'date-time', description: 'Calls that came in before this time.' })),
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
    summary: 'Get a call with its timeline',
    access: { kind: 'agent', scope: 'conversations:read', feature: 'calls' },
    params: ById,
    reply: { status: 200, schema: Call },
    refusals: ['forbidden'],
    read: (view, { params }) => readCall(view, params.conversationId),
  }),

  route({
    ...action('answer', 'Answer a ringing call', Type.Object({ expectedVersion: Type.Optional(ExpectedVersion) })),
    description:
      'Exactly one agent wins. ' +
      'All others get 409 `call_unavailable`; `detail.reason` is already_claimed, ' +
      'call_ended (or sent to voicemail), agent_busy (in another call) or stale_version. ' +
      'If the number rings one agent, only that agent or an admin can answer. ' +
      'If the winner repeats the request, it gets the same reply again.',
    refusals: ['forbidden', 'call_unavailable'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(answerCall, { workspaceId, caller, params: { ...params, expectedVersion: body.expectedVersion } }),
  }),

  route({
    ...action('hangup', 'Hang up', undefined),
    description:
      'For the assigned agent and admins. Solves the conversation if the call was answered. ' +
      'If an admin hangs up a ringing call, it ends as missed and stays open. ' +
      'Returns 409 `call_unavailable` with reason call_ended if the call is already over.',
    refusals: ['forbidden', 'not_assigned', 'call_unavailable'],
    run: ({ workspaceId, caller, params }, { engine }) => engine.execute(hangUp, { workspaceId, caller, params }),
  }),

  route({
    ...action(
      'hold',
      'Put the caller on hold, or resume',
      Type.Object({
        hold: Type.Optional(Type.Boolean({ description: 'Default: true.' })),
        expectedVersion: Type.Optional(ExpectedVersion),
      }),
    ),
    description:
      'For the assigned agent and admins. An empty body puts the call on hold; `{"hold": false}` resumes it. ' +
      'Returns 409 `conflict` if the call is already in that state or still ringing, and 409 `call_unavailable` if it is over.',
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
      'For the assigned agent and admins. ' +
      'The recipient has 30 seconds to accept or decline, through the same routes as for assign-to-agent; ' +
      'the caller stays with the current agent until then. ' +
      'Accepting moves the caller and adds `transferred` to the timeline. ' +
      'Returns 422 `semantic_error` if the recipient is in another call.',
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
    description: 'Lists the voicemails of calls that the agent may see, newest first.',
    access: { kind: 'agent', scope: 'conversations:read', feature: 'calls' },
    query: Type.Object({
      conversationId: Type.Optional(Type.String({ format: 'uuid', description: 'The voicemail left in this call.' })),
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
    summary: 'Get a voicemail',
    description: 'The first read sets `listenedAt`.',
    access: { kind: 'agent', scope: 'conversations:read', feature: 'calls' },
    params: Type.Object({ voicemailId: Id }),
    reply: { status: 200, schema: Voicemail },
    refusals: ['forbidden'],
    run: ({ workspaceId, caller, params }, { engine }) =>
      engine.execute(listenToVoicemail, { workspaceId, caller, params }),
  }),
];
