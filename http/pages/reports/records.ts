// What the reports of the API answer, as its document gives them (specification 4.13, decisions 4.13).

import type { Channel } from '../records.ts';

export interface Head {
  readonly range: { readonly start: string; readonly end: string };
  readonly filters: { readonly departmentId: string | null; readonly agentId: string | null };
}

export interface SeriesPoint {
  /** When it begins, in the workspace's time zone, with its offset. */
  readonly bucket: string;
  readonly value: number;
}

export interface VolumeReport extends Head {
  readonly series: readonly SeriesPoint[];
  readonly total: number;
}

export interface StatusReport extends Head {
  readonly counts: { readonly open: number; readonly pending: number; readonly solved: number; readonly closed: number };
  readonly total: number;
}

interface Durations {
  readonly medianSeconds: number | null;
  readonly p90Seconds: number | null;
}

export interface ResponseTimesReport extends Head {
  readonly firstResponse: Durations;
  readonly resolution: Durations;
}

export interface SatisfactionReport extends Head {
  readonly series: readonly (SeriesPoint & { readonly responses: number })[];
  readonly average: number | null;
  readonly responses: number;
}

export interface AgentRow {
  readonly agent: { readonly id: string; readonly name: string };
  readonly conversations: number;
  readonly firstResponseMedianSeconds: number | null;
  readonly fullResolutionMedianSeconds: number | null;
  readonly csatScore: number | null;
  readonly csatResponses: number;
}

export interface PerformanceReport extends Head {
  readonly agents: readonly AgentRow[];
}

export interface Abandonment {
  readonly abandoned: number;
  readonly total: number;
  readonly rate: number;
}

export interface CustomersReport extends Head {
  readonly queued: Readonly<Record<Channel, number>>;
  readonly abandonment: Readonly<Record<Channel, Abandonment>>;
}

export interface GoalRow {
  readonly goalId: string;
  readonly name: string;
  readonly status: 'active' | 'paused' | 'archived' | 'deleted';
  readonly completions: number;
  readonly valueCents: number;
}

export interface ConversionsReport extends VolumeReport {
  readonly totalValueCents: number;
  readonly goals: readonly GoalRow[];
}
