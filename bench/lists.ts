// Lists of 200,000 open conversations in 200 departments, each kind of list separately, by an admin and by agents of one
// and of all departments. The service is its own process, so that the CPU time of a list, in all threads, is reported
// beside its latency; and how long its event loop was held, since one thread answers everyone.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../store/database.ts';
import { workspaceMigrations } from '../store/migrations/workspace.ts';
import { insertOpenConversations } from '../test/support/open-conversations.ts';
import { Api } from './api.ts';
import { type BenchOptions, percentile, type Row, row, runAlone } from './frame.ts';
import { HttpConnection } from './http-connection.ts';
import { makeDataDir, type ServiceProgram, startService } from './process.ts';
import { addAgent, makeTenant, type Person, workspaceIdOf } from './scenario.ts';

const fullOpen = 200_000;
const departments = 200;
const stepMs = 1000;
const fullReads = 200;
const warmReads = 5;
/** The target of this bench, for each list that the main thread reads. */
const target = { below: 10 };

interface Kind {
  readonly name: string;
  readonly by: Person;
  readonly path: string;
  /** Another thread answers. */
  readonly isAsked?: true;
}

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const open = quick ? fullOpen / 20 : fullOpen;
  const reads = quick ? 20 : fullReads;
  const dataDir = makeDataDir();
  try {
    const first = await startService(dataDir);
    const api = new Api(first);
    const { owner } = await makeTenant(api);
    const departmentIds: string[] = [];
    for (let index = 0; index < departments; index += 1) {
      const body = { name: `Department ${index}` };
      departmentIds.push((await api.call<{ id: string }>('POST', '/departments', { token: owner.token, body })).id);
    }
    const invite = (name: string, groupIds: readonly string[]): Promise<Person> =>
      addAgent(api, owner, {
        email: `${name}@example.com`,
        name,
        role: 'agent',
        channels: ['chats', 'tickets'],
        groupIds,
      });
    const ofOne = await invite('one', departmentIds.slice(0, 1));
    const ofAll = await invite('all', departmentIds);
    const workspaceId = await workspaceIdOf(api, owner);
    await first.stop();
    fill(join(dataDir, 'workspaces', `${workspaceId}.db`), {
      count: open,
      departmentIds,
      agentIds: [owner, ofOne, ofAll].map(({ agentId }) => agentId),
    });

    const service = await startService(dataDir);
    try {
      const queue = (query: string): string => `/conversations/queue?limit=50&sort=activity${query}`;
      const rows: Row[] = [];
      for (const kind of [
        { name: 'all, by an admin', by: owner, path: queue('') },
        { name: 'unassigned, by an admin', by: owner, path: queue('&assigneeId=none') },
        { name: 'own', by: ofOne, path: queue(`&assigneeId=${ofOne.agentId}&withOffered=true`) },
        { name: 'all, by an agent of one department', by: ofOne, path: queue('') },
        { name: 'unassigned, by an agent of one department', by: ofOne, path: queue('&assigneeId=none') },
        { name: 'all, by an agent of all departments', by: ofAll, path: queue('') },
        { name: 'unassigned, by an agent of all departments', by: ofAll, path: queue('&assigneeId=none') },
        { name: 'a tag of one in 30', by: owner, path: queue('&tag=t7'), isAsked: true },
        { name: 'a tag that no one has', by: owner, path: queue('&tag=none'), isAsked: true },
        { name: 'a tag that no one has, all departments', by: ofAll, path: queue('&tag=none'), isAsked: true },
        { name: 'counts, by an admin', by: owner, path: '/conversations/counts', isAsked: true },
        { name: 'counts, by an agent of all departments', by: ofAll, path: '/conversations/counts', isAsked: true },
      ] satisfies Kind[])
        rows.push(...(await read(service, { kind, reads: 'isAsked' in kind ? reads / 10 : reads })));
      return rows;
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function read(
  service: ServiceProgram,
  { kind: { name, by, path, isAsked }, reads }: { kind: Kind; reads: number },
): Promise<Row[]> {
  const connection = await HttpConnection.open(service.url);
  const once = async (): Promise<number> => {
    const startedMs = performance.now();
    await connection.get({ path: `/api/v1${path}`, token: by.token });
    return performance.now() - startedMs;
  };
  for (let index = 0; index < warmReads; index += 1) await once();
  await service.metrics();
  const cpuBefore = service.cpuSeconds();
  const took: number[] = [];
  for (let index = 0; index < reads; index += 1) took.push(await once());
  const cpuMs = ((service.cpuSeconds() - cpuBefore) * 1000) / reads;
  const heldMs = ((await service.metrics()).get('switchboard_event_loop_delay_p99_seconds') ?? Number.NaN) * 1000;
  connection.close();
  return [
    row({ name: `${name}: p50`, value: percentile(took, 0.5), unit: 'ms' }),
    isAsked === undefined
      ? row({ name: `${name}: CPU each`, value: cpuMs, unit: 'ms', target })
      : row({ name: `${name}: CPU each, reader thread`, value: cpuMs, unit: 'ms' }),
    ...(isAsked === undefined ? [] : [row({ name: `${name}: event-loop delay p99`, value: heldMs, unit: 'ms' })]),
  ];
}

/** Half are assigned, to one agent after the other; seven of ten have a department, half a tag of 30. */
function fill(
  path: string,
  { count, departmentIds, agentIds }: { count: number; departmentIds: readonly string[]; agentIds: readonly string[] },
): void {
  const db = Database.openWriter(path, workspaceMigrations);
  const siteId = db.get<{ id: string }>('SELECT id FROM site')?.id ?? '';
  insertOpenConversations(db, {
    count,
    startMs: Date.now() - count * stepMs,
    stepMs,
    siteId,
    isReported: false,
    fields: (index) => ({
      channel: index % 3 === 0 ? 'ticket' : 'chat',
      departmentId: index % 10 < 3 ? null : (departmentIds[index % departmentIds.length] ?? null),
      assignedAgentId: index % 2 === 0 ? (agentIds[(index / 2) % agentIds.length] ?? null) : null,
      tags: index % 4 < 2 ? [`t${index % 30}`] : [],
    }),
  });
  db.checkpoint();
  db.close();
}

await runAlone(import.meta.url, run);
