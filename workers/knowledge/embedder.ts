// The main thread's side of the embedding threads: one that answers questions people wait for, and a pool for documents
// that gives way to everything. Each is started by its first question, so that a service without a knowledge base pays
// nothing. Several models can be served side by side, so that the old one's vectors are found while the new one's are
// made.

import { availableParallelism } from 'node:os';
import { createThread, type Thread } from '../thread.ts';
import type { EmbedderThreadData, Passage, questions } from './embedder-thread.ts';
import { builtinModel, type ModelFolder } from './models.ts';

export interface EmbeddedChunk {
  readonly text: string;
  /** Signed bytes. */
  readonly vector: Uint8Array;
}

export interface Embedder {
  /** What new texts are embedded with; undefined when embedding is switched off. */
  readonly model: string | undefined;
  /** Whether questions can be asked of this model's vectors. */
  serves(model: string): boolean;
  /** Rejects with EmbeddingUnavailable. Questions that were asked before are answered from memory. */
  embedQuestion(question: { model: string; text: string }): Promise<Uint8Array>;
  /** Cuts a text and embeds its chunks. Rejects with EmbeddingUnavailable. */
  digest(document: Passage & { model: string }): Promise<EmbeddedChunk[]>;
  stop(): Promise<void>;
}

/** The model cannot be loaded, its thread failed, or too many wait for it. */
export class EmbeddingUnavailable extends Error {
  override readonly name = 'EmbeddingUnavailable';
}

export interface EmbedderOptions {
  /** `off`: nothing is embedded. A folder: that model. */
  readonly use: 'builtin' | 'off' | ModelFolder;
  /** Models that may have embedded what is there. */
  readonly others?: readonly ModelFolder[];
  /** Threads for documents. */
  readonly threads?: number;
}

/** Texts per question, so that a thread is asked nothing that takes long and the pool can share a long document. */
const batchSize = 16;
/** The first question loads the model. */
const questionTimeoutMs = 20_000;
const batchTimeoutMs = 120_000;
const maxQuestionsWaiting = 200;
const maxBatchesWaiting = 1000;
/** A model that nobody asks gives its memory back. */
const idleMs = 10 * 60_000;
/** Vectors of questions that are kept: 2 MiB of the longest. */
const maxRemembered = 2000;
const mostThreads = 4;

type EmbedderThread = Thread<typeof questions>;

export function createEmbedder(options: EmbedderOptions): Embedder {
  const { use } = options;
  const folders = new Map<string, ModelFolder | undefined>([[builtinModel, undefined]]);
  for (const folder of options.others ?? []) folders.set(folder.id, folder);
  if (typeof use === 'object') folders.set(use.id, use);
  const current = use === 'off' ? undefined : use === 'builtin' ? builtinModel : use.id;
  // One core is the service's own.
  const poolSize = options.threads ?? Math.min(mostThreads, Math.max(1, availableParallelism() - 1));
  const questionThreads = new Map<string, EmbedderThread>();
  const pools = new Map<string, EmbedderThread[]>();
  const remembered = new Map<string, Uint8Array>();

  function start(model: string, isBackground: boolean): EmbedderThread {
    return createThread<typeof questions>({
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

  /** The one with the least to do. */
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
        const vector = await threadForQuestions(model).ask('embedQuestion', asked);
        const [oldest] = remembered.keys();
        if (remembered.size >= maxRemembered && oldest !== undefined) remembered.delete(oldest);
        remembered.set(key, vector);
        return vector;
      }),
    digest: ({ model, title, text }) =>
      available(async () => {
        const texts = await threadForDocuments(model).ask('chunk', { title, text });
        const batches = Array.from({ length: Math.ceil(texts.length / batchSize) }, (_, batch) =>
          texts.slice(batch * batchSize, (batch + 1) * batchSize),
        );
        const embedded = await Promise.all(
          batches.map((batch) =>
            threadForDocuments(model).ask(
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

/** What a thread could not do is told as one kind of failure, whatever its cause. */
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
