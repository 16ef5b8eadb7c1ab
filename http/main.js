// The entry of `npm start`: settles the process, then runs the command line: a bundle of the sources if there is one, and
// `serve` makes one after each change of a source. Plain JavaScript: what strips types takes Node 60 ms to load. The
// entry of the executable is packaging/executable.js.

import { smallNewSpace } from './packaging/node-arguments.js';
import { findProgram, makeProgram } from './packaging/program-bundle.js';
import { runCommandLine, settleProcess } from './packaging/start.js';

// The Node.js that runs the service is a dependency: `npm start` uses it, the machine's own may be older.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 15)) {
  console.error(
    `switchboard: Node.js 22.15 or later is needed, and this is ${process.versions.node}. Use npm start -- ${process.argv.slice(2).join(' ')}`.trim(),
  );
  process.exit(1);
}

settleProcess({
  args: [...process.execArgv, ...process.argv.slice(1)],
  variables: { NODE_OPTIONS: `${smallNewSpace} ${process.env['NODE_OPTIONS'] ?? ''}`.trim() },
});

void loadProgram().then(runCommandLine);

/** @typedef {typeof import('./cli/program.ts')} Program */

/** @returns {Promise<Program>} */
async function loadProgram() {
  const [, , command = 'serve'] = process.argv;
  // Sources that cannot be bundled say why when they are run.
  const bundle = findProgram() ?? (command === 'serve' ? await makeProgram().catch(() => undefined) : undefined);
  return bundle === undefined ? import('./cli/program.ts') : bundle.run('program.js');
}
