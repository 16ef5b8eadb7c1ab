// Bundles folders of modules for browsers: one script for the widget, several files for the pages. They are kept in the
// cache folder, so that a start bundles only what changed. esbuild runs as a separate process, which is started for a
// build and stopped after the last one under way, so that a running service does not hold it.

import { basename } from 'node:path';
import type { BuildOptions, build as esbuild, Metafile, Plugin } from 'esbuild';
import { KeptBundle, projectPath } from './kept-bundle.js';
import { isExecutable, readProgramFile } from './program-files.ts';

export interface BundleRequest {
  /** A path from the project's folder. */
  readonly entry: string;
  /** A script as `<script>` runs it, or a module as `import()` does. */
  readonly as: 'script' | 'module';
  /** Identifiers in the source to replace by these texts. */
  readonly texts?: Readonly<Record<string, string>>;
}

/** Resolves to the script. Rejects if the source cannot be bundled. */
export type Bundle = (request: BundleRequest) => Promise<string>;

/** Supports browsers from 2022 on. */
const target = ['es2022', 'chrome100', 'firefox100', 'safari15.4'];

/** The script's name in the executable, which has no esbuild. */
export function scriptAsset(entry: string): string {
  return `scripts/${basename(entry).replace(/\.ts$/, '.js')}`;
}

export interface PageFile {
  /** Contains a hash of its sources: `inbox.4KQ2ZS7A.js`. */
  readonly name: string;
  readonly text: string;
  /** The entry's source, as a path from the project's folder; undefined for a shared chunk. */
  readonly source: string | undefined;
}

/**
 * Resolves to the files of the entries and of what they load dynamically. The first entry's file contains everything
 * that it imports statically. Rejects if a source cannot be bundled.
 */
export type BundlePages = (entries: readonly string[]) => Promise<readonly PageFile[]>;

/** The name of the pages' files in the executable, as JSON. */
export const pagesAsset = 'scripts/pages.json';

const pageOptions = {
  outdir: 'pages',
  bundle: true,
  write: false,
  minify: true,
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'silent',
  format: 'esm',
  platform: 'browser',
  target: [...target],
} as const satisfies BuildOptions;

export const bundlePages: BundlePages = async (entries) => {
  // packaging/build.ts writes it in the form made here.
  const json = isExecutable ? readProgramFile(pagesAsset) : await kept('pages', entries, () => buildPages(entries));
  return JSON.parse(json) as readonly PageFile[];
};

export const bundleForBrowsers: Bundle = async (request) => {
  const asset = scriptAsset(request.entry);
  return isExecutable ? readProgramFile(asset) : kept(basename(asset), request, () => buildScript(request));
};

interface Built {
  readonly text: string;
  readonly inputs: Metafile['inputs'];
}

/** The text that was built of these sources before, or builds it. */
async function kept(name: string, request: unknown, build: () => Promise<Built>): Promise<string> {
  const settings = JSON.stringify([request, target]);
  const known = KeptBundle.find(name, settings)?.text(name);
  if (known !== undefined) return known;
  const startedMs = Date.now();
  const { text, inputs } = await build();
  // How it is built is a source, too.
  const sources = ['workers/browser-bundler.ts', 'node_modules/esbuild/package.json', ...Object.keys(inputs)];
  KeptBundle.keep(name, { startedMs, inputs: sources, texts: { [name]: text } }, settings);
  return text;
}

/** Builds under way: they share esbuild's process, and one that it is taken from never ends. */
let builds = 0;

async function withEsbuild<Result>(use: (build: typeof esbuild) => Promise<Result>): Promise<Result> {
  const { build, stop } = await import('esbuild');
  builds += 1;
  try {
    return await use(build);
  } finally {
    builds -= 1;
    if (builds === 0) await stop();
  }
}

function buildPages(entries: readonly string[]): Promise<Built> {
  return withEsbuild(async (build) => {
    const { outputFiles, metafile } = await build({
      ...pageOptions,
      absWorkingDir: projectPath(''),
      entryPoints: [...entries],
      entryNames: '[name].[hash]',
      chunkNames: '[name].[hash]',
      splitting: true,
      metafile: true,
      jsx: 'automatic',
      jsxImportSource: 'preact',
      tsconfigRaw: {},
    });
    const made = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
    const isStatic = ({ kind }: { kind: string }): boolean => kind === 'import-statement';
    const split = outputFiles.map(({ path, text }): Split => {
      const name = basename(path);
      const { entryPoint, imports = [], exports = [] } = made.get(name) ?? {};
      const imported = imports.filter(isStatic).map((one) => basename(one.path));
      return { name, text, source: entryPoint, exports, imports: imported };
    });
    const first = split.find(({ source }) => source === entries[0]);
    const files = first === undefined ? split : await joinInto(first, split, build);
    return { text: JSON.stringify(files), inputs: metafile.inputs };
  });
}

