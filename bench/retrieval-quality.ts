// Whether searches find the right page, as the service searches: the question sets of the tests in eight languages, the
// help centre, and the project's own documents. The reference is BM25 over stems of the same chunks in the same run. With
// MODEL_DIR, that model is measured beside the built-in embedding. Also how well a score tells that nothing answers.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Database } from '../store/database.ts';
import { insertKbChunk, putKbBase } from '../store/knowledge/chunks.ts';
import { insertKbDocument } from '../store/knowledge/documents.ts';
import { openKbIndex, refreshKbIndex } from '../store/knowledge/index.ts';
import { workspaceMigrations } from '../store/migrations/workspace.ts';
import { defaultAnswerThreshold } from '../store/workspace/workspaces.ts';
import { questions as helpCentreQuestions, pages, type Question } from '../test/support/help-centre.ts';
import { createEmbedder, type EmbeddedChunk, type Embedder } from '../workers/knowledge/embedder.ts';
import { findModel } from '../workers/knowledge/models.ts';
import { rankedChunks } from '../workers/knowledge/ranking.ts';
import { type Row, row, runAlone } from './frame.ts';

const root = resolve(import.meta.dirname, '..');
const mostResults = 50;
const hitsAt = 5;

interface Corpus {
  readonly name: string;
  /** Markdown by path. */
  readonly pages: ReadonlyMap<string, string>;
  readonly questions: readonly Question[];
  /** Questions that nothing answers. */
  readonly unanswered: readonly string[];
}

interface IndexedChunk extends EmbeddedChunk {
  readonly path: string;
}

export async function run(): Promise<Row[]> {
  const folder = process.env['MODEL_DIR'];
  const model = folder === undefined ? undefined : findModel(undefined, [folder]);
  const rows: Row[] = [];
  for (const use of ['builtin', ...(model === undefined ? [] : [model])] as const) {
    const embedder = createEmbedder({ use });
    try {
      for (const corpus of [...shops(), helpCentre(), projectDocs()]) rows.push(...(await measured(corpus, embedder)));
    } finally {
      await embedder.stop();
    }
  }
  return rows;
}

async function measured(corpus: Corpus, embedder: Embedder): Promise<Row[]> {
  const { model = '' } = embedder;
  const base = await indexed(corpus, embedder);
  try {
    const bm25 = bm25Over(base.chunks.map(({ terms }) => `${terms.title} ${terms.headings} ${terms.body}`.split(' ')));
    const [found, words, kept]: [number[], number[], boolean[]] = [[], [], []];
    const ask = async (text: string) =>
      rankedChunks(base.db, base.facts, {
        text,
        vector: await embedder.embedQuestion({ model, text }),
        topK: mostResults,
      });
    for (const { text, path } of corpus.questions) {
      const results = await ask(text);
      found.push(results.findIndex(({ documentId }) => documentId === path));
      if (found.at(-1) === 0) kept.push((results[0]?.score ?? 0) >= defaultAnswerThreshold);
      const scores = bm25(
        (await embedder.digest({ model, title: text, text, language: base.language })).chunks[0]?.terms.title.split(
          ' ',
        ) ?? [],
      );
      words.push(rankOf(scores, base.chunks, path));
    }
    const answered = await Promise.all(corpus.unanswered.map(async (text) => (await ask(text))[0]?.score ?? 0));
    const name = `${corpus.name}, ${model}`;
    const reference = (value: number) => ({ reference: { name: 'BM25 stemmed', value: 100 * value } });
    return [
      row({
        name: `${name}: hit@${hitsAt}`,
        value: 100 * hits(found, hitsAt),
        unit: '%',
        ...reference(hits(words, hitsAt)),
        target: { atLeast: 1 },
      }),
      row({ name: `${name}: hit@1`, value: 100 * hits(found, 1), unit: '%', ...reference(hits(words, 1)) }),
      row({ name: `${name}: MRR`, value: 100 * mrr(found), unit: '%', ...reference(mrr(words)) }),
      ...(answered.length === 0
        ? []
        : [
            row({
              name: `${name}: right answers above the threshold`,
              value: 100 * shareOf(kept),
              unit: '%',
              reference: {
                name: 'questions without an answer',
                value: 100 * shareOf(answered.map((score) => score >= defaultAnswerThreshold)),
              },
            }),
          ]),
    ];
  } finally {
    base.close();
  }
}

