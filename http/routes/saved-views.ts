// Views of the queue that are kept under a name.

import Type from 'typebox';
import {
  changeSavedView,
  createSavedView,
  listSavedViews,
  removeSavedView,
} from '../../engine/conversations/saved-views.ts';
import { route } from '../route.ts';
import { View, ViewFilter, ViewScope } from '../schemas/records.ts';
import { Id, line, ViewSort } from '../schemas/shared.ts';

const ViewName = line(60);
const ById = Type.Object({ viewId: Id });
const whoMay = "Agents change their own views; only admins and supervisors change the team's.";

export const savedViewRoutes = [
  route({
    operation: 'view.list',
    method: 'GET',
    path: '/views',
    tag: 'Views',
    summary: 'List views',
    description:
      "Lists the team's views, then the caller's own, oldest first. All at once: there are at most 50 of each.",
    access: { kind: 'agent', scope: 'conversations:read' },
    reply: { status: 200, schema: Type.Object({ views: Type.Array(View) }) },
    refusals: [],
    read: (view) => ({ views: listSavedViews(view) }),
  }),

  route({
    operation: 'view.create',
    method: 'POST',
    path: '/views',
    tag: 'Views',
    summary: 'Keep a view',
    description:
      "Keeps a filter and an order of open conversations under a name, for the caller alone or for the team. Only admins and supervisors can make the team's. " +
      'At most 50 views of the team, and 50 of each agent.',
    access: { kind: 'agent', scope: 'conversations:write' },
    body: Type.Object({
      name: ViewName,
      filter: Type.Optional(ViewFilter),
      sort: Type.Optional(ViewSort),
      scope: Type.Optional(ViewScope),
    }),
    reply: { status: 201, schema: View },
    refusals: ['forbidden', 'semantic_error'],
    run: ({ workspaceId, caller, body }, { engine }) =>
      engine.execute(createSavedView, { workspaceId, caller, params: body }),
  }),

  route({
    operation: 'view.update',
    method: 'PATCH',
    path: '/views/{viewId}',
    tag: 'Views',
    summary: 'Change a view',
    description: `Replaces its name, its whole filter or its order. ${whoMay}`,
    access: { kind: 'agent', scope: 'conversations:write' },
    params: ById,
    body: Type.Object({
      name: Type.Optional(ViewName),
      filter: Type.Optional(ViewFilter),
      sort: Type.Optional(ViewSort),
    }),
    reply: { status: 200, schema: View },
    refusals: ['forbidden'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(changeSavedView, { workspaceId, caller, params: { ...params, changes: body } }),
  }),

  route({
    operation: 'view.delete',
    method: 'DELETE',
    path: '/views/{viewId}',
    tag: 'Views',
    summary: 'Delete a view',
    description: whoMay,
    access: { kind: 'agent', scope: 'conversations:write' },
    params: ById,
    reply: { status: 204, schema: null },
    refusals: ['forbidden'],
    run: ({ workspaceId, caller, params }, { engine }) =>
      engine.execute(removeSavedView, { workspaceId, caller, params }),
  }),
];
