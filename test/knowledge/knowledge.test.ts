// From a site's address to answers: crawls as jobs, documents, retrieval. Specification 3 (crawl job), 4.3; decisions
// 4.3.

import t from 'tap';
import { retrieve } from '../../engine/knowledge/retrieval.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { command } from '../../engine/runtime/command.ts';
import { putWorkspace, theWorkspace } from '../../engine/workspace/workspace.ts';
import type { Retriever } from '../../workers/knowledge/retriever.ts';
import { HeldDisk } from '../support/held-disk.ts';
import { pages, questions, serveHelpCentre } from '../support/help-centre.ts';
import { type Service, type StartOptions, startService, type Teardown } from '../support/service.ts';
import { Names, only127001, Site } from '../support/site.ts';
import { turns } from '../support/toy.ts';

async function start(t: Teardown, given: StartOptions = {}) {
  const [site, names] = [await Site.start(t), await Names.start(t)];
  names.set('shop.test', '127.0.0.1').set('other.test', '127.0.0.1');
  const options: StartOptions = {
    isPublic: only127001,
    crawlPauseMs: 0,
    ...given,
    env: { DNS_SERVERS: names.address, ...given.env },
  };
  const service = await startService(t, options);
  const owner = await service.workspace();
  return { site, names, service, owner, options, base: `http://shop.test:${site.port}` };
}

async function ingest(service: Service, token: string, body: object): Promise<any> {
  const { status, body: queued } = await service.post('/kb/ingest/url', body, token);
  if (status !== 202) return { status: 'refused', queued };
  await service.settled();
  return (await service.get(`/kb/jobs/${queued.jobId}`, token)).body;
}

const documents = async (service: Service, token: string): Promise<any[]> =>
  (await service.get('/kb/documents', token)).body.documents;
const search = async (service: Service, token: string, query: string, topK?: number): Promise<any> =>
  (await service.post('/kb/search', { query, ...(topK === undefined ? {} : { topK }) }, token)).body;

t.test('[architecture] retrieved passages wait until they are durable', async (t) => {
  const disk = new HeldDisk({ isHeld: false });
  const { site, service, owner, base } = await start(t, { syncToDisk: disk.sync });
  serveHelpCentre(site);
  await ingest(service, owner.token, { url: `${base}/` });
  const { engine, embedder, retriever } = service.running.services;
  await engine.workspace(owner.workspaceId)?.drained();

  disk.hold();
  const writing = service.post('/me/status', { status: 'available' }, owner.token);
  await disk.asked();
  const searched = Promise.withResolvers<void>();
  const watched: Retriever = {
    ...retriever,
    search: (question) => retriever.search(question).finally(searched.resolve),
  };
  let isFound = false;
  const finding = retrieve(
    engine,
    { workspaceId: owner.workspaceId, query: 'open on Sunday?', topK: 1 },
    { embedder, retriever: watched },
  );
  void finding.finally(() => (isFound = true)).catch(() => {});
  await searched.promise;
  await turns(3);
  t.equal(isFound, false);
  disk.letGo();
  t.equal((await finding).chunks.length, 1);
  t.equal((await writing).status, 200);
});

