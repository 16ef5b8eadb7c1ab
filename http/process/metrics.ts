// Metrics for Prometheus. The only importer of prom-client, and the only place that counts.

import { readdirSync } from 'node:fs';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  observeRequest(operation: string, status: number, durationMs: number): void;
  /** A request was refused by a limit over time. */
  observeCeiling(ceiling: string): void;
  observeBatch(figures: { jobs: number; commitMs: number; syncMs: number }): void;
  /** One attempt of an outside job (a mail, a delivery): done, to be retried, or failed. */
  observeOutside(kind: string, outcome: 'sent' | 'retry' | 'failed'): void;
  /** The text of GET /metrics. */
  text(): Promise<{ contentType: string; text: string }>;
  stop(): void;
}

/** Values that are read when metrics are requested. */
export interface Gauges {
  engine(): { openWorkspaces: number; filesWaiting: number; laneDepth: number; actors: number; outboxUnderWay: number };
  sockets(): { readonly agent: number; readonly visitor: number };
  /** Calls queued for the reader thread. */
  readerWaiting(): number;
  /** Age of the oldest queued outside job in seconds; 0 when there is none. */
  outboxAgeSeconds(): number;
  /** Workspaces whose file, entry in directory.db or secrets are faulty. */
  folderFaults(): number;
  /** Of the data folder. */
  disk(): { readonly freeBytes: number; readonly hasRoom: boolean };
}

const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const diskBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1];
const batchBuckets = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
/** The sampling interval of the loop; the histogram counts it as delay, so it is subtracted. */
const loopResolutionMs = 10;

/** The delay of the loop's turns, in nanoseconds. */
export type LoopDelay = Pick<IntervalHistogram, 'enable' | 'disable' | 'reset' | 'percentile' | 'max'>;

export function createMetrics(
  gauges: Gauges,
  about: { version: string } = { version: '' },
  loop: LoopDelay = monitorEventLoopDelay({ resolution: loopResolutionMs }),
): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Histogram({
    name: 'switchboard_request_seconds',
    help: 'Time from the last header to the reply, by operation and status.',
    labelNames: ['operation', 'status'] as const,
    buckets: latencyBuckets,
    registers,
  });
  const ceilings = new Counter({
    name: 'switchboard_ceilings_met_total',
    help: 'Refusals because a limit was reached, by limit.',
    labelNames: ['ceiling'] as const,
    registers,
  });
  const commits = new Histogram({
    name: 'switchboard_commit_seconds',
    help: 'Time of a batch in its transaction.',
    buckets: diskBuckets,
    registers,
  });
  const syncs = new Histogram({
    name: 'switchboard_sync_seconds',
    help: 'Time until a batch is durable on disk.',
    buckets: diskBuckets,
    registers,
  });
  const batches = new Histogram({
    name: 'switchboard_batch_commands',
    help: 'Commands committed together.',
    buckets: batchBuckets,
    registers,
  });
  const commands = new Counter({
    name: 'switchboard_commands_total',
    help: 'Commands that entered a lane.',
    registers,
  });

  loop.enable();
  const delaySeconds = (ns: number): number => Math.max(0, ns / 1e9 - loopResolutionMs / 1000);
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  };
  gauge('switchboard_event_loop_delay_p50_seconds', 'Median delay of the event loop since the last scrape.', () =>
    delaySeconds(loop.percentile(50)),
  );
  gauge(
    'switchboard_event_loop_delay_p99_seconds',
    '99th percentile of the delay of the event loop since the last scrape.',
    () => delaySeconds(loop.percentile(99)),
  );
  gauge('switchboard_event_loop_delay_max_seconds', 'Longest delay of the event loop since the last scrape.', () =>
    delaySeconds(loop.max),
  );
  gauge('switchboard_agent_sockets', 'Open agent sockets.', () => gauges.sockets().agent);
  gauge('switchboard_visitor_sockets', 'Open visitor sockets.', () => gauges.sockets().visitor);
  gauge('switchboard_open_workspaces', 'Open workspace files.', () => gauges.engine().openWorkspaces);
  gauge('switchboard_files_waiting', 'Workspace files waiting to be opened.', () => gauges.engine().filesWaiting);
  gauge('switchboard_lane_depth', 'Commands waiting in lanes.', () => gauges.engine().laneDepth);
  gauge('switchboard_actors', 'Actor states in memory.', () => gauges.engine().actors);
  gauge('switchboard_reader_waiting', 'Searches and export pages waiting for the reader thread.', () =>
    gauges.readerWaiting(),
  );
  gauge('switchboard_outbox_under_way', 'Outside work in progress.', () => gauges.engine().outboxUnderWay);
  gauge('switchboard_outbox_age_seconds', 'Age of the oldest unfinished outside work in the open workspaces.', () =>
    gauges.outboxAgeSeconds(),
  );
  gauge(
    'switchboard_folder_faults',
    'Workspaces whose file is missing or empty, that are missing in directory.db, or whose secrets were sealed with another key.',
    () => gauges.folderFaults(),
  );
  gauge('switchboard_disk_free_bytes', 'Free space on the disk of the data folder.', () => gauges.disk().freeBytes);
  gauge(
    'switchboard_disk_reserve_reached',
    '1 while the disk has reached its reserve and large writes are refused.',
    () => (gauges.disk().hasRoom ? 0 : 1),
  );
  gauge('switchboard_resident_memory_bytes', 'Resident memory of the process.', () => process.memoryUsage.rss());
  gauge('switchboard_heap_used_bytes', 'JavaScript heap in use.', () => process.memoryUsage().heapUsed);
  // The standard names that dashboards use, beside our earlier ones.
  gauge('process_resident_memory_bytes', 'Resident memory of the process.', () => process.memoryUsage.rss());
  gauge(
    'process_start_time_seconds',
    'Start time of the process in seconds since 1970.',
    () => Math.round(performance.timeOrigin) / 1000,
  );
  if (process.platform === 'linux')
    gauge('process_open_fds', 'Open file descriptors, including sockets.', () => readdirSync('/proc/self/fd').length);
  const cpuSeconds = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  };
  for (const name of ['process_cpu_seconds_total', 'switchboard_cpu_seconds_total']) {
    // The kernel counts it, so the metric is set to the total.
    new Counter({
      name,
      help: 'User and system time of the process.',
      registers,
      collect() {
        this.reset();
        this.inc(cpuSeconds());
      },
    });
  }
  new Gauge({
    name: 'switchboard_build_info',
    help: 'Always 1; the labels name the versions.',
    labelNames: ['version', 'node'] as const,
    registers,
  }).set({ version: about.version, node: process.versions.node }, 1);
  const outside = new Counter({
    name: 'switchboard_outside_attempts_total',
    help: 'Attempts at outside work, by kind and outcome: sent, retry, failed.',
    labelNames: ['kind', 'outcome'] as const,
    registers,
  });

  return {
    observeRequest: (operation, status, durationMs) => requests.observe({ operation, status }, durationMs / 1000),
    observeCeiling: (ceiling) => ceilings.inc({ ceiling }),
    observeBatch(figures) {
      commits.observe(figures.commitMs / 1000);
      syncs.observe(figures.syncMs / 1000);
      batches.observe(figures.jobs);
      commands.inc(figures.jobs);
    },
    observeOutside: (kind, outcome) => outside.inc({ kind, outcome }),
    async text() {
      const text = await registry.metrics();
      loop.reset();
      return { contentType: registry.contentType, text };
    },
    stop: () => loop.disable(),
  };
}
