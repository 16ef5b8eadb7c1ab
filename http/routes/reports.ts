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
/** A file is made anew for each call. */
const downloadsPerMinute = 60;

const common = {
  range: Type.Optional(
    Type.Enum(['1d', '7d', '30d', '90d', 'custom'], {
      default: '7d',
      description: 'Days up to now; custom is [from, to).',
    }),
  ),
  from: Type.Optional(Type.String({ format: 'date-time', description: 'With range custom.' })),
  to: Type.Optional(
    Type.String({ format: 'date-time', description: 'With range custom, at most 365 days after from.' }),
  ),
  departmentId: Type.Optional(Id),
  agentId: Type.Optional(
    Type.String({
      format: 'uuid',
      description:
        'Of conversations that the agent has, answered first, or was rated for. Agents see only their own figures.',
    }),
  ),
  channel: Type.Optional(Channel),
};
const granularity = Type.Optional(
  Type.Enum(['hour', 'day', 'week', 'month'], {
    description:
      'Hours up to 2 days, else days, unless it says otherwise; hours for 31 days at the most. Weeks begin on Monday.',
  }),
);
const Common = Type.Object(common);
const CommonSeries = Type.Object({ ...common, granularity });
const flags = {
  status: Type.Optional(ConversationStatus),
  rated: Type.Optional(Type.Enum(['1'], { description: 'Only those that were rated.' })),
  missed: Type.Optional(Type.Enum(['1'], { description: 'Only those that were over before any agent answered.' })),
};

const access = { kind: 'agent', scope: 'reports:read' } as const;
const refusals = ['forbidden', 'range_too_large'] as const;
const about =
  'Of the conversations that began in the range, as they are now; spam counts nowhere. Admins see all, supervisors their departments and what is in none, agents what is theirs.';

/** Times as they are compared. */
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
    summary: `How many ${channel}s began, over time`,
    description: `${about} ${channel} is the only channel that it takes.`,
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
    summary: 'Tickets by status',
    description: `${about} channel looks at another channel.`,
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
    summary: 'How fast tickets were answered and solved',
    description: `${about} The first response is an agent's first message after the customer's; a ticket that was opened for the customer has none. channel looks at another channel.`,
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
    summary: 'How customers rated, over time',
    description: `${about} mean is that of the bucket's ratings, null without any, where value is 0. channel looks at another channel.`,
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
    summary: 'The conversations behind a figure',
    description: `${about} Newest first; status spam shows the spam. Agents are not shown what they answered and what is beyond their departments now.`,
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
        total: Type.Integer({ description: 'Of all pages.' }),
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
    summary: 'How agents did',
    description: `${about} A conversation counts for whoever has it, for who answered it first and for whom its rating is about: the first answer is credited to who gave it, the rating to who wrote last before it, the solution to who has it. Admins see all agents, supervisors those of their departments and of none, agents themselves. csatScore is the mean rating, 1 to 5.`,
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
    summary: 'Who waits, and who gave up',
    description: `queued: open and with nobody, now. abandonment: over before any agent answered. ${about}`,
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
    summary: 'What goals were worth',
    description:
      'Completions in the range, by time and by goal; a department or an agent asks for what was attributed to it. Deleted goals are listed while they have completions in the range.',
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
    summary: 'A report as a file',
    description:
      'Answers an address that gives the file for 15 minutes, to whoever has it, with what who asked may see then: it ends with the sign-in, the key or the app that asked. The range is that of now. Lists of conversations name sites, departments and agents, and customers for whoever may read visitors (`visitors:read`).',
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
    summary: 'The file of an export',
    description:
      'CSV by RFC 4180 in UTF-8, where text that a spreadsheet would take for a formula is led by an apostrophe; or JSON, as the report itself is answered. Lists of conversations come in parts: a connection that ends early did not give all of it.',
    access: { kind: 'public' },
    limit: { by: 'ip', perMinute: downloadsPerMinute },
    anyHeaders: true,
    params: Type.Object({ token: Type.String({ maxLength: 2000 }) }),
    reply: { status: 200, schema: null, contentType: ['text/csv', 'application/json'] },
    refusals: ['gone', ...refusals],
    async send({ params }, services) {
      const { engine, exportLinks, clock, reader } = services;
      const order = exportLinks.verify(params.token) ?? refuse('not_found');
      if (clock.now() >= order.expiresMs) refuse('gone', { message: 'This link has run out. Ask for a new one.' });
      const { type, format, query, asker } = order;
      const view =
        engine.workspace(asker.workspaceId)?.view({ kind: 'agent', agentId: asker.holder.agentId }) ??
        refuse('not_found');
      const rights =
        readersRights(services, asker) ?? refuse('gone', { message: 'Who asked for it may not have it any more.' });
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

/** Undefined when who asked may not read reports any more. */
function readersRights(services: Services, asker: Asker): Rights | undefined {
  const rights = rightsOfAsker(services, asker);
  return rights !== undefined && isAllowed(rights.grant, 'reports:read') ? rights : undefined;
}
