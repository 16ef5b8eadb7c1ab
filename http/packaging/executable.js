// The entry of the executable: settles the process, then runs the program with its code cache. Small, because the service
// executes it twice. Plain JavaScript, see start.js.

import { getRawAsset } from 'node:sea';
import { compileProgram, programParts, runScript } from './program-script.js';
import { runCommandLine, settleProcess } from './start.js';

// Node takes its own arguments from the build.
settleProcess({ args: process.argv.slice(2) });

const script = compileProgram(new Uint8Array(getRawAsset(programParts.codeCache)));
if (script.cachedDataRejected === true)
  process.emitWarning('V8 refused the code cache, and the program starts slower: is an option of V8 in NODE_OPTIONS?');
void runCommandLine(runScript(script, { require, module, filename: __filename, dirname: __dirname }));
