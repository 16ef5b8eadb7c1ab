// Bundles of sources in the cache folder, and `npm start`, which runs one: what runs is what the sources say.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { KeptBundle } from '../../workers/kept-bundle.js';
import { tempFolder } from '../support/folder.ts';

const root = resolve(import.meta.dirname, '../..');
const agoMs = 60_000;

/** An empty cache folder, and a source outside of it. */
function place(t: Test): { cache: string; source: string; input: string } {
  const before = process.env['SWITCHBOARD_CACHE_DIR'];
  const folder = tempFolder(t);
  const cache = join(folder, 'cache');
  process.env['SWITCHBOARD_CACHE_DIR'] = cache;
  t.teardown(() => {
    if (before === undefined) delete process.env['SWITCHBOARD_CACHE_DIR'];
    else process.env['SWITCHBOARD_CACHE_DIR'] = before;
  });
  const source = join(folder, 'source.ts');
  writeFileSync(source, 'one');
  return { cache, source, input: relative(root, source) };
}

const keep = (input: string, settings?: string): KeptBundle | undefined =>
  KeptBundle.keep('b', { inputs: [input], startedMs: Date.now() + agoMs, texts: { a: 'ä1', b: '2' } }, settings);

const fileIn = (cache: string, name = 'b'): string => join(cache, readdirSync(cache)[0] ?? '', name);

t.test('[start] a bundle is found until a source changes, whatever its times say', async (t) => {
  const { source, input } = place(t);
  t.equal(KeptBundle.find('b'), undefined);
  t.equal(keep(input)?.text('a'), 'ä1');
  const found = KeptBundle.find('b');
  t.same([found?.text('a'), found?.text('b'), found?.has('a'), found?.has('c')], ['ä1', '2', true, false]);
  writeFileSync(source, 'two');
  t.equal(KeptBundle.find('b'), undefined);
  writeFileSync(source, 'one');
  t.ok(KeptBundle.find('b'), 'the content decides');
  rmSync(source);
  t.equal(KeptBundle.find('b'), undefined);
});

t.test('[start] a bundle made with other settings, or under another name, is another one', async (t) => {
  const { input } = place(t);
  keep(input, 'for browsers');
  t.equal(KeptBundle.find('b'), undefined);
  t.equal(KeptBundle.find('c', 'for browsers'), undefined);
  t.ok(KeptBundle.find('b', 'for browsers'));
});

t.test('[start] a source that changes while the bundle is made makes it worthless', async (t) => {
  const { source, input } = place(t);
  const { ctimeMs } = statSync(source);
  const made = { inputs: [input], startedMs: ctimeMs, texts: { a: '1' } };
  t.equal(KeptBundle.keep('b', made), undefined);
  t.equal(KeptBundle.keep('b', { ...made, startedMs: ctimeMs + agoMs, inputs: [`${input}.gone`] }), undefined);
  t.equal(KeptBundle.find('b'), undefined);
});

t.test('[start] a damaged file is not used, and another user cannot supply one', async (t) => {
  const { cache, input } = place(t);
  keep(input);
  const file = fileIn(cache);
  const whole = readFileSync(file);
  for (const damaged of [
    whole.subarray(0, -1),
    Buffer.concat([whole.subarray(0, -1), Buffer.from('3')]),
    Buffer.from('{}'),
  ]) {
    writeFileSync(file, damaged);
    t.equal(KeptBundle.find('b'), undefined);
  }
  writeFileSync(file, whole);
  t.ok(KeptBundle.find('b'));
  chmodSync(dirname(file), 0o777);
  t.equal(KeptBundle.find('b'), undefined);
});

t.test('[start] without a folder to keep it in, a bundle serves once', async (t) => {
  const { cache, input } = place(t);
  writeFileSync(cache, 'not a folder');
  t.equal(keep(input)?.text('b'), '2');
  t.equal(KeptBundle.find('b'), undefined);
});

t.test('[start] bundles of checkouts that are gone are removed', async (t) => {
  const { cache, input } = place(t);
  for (const [name, checkout] of [
    ['sources-gone', join(cache, 'no-such-folder')],
    ['sources-here', cache],
  ] as const) {
    mkdirSync(join(cache, name), { recursive: true });
    writeFileSync(join(cache, name, 'checkout'), checkout);
  }
  keep(input);
  t.same(
    readdirSync(cache).filter((name) => /gone|here/.test(name)),
    ['sources-here'],
  );
});

