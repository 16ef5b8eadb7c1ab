// Durable sends over HTTP: authentication, validation, the actor, three rows, synced before the 201. The references are
// a handler with only the lane, and one transaction and sync per request.

import { Api } from './api.ts';
import { type BenchOptions, type Row, row, runAlone } from './frame.ts';
import { type HttpFigures, loadByHttp } from './http-load.ts';
import { messageText } from './messages.ts';
import { type Program, startReference, startService } from './process.ts';
import { makeTenant, startChats } from './scenario.ts';

const connections = 64;
const manyWorkspaces = 50;
const body = JSON.stringify({ body: messageText });

type Target = { readonly path: string; readonly token?: string };

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const seconds = quick ? 2 : 10;
  const warmSeconds = quick ? 1 : 3;
  const reference = await startReference();
  const service = await startService();
  try {
    const api = new Api(service);
    const measure = async (program: Program, targets: readonly Target[]): Promise<Measured> => {
      await loadByHttp({ url: program.url, targets, body, seconds: warmSeconds });
      if (program === service) await service.metrics();
      const cpuBefore = program.cpuSeconds();
      const figures = await loadByHttp({ url: program.url, targets, body, seconds });
      const cpuMicros = ((program.cpuSeconds() - cpuBefore) / (figures.perSecond * seconds)) * 1e6;
      const loopP99Ms =
        program === service
          ? ((await service.metrics()).get('switchboard_event_loop_delay_p99_seconds') ?? Number.NaN) * 1000
          : 0;
      return { ...figures, cpuMicros, loopP99Ms };
    };

    const rows: Row[] = [];
    for (const workspaces of [1, manyWorkspaces]) {
      const lane = await measure(
        reference,
        spread((index) => ({ path: `/lane/${workspaces}-${index % workspaces}/${index}` })),
      );
      const sends = await measure(service, await conversationsOf(api, workspaces));
      rows.push(...compared(workspaces === 1 ? 'sends, 1 workspace' : `sends, ${workspaces} workspaces`, sends, lane));
      if (workspaces > 1) continue;
      const alone = await measure(
        reference,
        spread((index) => ({ path: `/commit/${index}` })),
      );
      rows.push(
        row({
          name: 'sends, 1 workspace',
          value: sends.perSecond,
          unit: '/s',
          reference: { name: 'commit per request', value: alone.perSecond },
          target: { atLeast: 15 },
        }),
      );
    }
    return rows;
  } finally {
    await Promise.all([service.stop(), reference.stop()]);
  }
}

interface Measured extends HttpFigures {
  /** Of the whole process, per send. */
  readonly cpuMicros: number;
  readonly loopP99Ms: number;
}

function compared(name: string, sends: Measured, lane: Measured): Row[] {
  return [
    row({
      name,
      value: sends.perSecond,
      unit: '/s',
      reference: { name: 'bare lane', value: lane.perSecond },
      target: { atLeast: 0.85 },
    }),
    row({
      name: `${name}: latency p50`,
      value: sends.p50Ms,
      unit: 'ms',
      reference: { name: 'bare lane', value: lane.p50Ms },
    }),
    row({
      name: `${name}: latency p99`,
      value: sends.p99Ms,
      unit: 'ms',
      reference: { name: 'bare lane', value: lane.p99Ms },
    }),
    row({
      name: `${name}: CPU each`,
      value: sends.cpuMicros,
      unit: 'µs',
      reference: { name: 'bare lane', value: lane.cpuMicros },
    }),
    row({ name: `${name}: event-loop delay p99`, value: sends.loopP99Ms, unit: 'ms' }),
  ];
}

function spread(targetAt: (index: number) => Target): Target[] {
  return Array.from({ length: connections }, (_, index) => targetAt(index));
}

/** A target per connection: each has its own conversation, distributed over this many workspaces. */
async function conversationsOf(api: Api, workspaces: number): Promise<Target[]> {
  const perWorkspace = Math.ceil(connections / workspaces);
  const tenants: { token: string; conversationIds: readonly string[] }[] = [];
  for (let count = 0; count < workspaces; count += 1) {
    const { owner, embedId } = await makeTenant(api);
    tenants.push({ token: owner.token, conversationIds: await startChats(api, embedId, perWorkspace) });
  }
  return spread((index) => {
    const tenant = tenants[index % workspaces];
    const conversationId = tenant?.conversationIds[Math.floor(index / workspaces)];
    if (tenant === undefined || conversationId === undefined) throw new Error('a connection without a conversation');
    return { path: `/api/v1/conversations/${conversationId}/messages`, token: tenant.token };
  });
}

await runAlone(import.meta.url, run);