async function indexed(corpus: Corpus, embedder: Embedder) {
  const { model = '' } = embedder;
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-retrieval-'));
  const db = Database.openWriter(join(folder, 'workspace.db'), workspaceMigrations);
  const chunks: IndexedChunk[] = [];
  let language: string | null = null;
  db.begin();
  putKbBase(db, { model, revision: 1 });
  for (const [path, text] of corpus.pages) {
    const title = /^# (.+)$/m.exec(text)?.[1] ?? path;
    const digest = await embedder.digest({ model, title, text, language: null });
    language ??= digest.language;
    insertKbDocument(db, {
      id: path,
      state: 'served',
      sourceType: 'url',
      sourceUrl: null,
      rootUrl: null,
      jobId: null,
      articleId: null,
      title,
      text,
      byteSize: text.length,
      language: digest.language,
      fileName: null,
      ingestedAt: new Date(0).toISOString(),
    });
    for (const [chunkIndex, chunk] of digest.chunks.entries()) {
      insertKbChunk(db, { ...chunk, id: `${path} ${chunkIndex}`, documentId: path, model, chunkIndex });
      chunks.push({ ...chunk, path });
    }
  }
  db.commit();
  openKbIndex(db, chunks[0]?.vector.length ?? 8);
  const facts = refreshKbIndex(db, model);
  const close = (): void => {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { db, facts, chunks, language, close };
}

/** The texts and questions of a shop, one set per language. Those without questions are for reading pages only. */
function shops(): Corpus[] {
  const folder = join(root, 'test/fixtures/shops');
  return readdirSync(folder)
    .sort()
    .map((file) => shopOf(file.replace('.md', ''), readFileSync(join(folder, file), 'utf8')))
    .filter(({ questions }) => questions.length > 0);
}

function shopOf(language: string, text: string): Corpus {
  const pages = new Map<string, string>();
  const questions: Question[] = [];
  const unanswered: string[] = [];
  for (const part of text.split(/^# /m).filter((one) => one.trim() !== '')) {
    const [title = '', ...lines] = part.trim().split('\n');
    pages.set(title, [`# ${title}`, ...lines.filter((line) => !/^[?!]/.test(line))].join('\n\n'));
    for (const line of lines) {
      if (line.startsWith('? ')) questions.push({ text: line.slice(2), path: title });
      if (line.startsWith('!')) unanswered.push(line.slice(1));
    }
  }
  return { name: `shop ${language}`, pages, questions, unanswered };
}

const helpCentre = (): Corpus => ({ name: 'help centre', pages, questions: helpCentreQuestions, unanswered: [] });

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
    unanswered: [],
  };
}

/** From 0; -1 if no chunk of the page has a word of the question. */
function rankOf(scores: readonly number[], chunks: readonly IndexedChunk[], path: string): number {
  return scores
    .map((score, index) => ({ score, path: chunks[index]?.path }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .findIndex((one) => one.path === path);
}

const hits = (ranks: readonly number[], within: number): number =>
  ranks.filter((rank) => rank >= 0 && rank < within).length / ranks.length;
const mrr = (ranks: readonly number[]): number =>
  ranks.reduce((sum, rank) => sum + (rank < 0 ? 0 : 1 / (rank + 1)), 0) / ranks.length;
const shareOf = (flags: readonly boolean[]): number => flags.filter((flag) => flag).length / Math.max(1, flags.length);

/** Okapi BM25 with the usual constants. */
function bm25Over(texts: readonly (readonly string[])[]): (terms: readonly string[]) => number[] {
  const [k, b] = [1.5, 0.75];
  const documents = texts.map((terms) => {
    const counts = new Map<string, number>();
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
    return { counts, length: terms.length };
  });
  const meanLength = documents.reduce((sum, { length }) => sum + length, 0) / documents.length;
  return (terms) => {
    const weights = new Map(
      [...new Set(terms)].map((term) => {
        const having = documents.filter(({ counts }) => counts.has(term)).length;
        return [term, Math.log(1 + (documents.length - having + 0.5) / (having + 0.5))];
      }),
    );
    return documents.map(({ counts, length }) => {
      let score = 0;
      for (const [term, weight] of weights) {
        const count = counts.get(term) ?? 0;
        score += (weight * count * (k + 1)) / (count + k * (1 - b + (b * length) / meanLength));
      }
      return score;
    });
  };
}

await runAlone(import.meta.url, run);
