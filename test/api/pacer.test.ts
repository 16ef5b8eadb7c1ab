import t from 'tap';
import Type from 'typebox';
import { Pacer } from '../../http/limits/pacer.ts';
import { Pipeline } from '../../http/pipeline/pipeline.ts';
import { createMetrics } from '../../http/process/metrics.ts';
import { route } from '../../http/route.ts';
import { startService } from '../support/service.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

t.test(
  'the first is called at once, each after it in a turn of its own, in their order, and others come between',
  async (t) => {
    const pacer = new Pacer();
    const seen: string[] = [];
    for (const name of ['a', 'b', 'c']) pacer.take(() => seen.push(name));
    t.strictSame(seen, ['a']);
    for (let between = 1; between <= 3; between += 1) {
      await turn();
      seen.push(String(between));
    }
    t.strictSame(seen, ['a', 'b', '1', 'c', '2', '3']);
    await turn();
    pacer.take(() => seen.push('d'));
    t.equal(seen.at(-1), 'd', 'nobody waits when nobody came before');
  },
);

t.test('who comes in the turn of one that waited waits for the next', async (t) => {
  const pacer = new Pacer();
  const seen: string[] = [];
  pacer.take(() => seen.push('a'));
  pacer.take(() => {
    seen.push('b');
    pacer.take(() => seen.push('c'));
  });
  await turn();
  t.strictSame(seen, ['a', 'b']);
  await turn();
  t.strictSame(seen, ['a', 'b', 'c']);
});

t.test('two hundred wait; who comes then has the oldest called at once, so that the order holds', async (t) => {
  const pacer = new Pacer();
  const seen: number[] = [];
  for (let index = 0; index <= 200; index += 1) pacer.take(() => seen.push(index));
  t.strictSame(seen, [0]);
  pacer.take(() => seen.push(201));
  pacer.take(() => seen.push(202));
  t.strictSame(seen, [0, 1, 2]);
  for (let index = 0; index < 200; index += 1) await turn();
  t.strictSame(
    seen,
    Array.from({ length: 203 }, (_, index) => index),
  );
});

t.test(
  'of what is asked of another thread one is asked in each turn; what is read or written does not wait for it',
  async (t) => {
    const service = await startService(t);
    const owner = await service.workspace();
    const seen: string[] = [];
    const about = (operation: string) =>
      ({
        operation,
        method: 'GET',
        path: `/${operation}`,
        tag: 'Test',
        summary: 'x',
        access: { kind: 'agent', scope: null },
        reply: { status: 200, schema: Type.Object({}) },
        refusals: [],
      }) as const;
    const see = (name: string): object => {
      seen.push(name);
      return {};
    };
    const names = ['first', 'second', 'third'];
    const asked = names.map((name) => route({ ...about(name), ask: async () => see(name) }));
    const read = route({ ...about('read'), read: () => see('read') });
    const metrics = createMetrics({
      engine: () => ({ openWorkspaces: 0, filesWaiting: 0, laneDepth: 0, actors: 0, outboxUnderWay: 0 }),
      sockets: () => ({ agent: 0, visitor: 0 }),
      readerWaiting: () => 0,
      outboxAgeSeconds: () => 0,
      folderFaults: () => 0,
      disk: () => ({ freeBytes: 0, hasRoom: true }),
    });
    t.teardown(() => metrics.stop());
    const pipeline = new Pipeline({
      services: service.running.services,
      routes: [...asked, read],
      metrics,
      checkReplies: true,
    });
    const statuses = await Promise.all(
      [...names, 'read'].map(
        (name) =>
          new Promise<number>((resolve) => {
            const begun = pipeline.begin({
              method: 'GET',
              path: `/api/v1/${name}`,
              query: '',
              headers: { host: 'localhost', accept: '*/*', authorization: `Bearer ${owner.token}` },
              ip: '192.0.2.1',
              startedMs: 0,
            });
            if ('compiled' in begun) pipeline.finish(begun, new Uint8Array(0), ({ status }) => resolve(status));
            else resolve(begun.status);
          }),
      ),
    );
    t.strictSame(statuses, [200, 200, 200, 200]);
    t.strictSame(seen, ['first', 'read', 'second', 'third']);
  },
);
