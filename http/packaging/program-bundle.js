// The program and its threads as one bundle of the sources, made by the first start after a change and kept in the cache
// folder: Node loads it in a third of the time that 1,600 modules take, and in half of the memory. Packages stay in
// node_modules, except for those that consist of many small files. Called by main.js, and plain JavaScript like it.

import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { KeptBundle, projectPath } from '../../workers/kept-bundle.js';
import { asciiOf } from './ascii-script.js';

const bundleName = 'program';
const program = 'http/cli/program.ts';

/** With hundreds of modules, all loaded at the start. */
const bundledPackages = new Set(['typebox', '@fastify/ajv-compiler', 'prom-client', 'jose']);
/** How it is made is a source, too. */
const alwaysInputs = [
  'http/packaging/program-bundle.js',
  'http/packaging/ascii-script.js',
  'package.json',
  'node_modules/esbuild/package.json',
];

/** The kept bundle, if it is of the sources as they are. */
export function findProgram() {
  return KeptBundle.find(bundleName);
}

/** Undefined if it cannot be kept. Rejects if the sources cannot be bundled. */
export async function makeProgram() {
  const startedMs = Date.now();
  const threads = readdirSync(projectPath('workers'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('-thread.ts'))
    .map((name) => `workers/${name}`);
  /** @type {{ dependencies: Record<string, string> }} */
  const { dependencies } = JSON.parse(readFileSync(projectPath('package.json'), 'utf8'));
  const { build, stop } = await import('esbuild');
  try {
    const { outputFiles, metafile } = await build({
      absWorkingDir: projectPath(''),
      entryPoints: [program, ...threads],
      splitting: true,
      outdir: 'bundle',
      entryNames: '[name]',
      chunkNames: '[name]-[hash]',
      write: false,
      metafile: true,
      bundle: true,
      platform: 'node',
      target: 'node22',
      format: 'esm',
      // For packages that require().
      banner: {
        js: "import { createRequire as requireAt } from 'node:module'; const require = requireAt(import.meta.url);",
      },
      legalComments: 'none',
      logLevel: 'silent',
      external: [
        // The one that main.js imported.
        '*/kept-bundle.js',
        ...Object.keys(dependencies).filter((name) => !bundledPackages.has(name)),
      ],
      tsconfigRaw: {},
    });
    return KeptBundle.keep(bundleName, {
      startedMs,
      inputs: [...alwaysInputs, ...Object.keys(metafile.inputs)],
      texts: Object.fromEntries(outputFiles.map(({ path, text }) => [basename(path), asciiOf(text)])),
    });
  } finally {
    await stop();
  }
}
