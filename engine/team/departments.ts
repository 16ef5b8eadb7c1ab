// Departments and their members. Deleting one returns its conversations to the workspace. Decisions 4.10.

import { conversationIdsOfDepartment } from '../../store/conversations/conversations.ts';
import { nameKey } from '../../store/folding.ts';
import { clearMailboxDepartment } from '../../store/mail/mailboxes.ts';
import {
  type DepartmentRecord,
  deleteDepartment,
  insertDepartment,
  renameDepartment,
} from '../../store/workspace/departments.ts';
import { loseTarget } from '../calls/phone-numbers.ts';
import { maxDepartments } from '../constants.ts';
import { changeConversation, conversationKind } from '../conversations/conversation.ts';
import { appendServiceLine } from '../conversations/messages.ts';
import { drainQueue } from '../conversations/routing.ts';
import { refuse, refuseField } from '../errors.ts';
import { emit } from '../events.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import { deadline } from '../runtime/kinds.ts';
import { requireAdmin } from '../workspace/access.ts';
import { dropRulesOfDepartment } from '../workspace/office-hours.ts';
import { emitAgent, putAgent, type Roster, setRoster, theRoster } from '../workspace/roster.ts';
import { emitSettings, putWorkspace, theWorkspace } from '../workspace/workspace.ts';

export interface DepartmentView {
  readonly id: string;
  readonly name: string;
  readonly memberIds: readonly string[];
  readonly isDefault: boolean;
  readonly createdAt: string;
}

declare module '../events.ts' {
  interface EventRecords {
    readonly department: DepartmentView;
  }
}

/** Conversations of a deleted department moved per command, so that a large one does not block other commands. */
const clearPage = 200;
/** Conversations without an agent can wait: each move is sent to every inbox, so pages are paced for the sockets. */
const clearPauseMs = 1000;
export const clearDeadline = deadline('department.clear');

function departmentView(view: Pick<View, 'state'>, department: DepartmentRecord): DepartmentView {
  return {
    id: department.id,
    name: department.name,
    memberIds: memberIdsOf(view, department.id),
    isDefault: theWorkspace(view).settings.defaultDepartmentId === department.id,
    createdAt: department.createdAt,
  };
}

function memberIdsOf(view: Pick<View, 'state'>, departmentId: string): string[] {
  return [...theRoster(view).agents.values()]
    .filter((agent) => agent.groupIds.includes(departmentId))
    .map((agent) => agent.id);
}

/** Runs a change of these departments' members and audits the difference. */
export function auditingMembers<Result>(ctx: Context, departmentIds: readonly string[], change: () => Result): Result {
  const before = new Map(departmentIds.map((id) => [id, memberIdsOf(ctx, id)]));
  const result = change();
  for (const [departmentId, memberIdsBefore] of before) {
    const memberIds = memberIdsOf(ctx, departmentId);
    if (memberIds.join() === memberIdsBefore.join()) continue;
    ctx.audit({
      action: 'department.members_changed',
      targetKind: 'department',
      targetId: departmentId,
      before: { memberIds: memberIdsBefore },
      after: { memberIds },
    });
    const department = theRoster(ctx).departments.get(departmentId);
    if (department !== undefined) emitDepartment(ctx, 'department.updated', departmentView(ctx, department));
  }
  return result;
}

export function listDepartments(view: View): DepartmentView[] {
  return [...theRoster(view).departments.values()].map((department) => departmentView(view, department));
}

export interface DepartmentChanges {
  readonly name?: string | undefined;
  readonly memberIds?: readonly string[] | undefined;
  readonly isDefault?: boolean | undefined;
}

/** Refuses admin_required, conflict (name), semantic_error for too many, invalid_body (unknown member). */
export const createDepartment = command(
  'department.create',
  (ctx, params: DepartmentChanges & { name: string }): DepartmentView => {
    requireAdmin(ctx);
    requireFreeName(ctx, params.name, undefined);
    if (theRoster(ctx).departments.size >= maxDepartments)
      refuse('semantic_error', {
        message: `A workspace may have at most ${maxDepartments} departments.`,
        detail: { maxDepartments },
      });
    const department: DepartmentRecord = { id: ctx.ids.uuid(), name: params.name, createdAt: ctx.at };
    insertDepartment(ctx.db, department);
    const roster = theRoster(ctx);
    setRoster(ctx, { ...roster, departments: new Map(roster.departments).set(department.id, department) });
    if (params.memberIds !== undefined) setMembers(ctx, department, params.memberIds);
    if (params.isDefault === true) setDefault(ctx, department.id);
    const view = departmentView(ctx, department);
    ctx.audit({ action: 'department.created', targetKind: 'department', targetId: department.id, after: view });
    emitDepartment(ctx, 'department.created', view);
    return view;
  },
);

