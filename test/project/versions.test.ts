// A version of the service and the deprecation of a route, seen from outside. Specification 9.

import t from 'tap';
import Type from 'typebox';
import { Refusal } from '../../engine/errors.ts';
import { openApi } from '../../http/documents/openapi.ts';
import { Pipeline } from '../../http/pipeline/pipeline.ts';
import { serviceVersions, versionFor } from '../../http/pipeline/versions.ts';
import { createMetrics } from '../../http/process/metrics.ts';
import type { Reply, RequestHead } from '../../http/request.ts';
import { type Route, route } from '../../http/route.ts';
import { startService } from '../support/service.ts';

t.test('[9] the version in force is the newest that is not after the date, or the first', async (t) => {
  const versions = ['2026-01-15', '2026-06-01', '2027-02-28'] as const;
  const rows: [string | undefined, string][] = [
    [undefined, '2027-02-28'],
    ['2030-01-01', '2027-02-28'],
    ['2027-02-28', '2027-02-28'],
    ['2027-02-27', '2026-06-01'],
    ['2026-06-01', '2026-06-01'],
    ['2026-05-31', '2026-01-15'],
    ['2026-01-15', '2026-01-15'],
    ['2026-01-14', '2026-01-15'],
    ['1999-12-31', '2026-01-15'],
    ['2028-02-29', '2027-02-28'],
  ];
  for (const [header, version] of rows) t.equal(versionFor(header, versions), version, String(header));
  for (const header of ['', 'today', '2027-02-29', '2026-00-01', '2026-1-1', '2026-01-15 ', '+12026-01-01']) {
    try {
      versionFor(header, versions);
      t.fail(header);
    } catch (error) {
      t.match(error, { slug: 'invalid_query', detail: { fieldErrors: { 'Service-Version': [String] } } }, header);
      t.ok(error instanceof Refusal);
    }
  }
});

t.test('[9] versions are dates, oldest first', async (t) => {
  t.same([...serviceVersions].sort(), serviceVersions);
  for (const version of serviceVersions) t.equal(new Date(version).toISOString().slice(0, 10), version);
});

t.test('[9] a route that ends is announced in the Sunset header of all it answers, and in the document', async (t) => {
  const service = await startService(t);
  const ending = route({
    operation: 'test.ending',
    method: 'GET',
    path: '/ending',
    tag: 'Test',
    summary: 'Ends',
    access: { kind: 'public' },
    sunset: '2028-01-31',
    query: Type.Object({ fail: Type.Optional(Type.Boolean()) }),
    reply: { status: 200, schema: Type.Object({ at: Type.String() }) },
    refusals: ['conflict'],
    run: async ({ query }) => {
      if (query.fail === true) throw new Refusal('conflict', 'x', undefined);
      return { at: 'now' };
    },
  });
  const metrics = createMetrics({
    engine: () => ({ openWorkspaces: 0, filesWaiting: 0, laneDepth: 0, actors: 0, outboxUnderWay: 0 }),
    sockets: () => ({ agent: 0, visitor: 0 }),
    readerWaiting: () => 0,
    outboxAgeSeconds: () => 0,
    folderFaults: () => 0,
    disk: () => ({ freeBytes: 0, hasRoom: true }),
  });
  t.teardown(() => metrics.stop());
  const pipeline = new Pipeline({ services: service.running.services, routes: [ending], metrics, checkReplies: true });
  const ask = (head: Partial<RequestHead>): Promise<Reply> =>
    new Promise((resolve) => {
      const begun = pipeline.begin({
        method: 'GET',
        path: '/api/v1/ending',
        query: '',
        headers: { host: 'localhost', accept: '*/*' },
        ip: '192.0.2.1',
        startedMs: 0,
        ...head,
      });
      if ('compiled' in begun) pipeline.finish(begun, new Uint8Array(0), resolve);
      else resolve(begun);
    });
  const sunset = 'Mon, 31 Jan 2028 00:00:00 GMT';
  t.match(await ask({}), { status: 200, headers: { Sunset: sunset } });
  t.match(await ask({ query: 'fail=true' }), { status: 409, headers: { Sunset: sunset } });
  t.match(await ask({ query: 'fail=x' }), { status: 400, headers: { Sunset: sunset } });
  t.match(await ask({ headers: { host: 'localhost' } }), { status: 400, headers: { Sunset: sunset } });
  t.match(openApi([ending], { baseUrl: 'http://x', version: 'x' }), {
    paths: { '/api/v1/ending': { get: { deprecated: true } } },
  });
  t.equal((await service.get('/me')).headers.get('sunset'), null, 'an operation without an end announces nothing');
});

t.test('[9] a deprecation is announced at least twelve months before the version that announces it ends', async (t) => {
  const service = await startService(t);
  const endings = service.running.routes.map((one: Route) => [one.operation, one.sunset ?? '9999-12-31'] as const);
  const yearAfterLatest = Date.parse(serviceVersions.at(-1) ?? '') + 365 * 24 * 3600_000;
  t.same(
    endings.filter(([, sunset]) => !(Date.parse(sunset) >= yearAfterLatest)),
    [],
  );
});

t.test('in tests a reply is held against its declaration', async (t) => {
  const service = await startService(t);
  const answering = (operation: string, value: object, slug?: 'conflict'): Route =>
    route({
      operation,
      method: 'GET',
      path: `/${operation}`,
      tag: 'Test',
      summary: 'x',
      access: { kind: 'public' },
      reply: { status: 200, schema: Type.Object({ id: Type.String() }) },
      refusals: [],
      run: async () => {
        if (slug !== undefined) throw new Refusal(slug, 'x', undefined);
        // As a faulty handler would answer.
        return value as { id: string };
      },
    });
  const metrics = createMetrics({
    engine: () => ({ openWorkspaces: 0, filesWaiting: 0, laneDepth: 0, actors: 0, outboxUnderWay: 0 }),
    sockets: () => ({ agent: 0, visitor: 0 }),
    readerWaiting: () => 0,
    outboxAgeSeconds: () => 0,
    folderFaults: () => 0,
    disk: () => ({ freeBytes: 0, hasRoom: true }),
  });
  t.teardown(() => metrics.stop());
  const routes = [
    answering('sound', { id: 'x' }),
    answering('missing', {}),
    answering('leaking', { id: 'x', passwordHash: 'x' }),
    answering('undeclared', { id: 'x' }, 'conflict'),
  ];
  const pipeline = new Pipeline({ services: service.running.services, routes, metrics, checkReplies: true });
  const statuses = await Promise.all(
    routes.map(
      ({ path }) =>
        new Promise<number>((resolve) => {
          const begun = pipeline.begin({
            method: 'GET',
            path: `/api/v1${path}`,
            query: '',
            headers: { host: 'localhost', accept: '*/*' },
            ip: '192.0.2.1',
            startedMs: 0,
          });
          if ('compiled' in begun) pipeline.finish(begun, new Uint8Array(0), ({ status }) => resolve(status));
          else resolve(begun.status);
        }),
    ),
  );
  t.same(statuses, [200, 500, 500, 500]);
});
