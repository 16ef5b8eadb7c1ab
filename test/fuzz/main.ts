// npm run fuzz -- [--seed N] [--runs M] [--operation X] [--only http|sockets|mail] [--verbose]
// Sends invalid input to the whole service. Prints its seed and failures as lines for a shell, and exits with 1 if
// there are any.

import { parseArgs } from 'node:util';
import { fuzzHttp, type HttpOutcome } from './http.ts';
import { fuzzMails, MailRange } from './mails.ts';
import { fuzzSockets } from './sockets.ts';
import { World } from './world.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    runs: { type: 'string' },
    operation: { type: 'string' },
    only: { type: 'string' },
    verbose: { type: 'boolean' },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const runs = Number(values.runs ?? 100);
if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(runs) || runs < 1)
  throw new Error('--seed and --runs are whole numbers');

/** With this many requests, every operation must succeed at least once. */
const fullRuns = 100;
const providerPaths = /^\/api\/v1\/(?:billing|calls|carrier|phone-numbers)\b/;

const ends: (() => void | Promise<void>)[] = [];
const teardown = { teardown: (call: () => void | Promise<void>): void => void ends.unshift(call) };
let failed = 0;

console.log(`seed ${seed}, ${runs} runs`);
try {
  if (values.only === undefined || values.only === 'http') failed += await http();
  if ((values.only === undefined && values.operation === undefined) || values.only === 'sockets')
    failed += await sockets();
  if ((values.only === undefined && values.operation === undefined) || values.only === 'mail') failed += await mails();
} finally {
  for (const end of ends) await end();
}
process.exitCode = failed === 0 ? 0 : 1;

/** All operations with the service's own providers, then those that use other companies' servers, with those. */
async function http(): Promise<number> {
  const rounds = [await httpRound({}), await httpRound({ withProviders: true, path: providerPaths })];
  const [local, provided] = rounds.map(({ outcome }) => outcome);
  const neverDone = local?.neverDone.filter((operation) => provided?.done.has(operation) !== true) ?? [];
  if (neverDone.length > 0) console.log(`\nnever done: ${neverDone.join(', ')}`);
  // A single operation, or few requests, need not succeed.
  const mustBeDone = values.operation === undefined && runs >= fullRuns ? neverDone : [];
  return rounds.reduce((sum, { problems }) => sum + problems, mustBeDone.length);
}

async function httpRound({
  withProviders = false,
  path,
}: {
  withProviders?: boolean;
  path?: RegExp;
}): Promise<{ outcome: HttpOutcome; problems: number }> {
  const world = await World.start(teardown, { seed, verbose: values.verbose === true, withProviders });
  const startedMs = performance.now();
  const outcome = await fuzzHttp(world, {
    seed,
    runs,
    operation: values.operation,
    ...(path && { path }),
    onFailure: ({ operation, problem, curl }) =>
      console.log(
        `\n${operation}: ${problem}\n  ${curl}\n  npm run fuzz -- --seed ${seed} --runs ${runs} --operation ${operation}`,
      ),
  });
  const findings = await world.close();
  for (const finding of findings) console.log(`\non disk: ${finding}`);
  const statuses = [...outcome.statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  console.log(
    `\n${outcome.requests} requests${withProviders ? " with other companies' servers" : ''} in ${Math.round((performance.now() - startedMs) / 1000)} s; ${statuses.join(', ')}`,
  );
  console.log(`${outcome.failures.length} operations failed, ${findings.length} findings on disk`);
  return { outcome, problems: outcome.failures.length + findings.length };
}

async function sockets(): Promise<number> {
  const world = await World.start(teardown, { seed, verbose: values.verbose === true });
  const startedMs = performance.now();
  const { failure, sessions, frames, replies } = await fuzzSockets(world, { seed, runs });
  const findings = await world.close();
  for (const finding of findings) console.log(`\non disk: ${finding}`);
  if (failure !== undefined)
    console.log(`\n${failure}\n  npm run fuzz -- --seed ${seed} --runs ${runs} --only sockets`);
  console.log(
    `\n${sessions} sessions of sockets in ${Math.round((performance.now() - startedMs) / 1000)} s; ${frames} frames, ${replies} of them replies`,
  );
  return (failure === undefined ? 0 : 1) + findings.length;
}

async function mails(): Promise<number> {
  const startedMs = performance.now();
  const outcome = await fuzzMails(await MailRange.start(teardown), { seed, runs });
  for (const failure of outcome.failures)
    console.log(`\n${failure}\n  npm run fuzz -- --seed ${seed} --runs ${runs} --only mail`);
  console.log(
    `\n${outcome.mails} mails in ${Math.round((performance.now() - startedMs) / 1000)} s, ${outcome.refused} refused; the slowest took ${Math.round(outcome.slowestMs)} ms, the largest ${Math.round(outcome.mostMb)} MB`,
  );
  return outcome.failures.length;
}
