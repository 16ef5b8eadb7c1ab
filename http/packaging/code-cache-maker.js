// The entry of an executable that build.ts starts once and nobody receives: serves as the shipped one does, keeps what V8
// compiled until the service listened as the file CODE_CACHE, and stops. Plain JavaScript, see start.js.

import { writeFileSync } from 'node:fs';
import { compileProgram, runScript } from './program-script.js';
import { runCommandLine, settleProcess } from './start.js';

settleProcess({ args: process.argv.slice(2) });

const { CODE_CACHE: path = '' } = process.env;
const script = compileProgram();
const write = process.stdout.write.bind(process.stdout);

// The announcement is the last moment: then the service releases memory, and with it this code, and sets an option of V8,
// for which V8 would refuse the cache.
process.stdout.write = (/** @type {string | Uint8Array} */ text) => {
  if (String(text).includes('listens on')) {
    writeFileSync(path, script.createCachedData());
    process.kill(process.pid, 'SIGTERM');
  }
  return write(text);
};
void runCommandLine(runScript(script, { require, module, filename: __filename, dirname: __dirname }));
