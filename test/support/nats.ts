// Real NATS servers with JetStream on free loopback ports, one or several as a cluster, with their files in a folder of
// their own. The program is NATS_SERVER, or nats-server from the PATH; without it the tests of clusters are skipped.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { type ClusterOptions, type ClusterStore, openCluster } from '../../workers/cluster/cluster.ts';
import { tempFolder } from './folder.ts';
import { freePort } from './free-port.ts';
import type { Teardown } from './service.ts';

const program = process.env['NATS_SERVER'] ?? 'nats-server';
const hasNats = spawnSync(program, ['--version']).status === 0;
/** For `t.test`. */
export const skip = hasNats
  ? false
  : 'there is no nats-server on the PATH: go install github.com/nats-io/nats-server/v2@latest, or set NATS_SERVER';

export interface NatsOptions {
  /** More lines for the configuration. */
  readonly config?: string;
  /** Where its files are; by default a temporary folder. */
  readonly folder?: string;
  /** Clients learn only the addresses that they were given, so that each of their connections can be cut. */
  readonly isUnadvertised?: boolean;
  readonly jetStream?: string | false;
}

export class NatsServer {
  readonly name: string;
  readonly port: number;
  readonly #config: string;
  #process: ChildProcess | undefined;

  constructor(name: string, port: number, config: string) {
    this.name = name;
    this.port = port;
    this.#config = config;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Runs it, again after kill() on the same port and files. */
  async begin(): Promise<void> {
    const running = spawn(program, ['-c', this.#config], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#process = running;
    const said: string[] = [];
    for await (const line of createInterface(running.stderr)) {
      said.push(line);
      if (!line.includes('Server is ready')) continue;
      running.stderr.resume();
      return;
    }
    throw new Error(`nats-server did not start: ${said.join('\n')}`);
  }

  /** Without a chance to do anything more. */
  async kill(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, 'exit');
    running.kill('SIGKILL');
    await ended;
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.kill(name);
  }
}

export async function startNats(t: Teardown, options: NatsOptions = {}): Promise<NatsServer> {
  const [server] = await startCluster(t, 1, options);
  if (server === undefined) throw new Error('no server');
  return server;
}

export async function startCluster(t: Teardown, size: number, options: NatsOptions = {}): Promise<NatsServer[]> {
  const folder = options.folder ?? tempFolder(t);
  const routes = await Promise.all(Array.from({ length: size }, freePort));
  const cluster = (index: number): string =>
    `cluster { name: test, listen: "127.0.0.1:${routes[index]}", no_advertise: ${options.isUnadvertised === true}, routes: [${routes.map((port) => `"nats://127.0.0.1:${port}"`).join(', ')}] }`;
  const servers = await Promise.all(
    routes.map(async (_, index) => {
      const name = `n${index}`;
      const port = await freePort();
      const { jetStream = '', config = '' } = options;
      const path = join(folder, `${name}.conf`);
      writeFileSync(
        path,
        [
          `server_name: ${name}`,
          `listen: "127.0.0.1:${port}"`,
          jetStream === false ? '' : `jetstream { store_dir: "${join(folder, name)}"\n${jetStream} }`,
          size === 1 ? '' : cluster(index),
          config,
        ].join('\n'),
      );
      return new NatsServer(name, port, path);
    }),
  );
  t.teardown(async () => {
    await Promise.all(servers.map((server) => server.kill()));
  });
  await Promise.all(servers.map((server) => server.begin()));
  return servers;
}

export function clusterOptions(url: string, more: Partial<ClusterOptions> = {}): ClusterOptions {
  return {
    url,
    credsFile: undefined,
    caFile: undefined,
    name: 'test',
    replicas: 1,
    node: 'node-1',
    leaseMs: 10_000,
    // Three servers that share two cores with other tests take their time to find each other.
    patienceMs: 120_000,
    ...more,
  };
}

export async function openStore(t: Teardown, url: string, more: Partial<ClusterOptions> = {}): Promise<ClusterStore> {
  const store = await openCluster(clusterOptions(url, more));
  t.teardown(() => store.close());
  return store;
}

/** Somebody else's connection, for looking and for changing. */
export async function operator(
  t: Teardown,
  url: string,
): Promise<{ readonly connection: NatsConnection; readonly jsm: JetStreamManager }> {
  const connection = await connect({ servers: url.replace('nats://', '') });
  t.teardown(() => connection.close());
  return { connection, jsm: await jetstreamManager(connection, { timeout: 30_000 }) };
}
