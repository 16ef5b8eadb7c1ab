// Visitors, as agents handle them: blocking, history. Specification 4.12.

import Type from 'typebox';
import { visitorHistory } from '../../engine/customers/contacts.ts';
import { blockVisitor, readVisitor, readVisitors, unblockVisitor } from '../../engine/customers/visitors.ts';
import { listCompletionsOfVisitor } from '../../engine/growth/goals.ts';
import type { VisitorRecord } from '../../store/customers/visitors.ts';
import { route } from '../route.ts';
import { worded } from '../schemas/field-words.ts';
import { behind } from '../schemas/scoped-members.ts';
import { GoalCompletion, HistoryItem, Id, Visitor } from '../schemas/shared.ts';
import type { Services } from '../services.ts';

const maxIds = 50;
/** The token acts as the visitor, which is more than any scope allows. */
const FullVisitor = Type.Object({ ...Visitor.properties, visitorToken: behind('*', Type.String()) });
const uuid = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';

export const visitorRoutes = [
  route({
    operation: 'visitor.list',
    method: 'GET',
    path: '/visitors',
    tag: 'Visitors',
    summary: 'Get several visitors',
    description: 'Returns the visitors that exist among the ids, in no particular order.',
    access: { kind: 'agent', scope: 'visitors:read' },
    query: Type.Object({
      ids: Type.String({
        pattern: worded(`^${uuid}(?:,${uuid}){0,${maxIds - 1}}$`, `at most ${maxIds} ids, separated by commas`),
        description: `At most ${maxIds} ids, separated by commas.`,
      }),
    }),
    reply: { status: 200, schema: Type.Object({ visitors: Type.Array(Visitor) }) },
    refusals: [],
    read: (view, { query }) => ({ visitors: readVisitors(view, query.ids.toLowerCase().split(',')) }),
  }),

  route({
    operation: 'visitor.get',
    method: 'GET',
    path: '/visitors/{visitorId}',
    tag: 'Visitors',
    summary: 'Get a visitor',
    access: { kind: 'agent', scope: 'visitors:read' },
    params: Type.Object({ visitorId: Id }),
    reply: { status: 200, schema: Type.Object({ visitor: Visitor }) },
    refusals: [],
    read: (view, { params }) => ({ visitor: readVisitor(view, params.visitorId) }),
  }),

  route({
    operation: 'visitor.block',
    method: 'POST',
    path: '/visitors/{visitorId}/block',
    tag: 'Visitors',
    summary: 'Block a visitor',
    description:
      'Takes effect immediately, on open sockets too: the visitor can only open sessions. ' +
      'New visitors from the same network with the same browser within a day, and those who give the same email, ' +
      'are blocked too; private addresses do not count as a network.',
    access: { kind: 'agent', scope: 'visitors:write' },
    params: Type.Object({ visitorId: Id }),
    reply: { status: 200, schema: Type.Object({ visitor: FullVisitor }) },
    refusals: [],
    async run({ workspaceId, caller, params }, services) {
      const visitor = await services.engine.execute(blockVisitor, { workspaceId, caller, params });
      services.dropVisitor(workspaceId, visitor.id);
      return { visitor: fullVisitor(services, workspaceId, visitor) };
    },
  }),

  route({
    operation: 'visitor.unblock',
    method: 'POST',
    path: '/visitors/{visitorId}/unblock',
    tag: 'Visitors',
    summary: 'Unblock a visitor',
    description: 'Also unblocks the visitors who were blocked with it.',
    access: { kind: 'agent', scope: 'visitors:write' },
    params: Type.Object({ visitorId: Id }),
    reply: { status: 200, schema: Type.Object({ visitor: FullVisitor }) },
    refusals: [],
    async run({ workspaceId, caller, params }, services) {
      return {
        visitor: fullVisitor(
          services,
          workspaceId,
          await services.engine.execute(unblockVisitor, { workspaceId, caller, params }),
        ),
      };
    },
  }),

  route({
    operation: 'visitor.conversations',
    method: 'GET',
    path: '/visitors/{visitorId}/conversations',
    tag: 'Visitors',
    summary: "List a visitor's conversations",
    description: 'The newest 50 that the agent may see, newest first.',
    access: { kind: 'agent', scope: 'visitors:read' },
    params: Type.Object({ visitorId: Id }),
    reply: { status: 200, schema: Type.Object({ conversations: Type.Array(HistoryItem) }) },
    refusals: [],
    read: (view, { params }) => ({ conversations: visitorHistory(view, params.visitorId) }),
  }),

  route({
    operation: 'visitor.completions',
    method: 'GET',
    path: '/visitors/{visitorId}/completions',
    tag: 'Visitors',
    summary: "List a visitor's goal completions",
    description: 'The newest 50, newest first, including those of deleted goals.',
    access: { kind: 'agent', scope: 'visitors:read' },
    params: Type.Object({ visitorId: Id }),
    reply: { status: 200, schema: Type.Object({ completions: Type.Array(GoalCompletion) }) },
    refusals: [],
    read: (view, { params }) => listCompletionsOfVisitor(view, params.visitorId),
  }),
];

/** The record with its token, as specification 2 lists it. */
function fullVisitor(services: Services, workspaceId: string, visitor: VisitorRecord) {
  return { ...visitor, visitorToken: services.visitorTokens.issue({ workspaceId, visitorId: visitor.id }) };
}
