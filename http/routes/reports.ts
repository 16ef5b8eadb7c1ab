// Reports. Specification 4.13.

import Type from 'typebox';
import { refuse } from '../../engine/errors.ts';
import { noteReportExport } from '../../engine/operations/exports.ts';
import {
  byStatusReport,
  conversionsReport,
  customersReport,
  drillDownReport,
  performanceReport,
  responseTimesReport,
  satisfactionReport,
  volumeReport,
} from '../../engine/reports/reports.ts';
import type { Rights } from '../../engine/rights/rights.ts';
import { isAllowed } from '../../engine/rights/scopes.ts';
import { isoTime } from '../../engine/runtime/clock.ts';
import { reportText, reportTypes, requireReportType } from '../exports/report-types.ts';
import { defaultLimit, parseTime } from '../pipeline/cursor.ts';
import { askerOf, rightsOfAsker } from '../pipeline/rights-now.ts';
import { fullPath, route } from '../route.ts';
import {
  ConversionsReport,
  CustomersReport,
  PerformanceReport,
  ResponseTimesReport,
  SatisfactionReport,
  StatusReport,
  VolumeReport,
} from '../schemas/reports.ts';
import { Channel, Conversation, ConversationStatus, Id, Time } from '../schemas/shared.ts';
import type { Services } from '../services.ts';
import type { Asker } from '../signed/asker.ts';

/** Specification 8. */
const exportLifetimeMs = 15 * 60_000;
/** The file is generated on each request. */
const downloadsPerMinute = 60;

const common = {
  range: Type.Optional(
    Type.Enum(['1d', '7d', '30d', '90d', 'custom'], {
      default: '7d',
      description: 'Days up to now, or `custom` for [from, to).',
    }),
  ),
  from: Type.Optional(Type.String({ format: 'date-time', description: 'For range `custom`.' })),
  to: Type.Optional(
    Type.String({ format: 'date-time', description: 'For range `custom`; at most 365 days after `from`.' }),
  ),
  departmentId: Type.Optional(Id),
  agentId: Type.Optional(
    Type.String({
      format: 'uuid',
      description:
        'Conversations that the agent is assigned, answered first, or was rated for. Agents only see their own figures.',
    }),
  ),
  channel: Type.Optional(Channel),
};
const granularity = Type.Optional(
  Type.Enum(['hour', 'day', 'week', 'month'], {
    description:
      'Default: hours for a range of up to 2 days, else days. Hours are available for at most 31 days. Weeks begin on Monday.',
  }),
);
const Common = Type.Object(common);
const CommonSeries = Type.Object({ ...common, granularity });
const flags = {
  status: Type.Optional(ConversationStatus),
  rated: Type.Optional(Type.Enum(['1'], { description: 'Only rated conversations.' })),
  missed: Type.Optional(Type.Enum(['1'], { description: 'Only conversations that ended before any agent answered.' })),
};

const access = { kind: 'agent', scope: 'reports:read' } as const;
const refusals = ['forbidden', 'range_too_large'] as const;
const about =
  'Covers conversations that began in the range, in their present state, without spam. Admins see all conversations, supervisors those of their departments and of none, agents their own.';

/** Times in the form that they are compared in. */
function timesOf<Query extends { from?: string; to?: string }>(
  query: Query,
): Query & { from: string | undefined; to: string | undefined } {
  return { ...query, from: parseTime(query.from, 'from'), to: parseTime(query.to, 'to') };
}

const volume = (operation: string, path: string, channel: 'chat' | 'ticket') =>
  route({
    operation,
    method: 'GET',
    path,
    tag: 'Reports',
    summary: `Count new ${channel}s over time`,
    description: `${about} The only accepted channel is ${channel}.`,
    access,
    query: CommonSeries,
    reply: { status: 200, schema: VolumeReport },
    refusals,
    ask: (view, { query }, { reader }) => volumeReport(view, timesOf(query), channel, reader),
  });

