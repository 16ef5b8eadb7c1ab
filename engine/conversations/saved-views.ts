// Views of the queue that are kept under a name: the team's, written by admins and supervisors, and each agent's own.

import {
  deleteSavedView,
  findSavedView,
  insertSavedView,
  type SavedFilter,
  type SavedViewRecord,
  updateSavedView,
  viewsOfAgent,
  viewsOfTeam,
} from '../../store/conversations/saved-views.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { maxViews } from '../constants.ts';
import { refuse, refuseField } from '../errors.ts';
import { emit } from '../events.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { callingAgent, isSenior } from '../workspace/access.ts';
import { auditChange } from '../workspace/audit.ts';

declare module '../events.ts' {
  interface EventRecords {
    readonly view: SavedViewRecord;
  }
}

export interface SavedViewFields {
  readonly name: string;
  readonly filter?: SavedFilter | undefined;
  readonly sort?: SavedViewRecord['sort'] | undefined;
}

/** The team's, then the agent's own, each oldest first. */
export function listSavedViews(view: View): SavedViewRecord[] {
  return [...viewsOfTeam(view.db), ...viewsOfAgent(view.db, callingAgent(view).id)];
}

/** Refuses forbidden (a view of the team by an agent), semantic_error for too many. */
export const createSavedView = command(
  'savedView.create',
  (ctx, fields: SavedViewFields & { scope?: SavedViewRecord['scope'] | undefined }): SavedViewRecord => {
    const agent = callingAgent(ctx);
    const saved: SavedViewRecord = {
      id: ctx.ids.uuid(),
      name: fields.name,
      scope: fields.scope ?? 'own',
      filter: fields.filter ?? {},
      sort: fields.sort ?? 'newest',
      createdByAgentId: agent.id,
      createdAt: ctx.at,
      updatedAt: ctx.at,
    };
    requireRight(agent, saved);
    const others = saved.scope === 'team' ? viewsOfTeam(ctx.db) : viewsOfAgent(ctx.db, agent.id);
    if (others.length >= maxViews)
      refuse('semantic_error', {
        message: `At most ${maxViews} views can be kept. Delete one first.`,
        detail: { maxViews },
      });
    insertSavedView(ctx.db, saved);
    if (saved.scope === 'team')
      ctx.audit({ action: 'view.created', targetKind: 'view', targetId: saved.id, after: auditOf(saved) });
    emitView(ctx, 'view.created', saved);
    return saved;
  },
);

/** Refuses not_found, forbidden, invalid_body. */
export const changeSavedView = command(
  'savedView.update',
  (
    ctx,
    params: {
      viewId: string;
      changes: { readonly [Field in keyof SavedViewFields]?: SavedViewFields[Field] | undefined };
    },
  ): SavedViewRecord => {
    const before = requireOwn(ctx, params.viewId);
    const { name, filter, sort } = params.changes;
    if (name === undefined && filter === undefined && sort === undefined)
      refuseField('invalid_body', 'body', 'must name a field that can be changed');
    const after: SavedViewRecord = {
      ...before,
      name: name ?? before.name,
      filter: filter ?? before.filter,
      sort: sort ?? before.sort,
      updatedAt: ctx.at,
    };
    updateSavedView(ctx.db, after);
    if (after.scope === 'team')
      auditChange(ctx, {
        action: 'view.updated',
        targetKind: 'view',
        targetId: after.id,
        before: auditOf(before),
        after: auditOf(after),
      });
    emitView(ctx, 'view.updated', after);
    return after;
  },
);

/** Refuses not_found, forbidden. */
export const removeSavedView = command('savedView.delete', (ctx, params: { viewId: string }): void => {
  const saved = requireOwn(ctx, params.viewId);
  deleteSavedView(ctx.db, saved.id);
  if (saved.scope === 'team')
    ctx.audit({ action: 'view.deleted', targetKind: 'view', targetId: saved.id, before: auditOf(saved) });
  emitView(ctx, 'view.deleted', saved);
});

function emitView(ctx: Context, type: 'view.created' | 'view.updated' | 'view.deleted', saved: SavedViewRecord): void {
  emit(ctx, {
    type,
    audience: saved.scope === 'team' ? { kind: 'workspace' } : { kind: 'agent', agentId: saved.createdByAgentId },
    data: { view: saved },
  });
}

const auditOf = ({ name, filter, sort }: SavedViewRecord): object => ({ name, filter, sort });

/** Another agent's own view does not exist for the caller. */
function requireOwn(ctx: Context, viewId: string): SavedViewRecord {
  const agent = callingAgent(ctx);
  const saved = findSavedView(ctx.db, viewId);
  if (saved === undefined || (saved.scope === 'own' && saved.createdByAgentId !== agent.id)) refuse('not_found');
  requireRight(agent, saved);
  return saved;
}

function requireRight(agent: AgentRecord, saved: SavedViewRecord): void {
  if (saved.scope === 'team' && !isSenior(agent))
    refuse('forbidden', { message: "Only admins and supervisors can change the team's views." });
}