t.test('[4.3] a site is ingested with no setting, watched on the socket, and answers questions', async (t) => {
  const { site, service, owner, base } = await start(t);
  serveHelpCentre(site);
  const socket = await service.agentSocket(owner.token);
  const queued = await service.post('/kb/ingest/url', { url: `${base}/` }, owner.token);
  t.same([queued.status, queued.body.status], [202, 'queued']);
  await service.settled();

  const { body: job } = await service.get(`/kb/jobs/${queued.body.jobId}`, owner.token);
  t.match(job, {
    id: queued.body.jobId,
    workspaceId: owner.workspaceId,
    kind: 'url',
    status: 'done',
    input: { url: `${base}/`, maxPages: 200, maxDepth: 2 },
    error: null,
    createdByAgentId: owner.agentId,
  });
  t.equal(job.stats.documents, pages.size);
  t.equal(job.stats.pagesFetched, pages.size);
  t.ok(job.stats.chunks >= pages.size && job.stats.bytes > 0);
  t.ok(job.startedAt >= job.createdAt && job.finishedAt >= job.startedAt);

  await socket.flushed();
  const told = socket.frames.filter(({ type }) => type === 'kb.job.updated').map(({ data }) => data.job);
  t.equal(told[0].status, 'queued');
  t.equal(told.at(-1).status, 'done');
  t.ok(told.filter(({ status }) => status === 'running').length > pages.size, 'each page is sent');
  t.ok(
    told.every((one, index) => index === 0 || (one.stats?.documents ?? 0) >= (told[index - 1].stats?.documents ?? 0)),
    'progress never goes back',
  );

  const listed = await documents(service, owner.token);
  t.equal(listed.length, pages.size);
  t.match(listed[0], { sourceType: 'url', articleId: null, embeddingModel: /./ });
  t.notOk(
    listed.some(({ sourceUrl }) => /utm_|#/.test(sourceUrl)),
    'one spelling per page',
  );

  const answer = await search(service, owner.token, 'can I put my down jacket in the washing machine');
  t.equal(answer.chunks.length, 5, 'topK defaults to five');
  t.equal(new URL(answer.chunks[0].sourceUrl).pathname, '/products/down-washing');
  t.ok(Number.isInteger(answer.queryEmbedTimeMs) && Number.isInteger(answer.searchTimeMs));
  t.ok(
    answer.chunks.every(
      ({ score }: any, index: number) =>
        score <= 1 && score >= -1 && (index === 0 || score <= answer.chunks[index - 1].score),
    ),
    'best first',
  );
  t.notOk(
    JSON.stringify(answer).includes('never indexed') || JSON.stringify(answer).includes('small print'),
    'menus, footers and scripts are not content',
  );
  t.same(
    await search(service, owner.token, 'can I put my down jacket in the washing machine').then(({ chunks }) => chunks),
    answer.chunks,
    'the same question, the same answer',
  );

  let found = 0;
  for (const { text, path } of questions) {
    const { chunks } = await search(service, owner.token, text);
    if (chunks.some(({ sourceUrl }: any) => new URL(sourceUrl).pathname === path)) found += 1;
  }
  t.ok(found / questions.length >= 0.85, `${found} of ${questions.length} questions find their page among five`);
});

t.test('[4.3] the request for a crawl is validated', async (t) => {
  const { site, service, owner, base } = await start(t);
  site.page('/', '<p>hello and welcome to our page');
  const cases: [string, object, number, string?][] = [
    ['depth 0', { maxDepth: 0 }, 202],
    ['depth 3', { maxDepth: 3 }, 202],
    ['depth 4', { maxDepth: 4 }, 400, 'validation_error'],
    ['depth -1', { maxDepth: -1 }, 400, 'validation_error'],
    ['one page', { maxPages: 1 }, 202],
    ['200 pages', { maxPages: 200 }, 202],
    ['201 pages', { maxPages: 201 }, 400, 'validation_error'],
    ['no page', { maxPages: 0 }, 400, 'validation_error'],
    ['half a page', { maxPages: 1.5 }, 400, 'validation_error'],
    ['no url', { url: undefined }, 400, 'validation_error'],
    ['a number', { url: 5 }, 400, 'validation_error'],
    ['no scheme', { url: 'shop.test' }, 400, 'validation_error'],
    ['another scheme', { url: 'ftp://shop.test/' }, 400, 'validation_error'],
    ['a user name', { url: `http://me:secret@shop.test:${site.port}/` }, 400, 'validation_error'],
    ['too long', { url: `${base}/${'a'.repeat(2048)}` }, 400, 'validation_error'],
  ];
  for (const [name, about, status, slug] of cases) {
    const answer = await service.post('/kb/ingest/url', { url: `${base}/`, ...about }, owner.token);
    t.equal(answer.status, status, name);
    if (slug !== undefined) t.equal(answer.body.error, slug, name);
  }
  await service.settled();
});

t.test(
  '[4.3] only admins ingest, delete and write; every agent reads and asks; other workspaces see nothing',
  async (t) => {
    const { site, service, owner, base } = await start(t);
    site.page('/', '<p>The shop is open on Sundays from ten to four.');
    const { id: jobId } = await ingest(service, owner.token, { url: `${base}/` });
    const [document] = await documents(service, owner.token);
    for (const role of ['agent', 'supervisor']) {
      const { token } = await service.agent(owner, { role });
      t.equal((await service.post('/kb/ingest/url', { url: `${base}/` }, token)).body.error, 'admin_required', role);
      t.equal((await service.delete(`/kb/documents/${document.id}`, token)).body.error, 'admin_required', role);
      t.equal((await service.post(`/kb/documents/${document.id}/adopt`, {}, token)).body.error, 'admin_required', role);
      t.equal((await search(service, token, 'open on Sunday?')).chunks.length, 1, role);
      t.equal((await service.get(`/kb/jobs/${jobId}`, token)).status, 200, role);
    }
    const other = await service.workspace();
    t.equal((await service.get(`/kb/jobs/${jobId}`, other.token)).body.error, 'not_found');
    t.equal((await service.delete(`/kb/documents/${document.id}`, other.token)).body.error, 'not_found');
    t.same(await documents(service, other.token), []);
    t.same((await search(service, other.token, 'open on Sunday?')).chunks, []);
    t.equal((await service.get('/kb/jobs')).status, 401);
    t.equal((await service.get('/kb/jobs/nonsense', owner.token)).status, 404);
  },
);

t.test('[7 status] a plan without the knowledge base: 402 feature_locked', async (t) => {
  const { service, owner } = await start(t);
  const downgrade = command('test.downgrade', (ctx, _: object) =>
    putWorkspace(ctx, { ...theWorkspace(ctx), plan: 'chat' }),
  );
  await service.running.services.engine.execute(downgrade, {
    workspaceId: owner.workspaceId,
    caller: systemCaller,
    params: {},
  });
  const locked = { status: 402, body: { error: 'feature_locked' } };
  for (const path of ['/kb/jobs', '/kb/documents', '/kb/articles'])
    t.match(await service.get(path, owner.token), locked, path);
  t.match(await service.post('/kb/search', { query: 'x' }, owner.token), locked);
  t.match(await service.post('/kb/ingest/url', { url: 'http://shop.test/' }, owner.token), locked);
  t.match(await service.post('/kb/articles', { title: 'x', body: 'x' }, owner.token), locked);
});

t.test('[4.3] a query is 1 to 2000 characters, topK 1 to 50', async (t) => {
  const { service, owner } = await start(t);
  const cases: [object, number][] = [
    [{ query: 'a' }, 200],
    [{ query: 'a'.repeat(2000) }, 200],
    [{ query: 'a'.repeat(2001) }, 400],
    [{ query: '' }, 400],
    [{ query: ' ' }, 400],
    [{}, 400],
    [{ query: 'a', topK: 50 }, 200],
    [{ query: 'a', topK: 1 }, 200],
    [{ query: 'a', topK: 0 }, 400],
    [{ query: 'a', topK: 51 }, 400],
    [{ query: 'a', topK: '5' }, 400],
  ];
  for (const [body, status] of cases) {
    const answer = await service.post('/kb/search', body, owner.token);
    t.equal(answer.status, status, JSON.stringify(body).slice(0, 40));
    if (status === 400) t.equal(answer.body.error, 'validation_error');
    else
      t.same(answer.body, { chunks: [], threshold: 0.15, queryEmbedTimeMs: 0, searchTimeMs: 0 }, 'nothing exists yet');
  }
});

t.test('[4.3] EMBEDDING_MODEL=none: ingesting and asking answer embedding_unavailable', async (t) => {
  const { service, owner, base } = await start(t, { env: { EMBEDDING_MODEL: 'none' } });
  for (const [path, body] of [
    ['/kb/ingest/url', { url: `${base}/` }],
    ['/kb/search', { query: 'hello' }],
  ] as const) {
    const answer = await service.post(path, body, owner.token);
    t.same([answer.status, answer.body.error], [503, 'embedding_unavailable'], path);
  }
  t.equal((await service.get('/kb/documents', owner.token)).status, 200);
});