/** As esbuild splits it. */
interface Split extends PageFile {
  readonly exports: readonly string[];
  /** The names of the files that it imports statically. */
  readonly imports: readonly string[];
}

/**
 * esbuild makes a chunk of every set of modules that the same entries share: dozens of small files for the first page.
 * This puts `first` and what it imports into one, which is one request and compresses better, and lets the others import
 * from it. Names stay, because each already depends on the sources of everything below it.
 */
async function joinInto(first: Split, files: readonly Split[], build: typeof esbuild): Promise<readonly PageFile[]> {
  const byName = new Map(files.map((file) => [file.name, file]));
  const joined = new Map<string, number>();
  const add = ({ name, imports }: Split): void => {
    if (joined.has(name)) return;
    joined.set(name, joined.size);
    for (const imported of imports) {
      const file = byName.get(imported);
      if (file !== undefined) add(file);
    }
  };
  add(first);
  /** Exports of different files may have the same name. The first file keeps its own. */
  const nameIn = (file: Split, exported: string): string =>
    file === first ? exported : `${exported}$${joined.get(file.name)}`;
  const reexports = (file: Split, from: string, pair: (exported: string) => string): string =>
    file.exports.length === 0 ? '' : `export { ${file.exports.map(pair).join(', ')} } from './${from}';\n`;

  const everything = [...joined.keys()].flatMap((name) => byName.get(name) ?? []);
  const others = files.filter(({ name }) => !joined.has(name) && name.endsWith('.js'));
  const entry = `import './${first.name}';\n${everything
    .map((file) => reexports(file, file.name, (exported) => `${exported} as ${nameIn(file, exported)}`))
    .join('')}`;
  const one = await build({
    ...pageOptions,
    entryPoints: [first.name],
    entryNames: '[name]',
    plugins: [readFrom((name, isEntry) => (isEntry ? entry : joined.has(name) ? byName.get(name)?.text : undefined))],
  });
  const rest = await build({
    ...pageOptions,
    entryPoints: others.map(({ name }) => name),
    entryNames: '[name]',
    plugins: [
      readFrom((name, isEntry) => {
        const file = byName.get(name);
        if (file === undefined || isEntry) return file?.text;
        return joined.has(name) && name !== first.name
          ? reexports(file, first.name, (exported) => `${nameIn(file, exported)} as ${exported}`)
          : undefined;
      }),
    ],
  });
  const texts = new Map([...one.outputFiles, ...rest.outputFiles].map(({ path, text }) => [basename(path), text]));
  return files
    .filter(({ name }) => name === first.name || !joined.has(name))
    .map(({ name, text, source }) => ({ name, text: texts.get(name) ?? text, source }));
}

/** Reads files from memory, by name. Imports of others stay as they are. */
function readFrom(textOf: (name: string, isEntry: boolean) => string | undefined): Plugin {
  return {
    name: 'memory',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /^/ }, ({ path, kind }) => {
        const name = basename(path);
        const isEntry = kind === 'entry-point';
        if (textOf(name, isEntry) === undefined) return { path, external: true };
        return { path: name, namespace: isEntry ? 'entry' : 'part' };
      });
      onLoad({ filter: /^/ }, ({ path, namespace }) => ({ contents: textOf(path, namespace === 'entry') ?? '' }));
    },
  };
}

function buildScript({ entry, as, texts = {} }: BundleRequest): Promise<Built> {
  return withEsbuild(async (build) => {
    const { outputFiles, metafile } = await build({
      absWorkingDir: projectPath(''),
      entryPoints: [entry],
      bundle: true,
      write: false,
      metafile: true,
      minify: true,
      charset: 'utf8',
      legalComments: 'none',
      logLevel: 'silent',
      format: as === 'script' ? 'iife' : 'esm',
      platform: 'browser',
      target,
      // The service's own compiler settings are not for browsers.
      tsconfigRaw: {},
      define: Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, JSON.stringify(text)])),
    });
    const [file] = outputFiles;
    if (file === undefined) throw new Error(`${entry} made no script`);
    return { text: file.text, inputs: metafile.inputs };
  });
}
