// Keeps what Node.js makes of each TypeScript file when it strips the types: every test file loads the whole service, and
// stripping it takes a quarter of the time of most. Loaded by test/main.ts into each of them, with --import.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = join(import.meta.dirname, '..', 'node_modules', '.cache', 'stripped');
mkdirSync(folder, { recursive: true });

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith('file:') || !/\.ts$/.test(url) || url.includes('/node_modules/')) return nextLoad(url, context);
    return { format: 'module', source: stripped(readFileSync(fileURLToPath(url), 'utf8')), shortCircuit: true };
  },
});

/** @param {string} source */
function stripped(source) {
  const path = join(folder, createHash('sha1').update(source).digest('hex'));
  try {
    return readFileSync(path, 'utf8');
  } catch {
    const text = stripTypeScriptTypes(source);
    // Another process may write the same at the same time.
    writeFileSync(`${path}.${process.pid}`, text);
    renameSync(`${path}.${process.pid}`, path);
    return text;
  }
}
