// Workspace settings that an admin may change: name, time zone, language, and how conversations are routed and closed.
// Specification 4.10, decisions 4.10.

import type { WorkspaceSettings } from '../../store/workspace/workspaces.ts';
import { drainQueue } from '../conversations/routing.ts';
import { rescheduleClosings } from '../conversations/status.ts';
import { rescheduleUnseen } from '../conversations/unseen.ts';
import { rescheduleUnreachable } from '../customers/reach.ts';
import { refuse, refuseField } from '../errors.ts';
import { command } from '../runtime/command.ts';
import { requireAdmin } from '../workspace/access.ts';
import { auditChange } from '../workspace/audit.ts';
import { theRoster } from '../workspace/roster.ts';
import { isTimeZone } from '../workspace/time-zones.ts';
import {
  emitSettings,
  emitWorkspace,
  putWorkspace,
  type SettingsView,
  settingsView,
  theWorkspace,
  type WorkspaceView,
  workspaceView,
} from '../workspace/workspace.ts';
import { rescheduleAway } from './presence.ts';
import { hasSecondFactor } from './second-factors.ts';

export interface WorkspaceChanges {
  readonly name?: string | undefined;
  readonly timezone?: string | undefined;
  readonly locale?: string | undefined;
  readonly awayAfterMinutes?: number | undefined;
  readonly unseenMailMinutes?: number | undefined;
  readonly assignOnReply?: boolean | undefined;
  readonly requireSecondFactor?: boolean | undefined;
}

/**
 * Specification 4.10. Refuses admin_required, not_found for another workspace's id, no_changes, semantic_error for a
 * requirement that the caller does not meet.
 */
export const changeWorkspace = command(
  'workspace.update',
  (ctx, params: { workspaceId: string; changes: WorkspaceChanges }): { workspace: WorkspaceView } => {
    const admin = requireAdmin(ctx);
    if (params.workspaceId !== ctx.workspaceId) refuse('not_found');
    const { name, timezone, locale, awayAfterMinutes, unseenMailMinutes, assignOnReply, requireSecondFactor } =
      params.changes;
    if (
      [name, timezone, locale, awayAfterMinutes, unseenMailMinutes, assignOnReply, requireSecondFactor].every(
        (value) => value === undefined,
      )
    )
      refuse('no_changes');
    if (timezone !== undefined && !isTimeZone(timezone))
      refuseField('invalid_body', 'timezone', 'must be an IANA time zone, such as Europe/Berlin');
    // An admin who could no longer sign in could not revert it, and a stolen older sign-in must not end it.
    const isRequired = theWorkspace(ctx).settings.secondFactorRequiredAt !== null;
    if (requireSecondFactor !== undefined && (requireSecondFactor || isRequired) && !hasSecondFactor(ctx, admin.id))
      refuse('semantic_error', { message: 'Set up your own second factor first.' });
    const workspace = theWorkspace(ctx);
    const before = workspaceView(ctx);
    putWorkspace(ctx, {
      ...workspace,
      name: name ?? workspace.name,
      timezone: timezone ?? workspace.timezone,
      locale: locale ?? workspace.locale,
      settings: {
        ...workspace.settings,
        awayAfterMinutes: awayAfterMinutes ?? workspace.settings.awayAfterMinutes,
        unseenMailMinutes: unseenMailMinutes ?? workspace.settings.unseenMailMinutes,
        assignOnReply: assignOnReply ?? workspace.settings.assignOnReply,
        secondFactorRequiredAt:
          requireSecondFactor === undefined
            ? workspace.settings.secondFactorRequiredAt
            : requireSecondFactor
              ? (workspace.settings.secondFactorRequiredAt ?? ctx.at)
              : null,
      },
    });
    if (awayAfterMinutes !== undefined) rescheduleAway(ctx);
    if (unseenMailMinutes !== undefined) {
      rescheduleUnseen(ctx);
      rescheduleUnreachable(ctx);
    }
    const after = workspaceView(ctx);
    auditChange(ctx, {
      action: 'workspace.updated',
      targetKind: 'workspace',
      targetId: ctx.workspaceId,
      before,
      after,
    });
    if (JSON.stringify(after) !== JSON.stringify(before)) emitWorkspace(ctx);
    return { workspace: after };
  },
);

export interface SettingsChanges {
  readonly routing?:
    | { readonly mode?: 'auto' | 'manual' | undefined; readonly maxOpenChatsPerAgent?: number | undefined }
    | undefined;
  readonly autoCloseDays?: number | undefined;
  readonly csatEnabled?: boolean | undefined;
  readonly defaultDepartmentId?: string | null | undefined;
}

/** Changes the named settings and keeps the others. Refuses admin_required, invalid_body for an unknown department. */
export const changeSettings = command('workspace.changeSettings', (ctx, changes: SettingsChanges): SettingsView => {
  requireAdmin(ctx);
  const before = theWorkspace(ctx);
  const departmentId =
    changes.defaultDepartmentId === undefined ? before.settings.defaultDepartmentId : changes.defaultDepartmentId;
  if (departmentId !== null && !theRoster(ctx).departments.has(departmentId))
    refuseField('invalid_body', 'defaultDepartmentId', 'must be a department of this workspace');
  const viewBefore = settingsView(ctx);
  const settings: WorkspaceSettings = {
    ...before.settings,
    routing: {
      mode: changes.routing?.mode ?? before.settings.routing.mode,
      maxOpenChatsPerAgent: changes.routing?.maxOpenChatsPerAgent ?? before.settings.routing.maxOpenChatsPerAgent,
    },
    autoCloseDays: changes.autoCloseDays ?? before.settings.autoCloseDays,
    csatEnabled: changes.csatEnabled ?? before.settings.csatEnabled,
    defaultDepartmentId: departmentId,
  };
  putWorkspace(ctx, { ...before, settings });
  auditChange(ctx, {
    action: 'workspace.updated',
    targetKind: 'workspace',
    targetId: ctx.workspaceId,
    before: { settings: viewBefore },
    after: { settings: settingsView(ctx) },
  });
  if (JSON.stringify(settingsView(ctx)) !== JSON.stringify(viewBefore)) emitSettings(ctx);
  if (settings.autoCloseDays !== before.settings.autoCloseDays) rescheduleClosings(ctx);
  // A higher limit, or routing that was off before: waiting chats may have an agent now.
  drainQueue(ctx);
  return settingsView(ctx);
});
