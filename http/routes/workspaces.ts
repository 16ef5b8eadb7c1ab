// The workspace, its settings, departments, office hours and audit log. Specification 4.10, 4.11; decisions 4.10.

import Type from 'typebox';
import { refuse } from '../../engine/errors.ts';
import {
  changeDepartment,
  createDepartment,
  listDepartments,
  removeDepartment,
} from '../../engine/team/departments.ts';
import { changeSettings, changeWorkspace } from '../../engine/team/settings.ts';
import { listAudit } from '../../engine/workspace/audit.ts';
import {
  changeBusinessHours,
  createBusinessHours,
  listBusinessHours,
  openings,
  removeBusinessHours,
} from '../../engine/workspace/office-hours.ts';
import { settingsView, workspaceView } from '../../engine/workspace/workspace.ts';
import { byCreated, pageOf } from '../pipeline/cursor.ts';
import { route } from '../route.ts';
import {
  AuditEntry,
  BusinessHours,
  Department,
  OfficeHoursNow,
  Workspace,
  WorkspaceSettings,
} from '../schemas/records.ts';
import { CursorQuery, Holidays, Id, Locale, Name, NextCursor, nullable, OpeningHours } from '../schemas/shared.ts';

const MemberIds = Type.Array(Id, { maxItems: 1000 });

const Days = Type.Array(OpeningHours, { maxItems: 50 });

