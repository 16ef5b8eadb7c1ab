// The embedding models that this server has or can download: those that are offered, and any other in the data folder.
// One download at a time; a downloaded model is tried before it counts as here.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Embedder, EmbeddingUnavailable } from './embedder.ts';
import { PullFailed, pullModel } from './model-pull.ts';
import { type ModelFolder, modelIn, modelsBelow } from './models.ts';

export interface ModelState {
  /** `owner/name`; `builtin` for the one that needs no download. */
  readonly name: string;
  readonly languages: 'multilingual' | 'english' | 'unknown';
  /** Of its files, about; null if it is not known, 0 for the builtin one. */
  readonly byteSize: number | null;
  readonly state: 'available' | 'downloadable' | 'downloading' | 'failed';
  /** Share of the download, 0 to 1. */
  readonly progress: number | null;
  /** Why the download failed, for people. */
  readonly error: string | null;
}

export interface ModelStore {
  /** The offered ones first, best and smallest first. */
  list(): ModelState[];
  /** The model's vectors' name, if it is here. `builtin` always is. */
  idOf(name: string): string | undefined;
  nameOf(id: string): string | undefined;
  /** Downloads and tries it. Rejects with PullFailed, whose message is for people. */
  fetch(name: string): Promise<void>;
  isOffered(name: string): boolean;
}

export const builtinName = 'builtin';
const megabyte = 1_000_000;

/** Small ones for many languages first; a larger one retrieves better but needs more memory and time. */
const offered: readonly Pick<ModelState, 'name' | 'languages' | 'byteSize'>[] = [
  { name: 'Xenova/multilingual-e5-small', languages: 'multilingual', byteSize: 135 * megabyte },
  { name: 'Xenova/paraphrase-multilingual-MiniLM-L12-v2', languages: 'multilingual', byteSize: 135 * megabyte },
  { name: 'Xenova/multilingual-e5-base', languages: 'multilingual', byteSize: 296 * megabyte },
  { name: 'Xenova/all-MiniLM-L6-v2', languages: 'english', byteSize: 24 * megabyte },
];

interface Download {
  progress: number;
  error: string | null;
}

export function createModelStore(options: {
  readonly hub: string;
  /** The folder that holds models by name. */
  readonly models: string;
  readonly embedder: Embedder;
  /** More models that can be used, as when another folder was named. */
  readonly others?: readonly ModelFolder[];
}): ModelStore {
  return new FolderOfModels(options);
}

class FolderOfModels implements ModelStore {
  readonly #options: Parameters<typeof createModelStore>[0];
  /** By name; those that failed stay until they are tried again. */
  readonly #downloads = new Map<string, Download>();
  /** By name. */
  readonly #here = new Map<string, ModelFolder>();

  constructor(options: Parameters<typeof createModelStore>[0]) {
    this.#options = options;
    for (const folder of [...modelsBelow(options.models), ...(options.others ?? [])])
      this.#here.set(nameIn(folder), folder);
  }

  list(): ModelState[] {
    const builtin = { name: builtinName, languages: 'multilingual', byteSize: 0 } as const;
    const further = [...this.#here.keys()]
      .filter((name) => !this.isOffered(name))
      .map((name) => ({ name, languages: 'unknown' as const, byteSize: null }));
    return [builtin, ...offered, ...further].map((model) => ({ ...model, ...this.#stateOf(model.name) }));
  }

  #stateOf(name: string): Pick<ModelState, 'state' | 'progress' | 'error'> {
    if (this.idOf(name) !== undefined) return { state: 'available', progress: null, error: null };
    const download = this.#downloads.get(name);
    if (download === undefined) return { state: 'downloadable', progress: null, error: null };
    return download.error === null
      ? { state: 'downloading', progress: download.progress, error: null }
      : { state: 'failed', progress: null, error: download.error };
  }

  idOf(name: string): string | undefined {
    return name === builtinName ? this.#options.embedder.builtin : this.#here.get(name)?.id;
  }

  nameOf(id: string): string | undefined {
    if (id === this.#options.embedder.builtin) return builtinName;
    return [...this.#here].find(([, folder]) => folder.id === id || folder.formerId === id)?.[0];
  }

  isOffered(name: string): boolean {
    return offered.some((one) => one.name === name);
  }

  async fetch(name: string): Promise<void> {
    if (this.idOf(name) !== undefined) return;
    for (const [other, { error }] of this.#downloads)
      if (error === null) throw new PullFailed(`${other} is being downloaded. Wait until that is done.`);
    const download: Download = { progress: 0, error: null };
    this.#downloads.set(name, download);
    try {
      const { hub, models } = this.#options;
      await pullModel({
        name,
        hub,
        models,
        // The weights are nearly all of it.
        onProgress: (share, file) => {
          if (file.endsWith('.onnx')) download.progress = share;
        },
      });
      await this.#try(name);
      this.#downloads.delete(name);
    } catch (error) {
      download.error =
        error instanceof PullFailed
          ? 'Could not download the model. Check that this server can reach the internet, or copy the model into its models folder.'
          : 'The model does not work on this server.';
      throw error;
    }
  }

  /** Two texts about the same must be nearer than two about different things. */
  async #try(name: string): Promise<void> {
    const { models, embedder } = this.#options;
    const folder = modelIn(join(models, name), name);
    if (folder === undefined) throw new PullFailed(`${name} is not a model`);
    embedder.add(folder);
    try {
      const [question, near, far] = await Promise.all(
        ['my parcel has not arrived', 'my parcel never arrived', 'how to wash a wool sweater'].map((text) =>
          embedder.embedQuestion({ model: folder.id, text }),
        ),
      );
      if (
        question === undefined ||
        near === undefined ||
        far === undefined ||
        dot(question, near) <= dot(question, far)
      )
        throw new EmbeddingUnavailable(`${name} gives no useful vectors`);
      this.#here.set(name, folder);
    } catch (error) {
      await rm(folder.path, { recursive: true, force: true });
      throw error;
    }
  }
}

/** A folder's id begins with the model's name. */
function nameIn({ formerId }: ModelFolder): string {
  return formerId.slice(0, formerId.lastIndexOf('@'));
}

/** Of vectors of signed bytes, each scaled to its own length. */
function dot(one: Uint8Array, other: Uint8Array): number {
  const [a, b] = [one, other].map((bytes) => new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (a === undefined || b === undefined) return 0;
  const product = (x: Int8Array, y: Int8Array): number =>
    x.reduce((sum, value, index) => sum + value * (y[index] ?? 0), 0);
  return product(a, b) / Math.sqrt(product(a, a) * product(b, b) || 1);
}
