// A thread that cuts texts into chunks and turns them into vectors, with the builtin embedding or with a model from a
// folder. The only importer of transformers.js, which it loads with its first question and never lets reach for the
// network.

import { basename, dirname } from 'node:path';
import { workerData } from 'node:worker_threads';
import { answerQuestions, giveWay } from '../thread.ts';
import { countTokens, embedPassage, embedQuestion, toBytes } from './builtin-embedding.ts';
import { chunkText } from './chunker.ts';
import type { ModelFolder } from './models.ts';

export interface EmbedderThreadData {
  /** Undefined: the builtin one. */
  readonly folder: ModelFolder | undefined;
  /** Nobody waits for what this thread does. */
  readonly isBackground: boolean;
}

export interface Passage {
  readonly title: string;
  readonly text: string;
}

/** What a model can do, whichever it is. */
interface Model {
  readonly maxTokens: number;
  countTokens(text: string): number;
  embedPassages(passages: readonly Passage[]): Promise<Int8Array[]>;
  embedQuestion(text: string): Promise<Int8Array>;
}

/** A chunk answers one question; with more than this it answers several, and none well. */
const longestChunkTokens = 220;
const shortestChunkTokens = 64;
const overlapTokens = 32;
/** Left of a model's input for the title and its own marks. */
const reservedTokens = 36;
/** For models that do not say how long their input may be. */
const usualMaxTokens = 512;

const builtin: Model = {
  maxTokens: usualMaxTokens,
  countTokens,
  embedPassages: async (passages) => passages.map(embedPassage),
  embedQuestion: async (text) => embedQuestion(text),
};

// Started by embedder.ts alone, with this.
const { folder, isBackground } = workerData as EmbedderThreadData;
let loading: Promise<Model> | undefined;
const model = (): Promise<Model> => (loading ??= folder === undefined ? Promise.resolve(builtin) : load(folder));

export const questions = {
  async chunk({ text }: Passage): Promise<string[]> {
    const { maxTokens, countTokens } = await model();
    const most = Math.max(shortestChunkTokens / 2, Math.min(longestChunkTokens, maxTokens - reservedTokens));
    return chunkText(text, {
      maxTokens: most,
      minTokens: Math.min(shortestChunkTokens, most),
      overlapTokens: Math.min(overlapTokens, Math.floor(most / 4)),
      countTokens,
    });
  },
  async embed(passages: readonly Passage[]): Promise<Uint8Array[]> {
    return (await (await model()).embedPassages(passages)).map(bytesOf);
  },
  async embedQuestion(text: string): Promise<Uint8Array> {
    return bytesOf(await (await model()).embedQuestion(text));
  },
};

async function load({ path, dtype }: ModelFolder): Promise<Model> {
  const { env, pipeline } = await import('@huggingface/transformers');
  env.allowRemoteModels = false;
  env.useFSCache = false;
  env.localModelPath = dirname(path);
  // One core per thread: how many threads there are decides how many cores are used.
  const extract = await pipeline('feature-extraction', basename(path), {
    dtype,
    local_files_only: true,
    session_options: { intraOpNumThreads: 1, interOpNumThreads: 1 },
  });
  const { tokenizer } = extract;
  const declared = Number(tokenizer.model_max_length);
  const embed = async (texts: string[]): Promise<Int8Array[]> => {
    const tensor = await extract(texts, { pooling: 'mean', normalize: true });
    const dimensions = tensor.dims.at(-1) ?? 0;
    // The pipeline's pooled output is of floats.
    const data = tensor.data as Float32Array;
    return texts.map((_, index) => padded(toBytes(data.subarray(index * dimensions, (index + 1) * dimensions))));
  };
  return {
    maxTokens: Number.isInteger(declared) && declared > 0 && declared < usualMaxTokens ? declared : usualMaxTokens,
    countTokens: (text) => tokenizer.encode(text, { add_special_tokens: false }).length,
    embedPassages: (passages) => embed(passages.map(({ title, text }) => `${title}\n${text}`)),
    async embedQuestion(text) {
      const [vector] = await embed([text]);
      if (vector === undefined) throw new Error('the model gave no vector');
      return vector;
    },
  };
}

/** To a multiple of eight, which the index wants. */
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
answerQuestions(questions);
