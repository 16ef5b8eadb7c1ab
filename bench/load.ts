// `npm run load`: drives a running server through scenarios of a working day and prints the latencies. Unlike a bench
// it starts nothing and has no reference: it measures that server, on that machine, over that network.

import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { Api, CallFailed } from './api.ts';
import { gridOf, shown } from './frame.ts';
import { type DrivenFigures, toldOf } from './http-load.ts';
import { type Account, makeStage, type Stage, scenarios } from './load-scenarios.ts';

const exitCodes = {
  done: 0,
  /** The server could not be driven, or a call failed. */
  failed: 1,
  /** Usage error. */
  misused: 2,
} as const;

const warmShare = 0.2;
const mostWarmSeconds = 2;
/** The limits of one agent's sockets and of a browser; more connections measure the client. */
const maxConnections = 1000;
const limitOn =
  'the server counts calls against its rate limits, so this says nothing about its speed; start it with RATE_LIMITS=off for a load test';

type Name = keyof typeof scenarios;
const names = Object.keys(scenarios) as Name[];

const usage = `usage: npm run load -- [BASE_URL] [--email ADDRESS --password PASSWORD] [--scenario ${names.slice(0, 2).join(',')}]
                       [--connections 32] [--duration 10] [--json FILE]

Drives the server at BASE_URL (http://localhost:8080), which should run with RATE_LIMITS=off. It signs up a workspace of its own;
with --email it works in that admin's, which keeps the chats that it makes, solved.

  --scenario     some of these, parted by commas; all of them, one after the other, unless given:
${names.map((name) => `                 ${name.padEnd(8)} ${scenarios[name].about}`).join('\n')}
  --connections  calls under way at any time, and sockets that listen
  --duration     seconds for each scenario, after a short warm-up
  --json         a file for the figures

Exits with 1 when the server cannot be driven, or when not every call was answered well; with 2 for a command line like none of these.
`;

interface Order {
  readonly url: string;
  readonly account: Account | undefined;
  readonly chosen: readonly Name[];
  readonly connections: number;
  readonly seconds: number;
  readonly json: string | undefined;
}

/** Usage error. */
class Misused extends Error {}

function orderOf(args: readonly string[]): Order | 'help' {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        email: { type: 'string' },
        password: { type: 'string' },
        scenario: { type: 'string' },
        connections: { type: 'string', default: '32' },
        duration: { type: 'string', default: '10' },
        json: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    throw new Misused(error instanceof Error ? error.message : String(error));
  }
  const { values, positionals } = parsed;
  if (values.help) return 'help';
  const [base = 'http://localhost:8080', ...more] = positionals;
  if (more.length > 0) throw new Misused(`there is one BASE_URL, and ${more.join(' ')} is another`);
  if (!URL.canParse(base) || !/^https?:$/.test(new URL(base).protocol))
    throw new Misused(`${base} is no URL of a server`);
  const { email, password } = values;
  if ((email === undefined) !== (password === undefined)) throw new Misused('--email and --password go together');
  const chosen = values.scenario?.split(',') ?? names;
  const unknown = chosen.filter((name) => !isName(name));
  if (unknown.length > 0) throw new Misused(`there is no scenario ${unknown.join(', ')}`);
  const connections = Number(values.connections);
  if (!Number.isInteger(connections) || connections < 1 || connections > maxConnections)
    throw new Misused(`--connections is a number from 1 to ${maxConnections}`);
  const seconds = Number(values.duration);
  if (!Number.isInteger(seconds) || seconds < 1) throw new Misused('--duration is a number of seconds, 1 at the least');
  return {
    url: new URL(base).origin,
    account: email === undefined || password === undefined ? undefined : { email, password },
    chosen: chosen.filter(isName),
    connections,
    seconds,
    json: values.json,
  };
}

function isName(name: string): name is Name {
  return Object.hasOwn(scenarios, name);
}

async function drive(order: Order): Promise<number> {
  const startedAt = new Date().toISOString();
  const { connections, seconds } = order;
  // If one preparing call must wait for a rate limit, so must the next.
  const api = new Api({
    url: order.url,
    dataDir: '',
    onWait: () => {
      throw new Error(limitOn);
    },
  });
  const stage = await makeStage(api, order);
  const figures: ({ scenario: Name } & DrivenFigures)[] = [];
  try {
    for (const name of order.chosen) {
      process.stderr.write(`${name} …\n`);
      const measured = await measure(stage, name, { connections, seconds });
      figures.push({ scenario: name, ...measured });
      // The next one would be refused, too.
      if (isLimited(measured)) break;
    }
  } finally {
    // The figures are valid even if the chats could not be solved.
    await stage
      .leave()
      .catch((error: unknown) => process.stderr.write(`load: the workspace was not tidied: ${textOf(error)}\n`));
  }
  process.stdout.write(`${tableOf(figures)}\n`);
  const client = { cpu: cpus()[0]?.model ?? 'unknown', cores: availableParallelism(), node: process.version };
  if (order.json !== undefined)
    writeFileSync(
      order.json,
      `${JSON.stringify({ startedAt, endedAt: new Date().toISOString(), url: order.url, connections, seconds, client, figures }, null, 2)}\n`,
    );
  const spoilt = figures.filter(({ failures }) => Object.keys(failures).length > 0);
  for (const { scenario, failures } of spoilt)
    process.stderr.write(`load: ${scenario}: not every call was answered well: ${toldOf(failures)}\n`);
  if (spoilt.some(isLimited)) process.stderr.write(`load: ${limitOn}\n`);
  return spoilt.length === 0 ? exitCodes.done : exitCodes.failed;
}

function isLimited({ failures }: DrivenFigures): boolean {
  return failures['429'] !== undefined;
}

async function measure(
  stage: Stage,
  name: Name,
  effort: { connections: number; seconds: number },
): Promise<DrivenFigures> {
  const { run } = scenarios[name];
  const warm = await run(stage, {
    ...effort,
    seconds: Math.min(mostWarmSeconds, Math.ceil(effort.seconds * warmShare)),
  });
  // Not measured if the warm-up failed.
  return Object.keys(warm.failures).length > 0 ? warm : run(stage, effort);
}

function tableOf(figures: readonly ({ scenario: Name } & DrivenFigures)[]): string {
  const cells = figures.map(({ scenario, perSecond, p50Ms, p99Ms, answers, failures }) => [
    scenario,
    `${shown(perSecond)} /s`,
    `${shown(p50Ms)} ms`,
    `${shown(p99Ms)} ms`,
    answers.toLocaleString('en-US'),
    toldOf(failures) || 'none',
  ]);
  return gridOf([['', 'answers', 'p50', 'p99', 'in all', 'failed'], ...cells]);
}

function textOf(error: unknown): string {
  if (error instanceof CallFailed) return error.message;
  // Only the cause of fetch's error says why.
  const cause =
    error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message || error.cause.name}` : '';
  return error instanceof Error ? `${error.message}${cause}` : String(error);
}

async function main(): Promise<number> {
  try {
    const order = orderOf(process.argv.slice(2));
    if (order !== 'help') return await drive(order);
    process.stdout.write(usage);
    return exitCodes.done;
  } catch (error) {
    process.stderr.write(`load: ${textOf(error)}\n${error instanceof Misused ? 'Try: npm run load -- --help\n' : ''}`);
    return error instanceof Misused ? exitCodes.misused : exitCodes.failed;
  }
}

process.exitCode = await main();