export const reportRoutes = [
  volume('report.chats', '/reports/chats/total', 'chat'),
  volume('report.tickets', '/reports/tickets/total', 'ticket'),

  route({
    operation: 'report.ticketStatus',
    method: 'GET',
    path: '/reports/tickets/by-status',
    tag: 'Reports',
    summary: 'Count tickets by status',
    description: `${about} Set channel to report on another channel.`,
    access,
    query: Common,
    reply: { status: 200, schema: StatusReport },
    refusals,
    ask: (view, { query }, { reader }) => byStatusReport(view, timesOf(query), reader),
  }),

  route({
    operation: 'report.responseTimes',
    method: 'GET',
    path: '/reports/tickets/response-times',
    tag: 'Reports',
    summary: 'Report response and resolution times of tickets',
    description:
      `${about} The first response is an agent's first message after the customer's; ` +
      'a ticket that an agent opened for the customer has none. ' +
      'Set channel to report on another channel.',
    access,
    query: Common,
    reply: { status: 200, schema: ResponseTimesReport },
    refusals,
    ask: (view, { query }, { reader }) => responseTimesReport(view, timesOf(query), reader),
  }),

  route({
    operation: 'report.satisfaction',
    method: 'GET',
    path: '/reports/tickets/satisfaction',
    tag: 'Reports',
    summary: 'Report customer ratings over time',
    description: `${about} mean is the average rating of the bucket, null (and value 0) without ratings. Set channel to report on another channel.`,
    access,
    query: CommonSeries,
    reply: { status: 200, schema: SatisfactionReport },
    refusals,
    ask: (view, { query }, { reader }) => satisfactionReport(view, timesOf(query), reader),
  }),

  route({
    operation: 'report.conversations',
    method: 'GET',
    path: '/reports/conversations',
    tag: 'Reports',
    summary: 'List the conversations behind a figure',
    description:
      `${about} Newest first. Set status to spam to list spam. ` +
      'Agents do not see conversations that they answered but that are outside their departments now.',
    access,
    query: Type.Object({
      ...common,
      ...flags,
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000, default: 0 })),
    }),
    reply: {
      status: 200,
      schema: Type.Object({
        conversations: Type.Array(Conversation),
        total: Type.Integer({ description: 'The number of matches on all pages.' }),
      }),
    },
    refusals,
    ask: (view, { query }, { reader }) =>
      drillDownReport(
        view,
        { ...timesOf(query), isRated: query.rated === '1', isMissed: query.missed === '1' },
        { limit: query.limit ?? defaultLimit, offset: query.offset ?? 0 },
        reader,
      ),
  }),

  route({
    operation: 'report.agents',
    method: 'GET',
    path: '/reports/agents/performance',
    tag: 'Reports',
    summary: 'Report agent performance',
    description:
      `${about} A conversation counts for its assignee, for the agent who answered it first and for the agent its rating is about: ` +
      'the first response is credited to its author, the rating to the last agent who wrote before it, the solution to the assignee. ' +
      'Admins see all agents, supervisors those of their departments and of none, agents themselves. ' +
      'csatScore is the average rating, 1 to 5.',
    access,
    query: Common,
    reply: { status: 200, schema: PerformanceReport },
    refusals,
    ask: (view, { query }, { reader }) => performanceReport(view, timesOf(query), reader),
  }),

  route({
    operation: 'report.customers',
    method: 'GET',
    path: '/reports/customers',
    tag: 'Reports',
    summary: 'Report waiting and abandoned conversations',
    description: `queued: open and unassigned now. abandonment: ended before any agent answered. ${about}`,
    access,
    query: Common,
    reply: { status: 200, schema: CustomersReport },
    refusals,
    ask: (view, { query }, { reader }) => customersReport(view, timesOf(query), reader),
  }),

  route({
    operation: 'report.conversions',
    method: 'GET',
    path: '/reports/conversions/goals',
    tag: 'Reports',
    summary: 'Report goal completions and their value',
    description:
      'Completions in the range, over time and by goal. ' +
      'Filter by department or agent to see the completions attributed to it. ' +
      'Deleted goals are listed if they have completions in the range.',
    access,
    query: CommonSeries,
    reply: { status: 200, schema: ConversionsReport },
    refusals,
    ask: (view, { query }, { reader }) => conversionsReport(view, timesOf(query), reader),
  }),

  route({
    operation: 'report.export',
    method: 'GET',
    path: '/reports/export',
    tag: 'Reports',
    summary: 'Export a report',
    description:
      'Returns a URL that serves the file for 15 minutes to anyone who has it, ' +
      'with what the requester may see at the time of the download. ' +
      "It stops working when the requester's sign-in, key or app grant ends. The range is fixed now. " +
      'Lists of conversations name sites, departments and agents, and customers if the requester may read visitors (`visitors:read`).',
    access,
    query: Type.Object({
      type: Type.Enum(reportTypes, { description: "A report's path after /reports/." }),
      format: Type.Enum(['csv', 'json']),
      ...common,
      granularity,
      ...flags,
    }),
    reply: { status: 200, schema: Type.Object({ url: Type.String(), expiresAt: Time }) },
    refusals,
    async run(call, { engine, config, exportLinks }) {
      const { workspaceId, caller, query } = call;
      const view = (engine.workspace(workspaceId) ?? refuse('unauthorized')).view(caller);
      const { type, format, range: _range, from: _from, to: _to, ...filters } = query;
      const { range } = requireReportType(view, type, timesOf(query));
      const ordered = { ...filters, range: 'custom', from: isoTime(range.fromMs), to: isoTime(range.toMs) };
      const expiresMs = view.nowMs + exportLifetimeMs;
      const token = exportLinks.issue({
        asker: askerOf(view, call),
        type,
        format,
        expiresMs,
        query: ordered,
      });
      await engine.execute(noteReportExport, { workspaceId, caller, params: { type, format, query: ordered } });
      return {
        url: `${config.baseUrl}${fullPath({ path: '/reports/exports/' })}${token}`,
        expiresAt: isoTime(expiresMs),
      };
    },
  }),

  route({
    operation: 'report.download',
    method: 'GET',
    path: '/reports/exports/{token}',
    tag: 'Reports',
    summary: 'Download an exported report',
    description:
      'CSV follows RFC 4180 in UTF-8; text that a spreadsheet would take for a formula is prefixed with an apostrophe. ' +
      "JSON is the report's own reply. " +
      'Lists of conversations are streamed: if the connection ends early, the file is incomplete.',
    access: { kind: 'public' },
    limit: { by: 'ip', perMinute: downloadsPerMinute },
    anyHeaders: true,
    params: Type.Object({ token: Type.String({ maxLength: 2000 }) }),
    reply: { status: 200, schema: null, contentType: ['text/csv', 'application/json'] },
    refusals: ['gone', ...refusals],
    async send({ params }, services) {
      const { engine, exportLinks, clock, reader } = services;
      const order = exportLinks.verify(params.token) ?? refuse('not_found');
      if (clock.now() >= order.expiresMs)
        refuse('gone', { message: 'This link has expired. Export the report again.' });
      const { type, format, query, asker } = order;
      const view =
        engine.workspace(asker.workspaceId)?.view({ kind: 'agent', agentId: asker.holder.agentId }) ??
        refuse('not_found');
      const rights =
        readersRights(services, asker) ??
        refuse('gone', { message: 'The agent who exported this report no longer has access to it.' });
      const asked = {
        query: { ...query, isRated: query['rated'] === '1', isMissed: query['missed'] === '1' },
        reader,
        grant: rights.grant,
        mayGoOn: () => readersRights(services, asker) !== undefined,
      };
      const body = await reportText(view, type, format, asked);
      const name = `${type.replaceAll('/', '-')}.${format}`;
      const contentType = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8';
      return {
        status: 200,
        headers: { 'Content-Type': contentType, 'Content-Disposition': `attachment; filename="${name}"` },
        body,
      };
    },
  }),
];

/** Undefined if the requester may no longer read reports. */
function readersRights(services: Services, asker: Asker): Rights | undefined {
  const rights = rightsOfAsker(services, asker);
  return rights !== undefined && isAllowed(rights.grant, 'reports:read') ? rights : undefined;
}
