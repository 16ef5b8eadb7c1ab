// Downloaded models: pulled from a hub by hand, used from then on, and a change of model without an interruption of
// retrieval.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import t from 'tap';
import { Database } from '../../store/database.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { PullFailed, pullModel } from '../../workers/knowledge/model-pull.ts';
import { pages } from '../support/help-centre.ts';
import { startService, type Teardown } from '../support/service.ts';
import { Site } from '../support/site.ts';
import { writeTinyModel } from '../support/tiny-model.ts';

const name = 'test/tiny';
const files = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'onnx/model.onnx'];
const words =
  [...pages.values()]
    .join(' ')
    .toLowerCase()
    .match(/[a-z]+/g) ?? [];

function folderFor(t: Teardown): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-model-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function folderWith(t: Teardown): string {
  const folder = folderFor(t);
  writeTinyModel(folder, words);
  return folder;
}

/** A hub with the tiny model, without the missing files. */
async function startHub(t: Teardown, missing: readonly string[] = []): Promise<{ hub: string; site: Site }> {
  const folder = folderFor(t);
  writeTinyModel(folder, words);
  const site = await Site.start(t);
  for (const file of files)
    if (!missing.includes(file)) {
      const content = readFileSync(join(folder, file));
      site.page(`/${name}/resolve/main/${file}`, content, {
        'Content-Type': 'application/octet-stream',
        'Content-Length': String(content.length),
      });
    }
  return { hub: `http://127.0.0.1:${site.port}`, site };
}

t.test('[models] a model is pulled whole or not at all', async (t) => {
  const models = folderFor(t);
  const { hub } = await startHub(t);
  const shares = new Map<string, number[]>();
  const model = await pullModel({
    name,
    hub,
    models,
    onProgress: (share, file) => shares.set(file, [...(shares.get(file) ?? []), share]),
  });
  t.match(model, { id: /^test\/tiny@\d+\+2$/, path: join(models, name), dtype: 'fp32' });
  for (const file of files) {
    t.ok(existsSync(join(models, name, file)), file);
    t.equal(shares.get(basename(file))?.at(-1), 1, `progress of ${file}`);
  }

  for (const missing of ['tokenizer.json', 'onnx/model.onnx']) {
    const { hub: poor } = await startHub(t, [missing]);
    const empty = folderFor(t);
    await t.rejects(pullModel({ name, hub: poor, models: empty }), PullFailed, missing);
    t.notOk(existsSync(join(empty, name)) || existsSync(join(empty, `${name}.part`)), 'nothing is left');
  }
  const { hub: broken, site } = await startHub(t);
  site.on(`/${name}/resolve/main/onnx/model.onnx`, (_, response) => {
    response.writeHead(200, { 'Content-Length': '1000' });
    response.write('half');
    setImmediate(() => response.destroy());
  });
  await t.rejects(pullModel({ name, hub: broken, models }), PullFailed);
  t.ok(existsSync(join(models, name, 'onnx/model.onnx')), 'the one that was there stays');
  for (const odd of ['tiny', '../../etc', 'a/b/c', '/test/tiny', 'test/..'])
    await t.rejects(pullModel({ name: odd, hub, models }), PullFailed, odd);
});

