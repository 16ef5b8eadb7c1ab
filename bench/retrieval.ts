// Retrieval: whether it finds the right page, its latency over 2,000 to 100,000 chunks, and how a crawl affects a chat.
// The reference for quality is BM25 over the same chunks in the same run. With MODEL_DIR, that model is measured beside
// the builtin one.

import { readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { silentLog } from '../engine/runtime/log.ts';
import { readConfig } from '../http/process/config.ts';
import { serve } from '../http/serve.ts';
import { insertKbChunk, putKbBase } from '../store/knowledge/chunks.ts';
import { insertKbDocument, insertKbEmbedding } from '../store/knowledge/documents.ts';
import { questions as helpCentreQuestions, htmlOf, pages, type Question } from '../test/support/help-centre.ts';
import { randomFrom } from '../test/support/seeded.ts';
import { createEmbedder, type Embedder } from '../workers/knowledge/embedder.ts';
import { findModel } from '../workers/knowledge/models.ts';
import { createRetriever } from '../workers/knowledge/retriever.ts';
import { Api } from './api.ts';
import { type BenchOptions, percentile, type Row, row, runAlone } from './frame.ts';
import { HttpConnection } from './http-connection.ts';
import { messageText } from './messages.ts';
import { makeDataDir, startService } from './process.ts';
import { makeTenant, startChats } from './scenario.ts';

const root = resolve(import.meta.dirname, '..');
const sizes = [2000, 20_000, 100_000];
const chunksPerDocument = 50;
const sendPauseMs = 5;
const crawledPages = 200;
const seed = 20_261_120;

interface Corpus {
  readonly name: string;
  readonly pages: ReadonlyMap<string, string>;
  readonly questions: readonly Question[];
}

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  return [...(await quality()), ...(await speed(quick)), ...(await crawlBesideChat(quick))];
}

async function quality(): Promise<Row[]> {
  const folder = process.env['MODEL_DIR'];
  const model = folder === undefined ? undefined : findModel(undefined, [folder]);
  const rows: Row[] = [];
  for (const corpus of [{ name: 'help centre', pages, questions: helpCentreQuestions }, projectDocs()]) {
    for (const use of ['builtin', ...(model === undefined ? [] : [model])] as const) {
      const embedder = createEmbedder({ use });
      try {
        const [found, words] = await ranksOf(corpus, embedder);
        const name = `${corpus.name}, ${typeof use === 'string' ? use : use.id}`;
        for (const [figure, of] of [
          ['recall@1', recall(1)],
          ['recall@5', recall(5)],
          ['MRR', mrr],
        ] as const) {
          rows.push(
            row({
              name: `${name}: ${figure}`,
              value: 100 * of(found),
              unit: '%',
              reference: { name: 'BM25', value: 100 * of(words) },
            }),
          );
        }
      } finally {
        await embedder.stop();
      }
    }
  }
  return rows;
}

/** The project's own documents: the folders' READMEs and the guides. */
function projectDocs(): Corpus {
  const paths = [
    ...['engine', 'engine/runtime', 'http', 'store', 'workers', 'workers/providers', 'bench', 'test'].map(
      (folder) => `${folder}/README.md`,
    ),
    'docs/guide/first-conversation.md',
    'docs/operations/configuration.md',
  ];
  const lines = readFileSync(join(root, 'test/fixtures/project-questions.tsv'), 'utf8').trim().split('\n');
  return {
    name: 'project docs',
    pages: new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')])),
    questions: lines.map((line) => ({ text: line.split('\t')[0] ?? '', path: line.split('\t')[1] ?? '' })),
  };
}

/**
 * For each question, the rank from 0 of the first chunk of its page: by the embedding, and by BM25 over the same
 * chunks.
 */
