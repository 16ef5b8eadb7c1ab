// The main thread's side of the embedding threads: one for questions that people wait for, and a low-priority pool for
// documents. Each starts on first use, so a service without a knowledge base pays nothing. Several models can be served
// at once, so that the old one's vectors remain searchable while the new one's are computed.

import { availableParallelism } from 'node:os';
import { Unavailable } from '../failures.ts';
import { createThread, type Thread } from '../thread.ts';
import type { DocumentText, EmbeddedChunk, EmbedderThreadData, methods } from './embedder-thread.ts';
import { builtinModel, type ModelFolder } from './models.ts';

export type { ChunkTerms, DocumentText, EmbeddedChunk } from './embedder-thread.ts';

export interface Digest {
  /** Of the document, recognised if it was not known. */
  readonly language: string | null;
  readonly chunks: readonly EmbeddedChunk[];
}

export interface Embedder {
  /** The model for new texts; undefined if embedding is off. */
  readonly model: string | undefined;
  /** The embedding that needs no model. */
  readonly builtin: string;
  /** A model that was downloaded since the start. */
  add(folder: ModelFolder): void;
  /** Whether this model can embed questions. */
  serves(model: string): boolean;
  /** Rejects with EmbeddingUnavailable. Repeated questions come from a cache. */
  embedQuestion(question: { model: string; text: string }): Promise<Uint8Array>;
  /** Cuts a text into chunks and embeds them. Rejects with EmbeddingUnavailable. */
  digest(document: DocumentText & { model: string }): Promise<Digest>;
  stop(): Promise<void>;
}

/** The model cannot be loaded, its thread failed, or its queue is full. */
export class EmbeddingUnavailable extends Unavailable {
  override readonly name = 'EmbeddingUnavailable';
  override readonly isEmbedding = true;
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
const maxCached = 2000;
const mostThreads = 4;

type EmbedderThread = Thread<typeof methods>;

export function createEmbedder(options: EmbedderOptions): Embedder {
  return new ThreadedEmbedder(options);
}

class ThreadedEmbedder implements Embedder {
  readonly builtin = builtinModel;
  readonly model: string | undefined;
  /** By model; undefined for the built-in one. */
  readonly #folders = new Map<string, ModelFolder | undefined>([[builtinModel, undefined]]);
  readonly #poolSize: number;
  readonly #questionThreads = new Map<string, EmbedderThread>();
  readonly #pools = new Map<string, EmbedderThread[]>();
  /** The oldest first. */
  readonly #cache = new Map<string, Uint8Array>();

  constructor({ use, others = [], threads }: EmbedderOptions) {
    for (const folder of typeof use === 'object' ? [...others, use] : others) this.add(folder);
    this.model = use === 'off' ? undefined : use === 'builtin' ? builtinModel : use.id;
    // One core is left for the service.
    this.#poolSize = threads ?? Math.min(mostThreads, Math.max(1, availableParallelism() - 1));
  }

  add(folder: ModelFolder): void {
    for (const id of [folder.formerId, folder.id]) this.#folders.set(id, folder);
  }

  serves(model: string): boolean {
    return this.model !== undefined && this.#folders.has(model);
  }

  embedQuestion({ model, text }: { model: string; text: string }): Promise<Uint8Array> {
    return available(async () => {
      const question = text.normalize('NFC').trim().replace(/\s+/g, ' ');
      const key = `${model}\n${question}`;
      const known = this.#cache.get(key);
      if (known !== undefined) {
        this.#cache.delete(key);
        this.#cache.set(key, known);
        return known;
      }
      const vector = await this.#threadForQuestions(model).call('embedQuestion', question);
      const [oldest] = this.#cache.keys();
      if (this.#cache.size >= maxCached && oldest !== undefined) this.#cache.delete(oldest);
      this.#cache.set(key, vector);
      return vector;
    });
  }

  digest({ model, title, ...document }: DocumentText & { model: string }): Promise<Digest> {
    return available(async () => {
      const { language, chunks } = await this.#threadForDocuments(model).call('chunk', { title, ...document });
      const batches = Array.from({ length: Math.ceil(chunks.length / batchSize) }, (_, batch) =>
        chunks.slice(batch * batchSize, (batch + 1) * batchSize),
      );
      const embedded = await Promise.all(
        batches.map((batch) => this.#threadForDocuments(model).call('embed', { title, language, chunks: batch })),
      );
      return { language, chunks: embedded.flat() };
    });
  }

  async stop(): Promise<void> {
    const threads = [...this.#questionThreads.values(), ...[...this.#pools.values()].flat()];
    await Promise.all(threads.map((thread) => thread.stop()));
  }

  #start(model: string, { isBackground }: { isBackground: boolean }): EmbedderThread {
    return createThread<typeof methods>({
      file: 'workers/knowledge/embedder-thread.ts',
      title: 'embedding',
      maxWaiting: isBackground ? maxBatchesWaiting : maxQuestionsWaiting,
      timeoutMs: isBackground ? batchTimeoutMs : questionTimeoutMs,
      idleMs,
      data: { folder: this.#folders.get(model), isBackground } satisfies EmbedderThreadData,
    });
  }

  #threadForQuestions(model: string): EmbedderThread {
    this.#requireServed(model);
    let thread = this.#questionThreads.get(model);
    if (thread === undefined) this.#questionThreads.set(model, (thread = this.#start(model, { isBackground: false })));
    return thread;
  }

  /** The thread with the shortest queue. */
  #threadForDocuments(model: string): EmbedderThread {
    this.#requireServed(model);
    let pool = this.#pools.get(model);
    if (pool === undefined) {
      pool = Array.from({ length: this.#poolSize }, () => this.#start(model, { isBackground: true }));
      this.#pools.set(model, pool);
    }
    const [first, ...others] = pool;
    if (first === undefined) throw new EmbeddingUnavailable('there is no thread for embedding');
    return others.reduce((least, thread) => (thread.waiting < least.waiting ? thread : least), first);
  }

  #requireServed(model: string): void {
    if (!this.serves(model)) throw new EmbeddingUnavailable(`the model ${model} is not here`);
  }
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
