// Reports: figures from the reader thread, shaped for the reply. Every figure counts conversations that began in the
// range, in their current state (channel, assignee, outcome). Spam is never counted. Specification 4.13.

import type { Channel, ConversationRecord, ConversationStatus } from '../../store/conversations/conversations.ts';
import type { ConversationView } from '../../store/conversations/records.ts';
import type { DrillDown } from '../../store/reports/lists.ts';
import type { ReportRange } from '../../store/reports/pieces.ts';
import { noDepartment } from '../../store/reports/rollups.ts';
import type { BucketTotals, ReportScope } from '../../store/reports/sums.ts';
import type { DurationFigures, GoalTotals, Totals } from '../../store/reports/types.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { conversationView } from '../conversations/conversation.ts';
import { refuseField } from '../errors.ts';
import type { View } from '../runtime/context.ts';
import { isActive, theRoster } from '../workspace/roster.ts';
import { type Buckets, bucketsOf, maySeeFiguresOf, type ReportFrame, type ReportQuery, reportFrame } from './scope.ts';

/** Queries to the reader thread. */
export interface ReportReads {
  bucketTotals(
    workspaceId: string,
    scope: ReportScope,
    buckets: Pick<Buckets, 'starts' | 'toMs'>,
  ): Promise<BucketTotals>;
  totals(workspaceId: string, scope: ReportScope, range: ReportRange): Promise<Totals>;
  totalsByAgent(
    workspaceId: string,
    scope: ReportScope,
    range: ReportRange,
    agentIds: readonly string[],
  ): Promise<Totals[]>;
  totalsByChannel(
    workspaceId: string,
    scopes: { figures: ReportScope; queue: ReportScope },
    range: ReportRange,
  ): Promise<{ channel: Channel; totals: Totals; queued: number }[]>;
  drillDown(
    workspaceId: string,
    asked: DrillDown,
    page: { limit: number; offset: number },
  ): Promise<{ conversations: ConversationRecord[]; total: number }>;
  goals(
    workspaceId: string,
    scope: ReportScope,
    range: ReportRange,
    buckets: Pick<Buckets, 'starts' | 'toMs'>,
  ): Promise<{ goals: GoalTotals[]; counts: number[] }>;
}

type Head = ReportFrame['head'];

export interface Series extends Head {
  readonly series: readonly { readonly bucket: string; readonly value: number }[];
  readonly total: number;
}

/** Each channel has its own report. Refuses invalid_query, and as reportFrame(). */
function volumeFrame(view: View, query: ReportQuery, channel: Channel): ReportFrame {
  if (query.channel !== undefined && query.channel !== channel)
    refuseField('invalid_query', 'channel', `must be ${channel} in this report, or left out`);
  return reportFrame(view, query, channel);
}

/** Refuses what the report itself would refuse, for links that are created now and followed later. */
export function requireReport(view: View, query: ReportQuery, about: ReportAbout): ReportFrame {
  const frame =
    about.volumeOf === undefined ? reportFrame(view, query, about.channel) : volumeFrame(view, query, about.volumeOf);
  if (about.hasBuckets === true) bucketsOf(view, frame.range, query.granularity);
  return frame;
}

/** The report's own defaults. */
export interface ReportAbout {
  /** The only channel it counts. */
  readonly volumeOf?: Channel;
  /** The default channel. */
  readonly channel?: Channel;
  readonly hasBuckets?: true;
}

/** Conversations by their start time. */
export async function volumeReport(
  view: View,
  query: ReportQuery,
  channel: Channel,
  reads: ReportReads,
): Promise<Series> {
  const { scope, range, head } = volumeFrame(view, query, channel);
  const buckets = bucketsOf(view, range, query.granularity);
  const { conversations } = await reads.bucketTotals(view.workspaceId, scope, buckets);
  const series = buckets.labels.map((bucket, index) => ({ bucket, value: conversations[index] ?? 0 }));
  return { ...head, series, total: series.reduce((sum, { value }) => sum + value, 0) };
}

