// The workspace's own record and settings, held in memory while it is open.

import { findWorkspace, insertWorkspace, updateWorkspace, type WorkspaceRecord, type WorkspaceSettings } from '../store/workspaces.ts';
import { requireAdmin } from './access.ts';
import { refuse, refuseField } from './errors.ts';
import { autoCloseDays, maxOpenChatsPerAgent } from './limits.ts';
import { theRoster } from './roster.ts';
import { command } from './runtime/command.ts';
import type { Context, View } from './runtime/context.ts';
import type { ActorKind } from './runtime/registry.ts';
import { isTimeZone } from './time-zones.ts';

export const workspaceKind: ActorKind<WorkspaceRecord> = { name: 'workspace', load: findWorkspace };

export function theWorkspace(view: Pick<View, 'state'>): WorkspaceRecord {
  const workspace = view.state(workspaceKind, '');
  if (workspace === undefined) throw new Error('a workspace file without its workspace');
  return workspace;
}

export function putWorkspace(ctx: Context, workspace: WorkspaceRecord): void {
  updateWorkspace(ctx.db, workspace);
  ctx.become(workspaceKind, '', workspace);
}

export function addWorkspace(ctx: Context, named: { name: string; subdomain: string; autoCloseDays?: number }): WorkspaceRecord {
  const workspace: WorkspaceRecord = {
    id: ctx.workspaceId,
    name: named.name,
    timezone: 'UTC',
    locale: 'en',
    subdomain: named.subdomain,
    plan: 'business',
    settings: {
      routing: { mode: 'auto', maxOpenChatsPerAgent },
      autoCloseDays: named.autoCloseDays ?? autoCloseDays,
      csatEnabled: true,
      defaultDepartmentId: null,
    },
    lastTicketNumber: 0,
    createdAt: ctx.at,
  };
  insertWorkspace(ctx.db, workspace);
  ctx.become(workspaceKind, '', workspace);
  return workspace;
}

export interface WorkspaceView {
  readonly id: string;
  readonly name: string;
  readonly timezone: string;
  readonly locale: string;
  readonly emailDomainId: string | null;
  readonly emailDomainStatus: string | null;
}

export function workspaceView(workspace: WorkspaceRecord): WorkspaceView {
  return { id: workspace.id, name: workspace.name, timezone: workspace.timezone, locale: workspace.locale, emailDomainId: null, emailDomainStatus: null };
}

export interface WorkspaceChanges {
  readonly name?: string | undefined;
  readonly timezone?: string | undefined;
  readonly locale?: string | undefined;
}

/** Specification 4.10. Refuses admin_required, not_found for another workspace's id, no_changes. */
export const changeWorkspace = command('workspace.update', (ctx, params: { workspaceId: string; changes: WorkspaceChanges }): { workspace: WorkspaceView } => {
  requireAdmin(ctx);
  if (params.workspaceId !== ctx.workspaceId) refuse('not_found');
  const { name, timezone, locale } = params.changes;
  if (name === undefined && timezone === undefined && locale === undefined) refuse('no_changes');
  if (timezone !== undefined && !isTimeZone(timezone)) refuseField('invalid_body', 'timezone', 'must be an IANA time zone, such as Europe/Berlin');
  const before = theWorkspace(ctx);
  const after: WorkspaceRecord = { ...before, name: name ?? before.name, timezone: timezone ?? before.timezone, locale: locale ?? before.locale };
  putWorkspace(ctx, after);
  ctx.audit({ action: 'workspace.updated', targetKind: 'workspace', targetId: ctx.workspaceId, before: workspaceView(before), after: workspaceView(after) });
  return { workspace: workspaceView(after) };
});

export interface SettingsChanges {
  readonly routing?: { readonly mode?: 'auto' | 'manual' | undefined; readonly maxOpenChatsPerAgent?: number | undefined } | undefined;
  readonly autoCloseDays?: number | undefined;
  readonly csatEnabled?: boolean | undefined;
  readonly defaultDepartmentId?: string | null | undefined;
}

/** Changes the settings that are named, keeps the others. Refuses admin_required, invalid_body for an unknown department. */
export const changeSettings = command('workspace.changeSettings', (ctx, changes: SettingsChanges): WorkspaceSettings => {
  requireAdmin(ctx);
  const before = theWorkspace(ctx);
  const departmentId = changes.defaultDepartmentId === undefined ? before.settings.defaultDepartmentId : changes.defaultDepartmentId;
  if (departmentId !== null && !theRoster(ctx).departments.has(departmentId)) refuseField('invalid_body', 'defaultDepartmentId', 'must be a department of this workspace');
  const settings: WorkspaceSettings = {
    routing: {
      mode: changes.routing?.mode ?? before.settings.routing.mode,
      maxOpenChatsPerAgent: changes.routing?.maxOpenChatsPerAgent ?? before.settings.routing.maxOpenChatsPerAgent,
    },
    autoCloseDays: changes.autoCloseDays ?? before.settings.autoCloseDays,
    csatEnabled: changes.csatEnabled ?? before.settings.csatEnabled,
    defaultDepartmentId: departmentId,
  };
  putWorkspace(ctx, { ...before, settings });
  ctx.audit({ action: 'workspace.updated', targetKind: 'workspace', targetId: ctx.workspaceId, before: { settings: before.settings }, after: { settings } });
  return settings;
});
