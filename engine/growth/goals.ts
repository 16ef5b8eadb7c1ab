// Goals: pages whose visit has a value, and attribution of the visit. Specification 4.15.

import { findNewestConversation } from '../../store/conversations/conversations.ts';
import type { VisitorRecord } from '../../store/customers/visitors.ts';
import type { UrlMatch } from '../../store/growth/campaigns.ts';
import {
  allGoals,
  type CompletionRange,
  type CompletionRecord,
  completionPage,
  completionsOfVisitor,
  completionTotals,
  findGoal,
  type GoalRecord,
  type GoalStatus,
  insertCompletion,
  insertGoal,
  lastCompletedAt,
  markGoalDeleted,
  updateGoal,
} from '../../store/growth/goals.ts';
import { visitorKind } from '../customers/visitors.ts';
import { refuse, refuseField } from '../errors.ts';
import { emit } from '../events.ts';
import { foldCompletionOf } from '../rollups.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { ActorKind } from '../runtime/registry.ts';
import { callingAgent, isSenior } from '../workspace/access.ts';
import { requireFeature } from '../workspace/entitlements.ts';
import { theRoster } from '../workspace/roster.ts';
import { requireRoom, requireUrlMatch, type UrlPattern, urlPattern } from './url-patterns.ts';

/** One visitor completes one goal at most once in this time (specification 8). */
const dedupeMs = 24 * 3600_000;
/** A conversation without activity for longer gets no attribution. */
const attributionMs = 30 * 24 * 3600_000;
/** Includes paused and archived goals, but not deleted ones. */
const maxGoals = 500;
const maxOfVisitor = 50;

interface ActiveGoal {
  readonly goal: GoalRecord;
  readonly pattern: UrlPattern;
}

const activeGoalsKind: ActorKind<readonly ActiveGoal[]> = {
  name: 'activeGoals',
  load: (db) =>
    allGoals(db)
      .filter(({ status }) => status === 'active')
      .map((goal) => ({ goal, pattern: urlPattern(goal.condition) })),
};

export interface GoalFields {
  readonly name: string;
  readonly condition: UrlMatch;
  readonly valueCents?: number | null | undefined;
}

/** Active at once. Refuses forbidden, feature_locked, invalid_body, semantic_error. */
export const createGoal = command('goal.create', (ctx, fields: GoalFields): GoalRecord => {
  requireGoalWriter(ctx);
  requireUrlMatch(fields.condition, 'condition');
  if (allGoals(ctx.db).length >= maxGoals)
    refuse('semantic_error', { message: `A workspace may have at most ${maxGoals} goals.` });
  const goal: GoalRecord = {
    id: ctx.ids.uuid(),
    name: fields.name,
    condition: conditionOf(fields.condition),
    valueCents: fields.valueCents ?? null,
    status: 'active',
    createdAt: ctx.at,
  };
  remember(ctx, goal);
  insertGoal(ctx.db, goal);
  return goal;
});

export type GoalChanges = { readonly [Field in keyof GoalFields]?: GoalFields[Field] | undefined } & {
  readonly status?: GoalStatus | undefined;
};

/**
 * Paused and archived goals match nothing until they are active again. Refuses forbidden, feature_locked, not_found,
 * invalid_body, semantic_error.
 */
export const changeGoal = command(
  'goal.update',
  (ctx, params: { goalId: string; changes: GoalChanges }): GoalRecord => {
    requireGoalWriter(ctx);
    const before = requireGoal(ctx, params.goalId);
    const {
      name = before.name,
      condition = before.condition,
      valueCents = before.valueCents,
      status = before.status,
    } = params.changes;
    if (Object.values(params.changes).every((value) => value === undefined))
      refuseField('invalid_body', 'body', 'must name a field that can be changed');
    requireUrlMatch(condition, 'condition');
    const after: GoalRecord = { ...before, name, condition: conditionOf(condition), valueCents, status };
    remember(ctx, after);
    updateGoal(ctx.db, after);
    return after;
  },
);

/** Its completions stay in past reports. Refuses forbidden, feature_locked, not_found. */
export const deleteGoal = command('goal.delete', (ctx, params: { goalId: string }): void => {
  requireGoalWriter(ctx);
  const goal = requireGoal(ctx, params.goalId);
  remember(ctx, { ...goal, status: 'archived' });
  markGoalDeleted(ctx.db, goal.id, ctx.at);
});

/** Newest first. */
export function listGoals(view: View): GoalRecord[] {
  return allGoals(view.db);
}

/** Refuses not_found. */
export function requireGoal(view: Pick<View, 'db'>, goalId: string): GoalRecord {
  return findGoal(view.db, goalId) ?? refuse('not_found');
}