export interface ByStatus extends Head {
  readonly counts: {
    readonly open: number;
    readonly pending: number;
    readonly solved: number;
    readonly closed: number;
  };
  readonly total: number;
}

export async function byStatusReport(view: View, query: ReportQuery, reads: ReportReads): Promise<ByStatus> {
  const { scope, range, head } = reportFrame(view, query, 'ticket');
  const { open, pending, solved, closed, conversations } = await reads.totals(view.workspaceId, scope, range);
  return { ...head, counts: { open, pending, solved, closed }, total: conversations };
}

export interface ResponseTimes extends Head {
  readonly firstResponse: DurationFigures;
  readonly resolution: DurationFigures;
}

export async function responseTimesReport(view: View, query: ReportQuery, reads: ReportReads): Promise<ResponseTimes> {
  const { scope, range, head } = reportFrame(view, query, 'ticket');
  const { firstResponse, resolution } = await reads.totals(view.workspaceId, scope, range);
  return { ...head, firstResponse, resolution };
}

export interface Satisfaction extends Head {
  readonly series: readonly {
    readonly bucket: string;
    readonly value: number;
    readonly mean: number | null;
    readonly responses: number;
  }[];
  /** The mean of all ratings; null if there are none. */
  readonly average: number | null;
  readonly responses: number;
  readonly total: number;
}

export async function satisfactionReport(view: View, query: ReportQuery, reads: ReportReads): Promise<Satisfaction> {
  const { scope, range, head } = reportFrame(view, query, 'ticket');
  const buckets = bucketsOf(view, range, query.granularity);
  const { rated, ratingSum } = await reads.bucketTotals(view.workspaceId, scope, buckets);
  const series = buckets.labels.map((bucket, index) => {
    const mean = meanOf(ratingSum[index] ?? 0, rated[index] ?? 0);
    return { bucket, value: mean ?? 0, mean, responses: rated[index] ?? 0 };
  });
  const responses = sumOf(rated);
  return { ...head, series, average: meanOf(sumOf(ratingSum), responses), responses, total: responses };
}

export interface AgentPerformance {
  readonly agent: { readonly id: string; readonly name: string };
  readonly conversations: number;
  readonly firstResponseMedianSeconds: number | null;
  readonly fullResolutionMedianSeconds: number | null;
  readonly csatScore: number | null;
  readonly csatResponses: number;
}

export interface Performance extends Head {
  readonly agents: readonly AgentPerformance[];
}

/**
 * One row per agent whose figures the caller may see, by name. Former agents are listed while they have conversations
 * in the range.
 */
export async function performanceReport(view: View, query: ReportQuery, reads: ReportReads): Promise<Performance> {
  const { agent, scope, range, head } = reportFrame(view, query, undefined);
  const seen = [...theRoster(view).agents.values()].filter(
    (other) => (scope.agentId === null || other.id === scope.agentId) && maySeeFiguresOf(agent, other),
  );
  const totals = await reads.totalsByAgent(
    view.workspaceId,
    { ...scope, agentId: null },
    range,
    seen.map(({ id }) => id),
  );
  const agents = seen.flatMap((other, index): AgentPerformance[] => {
    const of = totals[index];
    if (of === undefined || (of.conversations === 0 && !isActive(other))) return [];
    return [
      {
        agent: { id: other.id, name: other.name },
        conversations: of.conversations,
        firstResponseMedianSeconds: of.firstResponse.medianSeconds,
        fullResolutionMedianSeconds: of.resolution.medianSeconds,
        csatScore: meanOf(of.ratingSum, of.rated),
        csatResponses: of.rated,
      },
    ];
  });
  return { ...head, agents: agents.sort((a, b) => a.agent.name.localeCompare(b.agent.name)) };
}

