// The worked example of CONTRIBUTING.md: applied to a copy of the tree, it is formatted, compiles, and passes its tests.

import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';

const root = resolve(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
/** The example uses the number after the last migration, whatever the page says. */
const lastMigration = readdirSync(join(root, 'store/migrations/workspace')).sort().at(-1) ?? '';
const number = Number(lastMigration.slice(0, 4)) + 1;

interface Block {
  readonly kind: string;
  readonly path: string;
  readonly text: string;
}

const blocks: readonly Block[] = [...text.matchAll(/^```(tsx?|diff) (\S+)\n([\s\S]*?)^```$/gm)].map(
  ([, kind = '', path = '', code = '']) => ({ kind, path: renumbered(path), text: renumbered(code) }),
);

function renumbered(code: string): string {
  return code
    .replaceAll(/\b\d{4}-reminders/g, `${String(number).padStart(4, '0')}-reminders`)
    .replace(/version: \d+,\n {2}name: 'reminders'/, `version: ${number},\n  name: 'reminders'`);
}

/**
 * Throws unless each part of the diff has exactly one place in the file. A line that ends in … matches by its
 * beginning.
 */
function apply(before: string, { path, text }: Block): string {
  return text.split(/^@@\n/m).reduce((result, part) => {
    const lines = part.replace(/\n$/, '').split('\n');
    const pattern = lines
      .filter((line) => !line.startsWith('+'))
      .map(
        (line) =>
          `(${line
            .slice(1)
            .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
            .replace(/…$/, '.*')})\n`,
      )
      .join('');
    const places = [...result.matchAll(new RegExp(`^${pattern}`, 'gm'))];
    const [place] = places;
    if (place === undefined || places.length > 1)
      throw new Error(`CONTRIBUTING.md: ${path} has ${places.length} places for:\n${part}`);
    const kept = place.slice(1);
    const after = lines.flatMap((line) => {
      const found = line.startsWith('+') ? line.slice(1) : kept.shift();
      return line.startsWith('-') ? [] : [`${found}\n`];
    });
    return result.slice(0, place.index) + after.join('') + result.slice(place.index + place[0].length);
  }, before);
}

t.test('the worked example of CONTRIBUTING.md works', async (t) => {
  const copy = mkdtempSync(join(tmpdir(), 'contributing-'));
  t.teardown(() => rmSync(copy, { recursive: true }));
  const left = ['.git', '.tap', 'data', 'dist', 'node_modules'];
  cpSync(root, copy, {
    recursive: true,
    filter: (source) => dirname(source) !== root || !left.includes(basename(source)),
  });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));

  t.ok(blocks.length >= 15, `${blocks.length} blocks`);
  for (const block of blocks) {
    const path = join(copy, block.path);
    if (block.kind === 'diff') writeFileSync(path, apply(readFileSync(path, 'utf8'), block));
    else {
      t.notOk(existsSync(path), `${block.path} is new`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, block.text);
    }
  }

  const run = async (program: string, ...args: string[]): Promise<void> => {
    const name = [program, ...args].join(' ').slice(0, 100);
    const { NODE_OPTIONS: _, ...env } = process.env;
    await promisify(execFile)(join(copy, 'node_modules/.bin', program), args, { cwd: copy, env }).then(
      () => t.pass(name),
      ({ stdout, stderr }: { stdout: string; stderr: string }) => t.fail(name, { stdout, stderr }),
    );
  };
  const changed = [...new Set(blocks.map(({ path }) => path))];
  await run('biome', 'check', '--error-on-warnings', '--vcs-enabled=false', ...changed);
  // The whole project would take half a minute; these files and their imports include everything that the example
  // touches.
  const files = changed.filter((path) => !path.startsWith('http/pages/'));
  writeFileSync(
    join(copy, 'tsconfig.example.json'),
    JSON.stringify({ extends: './tsconfig.json', include: [], files }),
  );
  await run('tsc', '-p', 'tsconfig.example.json');
  await run('tsc', '-p', 'http/pages');
  for (const test of ['conversations/reminders', 'project/tidy', 'project/documents', 'api/settings-lists'])
    await run('node', `test/${test}.test.ts`);
});

t.test('every file and command that CONTRIBUTING.md names exists', async (t) => {
  const made = new Set(blocks.filter(({ kind }) => kind !== 'diff').map(({ path }) => path));
  const named = new Set(
    [...text.matchAll(/`([\w./-]+\/(?:[\w.-]+\.\w+)?)`|\]\(([\w./-]+)\)/g)].map(([, code, link]) => code ?? link ?? ''),
  );
  for (const path of named) t.ok(made.has(path) || path === 'data/' || existsSync(join(root, path)), path);
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  for (const [, script = ''] of text.matchAll(/npm run ([\w:]+)/g))
    t.ok(Object.hasOwn(scripts, script), `npm run ${script}`);
});
