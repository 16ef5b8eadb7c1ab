// npm run conformance -- [--venv FOLDER] [--seed N] [--examples N] [--only OPERATION] [--phases examples,coverage]
// [--verbose]
// Tests the running service against its OpenAPI document from outside, with schemathesis (PyPI): input that
// the document allows is accepted, other input is refused, and every answer is declared. schemathesis.toml has the
// checks, and the exceptions with their reasons. Exits with 1 if anything is reported, and with 2 if schemathesis is
// missing. --verbose prints the service's log.

import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { World } from '../fuzz/world.ts';
import { tempFolder } from '../support/folder.ts';
import { password } from '../support/service.ts';
import { type Document, exampled } from './examples.ts';

/** The parts of schemathesis' report that are read. */
interface Report {
  readonly operations: { readonly tested: number };
  readonly test_cases: { readonly generated: number; readonly unique_failures: number };
  readonly errors: readonly unknown[];
  /** By operation and phase. */
  readonly valid_rates: Readonly<Record<string, Readonly<Record<string, { readonly accepted: number }>>>>;
}

const { values } = parseArgs({
  options: {
    venv: { type: 'string' },
    seed: { type: 'string' },
    examples: { type: 'string' },
    only: { type: 'string' },
    phases: { type: 'string' },
    verbose: { type: 'boolean' },
  },
});
const program = values.venv === undefined ? 'schemathesis' : join(values.venv, 'bin', 'schemathesis');
const versionMs = 60_000;
/**
 * Its operations have a token of their own in schemathesis.toml. In a run with them, schemathesis 4.32 sends no token of
 * a visitor, so they have a run to themselves.
 */
const apart = 'billing';
/** schemathesis occupies one core; CI has two. */
const processesAtOnce = 2;
const runMs = 30 * 60_000;

const { stdout, error, status } = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: versionMs });
if (error !== undefined || status !== 0) {
  console.log(
    `conformance: not done, there is no ${program}. python3 -m venv FOLDER && FOLDER/bin/pip install -r test/conformance/requirements.txt; npm run conformance -- --venv FOLDER`,
  );
  process.exit(2);
}
console.log(stdout.trim());

const ends: (() => void | Promise<void>)[] = [];
const teardown = { teardown: (call: () => void | Promise<void>): void => void ends.unshift(call) };
try {
  const problems = await problemsFound();
  for (const problem of problems) console.log(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  for (const end of ends) await end();
}

async function problemsFound(): Promise<string[]> {
  const world = await World.start(teardown, { seed: 1, verbose: values.verbose === true });
  const { tokens, env } = await credentials(world);
  const document = await exampled(world, (await world.service.get('/openapi.json')).body);
  // One operation has nothing to share.
  const shares = values.only === undefined ? sharesOf(document, processesAtOnce) : [document];
  const found = await Promise.all(shares.map((share) => run(share, world.service.url, env)));

  const problems: string[] = [];
  for (const [name, token] of Object.entries(tokens))
    if ((await world.service.get('/me', token)).status !== 200)
      problems.push(`conformance: the ${name} token ended on the way, and what was called after that shows nothing`);
  for (const finding of await world.close()) problems.push(`conformance: on disk: ${finding}`);
  problems.push(...found.flat());
  return problems;
}

/**
 * Parts of the document with about as many operations each. Operations on the same kind of record stay together, as
 * what one of them deletes would be missing to another.
 */
function sharesOf<Whole extends Document>(document: Whole, count: number): Whole[] {
  const kinds = Map.groupBy(Object.entries(document.paths), ([path]) => path.replace('/api/v1', '').split('/')[1]);
  const alone = Object.fromEntries(kinds.get(apart) ?? []);
  kinds.delete(apart);
  const shares = Array.from({ length: count }, () => ({ operations: 0, paths: {} as Record<string, object> }));
  const sized = [...kinds.values()].map((paths) => ({
    paths,
    operations: paths.reduce((sum, [, item]) => sum + Object.keys(item).length, 0),
  }));
  for (const { paths, operations } of sized.sort((a, b) => b.operations - a.operations)) {
    const lightest = shares.reduce((least, share) => (share.operations < least.operations ? share : least));
    lightest.operations += operations;
    Object.assign(lightest.paths, Object.fromEntries(paths));
  }
  return [...shares.map(({ paths }) => paths), alone].map((paths) => ({ ...document, paths }));
}

/** Resolves to what was found. */
async function run(document: Document, url: string, env: Record<string, string>): Promise<string[]> {
  const folder = tempFolder(teardown);
  const [input, report] = [join(folder, 'openapi.json'), join(folder, 'report.json')];
  writeFileSync(input, JSON.stringify(document));
  const given = {
    '--seed': values.seed,
    '--max-examples': values.examples,
    '--include-operation-id': values.only,
    '--phases': values.phases,
  };
  const options = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
  const config = join(import.meta.dirname, 'schemathesis.toml');
  const args = ['--config-file', config, 'run', input, '--url', url, '--no-color', '--report-json-path', report];
  const child = spawn(program, [...args, ...options], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: runMs,
    env: { ...process.env, ...env },
  });
  // Printed as a whole, since several run at once.
  const output: Buffer[] = [];
  child.stdout.on('data', (data: Buffer) => output.push(data));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  process.stdout.write(Buffer.concat(output));
  return told(report, code);
}

/** The exit code decides; the report says how much was done. */
function told(path: string, code: number | null): string[] {
  // schemathesis' own form.
  const {
    operations,
    test_cases: cases,
    errors,
    valid_rates: rates,
  } = JSON.parse(readFileSync(path, 'utf8')) as Report;
  const done = Object.values(rates).filter((phases) =>
    Object.values(phases).some(({ accepted }) => accepted > 0),
  ).length;
  console.log(
    `conformance: ${cases.generated} requests to ${operations.tested} operations, of which ${done} did what they were asked at least once; ${cases.unique_failures} reports, ${errors.length} errors`,
  );
  return code === 0 ? [] : [`conformance: schemathesis ended with ${code}`];
}

/**
 * An admin who has just confirmed its identity, so that it may change its sign-in; a key; a visitor. Signing out and
 * paying happen in other workspaces.
 */
async function credentials(
  world: World,
): Promise<{ tokens: { admin: string; key: string }; env: Record<string, string> }> {
  const { service } = world;
  const { email } = await world.admin();
  const { token: admin } = (await service.post('/auth/login', { email, password })).body;
  await service.post('/me/confirm', { password }, admin);
  const [payer, leaver] = [await service.workspace(), await service.workspace()];
  const [key, visitor] = [world.tokenOf('key') ?? '', world.tokenOf('visitor') ?? ''];
  return {
    tokens: { admin, key },
    env: {
      WORKSPACE_TOKEN: admin,
      VISITOR_TOKEN: visitor,
      API_KEY: key,
      BILLING_TOKEN: payer.token,
      LEAVING_TOKEN: leaver.token,
    },
  };
}