export interface Abandonment {
  readonly abandoned: number;
  readonly total: number;
  /** 0 to 1. */
  readonly rate: number;
}

export interface Customers extends Head {
  readonly queued: Readonly<Record<Channel, number>>;
  readonly abandonment: Readonly<Record<Channel, Abandonment>>;
}

/** Conversations waiting now, and those abandoned or closed before an answer. */
export async function customersReport(view: View, query: ReportQuery, reads: ReportReads): Promise<Customers> {
  const { agent, scope, range, head } = reportFrame(view, query, undefined);
  const rows = new Map(
    (await reads.totalsByChannel(view.workspaceId, { figures: scope, queue: queueScope(agent, scope) }, range)).map(
      (row) => [row.channel, row],
    ),
  );
  const queuedIn = (channel: Channel): number => rows.get(channel)?.queued ?? 0;
  const abandonmentIn = (channel: Channel): Abandonment => {
    const { missed = 0, conversations = 0 } = rows.get(channel)?.totals ?? {};
    return {
      abandoned: missed,
      total: conversations,
      rate: conversations === 0 ? 0 : Math.round((missed / conversations) * 10_000) / 10_000,
    };
  };
  return {
    ...head,
    queued: { chat: queuedIn('chat'), ticket: queuedIn('ticket'), call: queuedIn('call') },
    abandonment: { chat: abandonmentIn('chat'), ticket: abandonmentIn('ticket'), call: abandonmentIn('call') },
  };
}

/** Waiting conversations have no assignee, so agents see the queues they take from. */
function queueScope(agent: AgentRecord, scope: ReportScope): ReportScope {
  if (agent.role !== 'agent') return { ...scope, agentId: null };
  const own = [...agent.groupIds, noDepartment];
  return {
    channels: scope.channels,
    departmentIds:
      scope.departmentIds === null ? own : scope.departmentIds.filter((departmentId) => own.includes(departmentId)),
    agentId: null,
  };
}

export interface Conversions extends Series {
  readonly totalValueCents: number;
  readonly goals: readonly GoalTotals[];
}

/** Completions by goal and time, attributed within the report's scope. */
export async function conversionsReport(view: View, query: ReportQuery, reads: ReportReads): Promise<Conversions> {
  const { scope, range, head } = reportFrame(view, query, undefined);
  const buckets = bucketsOf(view, range, query.granularity);
  const { goals, counts } = await reads.goals(view.workspaceId, scope, range, buckets);
  const series = buckets.labels.map((bucket, index) => ({ bucket, value: counts[index] ?? 0 }));
  return {
    ...head,
    series,
    total: sumOf(counts),
    totalValueCents: goals.reduce((sum, { valueCents }) => sum + valueCents, 0),
    goals,
  };
}

export interface DrillDownQuery extends ReportQuery {
  readonly status?: ConversationStatus | undefined;
  readonly isRated: boolean;
  readonly isMissed: boolean;
}

/** The conversations that a drill-down lists. */
export function drillDownOf(view: View, query: DrillDownQuery): DrillDown {
  const { agent, scope, range } = reportFrame(view, query, undefined);
  const shownDepartmentIds = agent.role === 'agent' ? [...agent.groupIds, noDepartment] : null;
  return { scope, range, status: query.status, isRated: query.isRated, isMissed: query.isMissed, shownDepartmentIds };
}

/** The conversations behind a figure, newest first. */
export async function drillDownReport(
  view: View,
  query: DrillDownQuery,
  page: { limit: number; offset: number },
  reads: ReportReads,
): Promise<{ conversations: ConversationView[]; total: number }> {
  const { conversations, total } = await reads.drillDown(view.workspaceId, drillDownOf(view, query), page);
  return { conversations: conversations.map(conversationView), total };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function meanOf(sum: number, count: number): number | null {
  return count === 0 ? null : Math.round((sum / count) * 100) / 100;
}
