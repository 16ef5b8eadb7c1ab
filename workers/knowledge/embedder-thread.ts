// The thread that cuts texts into chunks and embeds them, with the builtin embedding or a model from a folder. The only
// importer of transformers.js, which it loads on first use and never lets access the network.

import { basename, dirname } from 'node:path';
import { workerData } from 'node:worker_threads';
import { answerCalls, giveWay } from '../thread.ts';
import { countTokens, embedPassage, embedQuestion, toBytes } from './builtin-embedding.ts';
import { chunkText } from './chunker.ts';
import type { ModelFolder } from './models.ts';

export interface EmbedderThreadData {
  /** Undefined: the builtin one. */
  readonly folder: ModelFolder | undefined;
  /** No caller waits for this thread's work. */
  readonly isBackground: boolean;
}

export interface Passage {
  readonly title: string;
  readonly text: string;
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
const shortestChunkTokens = 64;
const overlapTokens = 32;
/** Part of a model's input reserved for the title and special tokens. */
const reservedTokens = 36;
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
  // One core per thread: the number of threads decides how many cores are used.
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
    // The pipeline's pooled output is floats.
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