export const workspaceRoutes = [
  route({
    operation: 'workspace.read',
    method: 'GET',
    path: '/workspaces/{workspaceId}',
    tag: 'Workspaces',
    summary: 'Get the workspace',
    access: { kind: 'agent', scope: 'agents:read' },
    params: Type.Object({ workspaceId: Id }),
    reply: { status: 200, schema: Type.Object({ workspace: Workspace }) },
    refusals: [],
    read(view, { params }) {
      if (params.workspaceId !== view.workspaceId) refuse('not_found');
      return { workspace: workspaceView(view) };
    },
  }),

  route({
    operation: 'workspace.update',
    method: 'PATCH',
    path: '/workspaces/{workspaceId}',
    tag: 'Workspaces',
    summary: 'Update the workspace',
    access: { kind: 'agent', scope: null, role: 'admin' },
    params: Type.Object({ workspaceId: Id }),
    body: Type.Object({
      name: Type.Optional(Name),
      timezone: Type.Optional(
        Type.String({ minLength: 1, maxLength: 64, description: 'An IANA name, such as Europe/Berlin.' }),
      ),
      locale: Type.Optional(Locale),
      awayAfterMinutes: Type.Optional(Workspace.properties.awayAfterMinutes),
      unseenMailMinutes: Type.Optional(Workspace.properties.unseenMailMinutes),
      assignOnReply: Type.Optional(Workspace.properties.assignOnReply),
      requireSecondFactor: Type.Optional(Workspace.properties.requireSecondFactor),
    }),
    reply: { status: 200, schema: Type.Object({ workspace: Workspace }) },
    refusals: ['no_changes', 'semantic_error'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(changeWorkspace, {
        workspaceId,
        caller,
        params: { workspaceId: params.workspaceId, changes: body },
      }),
  }),

  route({
    operation: 'workspace.settings',
    method: 'GET',
    path: '/workspace/settings',
    tag: 'Workspaces',
    summary: 'Get the settings',
    access: { kind: 'agent', scope: 'agents:read' },
    reply: { status: 200, schema: WorkspaceSettings },
    refusals: [],
    read: (view) => settingsView(view),
  }),

  route({
    operation: 'workspace.changeSettings',
    method: 'PUT',
    path: '/workspace/settings',
    tag: 'Workspaces',
    summary: 'Update the settings',
    description: 'Fields that are left out stay unchanged.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    body: Type.Object({
      routing: Type.Optional(Type.Partial(WorkspaceSettings.properties.routing)),
      autoCloseDays: Type.Optional(WorkspaceSettings.properties.autoCloseDays),
      csatEnabled: Type.Optional(Type.Boolean()),
      defaultDepartmentId: Type.Optional(nullable(Id)),
    }),
    reply: { status: 200, schema: WorkspaceSettings },
    refusals: [],
    run: ({ workspaceId, caller, body }, { engine }) =>
      engine.execute(changeSettings, { workspaceId, caller, params: body }),
  }),

  route({
    operation: 'audit.list',
    method: 'GET',
    path: '/workspace/audit-log',
    tag: 'Audit log',
    summary: 'List the audit log',
    description:
      'Newest first. Kept for 365 days, on enterprise plans permanently. ' +
      'Actions by an API key or an app name it in `context`, ' +
      'as apiKey or app. workspace.delete and workspace.sms_block are reserved and never occur.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    query: Type.Object(CursorQuery),
    reply: {
      status: 200,
      schema: Type.Object({ entries: Type.Array(AuditEntry), nextCursor: NextCursor }),
    },
    refusals: [],
    read(view, { query }) {
      const { rows, nextCursor } = pageOf(query, (page) => listAudit(view, page), byCreated);
      return { entries: rows, nextCursor };
    },
  }),

  route({
    operation: 'department.list',
    method: 'GET',
    path: '/departments',
    tag: 'Departments',
    summary: 'List departments',
    access: { kind: 'agent', scope: 'agents:read' },
    reply: { status: 200, schema: Type.Object({ departments: Type.Array(Department) }) },
    refusals: [],
    read: (view) => ({ departments: listDepartments(view) }),
  }),

  route({
    operation: 'department.create',
    method: 'POST',
    path: '/departments',
    tag: 'Departments',
    summary: 'Create a department',
    description: 'At most 200 departments.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    body: Type.Object({
      name: Name,
      memberIds: Type.Optional(MemberIds),
      isDefault: Type.Optional(Type.Boolean({ description: 'New chats and tickets start here.' })),
    }),
    reply: { status: 201, schema: Department },
    refusals: ['conflict', 'semantic_error'],
    run: ({ workspaceId, caller, body }, { engine }) =>
      engine.execute(createDepartment, { workspaceId, caller, params: body }),
  }),

  route({
    operation: 'department.update',
    method: 'PATCH',
    path: '/departments/{departmentId}',
    tag: 'Departments',
    summary: 'Update a department',
    access: { kind: 'agent', scope: null, role: 'admin' },
    params: Type.Object({ departmentId: Id }),
    body: Type.Object({
      name: Type.Optional(Name),
      memberIds: Type.Optional(MemberIds),
      isDefault: Type.Optional(Type.Boolean()),
    }),
    reply: { status: 200, schema: Department },
    refusals: ['conflict'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(changeDepartment, { workspaceId, caller, params: { ...params, changes: body } }),
  }),

  route({
    operation: 'department.delete',
    method: 'DELETE',
    path: '/departments/{departmentId}',
    tag: 'Departments',
    summary: 'Delete a department',
    description: 'Its conversations then belong to no department.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    params: Type.Object({ departmentId: Id }),
    reply: { status: 204, schema: null },
    refusals: [],
    run: ({ workspaceId, caller, params }, { engine }) =>
      engine.execute(removeDepartment, { workspaceId, caller, params }),
  }),

  route({
    operation: 'businessHours.list',
    method: 'GET',
    path: '/business-hours',
    tag: 'Business hours',
    summary: 'List business hours',
    access: { kind: 'agent', scope: null, role: 'admin' },
    reply: { status: 200, schema: Type.Object({ businessHours: Type.Array(BusinessHours) }) },
    refusals: [],
    read: (view) => ({ businessHours: [...listBusinessHours(view)] }),
  }),

  route({
    operation: 'businessHours.now',
    method: 'GET',
    path: '/business-hours/now',
    tag: 'Business hours',
    summary: 'Check whether the business is open',
    description:
      'Returns the workspace, and each site (the newest 200) and department with hours of its own; the others follow the workspace.',
    access: { kind: 'agent', scope: 'agents:read' },
    reply: {
      status: 200,
      schema: OfficeHoursNow,
    },
    refusals: [],
    read: (view) => openings(view),
  }),

  route({
    operation: 'businessHours.create',
    method: 'POST',
    path: '/business-hours',
    tag: 'Business hours',
    summary: 'Create business hours',
    description:
      "For the whole workspace, one site or one department, in the workspace's time zone. " +
      'Several rules add up, at most 20. Without rules it is always open. At most 200 in all.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    body: Type.Object({
      name: Name,
      days: Days,
      holidays: Type.Optional(Holidays),
      siteId: Type.Optional(nullable(Id)),
      departmentId: Type.Optional(nullable(Id)),
    }),
    reply: { status: 201, schema: BusinessHours },
    refusals: ['semantic_error'],
    run: ({ workspaceId, caller, body }, { engine }) =>
      engine.execute(createBusinessHours, { workspaceId, caller, params: body }),
  }),

  route({
    operation: 'businessHours.update',
    method: 'PATCH',
    path: '/business-hours/{ruleId}',
    tag: 'Business hours',
    summary: 'Update business hours',
    access: { kind: 'agent', scope: null, role: 'admin' },
    params: Type.Object({ ruleId: Id }),
    body: Type.Object({
      name: Type.Optional(Name),
      days: Type.Optional(Days),
      holidays: Type.Optional(Holidays),
      siteId: Type.Optional(nullable(Id)),
      departmentId: Type.Optional(nullable(Id)),
    }),
    reply: { status: 200, schema: BusinessHours },
    refusals: ['semantic_error'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(changeBusinessHours, { workspaceId, caller, params: { ...params, changes: body } }),
  }),

  route({
    operation: 'businessHours.delete',
    method: 'DELETE',
    path: '/business-hours/{ruleId}',
    tag: 'Business hours',
    summary: 'Delete business hours',
    access: { kind: 'agent', scope: null, role: 'admin' },
    params: Type.Object({ ruleId: Id }),
    reply: { status: 204, schema: null },
    refusals: [],
    run: ({ workspaceId, caller, params }, { engine }) =>
      engine.execute(removeBusinessHours, { workspaceId, caller, params }),
  }),
];
