// Downloaded models: pulled from a hub by hand, used from then on, and a change of model without an interruption of
// retrieval.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import t from 'tap';
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
  t.match(model, { id: /^test\/tiny@\d+$/, path: join(models, name), dtype: 'fp32' });
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
    t.same(await models(first), ['builtin-1']);
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
    t.same(await models(third), ['builtin-1'], 'and back');
    t.match(await ask(third), { documentId: before.documentId });
  },
);

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