t.test('[start] npm start runs what is in the sources, threads included', async (t) => {
  // The real entry over a program of two lines.
  const folder = tempFolder(t);
  for (const name of [
    'http/main.js',
    'http/packaging/ascii-script.js',
    'http/packaging/node-arguments.js',
    'http/packaging/program-bundle.js',
    'http/packaging/start.js',
    'workers/cache-folder.js',
    'workers/kept-bundle.js',
    'workers/program-files.ts',
  ])
    cpSync(join(root, name), join(folder, name));
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: unknown };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', dependencies }));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  mkdirSync(join(folder, 'http/cli'));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const program = (word: string): void =>
    write(
      'http/cli/program.ts',
      `import { once } from 'node:events';
import { startThread } from '../../workers/program-files.ts';
import { KeptBundle } from '../../workers/kept-bundle.js';
export async function runProgram(args: readonly string[]): Promise<number> {
  const { late } = await import('./late.ts');
  const [fromThread] = await once(startThread('workers/echo-thread.ts', { workerData: 'given' }), 'message');
  console.log(JSON.stringify(['${word}', late, fromThread, KeptBundle.running !== undefined, args]));
  return 3;
}
`,
    );
  const thread = (word: string): void =>
    write(
      'workers/echo-thread.ts',
      `import { parentPort, workerData } from 'node:worker_threads';
import { luck } from './luck.ts';
parentPort?.postMessage(\`${word} \${workerData as string} \${luck}\`);
`,
    );
  program('one');
  thread('first');
  write('http/cli/late.ts', `export const late: string = 'late';\n`);
  write('workers/luck.ts', `export const luck: number = 7;\n`);
  const cache = join(folder, 'cache');
  const run = (...args: string[]): unknown => {
    try {
      execFileSync(process.execPath, [join(folder, 'http/main.js'), ...args], {
        cwd: '/',
        env: { PATH: '', SWITCHBOARD_CACHE_DIR: cache },
        encoding: 'utf8',
      });
    } catch (error) {
      const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
      return [status, stderr, stdout === '' ? undefined : JSON.parse(stdout)];
    }
    return 'ended without its exit code';
  };
  // The first one may find its sources too new to keep what it makes.
  run('serve');
  t.same(run('serve'), [3, '', ['one', 'late', 'first given 7', true, ['serve']]]);
  t.ok(existsSync(fileIn(cache, 'program')));
  t.same(run('serve', 'again'), [3, '', ['one', 'late', 'first given 7', true, ['serve', 'again']]], 'from the bundle');
  program('two');
  thread('second');
  const changed = ['two', 'late', 'second given 7'];
  t.same(run('version'), [3, '', [...changed, false, ['version']]], 'other commands make no bundle');
  t.same(run('serve'), [3, '', [...changed, true, ['serve']]]);
  t.same(run('version'), [3, '', [...changed, true, ['version']]], 'but run one');
  write('http/cli/late.ts', 'export const late = ;');
  t.match(run('serve'), [1, /late\.ts/], 'sources that cannot be bundled say why');
});

/** Announces itself, and stops as the service does. */
const stoppable = `
process.on('SIGTERM', () => {
  console.log('stopped');
  process.exit(0);
});
setInterval(() => {}, 1000);
console.log('pid', process.pid);
`;

for (const shell of ['/bin/sh', '/bin/bash'])
  t.test(
    `[start] a supervisor that ends npm ends the service, with ${shell}`,
    { skip: existsSync(shell) ? false : `there is no ${shell}` },
    async (t) => {
      const folder = tempFolder(t);
      const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: unknown };
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', scripts }));
      symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
      mkdirSync(join(folder, 'http'));
      writeFileSync(join(folder, 'http/main.js'), stoppable);
      // In a group of its own: whatever happens, nothing of it is left.
      const npm = spawn('npm', ['start', '--silent', `--script-shell=${shell}`], {
        cwd: folder,
        detached: true,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const lines = createInterface({ input: npm.stdout })[Symbol.asyncIterator]();
      const started = await lines.next();
      t.match(started.value, /^pid \d+$/);
      t.teardown(() => {
        if (existsSync(`/proc/${String(started.value).slice(4)}`)) process.kill(-Number(npm.pid), 'SIGKILL');
      });
      const ended = once(npm, 'exit');
      npm.kill('SIGTERM');
      t.equal((await lines.next()).value, 'stopped');
      t.same(await ended, [0, null]);
    },
  );
