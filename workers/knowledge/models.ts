// Folders with an embedding model as transformers.js reads it: config.json, tokenizer.json and an ONNX file. Finds and
// names them, without loading them.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

/** Changes with the way in which texts are cut and their terms are made, so that everything is indexed again. */
const indexVersion = 2;

/** The embedding that needs no folder. Its number changes with its vectors, too. */
export const builtinModel = `builtin-${indexVersion}`;

export interface ModelFolder {
  /**
   * Identifies the model's vectors, so that those of two models are never compared: its name, the size of its weights,
   * and the version of the index.
   */
  readonly id: string;
  /** Names the same vectors in an index of the first version. */
  readonly formerId: string;
  readonly path: string;
  /** The format of its weights, in transformers.js's terms. */
  readonly dtype: 'q8' | 'fp32';
}

/** Weight files in order of preference: a quarter of the size retrieves as well. */
export const weightFiles = [
  { dtype: 'q8', file: 'onnx/model_quantized.onnx' },
  { dtype: 'fp32', file: 'onnx/model.onnx' },
] as const;
export const neededFiles = ['config.json', 'tokenizer.json', 'tokenizer_config.json'] as const;

/** The model in the folder at `path`, or undefined. */
export function modelIn(path: string, name: string): ModelFolder | undefined {
  if (!neededFiles.every((file) => existsSync(join(path, file)))) return undefined;
  const weights = weightFiles.find(({ file }) => existsSync(join(path, file)));
  if (weights === undefined) return undefined;
  const formerId = `${name}@${statSync(join(path, weights.file)).size}`;
  return { id: `${formerId}+${indexVersion}`, formerId, path: resolve(path), dtype: weights.dtype };
}

/**
 * The model that `name` means: a folder, or a name such as `Xenova/all-MiniLM-L6-v2` in one of the folders `roots`,
 * each of which may be the model's folder itself. Without a name: the model of the first root.
 */
export function findModel(name: string | undefined, roots: readonly string[]): ModelFolder | undefined {
  if (name === undefined) {
    const [root] = roots;
    return root === undefined ? undefined : modelIn(root, basename(resolve(root)));
  }
  for (const root of roots) {
    const found =
      modelIn(join(root, name), name) ?? (basename(resolve(root)) === basename(name) ? modelIn(root, name) : undefined);
    if (found !== undefined) return found;
  }
  return modelIn(name, basename(resolve(name)));
}

/** Every model in `root`, as `owner/name` or `name`. */
export function modelsBelow(root: string): ModelFolder[] {
  const found: ModelFolder[] = [];
  for (const first of foldersIn(root)) {
    const model = modelIn(join(root, first), first);
    if (model !== undefined) found.push(model);
    else
      for (const second of foldersIn(join(root, first)))
        found.push(...[modelIn(join(root, first, second), `${first}/${second}`)].filter((one) => one !== undefined));
  }
  return found;
}

function foldersIn(path: string): string[] {
  return existsSync(path)
    ? readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
    : [];
}
