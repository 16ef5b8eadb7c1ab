// Bundles that were made from sources, kept in the cache folder until one of those sources changes. A bundle names its
// sources and has a digest of their content, which is compared each time, so what is found is what the sources say. A
// bundle is one file: a line of JSON, then its texts. One folder per checkout; those of checkouts that are gone are
// removed. Plain JavaScript, see cache-folder.js.

import { createHash, hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import { cachePlaces, requireOwnFolder } from './cache-folder.js';

/**
 * @typedef {object} Made
 * @property {readonly string[]} inputs The sources, as paths from the project's folder.
 * @property {number} startedMs When the first of them was read.
 * @property {Readonly<Record<string, string>>} texts
 */

/**
 * @typedef {object} Head The line of JSON.
 * @property {readonly string[]} inputs
 * @property {string} made Digest of the settings and the inputs.
 * @property {string} content Digest of the texts.
 * @property {Readonly<Record<string, readonly [from: number, to: number]>>} texts
 */

/**
 * @typedef {object} Content Plain data, which threads share.
 * @property {Uint8Array<SharedArrayBuffer>} bytes
 * @property {Head['texts']} texts
 */

const root = fileURLToPath(new URL('..', import.meta.url));
/** The texts of the program are modules that seem to lie here. */
const moduleFolder = new URL('.', import.meta.url).href;
const prefix = 'sources-';
const folderName = `${prefix}${hash('sha256', root).slice(0, 16)}`;
/** Names the checkout, in its folder. */
const rootFile = 'checkout';
const newline = 10;
const sharedKey = 'switchboard.bundle';

/**
 * Where a file of the project is; not in the executable.
 *
 * @param {string} name
 */
export function projectPath(name) {
  return join(root, name);
}

export class KeptBundle {
  /**
   * The one that this process runs, which imports this module instead of containing it.
   *
   * @type {KeptBundle | undefined}
   */
  static running;

  #content;

  /** @param {Content} content */
  constructor(content) {
    this.#content = content;
  }

  /**
   * Undefined if there is none, or if it was made of other sources or with other settings.
   *
   * @param {string} name
   * @param {string} [settings]
   * @returns {KeptBundle | undefined}
   */
  static find(name, settings = '') {
    for (const place of cachePlaces()) {
      try {
        const folder = join(place, folderName);
        const path = join(folder, name);
        if (!existsSync(path)) continue;
        requireOwnFolder(folder);
        const file = readFileSync(path);
        const lineEnd = file.indexOf(newline);
        /** @type {Head} */
        const { inputs, made, content, texts } = JSON.parse(file.subarray(0, lineEnd).toString());
        const bytes = file.subarray(lineEnd + 1);
        if (hash('sha256', bytes) === content && digestOf(settings, inputs) === made)
          return new KeptBundle({ bytes: shared(bytes), texts });
      } catch {
        // Damaged, or a source is gone: it is made again.
      }
    }
    return undefined;
  }

  /**
   * Returns the bundle, even if there is no folder to keep it in. Undefined if a source changed while it was made.
   *
   * @param {string} name
   * @param {Made} made
   * @param {string} [settings]
   * @returns {KeptBundle | undefined}
   */
  static keep(name, { inputs, startedMs, texts }, settings = '') {
    if (inputs.some((input) => changedSince(input, startedMs))) return undefined;
    let at = 0;
    /** @type {Record<string, [from: number, to: number]>} */
    const ranges = {};
    for (const [textName, text] of Object.entries(texts)) ranges[textName] = [at, (at += Buffer.byteLength(text))];
    const bytes = Buffer.from(Object.values(texts).join(''));
    /** @type {Head} */
    const head = { inputs, made: digestOf(settings, inputs), content: hash('sha256', bytes), texts: ranges };
    const file = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), bytes]);
    for (const place of cachePlaces()) {
      try {
        const path = join(ownFolder(place), name);
        const part = `${path}.${process.pid}-${process.hrtime.bigint()}`;
        writeFileSync(part, file, { mode: 0o600, flag: 'wx' });
        renameSync(part, path);
        break;
      } catch {
        // The folder cannot be written: try the next one.
      }
    }
    return new KeptBundle({ bytes: shared(bytes), texts: ranges });
  }

  /** @param {string} name */
  has(name) {
    return Object.hasOwn(this.#content.texts, name);
  }

  /**
   * Empty for an unknown name.
   *
   * @param {string} name
   */
  text(name) {
    const [from, to] = this.#content.texts[name] ?? [0, 0];
    return Buffer.from(this.#content.bytes.buffer, from, to - from).toString();
  }

  /**
   * Runs a text, which is a module and may import others of the bundle. It finds packages as from the sources.
   *
   * @param {string} name
   */
  run(name) {
    KeptBundle.running = this;
    setEnvironmentData(sharedKey, this.#content);
    /** @param {string} url */
    const nameOf = (url) => (url.startsWith(moduleFolder) ? url.slice(moduleFolder.length) : '');
    // For as long as the process runs: some are imported late.
    nodeModule.registerHooks({
      resolve: (specifier, context, next) => {
        if (specifier.endsWith('/kept-bundle.js')) return { url: import.meta.url, shortCircuit: true };
        const url = specifier.startsWith('./') ? new URL(specifier, context.parentURL).href : specifier;
        return this.has(nameOf(url)) ? { url, format: 'module', shortCircuit: true } : next(specifier, context);
      },
      load: (url, context, next) =>
        this.has(nameOf(url))
          ? { source: this.text(nameOf(url)), format: 'module', shortCircuit: true }
          : next(url, context),
    });
    return import(moduleFolder + name);
  }
}

/**
 * For a thread of a process that runs a bundle.
 *
 * @param {string} name
 */
export function runInThread(name) {
  // As run() has set it.
  return new KeptBundle(/** @type {Content} */ (getEnvironmentData(sharedKey))).run(name);
}

/** @param {Uint8Array} bytes */
function shared(bytes) {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

/**
 * @param {string} settings
 * @param {readonly string[]} inputs
 */
function digestOf(settings, inputs) {
  const all = createHash('sha256').update(settings);
  for (const input of inputs) {
    const content = readFileSync(projectPath(input));
    all.update(`\n${input} ${content.length}\n`).update(content);
  }
  return all.digest('hex');
}

/** The kernel's clock of files is a few milliseconds behind. */
const clockLagMs = 100;

/**
 * @param {string} input
 * @param {number} startedMs
 */
function changedSince(input, startedMs) {
  const about = statSync(projectPath(input), { throwIfNoEntry: false });
  return about === undefined || about.ctimeMs > startedMs - clockLagMs;
}

/**
 * This checkout's folder, made if necessary.
 *
 * @param {string} place
 */
function ownFolder(place) {
  const folder = join(place, folderName);
  if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) {
    forgetGone(place);
    writeFileSync(join(folder, rootFile), root, { mode: 0o600 });
  }
  requireOwnFolder(folder);
  return folder;
}

/**
 * Removes the folders of checkouts that no longer exist.
 *
 * @param {string} place
 */
function forgetGone(place) {
  for (const name of readdirSync(place)) {
    const known = join(place, name, rootFile);
    if (name.startsWith(prefix) && existsSync(known) && !existsSync(readFileSync(known, 'utf8')))
      rmSync(join(place, name), { recursive: true, force: true });
  }
}
