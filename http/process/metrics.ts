// Metrics for Prometheus. The only importer of prom-client, and the only place that counts.

import { readdirSync } from 'node:fs';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ClusterCounts, ClusterFigures } from './cluster-figures.ts';
import { LoopDelay } from './loop-delay.ts';

export interface Metrics {
  observeRequest(operation: string, status: number, durationMs: number): void;
  /** A request was refused by a limit over time. */
  observeCeiling(ceiling: string): void;
  observeBatch(figures: { jobs: number; commitMs: number; syncMs: number }): void;
  /** One attempt of an outside job (a mail, a delivery): done, to be retried, or failed. */
  observeOutside(kind: string, outcome: 'sent' | 'retry' | 'failed'): void;
  /** Undefined on a server alone. */
  readonly cluster: ClusterCounts | undefined;
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
  /** Of a node of a cluster. */
  readonly cluster?: (() => ClusterFigures) | undefined;
}

const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const diskBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1];
/** Up to an election of NATS and what waits behind it. */
const appendBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const batchBuckets = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

export function createMetrics(
  gauges: Gauges,
  about: { version: string } = { version: '' },
  loop = new LoopDelay(),
): Metrics {
  const registry = new Registry();
  const counters = countersIn(registry);
  addLoopGauges(registry, loop);
  addServiceGauges(registry, gauges);
  addProcessGauges(registry, about);
  const cluster = gauges.cluster === undefined ? undefined : clusterCountsIn(registry, gauges.cluster);
  return {
    cluster,
    observeRequest: (operation, status, durationMs) =>
      counters.requests.observe({ operation, status }, durationMs / 1000),
    observeCeiling: (ceiling) => counters.ceilings.inc({ ceiling }),
    observeBatch(figures) {
      counters.commits.observe(figures.commitMs / 1000);
      counters.syncs.observe(figures.syncMs / 1000);
      counters.batches.observe(figures.jobs);
      counters.commands.inc(figures.jobs);
    },
    observeOutside: (kind, outcome) => counters.outside.inc({ kind, outcome }),
    async text() {
      const text = await registry.metrics();
      loop.reset();
      return { contentType: registry.contentType, text };
    },
    stop: () => loop.stop(),
  };
}

/** What is counted when it happens. */
function countersIn(registry: Registry) {
  const registers = [registry];
  return {
    requests: new Histogram({
      name: 'switchboard_request_seconds',
      help: 'Time from the last header to the reply, by operation and status.',
      labelNames: ['operation', 'status'] as const,
      buckets: latencyBuckets,
      registers,
    }),
    ceilings: new Counter({
      name: 'switchboard_ceilings_met_total',
      help: 'Refusals because a limit was reached, by limit.',
      labelNames: ['ceiling'] as const,
      registers,
    }),
    commits: new Histogram({
      name: 'switchboard_commit_seconds',
      help: 'Time of a batch in its transaction.',
      buckets: diskBuckets,
      registers,
    }),
    syncs: new Histogram({
      name: 'switchboard_sync_seconds',
      help: 'Time until a batch is durable on disk.',
      buckets: diskBuckets,
      registers,
    }),
    batches: new Histogram({
      name: 'switchboard_batch_commands',
      help: 'Commands committed together.',
      buckets: batchBuckets,
      registers,
    }),
    commands: new Counter({
      name: 'switchboard_commands_total',
      help: 'Commands that entered a lane.',
      registers,
    }),
    outside: new Counter({
      name: 'switchboard_outside_attempts_total',
      help: 'Attempts at outside work, by kind and outcome: sent, retry, failed.',
      labelNames: ['kind', 'outcome'] as const,
      registers,
    }),
  };
}

function clusterCountsIn(registry: Registry, figures: () => ClusterFigures): ClusterCounts {
  const registers = [registry];
  const add = (name: string, help: string, read: (now: ClusterFigures) => number): void =>
    addGauge(registry, name, { help, read: () => read(figures()) });
  const count = (name: string, help: string): Counter => new Counter({ name, help, registers });
  add(
    'switchboard_cluster_workspaces_served',
    'Workspaces that this node serves, and the directory.',
    (now) => now.workspacesServed,
  );
  add('switchboard_cluster_copies', 'Copies of workspaces that other nodes serve.', (now) => now.copies);
  add('switchboard_cluster_copies_behind', 'Copies that do not follow their log.', (now) => now.copiesBehind);
  add('switchboard_cluster_lease_held', "1 while this node's lease is held; otherwise it answers nothing.", (now) =>
    now.isLeaseHeld ? 1 : 0,
  );
  add('switchboard_cluster_nats_connected', '1 while a NATS server is connected.', (now) =>
    now.isNatsConnected ? 1 : 0,
  );
  add('switchboard_cluster_nats_full', '1 while NATS has no room for what this node writes.', (now) =>
    now.isNatsFull ? 1 : 0,
  );
  const appends = new Histogram({
    name: 'switchboard_cluster_append_seconds',
    help: 'Time until the log acknowledged an entry.',
    buckets: appendBuckets,
    registers,
  });
  const voided = count('switchboard_cluster_voided_commits_total', 'Commits that the log did not take.');
  const takeOvers = count('switchboard_cluster_take_overs_total', 'Workspaces that this node began to serve.');
  const handOvers = count('switchboard_cluster_hand_overs_total', 'Workspaces that this node handed to another.');
  const forwarded = new Counter({
    name: 'switchboard_cluster_forwarded_requests_total',
    help: 'Requests that were sent to the owner, by outcome: answered, not served, unknown.',
    labelNames: ['outcome'] as const,
    registers,
  });
  return {
    observeAppend: (durationMs) => appends.observe(durationMs / 1000),
    observeVoided: () => voided.inc(),
    observeTakeOver: () => takeOvers.inc(),
    observeHandOver: () => handOvers.inc(),
    observeForwarded: (outcome) => forwarded.inc({ outcome }),
  };
}

