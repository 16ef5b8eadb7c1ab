// The program inside the executable: a script beside the executable's entry, so that V8 can be given what it compiled for
// an earlier start. The code cache that Node makes for an entry holds nothing that is compiled while the program runs.
// Plain JavaScript, see start.js.

import { getRawAsset } from 'node:sea';
import { Script } from 'node:vm';

/** Its code begins and ends as that of a CommonJS module does for Node. */
export const programParts = {
  script: 'program.cjs',
  codeCache: 'program.cache',
  opening: '(function (exports, require, module, __filename, __dirname) {',
  closing: '\n})',
};

/**
 * Throws if the executable does not have the program. A code cache that was made with other options of V8 is refused
 * (`cachedDataRejected`), and the program is compiled as it runs.
 *
 * @param {Uint8Array} [codeCache]
 */
export function compileProgram(codeCache) {
  // The text is ASCII (build.ts), which V8 keeps in half of the memory if it is decoded as Latin-1.
  const text = Buffer.from(getRawAsset(programParts.script)).toString('latin1');
  return new Script(text, {
    filename: programParts.script,
    ...(codeCache === undefined ? {} : { cachedData: codeCache }),
  });
}

/**
 * Returns what the program exports. `scope` is that of the executable's entry.
 *
 * @param {Script} script
 * @param {{ require: NodeJS.Require, module: NodeJS.Module, filename: string, dirname: string }} scope
 * @returns {{ runProgram(args: string[]): Promise<number> }}
 */
export function runScript(script, { require, module, filename, dirname }) {
  script.runInThisContext()(module.exports, require, module, filename, dirname);
  return module.exports;
}
