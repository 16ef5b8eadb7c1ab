// Bundles folders of modules for browsers: one script for the widget, several files for the pages. The only importer of
// esbuild, which runs as a separate process. It is started for a build and stopped after it, so that a running service
// does not hold it.

import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isExecutable, readProgramFile } from './program-files.ts';

export interface BundleRequest {
  readonly entry: URL;
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
export function scriptAsset(entry: URL): string {
  return `scripts/${basename(entry.pathname).replace(/\.ts$/, '.js')}`;
}

export interface PageFile {
  /** Contains a hash of the text: `inbox-4KQ2ZS7A.js`. */
  readonly name: string;
  readonly text: string;
  /** The entry's source, as a path from the project's folder; undefined for a shared chunk. */
  readonly source: string | undefined;
  /** Names of the files that it imports statically. */
  readonly imports: readonly string[];
}

/** Resolves to the files of the entries and of what they load dynamically. Rejects if a source cannot be bundled. */
export type BundlePages = (entries: readonly URL[]) => Promise<readonly PageFile[]>;

/** The name of the pages' files in the executable, as JSON. */
export const pagesAsset = 'scripts/pages.json';

export const bundlePages: BundlePages = async (entries) => {
  // packaging/build.ts writes it in the form made here.
  if (isExecutable) return JSON.parse(readProgramFile(pagesAsset)) as readonly PageFile[];
  const { build, stop } = await import('esbuild');
  try {
    const { outputFiles, metafile } = await build({
      entryPoints: entries.map((entry) => fileURLToPath(entry)),
      outdir: 'pages',
      entryNames: '[name]-[hash]',
      chunkNames: '[name]-[hash]',
      bundle: true,
      splitting: true,
      write: false,
      metafile: true,
      minify: true,
      charset: 'utf8',
      legalComments: 'none',
      logLevel: 'silent',
      format: 'esm',
      platform: 'browser',
      target,
      jsx: 'automatic',
      jsxImportSource: 'preact',
      tsconfigRaw: {},
    });
    const made = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
    return outputFiles.map(({ path, text }) => {
      const name = basename(path);
      const { entryPoint, imports = [] } = made.get(name) ?? {};
      return {
        name,
        text,
        source: entryPoint,
        imports: imports.filter(({ kind }) => kind === 'import-statement').map((one) => basename(one.path)),
      };
    });
  } finally {
    await stop();
  }
};

export const bundleForBrowsers: Bundle = async ({ entry, as, texts = {} }) => {
  if (isExecutable) return readProgramFile(scriptAsset(entry));
  const { build, stop } = await import('esbuild');
  try {
    const result = await build({
      entryPoints: [fileURLToPath(entry)],
      bundle: true,
      write: false,
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
    const [file] = result.outputFiles;
    if (file === undefined) throw new Error(`${entry.pathname} made no script`);
    return file.text;
  } finally {
    await stop();
  }
};