/** A value that is read when metrics are requested. */
function addGauge(registry: Registry, name: string, { help, read }: { help: string; read: () => number }): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}

function addLoopGauges(registry: Registry, loop: LoopDelay): void {
  addGauge(registry, 'switchboard_event_loop_delay_p50_seconds', {
    help: 'Median delay of the event loop since the last scrape.',
    read: () => loop.figures.p50,
  });
  addGauge(registry, 'switchboard_event_loop_delay_p99_seconds', {
    help: '99th percentile of the delay of the event loop since the last scrape.',
    read: () => loop.figures.p99,
  });
  addGauge(registry, 'switchboard_event_loop_delay_max_seconds', {
    help: 'Longest delay of the event loop since the last scrape.',
    read: () => loop.figures.max,
  });
}

function addServiceGauges(registry: Registry, gauges: Gauges): void {
  const add = (name: string, help: string, read: () => number): void => addGauge(registry, name, { help, read });
  add('switchboard_agent_sockets', 'Open agent sockets.', () => gauges.sockets().agent);
  add('switchboard_visitor_sockets', 'Open visitor sockets.', () => gauges.sockets().visitor);
  add('switchboard_open_workspaces', 'Open workspace files.', () => gauges.engine().openWorkspaces);
  add('switchboard_files_waiting', 'Workspace files waiting to be opened.', () => gauges.engine().filesWaiting);
  add('switchboard_lane_depth', 'Commands waiting in lanes.', () => gauges.engine().laneDepth);
  add('switchboard_actors', 'Actor states in memory.', () => gauges.engine().actors);
  add('switchboard_reader_waiting', 'Searches and export pages waiting for the reader threads.', () =>
    gauges.readerWaiting(),
  );
  add('switchboard_outbox_under_way', 'Outside work in progress.', () => gauges.engine().outboxUnderWay);
  add('switchboard_outbox_age_seconds', 'Age of the oldest unfinished outside work in the open workspaces.', () =>
    gauges.outboxAgeSeconds(),
  );
  add(
    'switchboard_folder_faults',
    'Workspaces whose file is missing or empty, that are missing in directory.db, or whose secrets were sealed with another key.',
    () => gauges.folderFaults(),
  );
  add('switchboard_disk_free_bytes', 'Free space on the disk of the data folder.', () => gauges.disk().freeBytes);
  add(
    'switchboard_disk_reserve_reached',
    '1 while the disk has reached its reserve and large writes are refused.',
    () => (gauges.disk().hasRoom ? 0 : 1),
  );
}

function addProcessGauges(registry: Registry, { version }: { version: string }): void {
  const add = (name: string, help: string, read: () => number): void => addGauge(registry, name, { help, read });
  add('switchboard_resident_memory_bytes', 'Resident memory of the process.', () => process.memoryUsage.rss());
  add('switchboard_heap_used_bytes', 'JavaScript heap in use.', () => process.memoryUsage().heapUsed);
  // The standard names that dashboards use, beside our earlier ones.
  add('process_resident_memory_bytes', 'Resident memory of the process.', () => process.memoryUsage.rss());
  add(
    'process_start_time_seconds',
    'Start time of the process in seconds since 1970.',
    () => Math.round(performance.timeOrigin) / 1000,
  );
  if (process.platform === 'linux')
    add('process_open_fds', 'Open file descriptors, including sockets.', () => readdirSync('/proc/self/fd').length);
  for (const name of ['process_cpu_seconds_total', 'switchboard_cpu_seconds_total']) {
    // The kernel counts it, so the metric is set to the total.
    new Counter({
      name,
      help: 'User and system time of the process.',
      registers: [registry],
      collect() {
        const { user, system } = process.cpuUsage();
        this.reset();
        this.inc((user + system) / 1e6);
      },
    });
  }
  new Gauge({
    name: 'switchboard_build_info',
    help: 'Always 1; the labels name the versions.',
    labelNames: ['version', 'node'] as const,
    registers: [registry],
  }).set({ version, node: process.versions.node }, 1);
}
