// npm run cluster: three NATS servers and three nodes on this machine, for looking at them. Everything is in a temporary
// folder, and ends with ctrl-C.

import { parseArgs } from 'node:util';
import { Ends, interrupted } from '../../support/ends.ts';
import { skip } from '../../support/nats.ts';
import { type ClusterSize, ServiceCluster } from './service-cluster.ts';

const usage = `usage: npm run cluster -- [--nodes 3] [--nats 3]

Starts this many NATS servers, with as many copies of everything, and nodes of the service on free ports, and prints where they are.
Mails are files in each node's data folder. ctrl-C ends everything and removes its files. NATS_SERVER names the program of NATS,
nats-server from the PATH by default.
`;
const most = { nodes: 9, nats: 5 };

process.exitCode = await main();

async function main(): Promise<number> {
  let values: { nodes: string; nats: string; help: boolean };
  try {
    ({ values } = parseArgs({
      options: {
        nodes: { type: 'string', default: '3' },
        nats: { type: 'string', default: '3' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }));
  } catch (error) {
    return misused(error instanceof Error ? error.message : String(error));
  }
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const size = { nodes: Number(values.nodes), nats: Number(values.nats) };
  for (const name of ['nodes', 'nats'] as const)
    if (!Number.isInteger(size[name]) || size[name] < 1 || size[name] > most[name])
      return misused(`--${name} is a whole number from 1 to ${most[name]}`);
  if (skip !== false) {
    process.stderr.write(`cluster: ${skip}\n`);
    return 1;
  }
  return run(size);
}

async function run(size: ClusterSize): Promise<number> {
  const ends = new Ends();
  const end = interrupted();
  try {
    const cluster = await Promise.race([ServiceCluster.start(ends, { ...size, env: { LOG_LEVEL: 'warn' } }), end]);
    if (cluster !== 'interrupted') {
      process.stdout.write(whereTo(cluster));
      await end;
    }
    return 0;
  } catch (error) {
    process.stderr.write(`cluster: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  } finally {
    await ends.close();
  }
}

function whereTo(cluster: ServiceCluster): string {
  const { nodes, nats, operatorEnv } = cluster;
  const settings = ['CLUSTER_NATS_URL', 'CLUSTER_NAME', 'CLUSTER_SECRET', 'JWT_SECRET', 'SECRETS_KEY']
    .map((name) => `${name}=${operatorEnv[name]}`)
    .join(' ');
  return [
    ...nodes.map(({ name, url, pid, dataDir }) => `${name}  ${url}  process ${pid}  ${dataDir}`),
    ...nats.map(({ name, url }) => `${name}  ${url}`),
    '',
    `Register at ${nodes[0]?.url}/register, open another node in another window, and kill one: kill -9 ${nodes[0]?.pid}`,
    'Where everything is:',
    `  ${settings} STORAGE_PROVIDER=none node http/main.js cluster status`,
    'ctrl-C ends it all.',
    '',
  ].join('\n');
}

function misused(problem: string): number {
  process.stderr.write(`cluster: ${problem}\n${usage}`);
  return 2;
}
