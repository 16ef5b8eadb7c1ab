// Which language model a workspace uses: the operator's, or one that an admin named. Only its own workspace pays for it
// and sees its answers.

import { type AiModelRecord, deleteAiModel, findAiModel, putAiModel } from '../../store/assistant/ai-models.ts';
import { type AiUsage, aiUsageFrom } from '../../store/assistant/ai-requests.ts';
import type { ChatEndpoint } from '../../workers/providers/chat-model.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { View } from '../runtime/context.ts';
import { requireAdmin } from '../workspace/access.ts';

export type NewAiModel = Omit<AiModelRecord, 'updatedAt'>;

export type ModelEndpoint = Omit<ChatEndpoint, 'tenant'>;

/** What the environment says. `isChosen`: workspaces cannot name a model of their own. */
export interface OperatorsModel {
  readonly isChosen: boolean;
  readonly endpoint: ModelEndpoint | undefined;
  readonly tokensPerDay: number;
}

const usageDays = 30;
const dayMs = 24 * 3600_000;

/** Null removes it. Refuses admin_required. */
export const setAiModel = command('aiModel.set', (ctx, params: { model: NewAiModel | null }): void => {
  requireAdmin(ctx);
  const before = findAiModel(ctx.db);
  if (params.model === null) deleteAiModel(ctx.db);
  else putAiModel(ctx.db, { ...params.model, updatedAt: ctx.at });
  ctx.audit({
    action: 'workspace.updated',
    targetKind: 'workspace',
    targetId: ctx.workspaceId,
    before: shown(before),
    after: shown(params.model ?? undefined),
  });
});

/** The model that the workspace named, if it counts. */
export function ownAiModel(view: Pick<View, 'db'>, operators: OperatorsModel): AiModelRecord | undefined {
  return operators.isChosen ? undefined : findAiModel(view.db);
}

export function hasAiModel(view: Pick<View, 'db'>, operators: OperatorsModel): boolean {
  return operators.endpoint !== undefined || ownAiModel(view, operators) !== undefined;
}

/** Tokens that it may use in a day; null without a model. */
export function aiTokensPerDay(view: Pick<View, 'db'>, operators: OperatorsModel): number | null {
  if (operators.endpoint !== undefined) return operators.tokensPerDay;
  return ownAiModel(view, operators)?.tokensPerDay ?? null;
}

/** The last 30 days on which it was used, newest first. */
export function aiUsage(view: Pick<View, 'db' | 'nowMs'>): AiUsage[] {
  return aiUsageFrom(view.db, isoTime(view.nowMs - (usageDays - 1) * dayMs).slice(0, 10));
}

function shown(model: NewAiModel | undefined): { aiModel: object | null } {
  if (model === undefined) return { aiModel: null };
  const { url, model: name, tokensPerDay } = model;
  return { aiModel: { url, model: name, tokensPerDay } };
}
