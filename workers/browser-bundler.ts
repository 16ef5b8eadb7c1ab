// Makes what browsers load out of folders of modules: one script for the widget, several files for the pages. The only
// door to esbuild, which is a process of its own. It is started for a build and ended after it, so that a running
// service does not carry it.

import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isExecutable, readProgramFile } from './program-files.ts';

export interface BundleRequest {
  readonly entry: URL;
  /** A script as `<script>` runs it, or a module as `import()` does. */
  readonly as: 'script' | 'module';
  /** Names in the source that become these texts. */
  readonly texts?: Readonly<Record<string, string>>;
}

/** Resolves to the script. Rejects when the source cannot be bundled. */
export type Bundle = (request: BundleRequest) => Promise<string>;

/** What the script may ask of a browser: those of 2022 and later. */
const target = ['es2022', 'chrome100', 'firefox100', 'safari15.4'];

/** What the executable, which has no esbuild, calls the script that this entry makes. */
export function scriptAsset(entry: URL): string {
  return `scripts/${basename(entry.pathname).replace(/\.ts$/, '.js')}`;
}

export interface PageFile {
  /** With the hash of its text in it: `inbox-4KQ2ZS7A.js`. */
  readonly name: string;
  readonly text: string;
  /** The source that it begins with, as a path from the project's folder; undefined for what several of them share. */
  readonly source: string | undefined;
  /** Names of the files that it cannot begin without. */
  readonly imports: readonly string[];
}

/**
 * Resolves to the files of the entries and of what they load when it is needed. Rejects when a source cannot be
 * bundled.
 */
export type BundlePages = (entries: readonly URL[]) => Promise<readonly PageFile[]>;

/** What the executable calls the files of the pages, as JSON. */
export const pagesAsset = 'scripts/pages.json';

export const bundlePages: BundlePages = async (entries) => {
  // Written by packaging/build.ts as it is made here.
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
      // What is set for the service's own sources is not for browsers.
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