async function ranksOf(corpus: Corpus, embedder: Embedder): Promise<[number[], number[]]> {
  const { model } = embedder;
  if (model === undefined) throw new Error('embedding is off');
  const chunks: { path: string; text: string; vector: Int8Array }[] = [];
  for (const [path, text] of corpus.pages) {
    const title = /^# (.+)$/m.exec(text)?.[1] ?? path;
    for (const chunk of await embedder.digest({ model, title, text }))
      chunks.push({
        path,
        text: `${title}\n${chunk.text}`,
        vector: new Int8Array(chunk.vector.buffer, chunk.vector.byteOffset, chunk.vector.byteLength),
      });
  }
  const bm25 = bm25Over(chunks.map(({ text }) => text));
  const ranks = (scores: readonly number[], path: string): number =>
    scores
      .map((score, index) => ({ score, path: chunks[index]?.path }))
      .toSorted((a, b) => b.score - a.score)
      .findIndex((one) => one.path === path);
  const [found, words]: [number[], number[]] = [[], []];
  for (const { text, path } of corpus.questions) {
    const question = await embedder.embedQuestion({ model, text });
    const vector = new Int8Array(question.buffer, question.byteOffset, question.byteLength);
    found.push(
      ranks(
        chunks.map((chunk) => cosine(vector, chunk.vector)),
        path,
      ),
    );
    words.push(ranks(bm25(text), path));
  }
  return [found, words];
}

const recall =
  (within: number) =>
  (ranks: readonly number[]): number =>
    ranks.filter((rank) => rank >= 0 && rank < within).length / ranks.length;
const mrr = (ranks: readonly number[]): number =>
  ranks.reduce((sum, rank) => sum + (rank < 0 ? 0 : 1 / (rank + 1)), 0) / ranks.length;

function cosine(a: Int8Array, b: Int8Array): number {
  let [dot, aa, bb] = [0, 0, 0];
  for (let index = 0; index < a.length; index += 1) {
    const [x, y] = [a[index] ?? 0, b[index] ?? 0];
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return dot / Math.sqrt(aa * bb);
}

/** Okapi BM25 with the usual constants, plain words, no stemming. */
function bm25Over(texts: readonly string[]): (question: string) => number[] {
  const [k, b] = [1.2, 0.75];
  const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const documents = texts.map((text) => {
    const counts = new Map<string, number>();
    const words = wordsOf(text);
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    return { counts, length: words.length };
  });
  const meanLength = documents.reduce((sum, { length }) => sum + length, 0) / documents.length;
  return (question) => {
    const words = new Set(wordsOf(question));
    const weights = new Map(
      [...words].map((word) => {
        const having = documents.filter(({ counts }) => counts.has(word)).length;
        return [word, Math.log(1 + (documents.length - having + 0.5) / (having + 0.5))];
      }),
    );
    return documents.map(({ counts, length }) => {
      let score = 0;
      for (const [word, weight] of weights) {
        const count = counts.get(word) ?? 0;
        score += (weight * count * (k + 1)) / (count + k * (1 - b + (b * length) / meanLength));
      }
      return score;
    });
  };
}

/** As the service searches: in its thread, over a workspace's file, with vectors that are noisy copies of real ones. */
async function speed(quick: boolean): Promise<Row[]> {
  const queries = quick ? 50 : 300;
  const rows: Row[] = [];
  const embedder = createEmbedder({ use: 'builtin' });
  const { model = '' } = embedder;
  const real: Uint8Array[] = [];
  for (const text of pages.values())
    for (const { vector } of await embedder.digest({ model, title: '', text })) real.push(vector);
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
          ingestedAt: at,
        });
        for (let chunkIndex = 0; chunkIndex < chunksPerDocument; chunkIndex += 1) {
          const vector = Uint8Array.from(
            new Int8Array(random.pick(real)),
            (value) => Math.max(-127, Math.min(127, value + random.below(61) - 30)) & 0xff,
          );
          insertKbChunk(db, { id: ids.uuid(), documentId, model, chunkIndex, text: messageText, vector });
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
          topK: 5,
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
