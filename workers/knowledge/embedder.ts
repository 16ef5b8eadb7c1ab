// The main thread's side of the embedding threads: one for questions that people wait for, and a low-priority pool for
// documents. Each starts on first use, so a service without a knowledge base pays nothing. Several models can be served
// at once, so that the old one's vectors remain searchable while the new one's are computed.

import { availableParallelism } from 'node:os';
import { createThread, type Thread } from '../thread.ts';
import type { EmbedderThreadData, methods, Passage } from './embedder-thread.ts';
import { builtinModel, type ModelFolder } from './models.ts';

export interface EmbeddedChunk {
  readonly text: string;
  /** Signed bytes. */
  readonly vector: Uint8Array;
}

export interface Embedder {
  /** The model for new texts; undefined if embedding is off. */
  readonly model: string | undefined;
  /** Whether this model can embed questions. */
  serves(model: string): boolean;
  /** Rejects with EmbeddingUnavailable. Repeated questions come from a cache. */
  embedQuestion(question: { model: string; text: string }): Promise<Uint8Array>;
  /** Cuts a text into chunks and embeds them. Rejects with EmbeddingUnavailable. */
  digest(document: Passage & { model: string }): Promise<EmbeddedChunk[]>;
  stop(): Promise<void>;
}

/** The model cannot be loaded, its thread failed, or its queue is full. */
export class EmbeddingUnavailable extends Error {
  override readonly name = 'EmbeddingUnavailable';
}

export interface EmbedderOptions {
  /** `off`: nothing is embedded. A folder: that model. */
  readonly use: 'builtin' | 'off' | ModelFolder;
  /** Other models that may have embedded existing documents. */
  readonly others?: readonly ModelFolder[];
  /** Threads for documents. */
  readonly threads?: number;
}

/** Texts per call, so that calls stay short and the pool can share a long document. */
const batchSize = 16;
/** The first call loads the model. */
const questionTimeoutMs = 20_000;
const batchTimeoutMs = 120_000;
const maxQuestionsWaiting = 200;
const maxBatchesWaiting = 1000;
/** An unused model is unloaded. */
const idleMs = 10 * 60_000;
/** Question vectors in the cache: 2 MiB of the longest. */
const maxRemembered = 2000;
const mostThreads = 4;

type EmbedderThread = Thread<typeof methods>;

export function createEmbedder(options: EmbedderOptions): Embedder {
  const { use } = options;
  const folders = new Map<string, ModelFolder | undefined>([[builtinModel, undefined]]);
  for (const folder of options.others ?? []) folders.set(folder.id, folder);
  if (typeof use === 'object') folders.set(use.id, use);
  const current = use === 'off' ? undefined : use === 'builtin' ? builtinModel : use.id;
  // One core is left for the service.
  const poolSize = options.threads ?? Math.min(mostThreads, Math.max(1, availableParallelism() - 1));
  const questionThreads = new Map<string, EmbedderThread>();
  const pools = new Map<string, EmbedderThread[]>();
  const remembered = new Map<string, Uint8Array>();

  function start(model: string, isBackground: boolean): EmbedderThread {
    return createThread<typeof methods>({
      file: new URL('./embedder-thread.ts', import.meta.url),
      title: 'embedding',
      maxWaiting: isBackground ? maxBatchesWaiting : maxQuestionsWaiting,
      timeoutMs: isBackground ? batchTimeoutMs : questionTimeoutMs,
      idleMs,
      data: { folder: folders.get(model), isBackground } satisfies EmbedderThreadData,
    });
  }

  function threadForQuestions(model: string): EmbedderThread {
    requireServed(model);
    let thread = questionThreads.get(model);
    if (thread === undefined) questionThreads.set(model, (thread = start(model, false)));
    return thread;
  }

  /** The thread with the shortest queue. */
  function threadForDocuments(model: string): EmbedderThread {
    requireServed(model);
    let pool = pools.get(model);
    if (pool === undefined) pools.set(model, (pool = Array.from({ length: poolSize }, () => start(model, true))));
    const [first, ...others] = pool;
    if (first === undefined) throw new EmbeddingUnavailable('there is no thread for embedding');
    return others.reduce((least, thread) => (thread.waiting < least.waiting ? thread : least), first);
  }

  function requireServed(model: string): void {
    if (!serves(model)) throw new EmbeddingUnavailable(`the model ${model} is not here`);
  }

  const serves = (model: string): boolean => use !== 'off' && folders.has(model);

  return {
    model: current,
    serves,
    embedQuestion: ({ model, text }) =>
      available(async () => {
        const asked = text.normalize('NFC').trim().replace(/\s+/g, ' ');
        const key = `${model}\n${asked}`;
        const known = remembered.get(key);
        if (known !== undefined) {
          remembered.delete(key);
          remembered.set(key, known);
          return known;
        }
        const vector = await threadForQuestions(model).call('embedQuestion', asked);
        const [oldest] = remembered.keys();
        if (remembered.size >= maxRemembered && oldest !== undefined) remembered.delete(oldest);
        remembered.set(key, vector);
        return vector;
      }),
    digest: ({ model, title, text }) =>
      available(async () => {
        const texts = await threadForDocuments(model).call('chunk', { title, text });
        const batches = Array.from({ length: Math.ceil(texts.length / batchSize) }, (_, batch) =>
          texts.slice(batch * batchSize, (batch + 1) * batchSize),
        );
        const embedded = await Promise.all(
          batches.map((batch) =>
            threadForDocuments(model).call(
              'embed',
              batch.map((part) => ({ title, text: part })),
            ),
          ),
        );
        const vectors = embedded.flat();
        return texts.map((part, index) => ({ text: part, vector: vectors[index] ?? new Uint8Array(0) }));
      }),
    async stop() {
      await Promise.all([...questionThreads.values(), ...[...pools.values()].flat()].map((thread) => thread.stop()));
    },
  };
}

/** Converts any failure of a thread into EmbeddingUnavailable. */
async function available<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof EmbeddingUnavailable) throw cause;
    throw new EmbeddingUnavailable(`embedding failed: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}