/** A completion as agents see it. */
export interface CompletionView {
  readonly id: string;
  readonly goalId: string;
  readonly goalName: string;
  readonly url: string;
  readonly valueCents: number | null;
  readonly completedAt: string;
  readonly visitorId: string;
  readonly conversationId: string | null;
  readonly attributedAgentId: string | null;
  readonly attributedAgentName: string | null;
}

declare module '../events.ts' {
  interface EventRecords {
    readonly completion: CompletionView;
  }
}

export interface CompletionList {
  readonly completions: readonly CompletionView[];
  /** Of the whole range, not of this page. */
  readonly total: number;
  readonly totalValueCents: number;
  /** Offset of the next page; null at the end. */
  readonly nextOffset: number | null;
}

/** Newest first. Refuses not_found. */
export function listCompletions(view: View, page: CompletionRange & { limit: number; offset: number }): CompletionList {
  const goal = requireGoal(view, page.goalId);
  const completions = completionPage(view.db, page).map((completion) => completionView(view, goal.name, completion));
  const totals = completionTotals(view.db, page);
  const next = page.offset + completions.length;
  return { completions, ...totals, nextOffset: next < totals.total && completions.length > 0 ? next : null };
}

/** A visitor's completions, newest first. Refuses not_found. */
export function listCompletionsOfVisitor(view: View, visitorId: string): { completions: CompletionView[] } {
  if (view.state(visitorKind, visitorId) === undefined) refuse('not_found');
  return {
    completions: completionsOfVisitor(view.db, visitorId, maxOfVisitor).map((completion) =>
      completionView(view, completion.goalName, completion),
    ),
  };
}

/** Completes the goals that match the page for this visitor, and emits them to agents. */
export function completeGoals(ctx: Context, visitor: VisitorRecord, url: string): void {
  for (const { goal, pattern } of theActive(ctx)) {
    if (!pattern.matches(url)) continue;
    const lastAt = lastCompletedAt(ctx.db, visitor.id, goal.id);
    if (lastAt === undefined || ctx.nowMs - Date.parse(lastAt) >= dedupeMs) complete(ctx, { goal, visitor, url });
  }
}

/** Attributes the completion to the visitor's newest recently active conversation and its assignee. */
function complete(ctx: Context, done: { goal: GoalRecord; visitor: VisitorRecord; url: string }): void {
  const { goal, visitor, url } = done;
  const newest = findNewestConversation(ctx.db, visitor.id);
  const conversation =
    newest !== undefined && newest.status !== 'spam' && newest.updatedAt >= isoTime(ctx.nowMs - attributionMs)
      ? newest
      : undefined;
  const completion: CompletionRecord = {
    id: ctx.ids.uuid(),
    goalId: goal.id,
    url,
    valueCents: goal.valueCents,
    visitorId: visitor.id,
    conversationId: conversation?.id ?? null,
    departmentId: conversation?.departmentId ?? null,
    attributedAgentId: conversation?.assignedAgentId ?? null,
    completedAt: ctx.at,
  };
  insertCompletion(ctx.db, completion);
  foldCompletionOf(ctx, completion);
  emit(ctx, {
    type: 'goal.completed',
    audience: { kind: 'channel', channel: 'chat' },
    data: { completion: completionView(ctx, goal.name, completion) },
  });
}

function completionView(view: Pick<View, 'state'>, goalName: string, completion: CompletionRecord): CompletionView {
  const { id, goalId, url, valueCents, completedAt, visitorId, conversationId, attributedAgentId } = completion;
  const attributedAgentName =
    attributedAgentId === null ? null : (theRoster(view).agents.get(attributedAgentId)?.name ?? null);
  return {
    id,
    goalId,
    goalName,
    url,
    valueCents,
    completedAt,
    visitorId,
    conversationId,
    attributedAgentId,
    attributedAgentName,
  };
}

function theActive(view: Pick<View, 'state'>): readonly ActiveGoal[] {
  return view.state(activeGoalsKind, '') ?? [];
}

/** Updates the cache of active goals. */
function remember(ctx: Context, goal: GoalRecord): void {
  const others = theActive(ctx).filter((active) => active.goal.id !== goal.id);
  if (goal.status !== 'active') {
    ctx.setState(activeGoalsKind, '', others);
    return;
  }
  const pattern = urlPattern(goal.condition);
  requireRoom(
    others.map((active) => active.pattern),
    pattern,
    'goals',
  );
  ctx.setState(activeGoalsKind, '', [...others, { goal, pattern }]);
}

const conditionOf = ({ operator, value }: UrlMatch): UrlMatch => ({ operator, value });

/** This area specifies forbidden where others use admin_required (decisions, last details). */
function requireGoalWriter(ctx: Context): void {
  if (!isSenior(callingAgent(ctx))) refuse('forbidden', { message: 'Only admins and supervisors can change goals.' });
  requireFeature(ctx, 'goals');
}
