// Retrieval: whether it finds the right page (retrieval-quality.ts), its latency over 2,000 to 100,000 chunks, and how a
// crawl affects a chat.

import { rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { silentLog } from '../engine/runtime/log.ts';
import { readConfig } from '../http/process/config.ts';
import { serve } from '../http/serve.ts';
import { insertKbChunk, putKbBase } from '../store/knowledge/chunks.ts';
import { insertKbDocument, insertKbEmbedding } from '../store/knowledge/documents.ts';
import { questions as helpCentreQuestions, htmlOf, pages } from '../test/support/help-centre.ts';
import { randomFrom } from '../test/support/seeded.ts';
import { createEmbedder, type EmbeddedChunk } from '../workers/knowledge/embedder.ts';
import { createRetriever } from '../workers/knowledge/retriever.ts';
import { Api } from './api.ts';
import { type BenchOptions, percentile, type Row, row, runAlone } from './frame.ts';
import { HttpConnection } from './http-connection.ts';
import { messageText } from './messages.ts';
import { makeDataDir, startService } from './process.ts';
import { run as quality } from './retrieval-quality.ts';
import { makeTenant, startChats } from './scenario.ts';

const sizes = [2000, 20_000, 100_000];
const chunksPerDocument = 50;
const sendPauseMs = 5;
const crawledPages = 200;
const seed = 20_261_120;

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  return [...(await quality()), ...(await speed(quick)), ...(await crawlBesideChat(quick))];
}

