// All reports by path, with their queries and their table form: the one list behind the report routes and the exports.

import { conversationView } from '../../engine/conversations/conversation.ts';
import { refuseField } from '../../engine/errors.ts';
import {
  byStatusReport,
  conversionsReport,
  customersReport,
  type DrillDownQuery,
  drillDownOf,
  performanceReport,
  type ReportAbout,
  requireReport,
  responseTimesReport,
  satisfactionReport,
  volumeReport,
} from '../../engine/reports/reports.ts';
import type { ReportFrame, ReportQuery } from '../../engine/reports/scope.ts';
import { type Grant, isAllowed } from '../../engine/rights/scopes.ts';
import type { View } from '../../engine/runtime/context.ts';
import type { Channel, ConversationRecord } from '../../store/conversations/conversations.ts';
import type { ConversationView } from '../../store/conversations/records.ts';
import type { ConversationNames, NamedConversation } from '../../store/reports/lists.ts';
import type { Reader } from '../../workers/reader/reader.ts';
import { leaverOf, RightsEnded } from '../schemas/scoped-members.ts';
import { Conversation } from '../schemas/shared.ts';
import { type Cell, csvLine } from './csv.ts';

interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** A report as a file: its JSON, and its rows. */
export interface ReportFile {
  readonly json: object;
  readonly table: Table;
}

interface FileOf {
  readonly about: ReportAbout;
  readonly make: (view: View, query: DrillDownQuery, reader: Reader) => Promise<ReportFile>;
}

function made<Report extends object>(
  about: ReportAbout,
  ask: (view: View, query: DrillDownQuery, reader: Reader) => Promise<Report>,
  tableOf: (report: Report) => Table,
): FileOf {
  return {
    about,
    make: async (view, query, reader) => {
      const json = await ask(view, query, reader);
      return { json, table: tableOf(json) };
    },
  };
}

const volumeOf = (channel: Channel): FileOf =>
  made(
    { volumeOf: channel, hasBuckets: true },
    (view, query, reader) => volumeReport(view, query, channel, reader),
    ({ series }) => ({ columns: ['bucket', 'value'], rows: series.map(({ bucket, value }) => [bucket, value]) }),
  );

const channels: readonly Channel[] = ['chat', 'ticket', 'call'];

/** All reports except the list of conversations, which is too long for memory. */
const reportFiles: Readonly<Record<string, FileOf>> = {
  'chats/total': volumeOf('chat'),
  'tickets/total': volumeOf('ticket'),
  'tickets/by-status': made({ channel: 'ticket' }, byStatusReport, ({ counts }) => ({
    columns: ['status', 'count'],
    rows: Object.entries(counts),
  })),
  'tickets/response-times': made({ channel: 'ticket' }, responseTimesReport, ({ firstResponse, resolution }) => ({
    columns: ['measure', 'medianSeconds', 'p90Seconds'],
    rows: [
      ['firstResponse', firstResponse.medianSeconds, firstResponse.p90Seconds],
      ['resolution', resolution.medianSeconds, resolution.p90Seconds],
    ],
  })),
  'tickets/satisfaction': made({ channel: 'ticket', hasBuckets: true }, satisfactionReport, ({ series }) => ({
    columns: ['bucket', 'mean', 'responses'],
    rows: series.map(({ bucket, mean, responses }) => [bucket, mean, responses]),
  })),
  'agents/performance': made({}, performanceReport, ({ agents }) => ({
    columns: [
      'agentId',
      'agentName',
      'conversations',
      'firstResponseMedianSeconds',
      'fullResolutionMedianSeconds',
      'csatScore',
      'csatResponses',
    ],
    rows: agents.map((row) => [
      row.agent.id,
      row.agent.name,
      row.conversations,
      row.firstResponseMedianSeconds,
      row.fullResolutionMedianSeconds,
      row.csatScore,
      row.csatResponses,
    ]),
  })),
  customers: made({}, customersReport, ({ queued, abandonment }) => ({
    columns: ['channel', 'queued', 'abandoned', 'total', 'rate'],
    rows: channels.map((channel) => [
      channel,
      queued[channel],
      abandonment[channel].abandoned,
      abandonment[channel].total,
      abandonment[channel].rate,
    ]),
  })),
  'conversions/goals': made({ hasBuckets: true }, conversionsReport, ({ goals }) => ({
    columns: ['goalId', 'name', 'status', 'completions', 'valueCents'],
    rows: goals.map(({ goalId, name, status, completions, valueCents }) => [
      goalId,
      name,
      status,
      completions,
      valueCents,
    ]),
  })),
};

