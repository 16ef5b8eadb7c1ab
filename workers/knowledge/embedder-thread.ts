// The thread that cuts texts into chunks and embeds them, with the builtin embedding or a model from a folder. The only
// importer of transformers.js, which it loads on first use and never lets access the network.

import { basename, dirname } from 'node:path';
import { workerData } from 'node:worker_threads';
import { answerCalls, giveWay } from '../thread.ts';
import { countTokens, embedPassage, embedQuestion, toBytes } from './builtin-embedding.ts';
import { type Chunk, chunkText } from './chunker.ts';
import { languageOf } from './language.ts';
import type { ModelFolder } from './models.ts';
import { termsOf } from './terms.ts';

export interface EmbedderThreadData {
  /** Undefined: the builtin one. */
  readonly folder: ModelFolder | undefined;
  /** No caller waits for this thread's work. */
  readonly isBackground: boolean;
}

/** A document to cut into chunks and embed. */
export interface DocumentText {
  readonly title: string;
  /** Markdown. */
  readonly text: string;
  /** ISO 639-1; null if it is not known yet. */
  readonly language: string | null;
  readonly isArticle?: boolean | undefined;
}

export interface Passage {
  readonly title: string;
  readonly headings: readonly string[];
  readonly text: string;
  readonly language: string | null;
}

/** The terms of a chunk, separated by spaces. */
export interface ChunkTerms {
  readonly title: string;
  readonly headings: string;
  readonly body: string;
}

export interface EmbeddedChunk extends Chunk {
  /** Signed bytes. */
  readonly vector: Uint8Array;
  readonly terms: ChunkTerms;
}

/** The common interface of the builtin embedding and models. */
interface Model {
  readonly maxTokens: number;
  countTokens(text: string): number;
  embedPassages(passages: readonly Passage[]): Promise<Int8Array[]>;
  embedQuestion(text: string): Promise<Int8Array>;
}

/** A chunk should answer one question; a longer one answers several, none well. */
const longestChunkTokens = 220;
const shortestChunkTokens = 24;
const overlapTokens = 32;
/** Part of a model's input reserved for the title, the headings and special tokens. */
const reservedTokens = 64;
/** For models that do not state their input length. */
const usualMaxTokens = 512;

const builtin: Model = {
  maxTokens: usualMaxTokens,
  countTokens,
  embedPassages: async (passages) => passages.map(embedPassage),
  embedQuestion: async (text) => embedQuestion(text),
};

// Only embedder.ts starts this thread, with this data.
const { folder, isBackground } = workerData as EmbedderThreadData;
let loading: Promise<Model> | undefined;
const model = (): Promise<Model> => (loading ??= folder === undefined ? Promise.resolve(builtin) : load(folder));

export const methods = {
  async chunk({
    title,
    text,
    language,
    isArticle,
  }: DocumentText): Promise<{ language: string | null; chunks: Chunk[] }> {
    const { maxTokens, countTokens } = await model();
    const most = Math.max(reservedTokens / 2, Math.min(longestChunkTokens, maxTokens - reservedTokens));
    const limits = {
      maxTokens: most,
      minTokens: Math.min(shortestChunkTokens, most),
      overlapTokens: Math.min(overlapTokens, Math.floor(most / 4)),
      countTokens,
    };
    return {
      language: language ?? languageOf(`${title}\n${text}`),
      chunks: chunkText({ title, text, isArticle }, limits),
    };
  },
  async embed(document: {
    title: string;
    language: string | null;
    chunks: readonly Chunk[];
  }): Promise<EmbeddedChunk[]> {
    const { title, language, chunks } = document;
    const vectors = await (await model()).embedPassages(chunks.map((chunk) => ({ title, language, ...chunk })));
    const terms = (text: string): string => termsOf(text, language).join(' ');
    const titleTerms = terms(title);
    return chunks.map((chunk, index) => ({
      ...chunk,
      vector: bytesOf(vectors[index] ?? new Int8Array(0)),
      terms: { title: titleTerms, headings: terms(chunk.headings.join('\n')), body: terms(bodyOf(chunk)) },
    }));
  },
  async embedQuestion(text: string): Promise<Uint8Array> {
    return bytesOf(await (await model()).embedQuestion(text));
  },
};

/** Models of this family are trained with a word before each text that says what it is. */
const prefixes = (path: string): { question: string; passage: string } =>
  /(?:^|[-_])e5(?:[-_]|$)/i.test(basename(path))
    ? { question: 'query: ', passage: 'passage: ' }
    : { question: '', passage: '' };

async function load({ path, dtype }: ModelFolder): Promise<Model> {
  const { env, pipeline } = await import('@huggingface/transformers');
  env.allowRemoteModels = false;
  env.useFSCache = false;
  env.localModelPath = dirname(path);
  // One core per thread: the number of threads decides how many cores are used.
  const extract = await pipeline('feature-extraction', basename(path), {
    dtype,
    local_files_only: true,
    session_options: { intraOpNumThreads: 1, interOpNumThreads: 1 },
  });
  const { tokenizer } = extract;
  const prefix = prefixes(path);
  const declared = Number(tokenizer.model_max_length);
  const embed = async (texts: string[]): Promise<Int8Array[]> => {
    const tensor = await extract(texts, { pooling: 'mean', normalize: true });
    const dimensions = tensor.dims.at(-1) ?? 0;
    // The pipeline's pooled output is floats.
    const data = tensor.data as Float32Array;
    return texts.map((_, index) => padded(toBytes(data.subarray(index * dimensions, (index + 1) * dimensions))));
  };
  return {
    maxTokens: Number.isInteger(declared) && declared > 0 && declared < usualMaxTokens ? declared : usualMaxTokens,
    countTokens: (text) => tokenizer.encode(text, { add_special_tokens: false }).length,
    embedPassages: (passages) =>
      embed(
        passages.map(
          ({ title, headings, text }) => `${prefix.passage}${[title, ...headings.slice(0, -1), text].join('\n')}`,
        ),
      ),
    async embedQuestion(text) {
      const [vector] = await embed([`${prefix.question}${text}`]);
      if (vector === undefined) throw new Error('the model gave no vector');
      return vector;
    },
  };
}

/** Its text without headings, which are in its path. */
function bodyOf({ text }: Chunk): string {
  return text.replace(/^#{1,6}\s.*$/gm, '');
}

/** To a multiple of eight, as the index requires. */
function padded(vector: Int8Array): Int8Array {
  if (vector.length % 8 === 0) return vector;
  const longer = new Int8Array(Math.ceil(vector.length / 8) * 8);
  longer.set(vector);
  return longer;
}

function bytesOf(vector: Int8Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

if (isBackground) giveWay();
answerCalls(methods);
