// The workspace's own record, settings and email domain, in memory while it is open. settings.ts changes what admins
// may change.

import { type EmailDomainRecord, findEmailDomain } from '../../store/mail/email-domains.ts';
import {
  defaultAnswerThreshold,
  findWorkspace,
  insertWorkspace,
  updateWorkspace,
  type WorkspaceRecord,
  type WorkspaceSettings,
} from '../../store/workspace/workspaces.ts';
import { autoCloseDays, awayAfterMinutes, maxOpenChatsPerAgent, unseenMailMinutes } from '../constants.ts';
import { emit } from '../events.ts';
import type { Context, View } from '../runtime/context.ts';
import type { ActorKind } from '../runtime/registry.ts';

const workspaceKind: ActorKind<WorkspaceRecord> = { name: 'workspace', load: findWorkspace };

export function theWorkspace(view: Pick<View, 'state'>): WorkspaceRecord {
  const workspace = view.state(workspaceKind, '');
  if (workspace === undefined) throw new Error('a workspace file without its workspace');
  return workspace;
}

export const emailDomainKind: ActorKind<EmailDomainRecord> = { name: 'emailDomain', load: findEmailDomain };

/** email-domain.ts manages it. */
export function theEmailDomain(view: Pick<View, 'state'>): EmailDomainRecord | undefined {
  return view.state(emailDomainKind, '');
}

export function putWorkspace(ctx: Context, workspace: WorkspaceRecord): void {
  updateWorkspace(ctx.db, workspace);
  ctx.setState(workspaceKind, '', workspace);
}

export function addWorkspace(
  ctx: Context,
  named: { name: string; subdomain: string; autoCloseDays?: number },
): WorkspaceRecord {
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
      awayAfterMinutes,
      unseenMailMinutes,
      assignOnReply: true,
      secondFactorRequiredAt: null,
      answerThreshold: defaultAnswerThreshold,
      embeddingModel: null,
      embeddingProblem: null,
      helpCentre: false,
      helpHost: null,
      helpLogoUrl: null,
      helpColour: null,
    },
    lastTicketNumber: 0,
    createdAt: ctx.at,
  };
  insertWorkspace(ctx.db, workspace);
  ctx.setState(workspaceKind, '', workspace);
  return workspace;
}

export interface WorkspaceView {
  readonly id: string;
  readonly name: string;
  readonly timezone: string;
  readonly locale: string;
  readonly emailDomainId: string | null;
  readonly emailDomainStatus: string | null;
  readonly awayAfterMinutes: number;
  readonly unseenMailMinutes: number;
  readonly assignOnReply: boolean;
  readonly requireSecondFactor: boolean;
}

export function workspaceView(view: Pick<View, 'state'>): WorkspaceView {
  const { id, name, timezone, locale, settings } = theWorkspace(view);
  const { awayAfterMinutes, unseenMailMinutes, assignOnReply, secondFactorRequiredAt } = settings;
  const domain = theEmailDomain(view);
  return {
    id,
    name,
    timezone,
    locale,
    emailDomainId: domain?.id ?? null,
    emailDomainStatus: domain?.status ?? null,
    awayAfterMinutes,
    unseenMailMinutes,
    assignOnReply,
    requireSecondFactor: secondFactorRequiredAt !== null,
  };
}

export type SettingsView = Pick<WorkspaceSettings, 'routing' | 'autoCloseDays' | 'csatEnabled' | 'defaultDepartmentId'>;

/** Settings that have a route of their own; the others are in the workspace's record. */
export function settingsView(view: Pick<View, 'state'>): SettingsView {
  const { routing, autoCloseDays, csatEnabled, defaultDepartmentId } = theWorkspace(view).settings;
  return { routing, autoCloseDays, csatEnabled, defaultDepartmentId };
}

declare module '../events.ts' {
  interface EventRecords {
    readonly workspace: WorkspaceView;
    readonly settings: SettingsView;
  }
}

export function emitWorkspace(ctx: Context): void {
  emit(ctx, { type: 'workspace.updated', audience: { kind: 'workspace' }, data: { workspace: workspaceView(ctx) } });
}

export function emitSettings(ctx: Context): void {
  emit(ctx, { type: 'settings.updated', audience: { kind: 'workspace' }, data: { settings: settingsView(ctx) } });
}