/** As the service searches: in its thread, over a workspace's file, with vectors that are noisy copies of real ones. */
async function speed(quick: boolean): Promise<Row[]> {
  const queries = quick ? 50 : 300;
  const rows: Row[] = [];
  const embedder = createEmbedder({ use: 'builtin' });
  const { model = '' } = embedder;
  const real: EmbeddedChunk[] = [];
  for (const text of pages.values())
    for (const chunk of (await embedder.digest({ model, title: '', text, language: 'en' })).chunks) real.push(chunk);
  for (const size of quick ? sizes.slice(0, 2) : sizes) {
    const dataDir = makeDataDir();
    const running = await serve({
      config: readConfig({ DATA_DIR: dataDir, PORT: '0', HOST: '127.0.0.1' }),
      log: silentLog,
    });
    const retriever = createRetriever();
    try {
      const { engine, ids } = running.services;
      const workspaceId = ids.uuid();
      const { db } = await engine.create(workspaceId);
      const random = randomFrom(seed);
      db.begin();
      putKbBase(db, { model, revision: 1 });
      for (let first = 0; first < size; first += chunksPerDocument) {
        const documentId = ids.uuid();
        const at = new Date().toISOString();
        insertKbDocument(db, {
          id: documentId,
          state: 'served',
          sourceType: 'url',
          sourceUrl: `https://bench.example/${first}`,
          rootUrl: 'https://bench.example/',
          jobId: null,
          articleId: null,
          title: 'Bench',
          text: '',
          byteSize: 0,
          language: 'en',
          fileName: null,
          ingestedAt: at,
        });
        for (let chunkIndex = 0; chunkIndex < chunksPerDocument; chunkIndex += 1) {
          const chunk = random.pick(real);
          const vector = Uint8Array.from(
            new Int8Array(chunk.vector),
            (value) => Math.max(-127, Math.min(127, value + random.below(61) - 30)) & 0xff,
          );
          insertKbChunk(db, { ...chunk, id: ids.uuid(), documentId, model, chunkIndex, vector });
        }
        insertKbEmbedding(db, { documentId, model, chunkCount: chunksPerDocument });
      }
      db.commit();
      const vectors = await Promise.all(helpCentreQuestions.map(({ text }) => embedder.embedQuestion({ model, text })));
      const ask = async (index: number): Promise<number> => {
        const startedMs = performance.now();
        await retriever.search({
          path: db.path,
          model,
          vector: vectors[index % vectors.length] ?? new Uint8Array(0),
          text: helpCentreQuestions[index % vectors.length]?.text ?? '',
          topK: 5,
          neighbours: 0,
          plainTextToo: false,
        });
        return performance.now() - startedMs;
      };
      rows.push(
        row({
          name: `${size.toLocaleString('en-US')} chunks: first search, which makes the index`,
          value: await ask(0),
          unit: 'ms',
        }),
      );
      const took: number[] = [];
      for (let index = 0; index < queries; index += 1) took.push(await ask(index));
      for (const share of [0.5, 0.99])
        rows.push(
          row({
            name: `${size.toLocaleString('en-US')} chunks: search p${share * 100}`,
            value: percentile(took, share),
            unit: 'ms',
          }),
        );
    } finally {
      await retriever.stop();
      await running.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  }
  await embedder.stop();
  return rows;
}

/** Sends at a steady rate, first without other work, then while a site of 200 pages is crawled and embedded. */
async function crawlBesideChat(quick: boolean): Promise<Row[]> {
  const site = await startSite();
  const service = await startService(undefined, { ALLOW_PRIVATE_CRAWL: '1' });
  try {
    const api = new Api(service);
    const { owner, embedId } = await makeTenant(api);
    const [chatId = ''] = await startChats(api, embedId, 1);
    const connection = await HttpConnection.open(service.url);
    const request = {
      path: `/api/v1/conversations/${chatId}/messages`,
      token: owner.token,
      body: JSON.stringify({ body: messageText }),
    };
    const send = async (isOver: () => boolean): Promise<number[]> => {
      const took: number[] = [];
      while (!isOver()) {
        const startedMs = performance.now();
        await connection.post(request);
        took.push(performance.now() - startedMs);
        await new Promise((resolve) => setTimeout(resolve, sendPauseMs));
      }
      return took;
    };
    const forSeconds = (seconds: number): (() => boolean) => {
      const endMs = performance.now() + seconds * 1000;
      return () => performance.now() > endMs;
    };
    await send(forSeconds(2));
    const idle = await send(forSeconds(quick ? 4 : 15));
    const startedMs = performance.now();
    const { jobId } = await api.call<{ jobId: string }>('POST', '/kb/ingest/url', {
      token: owner.token,
      body: {
        url: `http://127.0.0.1:${(site.address() as AddressInfo).port}/0`,
        maxDepth: 3,
        maxPages: quick ? 40 : crawledPages,
      },
    });
    let isDone = false;
    const watch = (async () => {
      for (;;) {
        const job = await api.call<{ status: string; stats: { documents: number; chunks: number } | null }>(
          'GET',
          `/kb/jobs/${jobId}`,
          { token: owner.token },
        );
        if (job.status === 'done' || job.status === 'failed') {
          isDone = true;
          return job;
        }
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    })();
    const busy = await send(() => isDone);
    const job = await watch;
    if (job.status !== 'done') throw new Error('the crawl failed');
    const seconds = (performance.now() - startedMs) / 1000;
    connection.close();
    return [
      row({
        name: 'send p50 while a site is crawled',
        value: percentile(busy, 0.5),
        unit: 'ms',
        reference: { name: 'without', value: percentile(idle, 0.5) },
      }),
      row({
        name: 'send p99 while a site is crawled',
        value: percentile(busy, 0.99),
        unit: 'ms',
        reference: { name: 'without', value: percentile(idle, 0.99) },
        target: { below: 1.5 },
      }),
      row({ name: 'pages crawled, read, embedded', value: (job.stats?.documents ?? 0) / seconds, unit: '/s' }),
    ];
  } finally {
    await service.stop();
    site.close();
    site.closeAllConnections();
  }
}

/** Each page is three times one of the help centre's, and links to the next ten. */
async function startSite(): Promise<Server> {
  const paths = [...pages.keys()];
  const site = createServer((request, response) => {
    const number = Number(request.url?.slice(1));
    if (!Number.isInteger(number) || number < 0 || number >= crawledPages) {
      response.writeHead(404).end();
      return;
    }
    const text = [0, 1, 2].map((step) => pages.get(paths[(number + step) % paths.length] ?? '') ?? '').join('\n');
    const links = Array.from({ length: 10 }, (_, step) => `<a href="/${number * 10 + step + 1}">${step}</a>`).join('');
    response
      .writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' })
      .end(htmlOf(`/${number}`, `# Page ${number}\n${text}`).replace('</main>', `</main>${links}`));
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  return site;
}

await runAlone(import.meta.url, run);
