// The range and scope of a report, from the query and the caller's rights. Specification 4.13.

import type { Channel } from '../../store/conversations/conversations.ts';
import type { ReportRange } from '../../store/reports/pieces.ts';
import { noDepartment } from '../../store/reports/rollups.ts';
import type { ReportScope } from '../../store/reports/sums.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { refuse, refuseField } from '../errors.ts';
import { isoTime } from '../runtime/clock.ts';
import type { View } from '../runtime/context.ts';
import { callingAgent, reachOf } from '../workspace/access.ts';
import { requireAgent, theRoster } from '../workspace/roster.ts';
import { bucketStarts, dayMs, type Granularity, isoWithOffset } from '../workspace/time-zones.ts';
import { theWorkspace } from '../workspace/workspace.ts';

export type RangeName = '1d' | '7d' | '30d' | '90d' | 'custom';

/** The common query of reports. Times are ISO. */
export interface ReportQuery {
  readonly range?: RangeName | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly departmentId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly channel?: Channel | undefined;
  readonly granularity?: Granularity | undefined;
}

export interface ReportFrame {
  readonly agent: AgentRecord;
  readonly scope: ReportScope;
  readonly range: ReportRange;
  /** The common head of every report. */
  readonly head: {
    readonly range: { readonly start: string; readonly end: string };
    readonly filters: { readonly departmentId: string | null; readonly agentId: string | null };
  };
}

const rangeDays: Readonly<Record<Exclude<RangeName, 'custom'>, number>> = { '1d': 1, '7d': 7, '30d': 30, '90d': 90 };
const maxRangeDays = 365;
/** Up to this range, buckets are hours by default. */
const hourlyUpToMs = 2 * dayMs;
/** Beyond this range there would be too many hours to be useful. */
const maxHourlyMs = 31 * dayMs;

/**
 * `channel`: the default if the query names none; undefined is every channel. Refuses invalid_query, range_too_large,
 * not_found, forbidden.
 */
export function reportFrame(view: View, query: ReportQuery, channel: Channel | undefined): ReportFrame {
  const agent = callingAgent(view);
  const { range, start, end } = rangeOf(view, query);
  const scope = scopeOf(view, agent, { ...query, channel: query.channel ?? channel });
  return {
    agent,
    scope,
    range,
    head: { range: { start, end }, filters: { departmentId: query.departmentId ?? null, agentId: scope.agentId } },
  };
}

function rangeOf(view: View, query: ReportQuery): { range: ReportRange; start: string; end: string } {
  if (query.range !== 'custom') {
    const fromMs = view.nowMs - rangeDays[query.range ?? '7d'] * dayMs;
    // Includes the current millisecond.
    return { range: { fromMs, toMs: view.nowMs + 1 }, start: isoTime(fromMs), end: view.at };
  }
  const fromMs = Date.parse(query.from ?? refuseField('invalid_query', 'from', 'is required when range is custom'));
  const toMs = Date.parse(query.to ?? refuseField('invalid_query', 'to', 'is required when range is custom'));
  if (fromMs >= toMs) refuseField('invalid_query', 'to', 'must be after from');
  if (toMs - fromMs > maxRangeDays * dayMs) refuse('range_too_large');
  return { range: { fromMs, toMs }, start: isoTime(fromMs), end: isoTime(toMs) };
}

/** Admins see everything; supervisors their departments and conversations without one; agents their own. */
function scopeOf(view: View, agent: AgentRecord, query: ReportQuery): ReportScope {
  const { departmentId, agentId, channel } = query;
  const { channels } = reachOf(agent);
  if (channel !== undefined && !channels.includes(channel))
    refuse('forbidden', { message: `You do not work in the channel ${channel}.` });
  if (departmentId !== undefined && !theRoster(view).departments.has(departmentId)) refuse('not_found');
  const asked = agentId === undefined ? undefined : requireAgent(view, agentId);
  if (asked !== undefined && !maySeeFiguresOf(agent, asked))
    refuse('forbidden', { message: "You are not allowed to see this agent's figures." });
  if (agent.role === 'supervisor' && departmentId !== undefined && !agent.groupIds.includes(departmentId))
    refuse('forbidden', { message: "You are not allowed to see this department's figures." });
  const ownDepartments = agent.role === 'supervisor' ? [...agent.groupIds, noDepartment] : null;
  return {
    channels: channel === undefined ? channels : [channel],
    departmentIds: departmentId === undefined ? ownDepartments : [departmentId],
    agentId: agent.role === 'agent' ? agent.id : (agentId ?? null),
  };
}

/** For supervisors: agents in one of their departments, and agents in none. */
export function maySeeFiguresOf(agent: AgentRecord, other: AgentRecord): boolean {
  if (agent.role === 'admin' || agent.id === other.id) return true;
  return (
    agent.role === 'supervisor' &&
    (other.groupIds.length === 0 || other.groupIds.some((departmentId) => agent.groupIds.includes(departmentId)))
  );
}

export interface Buckets {
  readonly labels: readonly string[];
  /** The first one starts with the range. */
  readonly starts: readonly number[];
  readonly toMs: number;
}

/** The buckets of a series, in the workspace's time zone. Refuses invalid_query. */
export function bucketsOf(view: View, range: ReportRange, asked: Granularity | undefined): Buckets {
  const { timezone } = theWorkspace(view);
  const lengthMs = range.toMs - range.fromMs;
  const granularity = asked ?? (lengthMs <= hourlyUpToMs + 1 ? 'hour' : 'day');
  if (granularity === 'hour' && lengthMs > maxHourlyMs + 1)
    refuseField('invalid_query', 'granularity', 'may be hour for at most 31 days');
  const starts = bucketStarts(granularity, range, timezone);
  const labels = starts.map((start) => isoWithOffset(start, timezone));
  return { labels, starts: [Math.max(starts[0] ?? range.fromMs, range.fromMs), ...starts.slice(1)], toMs: range.toMs };
}