const conversationsType = 'conversations';
export const reportTypes = [...Object.keys(reportFiles), conversationsType];

/** Conversations per part of a file. */
const rowsPerPart = 200;

const conversationColumns = [
  'id',
  'channel',
  'status',
  'subject',
  'ticketNumber',
  'siteId',
  'visitorId',
  'contactId',
  'departmentId',
  'assignedAgentId',
  'rating',
  'preview',
  'createdAt',
  'firstResponseAt',
  'solvedAt',
  'closedAt',
  'updatedAt',
] as const satisfies readonly (keyof ConversationView)[];
const nameColumns = [
  'siteName',
  'departmentName',
  'assignedAgentName',
  'firstResponderName',
] as const satisfies readonly (keyof ConversationNames)[];
const customerColumns = ['customerName', 'customerEmail'] as const satisfies readonly (keyof ConversationNames)[];

/** Refuses the same as the report of this type. */
export function requireReportType(view: View, type: string, query: ReportQuery): ReportFrame {
  if (!reportTypes.includes(type)) refuseField('invalid_query', 'type', `must be one of ${reportTypes.join(', ')}`);
  return requireReport(view, query, reportFiles[type]?.about ?? {});
}

/** The input of a report, and its reader. */
export interface AskedReport {
  readonly query: DrillDownQuery;
  readonly reader: Reader;
  readonly grant: Grant | undefined;
  /** Called before each part of a long report. */
  mayGoOn(): boolean;
}

/** The text of a whole report. */
export async function reportText(
  view: View,
  type: string,
  format: 'csv' | 'json',
  asked: AskedReport,
): Promise<string | AsyncIterable<string>> {
  const file = reportFiles[type];
  if (file === undefined) {
    const order: ConversationOrder = { ...asked, workspaceId: view.workspaceId, asked: drillDownOf(view, asked.query) };
    return format === 'csv' ? conversationsCsv(order) : conversationsJson(order);
  }
  const { json, table } = await file.make(view, asked.query, asked.reader);
  return format === 'json' ? JSON.stringify(json) : [table.columns, ...table.rows].map(csvLine).join('');
}

interface ConversationOrder extends Omit<AskedReport, 'query'> {
  readonly workspaceId: string;
  readonly asked: ReturnType<typeof drillDownOf>;
}

/** Ends the reply when its owner has lost the right to it. */
async function* conversationParts({
  workspaceId,
  asked,
  reader,
  mayGoOn,
}: ConversationOrder): AsyncGenerator<NamedConversation[]> {
  let last: ConversationRecord | undefined;
  for (;;) {
    if (!mayGoOn()) throw new RightsEnded();
    const part = await reader.drillDownAfter(workspaceId, asked, {
      after: last && { at: last.createdAt, id: last.id },
      limit: rowsPerPart,
    });
    if (part.length === 0) return;
    yield part;
    last = part.at(-1)?.conversation;
  }
}

async function* conversationsCsv(order: ConversationOrder): AsyncGenerator<string> {
  const readsMessages = isAllowed(order.grant, 'messages:read');
  const columns = conversationColumns.filter((column) => column !== 'preview' || readsMessages);
  const named = isAllowed(order.grant, 'visitors:read') ? [...nameColumns, ...customerColumns] : nameColumns;
  yield csvLine([...columns, 'tags', ...(readsMessages ? ['ratingComment'] : []), ...named]);
  for await (const part of conversationParts(order)) {
    yield part
      .map(({ conversation, names }) =>
        csvLine([
          ...columns.map((column) => conversation[column]),
          conversation.tags.join('; '),
          ...(readsMessages ? [conversation.ratingComment] : []),
          ...named.map((column) => names[column]),
        ]),
      )
      .join('');
  }
}

const withoutMembers = leaverOf(Conversation);

async function* conversationsJson(order: ConversationOrder): AsyncGenerator<string> {
  const { grant } = order;
  const told = (row: ConversationRecord): unknown =>
    grant === undefined || withoutMembers === undefined
      ? conversationView(row)
      : withoutMembers(conversationView(row), grant);
  let total = 0;
  for await (const part of conversationParts(order)) {
    yield part
      .map(
        ({ conversation }, index) =>
          `${total === 0 && index === 0 ? '{"conversations":[' : ','}${JSON.stringify(told(conversation))}`,
      )
      .join('');
    total += part.length;
  }
  yield `${total === 0 ? '{"conversations":[' : ''}],"total":${total}}`;
}
