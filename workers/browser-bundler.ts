// Makes one script for browsers out of a folder of modules: the only door to esbuild, which is a process of its own. It is
// started for a build and ended after it, so that a running service does not carry it.

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