t.test(
  '[4.3] a change of model embeds everything again in the background, while the former vectors are found',
  async (t) => {
    const dataDir = folderFor(t);
    const first = await startService(t, { dataDir });
    const owner = await first.workspace();
    for (const path of ['/returns/refunds', '/products/skis', '/delivery/customs']) {
      const body = pages.get(path) ?? '';
      await first.post(
        '/kb/articles',
        { title: /^# (.+)$/m.exec(body)?.[1] ?? path, body, status: 'published' },
        owner.token,
      );
    }
    await first.settled();
    const ask = async (service: typeof first) =>
      (await service.post('/kb/search', { query: 'wax skis', topK: 1 }, owner.token)).body.chunks[0];
    const models = async (service: typeof first) => [
      ...new Set(
        (await service.get('/kb/documents', owner.token)).body.documents.map(
          ({ embeddingModel }: any) => embeddingModel,
        ),
      ),
    ];
    const before = await ask(first);
    t.same(await models(first), ['builtin-2']);
    await first.stop();

    const { hub } = await startHub(t);
    const { id } = await pullModel({ name, hub, models: join(dataDir, 'models') });
    const second = await startService(t, { dataDir, clock: first.clock, env: { EMBEDDING_MODEL: name } });
    t.match(await ask(second), { documentId: before.documentId }, 'found at once');
    await second.settled();
    t.same(await models(second), [id]);
    t.match(await ask(second), { documentId: before.documentId }, 'found by the new model');
    await second.stop();

    const third = await startService(t, { dataDir, clock: first.clock });
    await third.settled();
    t.same(await models(third), ['builtin-2'], 'and back');
    t.match(await ask(third), { documentId: before.documentId });
  },
);

/** The tiny model under the name of one that is offered, on a hub of its own. */
async function startOffered(t: Teardown) {
  const offered = 'Xenova/multilingual-e5-small';
  const folder = folderFor(t);
  writeTinyModel(folder, words);
  const site = await Site.start(t);
  const put = (file: string, content = readFileSync(join(folder, file))): void =>
    void site.page(`/${offered}/resolve/main/${file}`, content, {
      'Content-Type': 'application/octet-stream',
      'Content-Length': String(content.length),
    });
  for (const file of files) put(file);
  const service = await startService(t, { env: { HF_ENDPOINT: `http://127.0.0.1:${site.port}` } });
  const owner = await service.workspace();
  for (const path of ['/returns/refunds', '/products/skis', '/delivery/customs'])
    await service.post('/kb/articles', { title: path, body: pages.get(path), status: 'published' }, owner.token);
  await service.settled();
  const list = async () => (await service.get('/kb/models', owner.token)).body;
  // Not by HTTP, whose rate is limited.
  const of = async () => service.running.services.models.list().find(({ name }) => name === offered);
  const choose = (name: string, token = owner.token) => service.post('/kb/models/choose', { name }, token);
  const until = async (isIt: (model: any) => boolean): Promise<void> => {
    while (!isIt((await of()) ?? {})) await new Promise((resolve) => setImmediate(resolve));
    await service.settled();
  };
  const ask = async () =>
    (await service.post('/kb/search', { query: 'wax skis', topK: 1 }, owner.token)).body.chunks[0];
  return { offered, site, put, service, owner, list, of, choose, until, ask };
}

t.test('[4.3] an admin chooses a model: it is downloaded in sight, embeds everything, and searches', async (t) => {
  const { offered, site, service, owner, list, of, choose, until, ask } = await startOffered(t);
  t.match(await list(), {
    searched: 'builtin',
    chosen: 'builtin',
    problem: null,
    documents: 3,
    embedded: 3,
    models: [
      { name: 'builtin', state: 'available' },
      { name: offered, state: 'downloadable', languages: 'multilingual' },
    ],
  });
  let letGo: () => void = () => undefined;
  const weights = `/${offered}/resolve/main/onnx/model.onnx`;
  const content = readFileSync(join(folderWith(t), 'onnx/model.onnx'));
  site.on(weights, (_, response) => {
    response.writeHead(200, { 'Content-Length': String(content.length) });
    response.write(content.subarray(0, content.length / 2));
    letGo = () => response.end(content.subarray(content.length / 2));
  });
  t.match(await choose(offered, (await service.agent(owner)).token), { status: 403 });
  t.match(await choose('nobody/nothing'), { status: 400, body: { error: 'validation_error' } });
  t.equal((await choose(offered)).status, 202);
  while (((await of())?.progress ?? 0) < 0.4) await new Promise((resolve) => setImmediate(resolve));
  t.match(await choose('Xenova/all-MiniLM-L6-v2'), { status: 409, body: { error: 'conflict' } });
  t.match(await ask(), { title: '/products/skis' }, 'found meanwhile');
  letGo();
  await until(({ state }) => state === 'available');
  t.match(await list(), { searched: offered, chosen: offered, documents: 3, embedded: 3, problem: null });
  t.match(await ask(), { title: '/products/skis' });
  t.equal((await choose('builtin')).status, 202);
  await service.settled();
  t.match(await list(), { searched: 'builtin', chosen: 'builtin' }, 'and back');
});

t.test('[4.3] offline, or with a model that does not work, the former one stays and a person reads why', async (t) => {
  const { offered, site, put, service, owner, list, of, choose, until, ask } = await startOffered(t);
  site.on(`/${offered}/resolve/main/config.json`, (_, response) => response.destroy());
  await choose(offered);
  await until(({ state }) => state === 'failed');
  t.match(await of(), { error: /^Could not download the model\./ });
  put('config.json');
  put('onnx/model.onnx', Buffer.from('no model at all'));
  await choose(offered);
  await until(({ state, error }) => state === 'failed' && /does not work/.test(error));
  t.match(await list(), { searched: 'builtin', chosen: 'builtin' });
  put('onnx/model.onnx', readFileSync(join(folderWith(t), 'onnx/model.onnx')));
  const { embedder, models } = service.running.services;
  const digest = embedder.digest.bind(embedder);
  embedder.digest = (document) =>
    document.model === models.idOf(offered) ? Promise.reject(new Error('out of memory')) : digest(document);
  await choose(offered);
  await until(({ state }) => state === 'available');
  t.match(await list(), {
    searched: 'builtin',
    chosen: 'builtin',
    problem: `${offered} could not embed the documents, so the former model stays in use.`,
  });
  t.match(await ask(), { title: '/products/skis' });
  await service.post('/kb/articles', { title: 'Later', body: 'Written later.', status: 'published' }, owner.token);
  await service.settled();
  t.match((await list()).embedded, 4, 'and new texts are embedded by it');
});

t.test('[4.3] an index of an earlier version is made again in the background, with its terms', async (t) => {
  const dataDir = folderFor(t);
  const first = await startService(t, { dataDir });
  const owner = await first.workspace();
  const article = {
    title: 'Skis',
    body: 'Wax the base while it is warm, let it cool for half an hour, and scrape it along the edge until nothing comes off any more.\n\n## Storage\n\nKeep them dry and away from the sun.',
    status: 'published',
  };
  await first.post('/kb/articles', article, owner.token);
  await first.settled();
  const path = first.running.services.engine.workspace(owner.workspaceId)?.db.path ?? '';
  await first.stop();
  const db = Database.openWriter(path, workspaceMigrations);
  for (const table of ['kbBase', 'kbEmbedding', 'kbChunk']) db.run(`UPDATE ${table} SET model = 'builtin-1'`);
  db.run('DELETE FROM kbTerms');
  db.run('UPDATE kbDocument SET language = NULL');
  db.close();
  const second = await startService(t, { dataDir, clock: first.clock });
  await second.settled();
  const { chunks } = (await second.post('/kb/search', { query: 'how do I store skis', topK: 1 }, owner.token)).body;
  t.match(chunks, [{ title: 'Skis', headings: ['Storage'], language: 'en' }]);
  t.ok(chunks[0].score > 0.15, `${chunks[0].score}`);
});

t.test('[4.3] a missing model stops the start, and the message says how to get it', async (t) => {
  await t.rejects(startService(t, { env: { EMBEDDING_MODEL: 'nobody/nothing' } }), {
    name: 'ConfigError',
    message: /EMBEDDING_MODEL.*model:pull -- nobody\/nothing/,
  });
  await t.rejects(startService(t, { env: { MODEL_DIR: '/nowhere' } }), { name: 'ConfigError', message: /MODEL_DIR/ });
});

t.test(
  '[4.3] the model of MODEL_DIR answers',
  process.env['MODEL_DIR'] === undefined ? { skip: 'MODEL_DIR is not set' } : {},
  async (t) => {
    const service = await startService(t, { env: { MODEL_DIR: process.env['MODEL_DIR'] ?? '' } });
    const owner = await service.workspace();
    for (const path of ['/returns/refunds', '/products/skis', '/delivery/customs'])
      await service.post('/kb/articles', { title: path, body: pages.get(path), status: 'published' }, owner.token);
    await service.settled();
    const { chunks } = (
      await service.post('/kb/search', { query: 'when do I get my money back', topK: 1 }, owner.token)
    ).body;
    t.equal(chunks[0].title, '/returns/refunds');
  },
);