/** Refuses admin_required, not_found, conflict (name), invalid_body. */
export const changeDepartment = command(
  'department.update',
  (ctx, params: { departmentId: string; changes: DepartmentChanges }): DepartmentView => {
    requireAdmin(ctx);
    const roster = theRoster(ctx);
    const before = roster.departments.get(params.departmentId) ?? refuse('not_found');
    const { name, memberIds, isDefault } = params.changes;
    if (name === undefined && memberIds === undefined && isDefault === undefined)
      refuseField('invalid_body', 'body', 'must name a field that can be changed');
    const viewBefore = departmentView(ctx, before);
    const after: DepartmentRecord = { ...before, name: name ?? before.name };
    if (after.name !== before.name) {
      requireFreeName(ctx, after.name, before.id);
      renameDepartment(ctx.db, before.id, after.name);
      setRoster(ctx, { ...roster, departments: new Map(roster.departments).set(after.id, after) });
      for (const agent of roster.agents.values()) if (agent.groupIds.includes(after.id)) emitAgent(ctx, agent);
    }
    if (isDefault !== undefined && isDefault !== viewBefore.isDefault) setDefault(ctx, isDefault ? after.id : null);
    if (memberIds !== undefined) {
      auditingMembers(ctx, [after.id], () => setMembers(ctx, after, memberIds));
      drainQueue(ctx);
    }
    const view = departmentView(ctx, after);
    if (view.name !== viewBefore.name || view.isDefault !== viewBefore.isDefault) {
      const named = ({ name, isDefault }: DepartmentView) => ({ name, isDefault });
      ctx.audit({
        action: 'department.updated',
        targetKind: 'department',
        targetId: after.id,
        before: named(viewBefore),
        after: named(view),
      });
      emitDepartment(ctx, 'department.updated', view);
    }
    return view;
  },
);

/** Its conversations then belong to no department. Refuses admin_required, not_found. */
export const removeDepartment = command('department.delete', (ctx, params: { departmentId: string }): void => {
  requireAdmin(ctx);
  const department = theRoster(ctx).departments.get(params.departmentId) ?? refuse('not_found');
  const before = departmentView(ctx, department);
  setMembers(ctx, department, []);
  if (before.isDefault) setDefault(ctx, null);
  dropRulesOfDepartment(ctx, department.id);
  loseTarget(ctx, department);
  deleteDepartment(ctx.db, department.id);
  const roster = theRoster(ctx);
  const departments = new Map(roster.departments);
  departments.delete(department.id);
  setRoster(ctx, { ...roster, departments });
  ctx.audit({ action: 'department.deleted', targetKind: 'department', targetId: department.id, before });
  emitDepartment(ctx, 'department.deleted', before);
  clearMailboxDepartment(ctx.db, department.id);
  clearPageOf(ctx, department.id);
});

/** Continues where removeDepartment stopped. */
export const clearDepartment = command('department.clear', (ctx, params: DeadlineParams): void =>
  clearPageOf(ctx, params.subjectId),
);

function clearPageOf(ctx: Context, departmentId: string): void {
  const ids = conversationIdsOfDepartment(ctx.db, departmentId, clearPage);
  let isAnyWorkedOn = false;
  for (const id of ids) {
    const conversation = ctx.state(conversationKind, id);
    if (conversation === undefined) continue;
    const isWorkedOn = conversation.status === 'open' || conversation.status === 'pending';
    isAnyWorkedOn ||= isWorkedOn;
    // Refusals by the department's members end with it.
    const moved = changeConversation(ctx, conversation, { departmentId: null, notToAgentIds: [] });
    appendServiceLine(
      ctx,
      moved,
      isWorkedOn ? "Its department was deleted; this is in the workspace's queue now." : 'Its department was deleted.',
    );
  }
  if (ids.length === clearPage)
    ctx.setDeadline(clearDeadline, departmentId, ctx.nowMs + (isAnyWorkedOn ? 0 : clearPauseMs));
  drainQueue(ctx);
}

function setMembers(ctx: Context, department: DepartmentRecord, memberIds: readonly string[]): void {
  const roster: Roster = theRoster(ctx);
  memberIds.forEach((id, index) => {
    const agent = roster.agents.get(id);
    if (agent === undefined || agent.deactivatedAt !== null)
      refuseField('invalid_body', `memberIds.${index}`, 'must be an active agent of this workspace');
  });
  for (const agent of roster.agents.values()) {
    const wasMember = agent.groupIds.includes(department.id);
    const isMember = memberIds.includes(agent.id);
    if (wasMember === isMember) continue;
    putAgent(ctx, {
      ...agent,
      groupIds: isMember ? [...agent.groupIds, department.id] : agent.groupIds.filter((id) => id !== department.id),
    });
  }
}

function setDefault(ctx: Context, departmentId: string | null): void {
  const workspace = theWorkspace(ctx);
  putWorkspace(ctx, { ...workspace, settings: { ...workspace.settings, defaultDepartmentId: departmentId } });
  emitSettings(ctx);
}

function emitDepartment(
  ctx: Context,
  type: 'department.created' | 'department.updated' | 'department.deleted',
  department: DepartmentView,
): void {
  emit(ctx, { type, audience: { kind: 'workspace' }, data: { department } });
}

function requireFreeName(ctx: Context, name: string, exceptId: string | undefined): void {
  for (const department of theRoster(ctx).departments.values()) {
    if (department.id !== exceptId && nameKey(department.name) === nameKey(name))
      refuse('conflict', { message: `There is already a department ${department.name}.` });
  }
}
