// Goals and their completions. Specification 4.15.

import Type from 'typebox';
import { refuseField } from '../../engine/errors.ts';
import {
  changeGoal,
  createGoal,
  deleteGoal,
  listCompletions,
  listGoals,
  requireGoal,
} from '../../engine/growth/goals.ts';
import { isoTime } from '../../engine/runtime/clock.ts';
import { defaultLimit, parseTime } from '../pipeline/cursor.ts';
import { route } from '../route.ts';
import { Goal, GoalStatus } from '../schemas/records.ts';
import { GoalCompletion, Id, Name, nullable, UrlMatch } from '../schemas/shared.ts';

const maxValueCents = 1_000_000_000;
const ValueCents = nullable(
  Type.Integer({ minimum: 0, maximum: maxValueCents, description: 'The value of one completion.' }),
);
const ById = Type.Object({ goalId: Id });
const reading = { kind: 'agent', scope: 'reports:read', feature: 'goals' } as const;
const writing = { kind: 'agent', scope: null, role: 'senior', roleSlug: 'forbidden', feature: 'goals' } as const;
const defaultRangeMs = 7 * 24 * 3600_000;

export const goalRoutes = [
  route({
    operation: 'goal.list',
    method: 'GET',
    path: '/goals',
    tag: 'Goals',
    summary: 'List goals',
    description: 'Newest first.',
    access: reading,
    reply: { status: 200, schema: Type.Object({ goals: Type.Array(Goal) }) },
    refusals: [],
    read: (view) => ({ goals: listGoals(view) }),
  }),

  route({
    operation: 'goal.read',
    method: 'GET',
    path: '/goals/{goalId}',
    tag: 'Goals',
    summary: 'Get a goal',
    access: reading,
    params: ById,
    reply: { status: 200, schema: Goal },
    refusals: [],
    read: (view, { params }) => requireGoal(view, params.goalId),
  }),

  route({
    operation: 'goal.create',
    method: 'POST',
    path: '/goals',
    tag: 'Goals',
    summary: 'Create a goal',
    description:
      'For admins and supervisors. The goal is active immediately: ' +
      'a page whose address matches the condition completes it, once in 24 hours per visitor.',
    access: writing,
    body: Type.Object({ name: Name, condition: UrlMatch, valueCents: Type.Optional(ValueCents) }),
    reply: { status: 201, schema: Goal },
    refusals: ['semantic_error'],
    run({ workspaceId, caller, body }, { engine }) {
      const { name, condition, valueCents } = body;
      return engine.execute(createGoal, { workspaceId, caller, params: { name, condition, valueCents } });
    },
  }),

  route({
    operation: 'goal.update',
    method: 'PATCH',
    path: '/goals/{goalId}',
    tag: 'Goals',
    summary: 'Update a goal',
    description:
      'Paused and archived goals match no pages; setting `active` resumes them. A new value applies to later completions.',
    access: writing,
    params: ById,
    body: Type.Object({
      name: Type.Optional(Name),
      condition: Type.Optional(UrlMatch),
      valueCents: Type.Optional(ValueCents),
      status: Type.Optional(GoalStatus),
    }),
    reply: { status: 200, schema: Goal },
    refusals: ['semantic_error'],
    run({ workspaceId, caller, params, body }, { engine }) {
      const { name, condition, valueCents, status } = body;
      return engine.execute(changeGoal, {
        workspaceId,
        caller,
        params: { ...params, changes: { name, condition, valueCents, status } },
      });
    },
  }),

  route({
    operation: 'goal.delete',
    method: 'DELETE',
    path: '/goals/{goalId}',
    tag: 'Goals',
    summary: 'Delete a goal',
    description: 'Its completions stay in past reports.',
    access: writing,
    params: ById,
    reply: { status: 204, schema: null },
    refusals: [],
    run: ({ workspaceId, caller, params }, { engine }) => engine.execute(deleteGoal, { workspaceId, caller, params }),
  }),

  route({
    operation: 'goal.completions',
    method: 'GET',
    path: '/goals/{goalId}/completions',
    tag: 'Goals',
    summary: "List a goal's completions",
    description:
      'Newest first, from `from` (inclusive) to `to` (exclusive); by default the last 7 days. ' +
      'The totals cover the whole range. ' +
      "A completion is attributed to the visitor's newest conversation of the last 30 days and to its assignee.",
    access: reading,
    params: ById,
    query: Type.Object({
      from: Type.Optional(Type.String({ format: 'date-time' })),
      to: Type.Optional(Type.String({ format: 'date-time' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0 })),
    }),
    reply: {
      status: 200,
      schema: Type.Object({
        completions: Type.Array(GoalCompletion),
        total: Type.Integer(),
        totalValueCents: Type.Integer(),
        nextOffset: nullable(Type.Integer({ description: 'The offset of the next page; null on the last page.' })),
      }),
    },
    refusals: [],
    read(view, { params, query }) {
      // Completions of the present millisecond count.
      const toAt = parseTime(query.to, 'to') ?? isoTime(view.nowMs + 1);
      const fromAt = parseTime(query.from, 'from') ?? isoTime(Date.parse(toAt) - defaultRangeMs);
      if (fromAt >= toAt) refuseField('invalid_query', 'to', 'must be after from');
      return listCompletions(view, {
        ...params,
        fromAt,
        toAt,
        limit: query.limit ?? defaultLimit,
        offset: query.offset ?? 0,
      });
    },
  }),
];
