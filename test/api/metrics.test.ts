import t from 'tap';
import { clusterFaults, clusterHindrances } from '../../http/process/cluster-figures.ts';
import { type LoopClock, LoopDelay } from '../../http/process/loop-delay.ts';
import { createMetrics, type Metrics } from '../../http/process/metrics.ts';
import { systemRoutes } from '../../http/routes/system.ts';
import { HeldDisk } from '../support/held-disk.ts';
import { startService } from '../support/service.ts';
import { turns } from '../support/toy.ts';

/** Values by name and labels, as Prometheus parses them. */
function parse(text: string): Map<string, number> {
  return new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

t.test('[observability] every metric exists and changes', async (t) => {
  const disk = new HeldDisk({ isHeld: false });
  const service = await startService(t, {
    syncToDisk: disk.sync,
    mail: { send: () => Promise.reject(new Error('away')), close: () => {} },
  });
  t.teardown(() => disk.letGo());
  const figures = async (): Promise<Map<string, number>> => {
    const { status, headers, body } = await service.call('GET', '//metrics', { headers: { Accept: undefined } });
    t.equal(status, 200);
    t.match(headers.get('content-type'), /^text\/plain; version=0\.0\.4/);
    return parse(body);
  };
  const owner = await service.workspace();
  const chat = await service.chat(owner);
  const before = await figures();

  t.test('latency by operation and status, over HTTP and sockets', async (t) => {
    const count = (figure: Map<string, number>, operation: string, status: number): number =>
      figure.get(`switchboard_request_seconds_count{operation="${operation}",status="${status}"}`) ?? 0;
    await service.post(`/conversations/${chat.id}/messages`, { body: 'one' }, owner.token);
    await service.post(`/conversations/${chat.id}/messages`, { body: '' }, owner.token);
    const socket = await service.agentSocket(owner.token);
    await socket.call('message.send', { conversationId: chat.id, body: 'two' });
    const after = await figures();
    t.equal(count(after, 'message.send', 201) - count(before, 'message.send', 201), 2);
    t.equal(count(after, 'message.send', 400) - count(before, 'message.send', 400), 1);
    t.ok((after.get('switchboard_request_seconds_sum{operation="message.send",status="201"}') ?? 0) > 0);
    t.ok(
      [...after.keys()].some((name) =>
        name.startsWith('switchboard_request_seconds_bucket{le="0.005",operation="message.send"'),
      ),
    );
    await socket.close();
  });

  t.test('open sockets, by kind', async (t) => {
    const agent = await service.agentSocket(owner.token);
    const visitor = await service.visitorSocket(chat.customer.token);
    const open = await figures();
    t.equal(open.get('switchboard_agent_sockets'), 1);
    t.equal(open.get('switchboard_visitor_sockets'), 1);
    await Promise.all([agent.close(), visitor.close()]);
    while ((await figures()).get('switchboard_agent_sockets') !== 0) await turns(1);
  });

  t.test('commit and sync times, batches and commands', async (t) => {
    const names = [
      'switchboard_commit_seconds_count',
      'switchboard_sync_seconds_count',
      'switchboard_batch_commands_count',
      'switchboard_commands_total',
      'switchboard_sync_seconds_sum',
    ];
    const start = await figures();
    await service.post(`/conversations/${chat.id}/messages`, { body: 'three' }, owner.token);
    const end = await figures();
    for (const name of names) t.ok((end.get(name) ?? 0) > (start.get(name) ?? 0), name);
    await service.post('/auth/register', {
      email: 'other@example.com',
      password: 'correct horse battery staple',
      workspaceName: 'Other',
    });
    t.ok(
      ((await figures()).get('switchboard_commands_total') ?? 0) >= (end.get('switchboard_commands_total') ?? 0) + 3,
      "the directory's commands too: reserve, make, confirm",
    );
  });

  t.test('lane depth, open workspaces, actors, memory, processor', async (t) => {
    disk.hold();
    const underWay = [service.post(`/conversations/${chat.id}/messages`, { body: 'held' }, owner.token)];
    await disk.asked();
    underWay.push(service.post(`/conversations/${chat.id}/messages`, { body: 'held too' }, owner.token));
    await disk.asked(2);
    const behind = Array.from({ length: 5 }, (_, index) =>
      service.post(`/conversations/${chat.id}/messages`, { body: `behind ${index}` }, owner.token),
    );
    for (let depth = 0; depth < 5; ) depth = (await figures()).get('switchboard_lane_depth') ?? 0;
    disk.letGo();
    await Promise.all([...underWay, ...behind]);
    const now = await figures();
    t.equal(now.get('switchboard_lane_depth'), 0);
    t.equal(now.get('switchboard_open_workspaces'), 2);
    t.ok((now.get('switchboard_actors') ?? 0) > 3);
    t.ok((now.get('switchboard_resident_memory_bytes') ?? 0) > 50e6);
    t.ok((now.get('switchboard_heap_used_bytes') ?? 0) > 5e6);
    for (const name of ['switchboard_cpu_seconds_total', 'process_cpu_seconds_total'])
      t.ok((now.get(name) ?? 0) > (before.get(name) ?? 0), name);
    const { body } = await service.call('GET', '//metrics', { headers: { Accept: undefined } });
    for (const [, name, type] of body.matchAll(/^# TYPE (\S+) (\S+)$/gm))
      t.equal(type === 'counter', name.endsWith('_total'), `${name} is a ${type}`);
    t.match(body, /^switchboard_build_info\{version="\d+\.\d+\.\d+",node="22\./m);
    t.ok((now.get('process_open_fds') ?? 1) > 0);
    t.ok(Math.abs((now.get('process_start_time_seconds') ?? 0) * 1000 - performance.timeOrigin) < 1000);
  });

  t.test('age of the oldest item in the outbox, and work in progress', async (t) => {
    t.equal((await figures()).get('switchboard_outbox_age_seconds'), 0);
    await service.post('/agents/invite', { email: 'ann@example.com', name: 'Ann', role: 'agent' }, owner.token);
    await service.settled();
    service.clock.advance(42_000);
    const waiting = await figures();
    t.equal(waiting.get('switchboard_outbox_age_seconds'), 42);
    t.equal(waiting.get('switchboard_outbox_under_way'), 0);
    t.ok(
      (waiting.get('switchboard_outside_attempts_total{kind="mail",outcome="retry"}') ?? 0) > 0,
      'unsent ones are counted',
    );
  });

  t.test('delay of the event loop', async (t) => {
    const names = ['p50', 'p99', 'max'].map((part) => `switchboard_event_loop_delay_${part}_seconds`);
    const now = await figures();
    for (const name of names) t.ok((now.get(name) ?? -1) >= 0, name);
  });
});

const nothing = {
  engine: () => ({ openWorkspaces: 0, filesWaiting: 0, laneDepth: 0, actors: 0, outboxUnderWay: 0 }),
  sockets: () => ({ agent: 0, visitor: 0 }),
  readerWaiting: () => 0,
  outboxAgeSeconds: () => 0,
  folderFaults: () => 0,
  disk: () => ({ freeBytes: 0, hasRoom: true }),
};
const delay = async (metrics: Metrics, part: string): Promise<number> =>
  parse((await metrics.text()).text).get(`switchboard_event_loop_delay_${part}_seconds`) ?? -1;

t.test('[cluster] a node counts its part in the cluster; a server alone declares nothing of it', async (t) => {
  const alone = createMetrics(nothing);
  t.equal(alone.cluster, undefined);
  t.notMatch((await alone.text()).text, 'switchboard_cluster_');
  alone.stop();
  let figures = {
    workspacesServed: 3,
    copies: 5,
    copiesBehind: 1,
    isLeaseHeld: true,
    isNatsConnected: true,
    isNatsFull: false,
  };
  const metrics = createMetrics({ ...nothing, cluster: () => figures });
  t.teardown(() => metrics.stop());
  const read = async (name: string): Promise<number | undefined> =>
    parse((await metrics.text()).text).get(`switchboard_cluster_${name}`);
  for (const [name, value] of [
    ['workspaces_served', 3],
    ['copies', 5],
    ['copies_behind', 1],
    ['lease_held', 1],
    ['nats_connected', 1],
    ['nats_full', 0],
    ['voided_commits_total', 0],
  ] as const)
    t.equal(await read(name), value, name);
  figures = { ...figures, isLeaseHeld: false, isNatsConnected: false, isNatsFull: true };
  t.equal(await read('lease_held'), 0);
  t.equal(await read('nats_full'), 1);
  t.equal(await read('nats_connected'), 0);
  metrics.cluster?.observeAppend(3);
  metrics.cluster?.observeVoided();
  metrics.cluster?.observeVoided();
  metrics.cluster?.observeTakeOver();
  metrics.cluster?.observeHandOver();
  metrics.cluster?.observeForwarded('not served');
  for (const [name, value] of [
    ['append_seconds_count', 1],
    ['append_seconds_bucket{le="0.0025"}', 0],
    ['append_seconds_bucket{le="0.005"}', 1],
    ['voided_commits_total', 2],
    ['take_overs_total', 1],
    ['hand_overs_total', 1],
    ['forwarded_requests_total{outcome="not served"}', 1],
  ] as const)
    t.equal(await read(name), value, name);
});

t.test('[cluster] a node that cannot show that it owns what it serves is not ready, and says why', async (t) => {
  const metrics = createMetrics(nothing);
  t.teardown(() => metrics.stop());
  let now = { isNatsConnected: true, isLeaseHeld: true, isNatsFull: false };
  const [ready] = systemRoutes({
    routes: () => [],
    metrics,
    baseUrl: 'http://switchboard.test',
    readPage: () => '',
    isReady: () => true,
    hindrances: () => clusterHindrances(now),
    faults: () => clusterFaults(now),
  }).filter(({ operation }) => operation === 'system.ready');
  const ask = async (): Promise<{ status: number; body: unknown }> => {
    const { status, body } = (await ready?.send?.({} as never, {} as never)) as { status: number; body: string };
    return { status, body: JSON.parse(body) };
  };
  t.same(await ask(), { status: 200, body: { status: 'ready' } });
  now = { isNatsConnected: true, isLeaseHeld: true, isNatsFull: true };
  t.match(await ask(), { status: 200, body: { status: 'ready', faults: [/^NATS is full.* changes are refused/] } });
  now = { isNatsConnected: true, isLeaseHeld: false, isNatsFull: false };
  t.match(await ask(), { status: 503, body: { status: 'not ready', faults: [/lease has ended/] } });
  now = { isNatsConnected: true, isLeaseHeld: false, isNatsFull: true };
  t.match(await ask(), { status: 503, body: { status: 'not ready', faults: [/^NATS is full/] } });
  now = { isNatsConnected: false, isLeaseHeld: false, isNatsFull: true };
  t.match(await ask(), { status: 503, body: { faults: [/^no NATS server of the cluster can be reached/] } });
});

/** Runs timers by hand: the next one rings `lateMs` late. */
function heldClock() {
  let nowMs = 0;
  let waiting: { ms: number; call: () => void } | undefined;
  let share = 0;
  const clock: LoopClock = {
    nowMs: () => nowMs,
    after(ms, call) {
      waiting = { ms, call };
      return { cancel: () => (waiting = undefined) };
    },
    activeShare: () => share,
  };
  return {
    clock,
    work: (activeShare: number) => (share = activeShare),
    /** Returns the time it was set for, or undefined if none is set. */
    ring(lateMs = 0): number | undefined {
      const timer = waiting;
      waiting = undefined;
      nowMs += (timer?.ms ?? 0) + lateMs;
      timer?.call();
      return timer?.ms;
    },
  };
}

t.test('[observability] the delay of the loop is how late its timer rings, and each scrape starts over', async (t) => {
  const { clock, ring } = heldClock();
  const loop = new LoopDelay(clock);
  const metrics = createMetrics(nothing, undefined, loop);
  for (let count = 0; count < 9; count += 1) ring();
  t.ok((await delay(metrics, 'p50')) < 0.0001);
  for (let count = 0; count < 9; count += 1) ring();
  ring(150);
  const held = parse((await metrics.text()).text);
  const figure = (part: string): number =>
    Math.round((held.get(`switchboard_event_loop_delay_${part}_seconds`) ?? -1) * 1000);
  t.same(['p50', 'p99', 'max'].map(figure), [0, 150, 150]);
  t.equal(await delay(metrics, 'max'), 0);
  metrics.stop();
  t.equal(ring(), undefined);
});

t.test(
  '[observability] the loop is sampled a hundred times a second while it works, and once while it rests',
  async (t) => {
    const { clock, ring, work } = heldClock();
    new LoopDelay(clock);
    t.same([ring(), ring(), ring()], [1000, 1000, 1000]);
    work(0.5);
    t.equal(ring(), 1000, 'from the end of that second');
    t.same([ring(), ring()], [10, 10]);
    work(0.001);
    let samples = 0;
    while (ring() === 10) samples += 1;
    t.ok(samples < 100, `${samples} more`);
    t.equal(ring(), 1000);
  },
);

t.test('[observability] a loop that was held shows it', async (t) => {
  const metrics = createMetrics(nothing);
  t.teardown(() => metrics.stop());
  // Some samples come before the delay and one after; a busy machine may need another round.
  for (let seen = 0; seen < 0.1; seen = await delay(metrics, 'max')) {
    await turns(1000);
    for (const endMs = performance.now() + 150; performance.now() < endMs; );
    await turns(1000);
  }
  t.pass();
});
