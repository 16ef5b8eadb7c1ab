// NATS servers and nodes of the service as processes on this machine, on free ports, with their files in a folder that is
// removed at the end. Without NATS it is one ordinary node. By what the settings and the command line promise alone.

import { join } from 'node:path';
import { tempFolder } from '../../support/folder.ts';
import { freePort } from '../../support/free-port.ts';
import { type NatsServer, startCluster } from '../../support/nats.ts';
import { runCommand } from '../../support/process.ts';
import type { Teardown } from '../../support/service.ts';
import { NatsLines } from './nats-lines.ts';
import { ServiceNode } from './service-node.ts';

export interface ClusterSize {
  readonly nodes: number;
  /** 0: one ordinary node. */
  readonly nats: number;
}

export interface ClusterOptions extends ClusterSize {
  /** Each node reaches NATS over proxies of this process, so that `ServiceNode.cut` can cut it off; else directly. */
  readonly canBeCut?: boolean;
  /** More settings, for every node. */
  readonly env?: Readonly<Record<string, string>>;
  /** For all files; by default a temporary one. */
  readonly folder?: string;
  /** The data folder of one node, brought in before the nodes start. */
  readonly imported?: string;
}

/** As `switchboard cluster status --json` prints it. */
export interface ClusterStatus {
  readonly nodes: readonly {
    readonly node: string;
    readonly version: string;
    readonly isReady: boolean;
    readonly workspaces: number;
  }[];
  readonly workspaces: readonly {
    readonly workspaceId: string;
    readonly owner: string;
    readonly epoch: number;
    readonly needsNewerNode: boolean;
    readonly sequence: number;
    readonly copies: readonly { readonly node: string; readonly sequence: number }[];
  }[];
}

/** The same on every node. */
export const secrets = {
  JWT_SECRET: 'a-secret-for-the-tokens-of-a-cluster-on-loopback',
  SECRETS_KEY: 'a-key-for-the-secrets-of-a-cluster-on-loopback',
  CLUSTER_SECRET: 'a-secret-between-the-nodes-of-a-cluster-on-loopback',
};
const clusterName = 'local';
const meetWithinMs = 60_000;

export class ServiceCluster {
  readonly nats: readonly NatsServer[];
  readonly nodes: readonly ServiceNode[];

  private constructor(nats: readonly NatsServer[], nodes: readonly ServiceNode[]) {
    this.nats = nats;
    this.nodes = nodes;
  }

  /** Resolves when every node is ready, and knows of the others. */
  static async start(t: Teardown, options: ClusterOptions): Promise<ServiceCluster> {
    const { nodes: count, nats: servers, canBeCut = false, env = {}, folder = tempFolder(t) } = options;
    const nats = servers === 0 ? [] : await startCluster(t, servers, { isUnadvertised: true, folder });
    const ports = await Promise.all(Array.from({ length: count }, freePort));
    const common = {
      BASE_URL: `http://127.0.0.1:${ports[0]}`,
      STORAGE_PROVIDER: 'none',
      JWT_SECRET: secrets.JWT_SECRET,
      SECRETS_KEY: secrets.SECRETS_KEY,
      ...env,
    };
    const nodes = await Promise.all(
      ports.map(async (port, index) => {
        const name = `node-${index + 1}`;
        const lines = servers === 0 || !canBeCut ? undefined : await NatsLines.start(t, nats);
        const natsUrl = lines?.url ?? nats.map(({ url }) => url).join(',');
        const ofCluster = servers === 0 ? {} : clusterSettings({ name, port, natsUrl, replicas: servers });
        return new ServiceNode(t, {
          name,
          port,
          dataDir: join(folder, name),
          env: { ...common, ...ofCluster },
          lines,
        });
      }),
    );
    const cluster = new ServiceCluster(nats, nodes);
    if (options.imported !== undefined) await cluster.operate(['import', options.imported]);
    for (const node of nodes) node.begin();
    await Promise.all(nodes.map((node) => node.ready()));
    if (!cluster.isAlone) await cluster.#meet();
    return cluster;
  }

  get isAlone(): boolean {
    return this.nats.length === 0;
  }

  /** The settings of a command that is run beside the nodes: past every proxy. */
  get operatorEnv(): Readonly<Record<string, string>> {
    const [node] = this.nodes;
    return { ...node?.env, CLUSTER_NATS_URL: this.nats.map(({ url }) => url).join(',') };
  }

  /** Rejects with what the command said. */
  async status(): Promise<ClusterStatus> {
    return JSON.parse(await this.operate(['status', '--json'])) as ClusterStatus;
  }

  /** Every node knows of the others. Rejects if they are nodes that do not know of one another. */
  async #meet(): Promise<void> {
    const untilMs = performance.now() + meetWithinMs;
    for (;;) {
      const { nodes } = await this.status();
      if (this.nodes.every(({ name }) => nodes.some(({ node, isReady }) => node === name && isReady))) return;
      if (performance.now() > untilMs)
        throw new Error(
          `only ${nodes.map(({ node }) => node).join(', ')} came together within ${meetWithinMs / 1000} s`,
        );
    }
  }

  /** A command of `switchboard cluster`: what it printed. Rejects with what it said if it failed. */
  async operate(args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await runCommand(['cluster', ...args], this.operatorEnv);
    if (code !== 0) throw new Error(`cluster ${args.join(' ')} ended with ${code}: ${stderr || stdout}`);
    return stdout;
  }
}

function clusterSettings(node: {
  readonly name: string;
  readonly port: number;
  readonly natsUrl: string;
  readonly replicas: number;
}): Record<string, string> {
  return {
    CLUSTER_NATS_URL: node.natsUrl,
    CLUSTER_NAME: clusterName,
    CLUSTER_NODE: node.name,
    CLUSTER_NODE_URL: `http://127.0.0.1:${node.port}`,
    CLUSTER_REPLICAS: `${node.replicas}`,
    CLUSTER_SECRET: secrets.CLUSTER_SECRET,
  };
}
