// Every report by its path, with how it is asked for and what of it is a table: the one list behind the routes of reports and behind
// their exports.

import type { Channel, ConversationRecord } from '../store/conversations.ts';
import { conversationView, type ConversationView } from '../engine/conversation.ts';
import {
  byStatusReport,
  conversionsReport,
  customersReport,
  type DrillDownQuery,
  drillDownOf,
  performanceReport,
  responseTimesReport,
  satisfactionReport,
  volumeReport,
} from '../engine/reports.ts';
import type { View } from '../engine/runtime/context.ts';
import type { Reader } from '../workers/reader.ts';
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

type MakeFile = (view: View, query: DrillDownQuery, reader: Reader) => Promise<ReportFile>;

function made<Report extends object>(ask: (view: View, query: DrillDownQuery, reader: Reader) => Promise<Report>, tableOf: (report: Report) => Table): MakeFile {
  return async (view, query, reader) => {
    const json = await ask(view, query, reader);
    return { json, table: tableOf(json) };
  };
}

const channels: readonly Channel[] = ['chat', 'ticket', 'call'];

/** All but the conversations themselves, which are too many to be held whole. */
export const reportFiles: Readonly<Record<string, MakeFile>> = {
  'chats/total': made((view, query, reader) => volumeReport(view, query, 'chat', reader), ({ series }) => ({ columns: ['bucket', 'value'], rows: series.map(({ bucket, value }) => [bucket, value]) })),
  'tickets/total': made((view, query, reader) => volumeReport(view, query, 'ticket', reader), ({ series }) => ({ columns: ['bucket', 'value'], rows: series.map(({ bucket, value }) => [bucket, value]) })),
  'tickets/by-status': made(byStatusReport, ({ counts }) => ({ columns: ['status', 'count'], rows: Object.entries(counts) })),
  'tickets/response-times': made(responseTimesReport, ({ firstResponse, resolution }) => ({
    columns: ['measure', 'medianSeconds', 'p90Seconds'],
    rows: [['firstResponse', firstResponse.medianSeconds, firstResponse.p90Seconds], ['resolution', resolution.medianSeconds, resolution.p90Seconds]],
  })),
  'tickets/satisfaction': made(satisfactionReport, ({ series }) => ({ columns: ['bucket', 'value', 'responses'], rows: series.map(({ bucket, value, responses }) => [bucket, value, responses]) })),
  'agents/performance': made(performanceReport, ({ agents }) => ({
    columns: ['agentId', 'agentName', 'conversations', 'firstResponseMedianSeconds', 'fullResolutionMedianSeconds', 'csatScore', 'csatResponses'],
    rows: agents.map((row) => [row.agent.id, row.agent.name, row.conversations, row.firstResponseMedianSeconds, row.fullResolutionMedianSeconds, row.csatScore, row.csatResponses]),
  })),
  customers: made(customersReport, ({ queued, abandonment }) => ({
    columns: ['channel', 'queued', 'abandoned', 'total', 'rate'],
    rows: channels.map((channel) => [channel, queued[channel], abandonment[channel].abandoned, abandonment[channel].total, abandonment[channel].rate]),
  })),
  'conversions/goals': made(conversionsReport, ({ goals }) => ({
    columns: ['goalId', 'name', 'status', 'completions', 'valueCents'],
    rows: goals.map(({ goalId, name, status, completions, valueCents }) => [goalId, name, status, completions, valueCents]),
  })),
};

export const conversationsType = 'conversations';
export const reportTypes = [...Object.keys(reportFiles), conversationsType];

/** Conversations read for one part of a file. */
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

/** The text of a whole report. */
export async function reportText(view: View, type: string, format: 'csv' | 'json', asked: { query: DrillDownQuery; reader: Reader }): Promise<string | AsyncIterable<string>> {
  const make = reportFiles[type];
  if (make === undefined) {
    const order = { workspaceId: view.workspaceId, asked: drillDownOf(view, asked.query), reader: asked.reader };
    return format === 'csv' ? conversationsCsv(order) : conversationsJson(order);
  }
  const { json, table } = await make(view, asked.query, asked.reader);
  return format === 'json' ? JSON.stringify(json) : [table.columns, ...table.rows].map(csvLine).join('');
}

interface ConversationOrder {
  readonly workspaceId: string;
  readonly asked: ReturnType<typeof drillDownOf>;
  readonly reader: Reader;
}

async function* conversationParts({ workspaceId, asked, reader }: ConversationOrder): AsyncGenerator<ConversationRecord[]> {
  let last: ConversationRecord | undefined;
  for (;;) {
    const part = await reader.drillDownAfter(workspaceId, asked, { after: last && { at: last.createdAt, id: last.id }, limit: rowsPerPart });
    if (part.length === 0) return;
    yield part;
    last = part.at(-1);
  }
}

async function* conversationsCsv(order: ConversationOrder): AsyncGenerator<string> {
  yield csvLine([...conversationColumns, 'tags']);
  for await (const part of conversationParts(order)) yield part.map((row) => csvLine([...conversationColumns.map((column) => row[column]), row.tags.join('; ')])).join('');
}

async function* conversationsJson(order: ConversationOrder): AsyncGenerator<string> {
  let total = 0;
  for await (const part of conversationParts(order)) {
    yield part.map((row, index) => `${total === 0 && index === 0 ? '{"conversations":[' : ','}${JSON.stringify(conversationView(row))}`).join('');
    total += part.length;
  }
  yield `${total === 0 ? '{"conversations":[' : ''}],"total":${total}}`;
}
