// One life of a simulated node: the real rules over simulated ports.

import { Copies } from '../../../engine/runtime/cluster/copies.ts';
import { Lease } from '../../../engine/runtime/cluster/lease.ts';
import { Ownerships } from '../../../engine/runtime/cluster/ownership.ts';
import type { NodeRecord } from '../../../engine/runtime/cluster/ports.ts';
import { Restorer } from '../../../engine/runtime/cluster/restore.ts';
import { Router } from '../../../engine/runtime/cluster/routing.ts';
import { Rush } from '../../../engine/runtime/cluster/rush.ts';
import { SnapshotMaker } from '../../../engine/runtime/cluster/snapshots.ts';
import { handOverAll } from '../../../engine/runtime/cluster/stopping.ts';
import { View } from '../../../engine/runtime/cluster/view.ts';
import { silentLog } from '../../../engine/runtime/log.ts';
import { NotServed } from '../../../engine/runtime/placement.ts';
import { Connection, type Link } from './connection.ts';
import type { LogServers } from './log-servers.ts';
import { type Folder, NodeFiles, type Order } from './node-files.ts';
import { Life, type World } from './world.ts';

export const directory = 'directory';
/** Small, so that snapshots are due often. */
const leastSnapshotBytes = 1500;
const lookEveryMs = 500;
/** Between nodes. */
const forwardTimeoutMs = 3000;

export type Request =
  | { readonly kind: 'command'; readonly workspaceId: string; readonly order: Order }
  | { readonly kind: 'read'; readonly workspaceId: string };

export type Reply =
  | {
      readonly kind: 'done';
      readonly id: string;
      readonly position: number;
      readonly epoch: number;
      readonly node: string;
    }
  | { readonly kind: 'read'; readonly ids: readonly string[] };

export class SimNode {
  readonly name: string;
  readonly life: Life;
  readonly link: Link;
  readonly files: NodeFiles;
  readonly ownerships: Ownerships;
  readonly #router: Router;
  readonly #view: View;
  readonly #lease: Lease;
  readonly #snapshots: SnapshotMaker;
  readonly #peers: (name: string) => SimNode | undefined;

  constructor(options: {
    world: World;
    servers: LogServers;
    link: Link;
    name: string;
    incarnation: string;
    folder: Folder;
    schema?: number;
    isReady?: boolean;
    peers: (name: string) => SimNode | undefined;
    onFired: (workspaceId: string, id: string) => void;
  }) {
    const { world, servers, link, name, incarnation, folder, schema = 1, isReady = true, peers, onFired } = options;
    this.name = name;
    this.link = link;
    this.#peers = peers;
    this.life = new Life(world, { pace: world.between(0.995, 1.005), aheadMs: world.between(0, 5000) });
    const { clock } = this.life;
    this.files = new NodeFiles(this.life, folder, {
      node: incarnation,
      snapshots: () => connection.snapshots,
      epochOf: (workspaceId) => this.ownerships.holding(workspaceId)?.epoch ?? 0,
      onFired,
    });
    const connection = new Connection({ life: this.life, link, servers, packed: this.files.packed });
    const { logs, owners, nodes, snapshots } = connection;
    const common = { clock, log: silentLog, logs, files: this.files };
    const restorer = new Restorer({ logs, snapshots, files: this.files });
    const rush = new Rush(clock);
    const copies = new Copies({
      ...common,
      restorer,
      isTaken: (workspaceId) => this.ownerships.holding(workspaceId) !== undefined,
      isUrgent: (workspaceId) => workspaceId === directory,
      rush,
    });
    this.#view = new View({ nodes, owners });
    this.#lease = new Lease({
      nodes,
      clock,
      log: silentLog,
      record: { node: name, url: name, version: '1', schema, incarnation, isReady, isDraining: false },
      hooks: { onTerm: () => this.ownerships.onTerm(), onReplaced: () => this.end('another of its name is there') },
    });
    let made = 0;
    this.ownerships = new Ownerships({
      ...common,
      lease: this.#lease,
      view: this.#view,
      owners,
      nodes,
      peers: { warm: (node, workspaceId) => this.#forward(node, (peer) => peer.ownerships.warm(workspaceId)) },
      restorer,
      copies,
      rush,
      everywhere: new Set([directory]),
      newId: () => `${incarnation}-${(made += 1)}`,
    });
    this.#router = new Router({ clock, lease: this.#lease, view: this.#view, ownerships: this.ownerships });
    this.#snapshots = new SnapshotMaker({
      ...common,
      ownerships: this.ownerships,
      snapshots,
      restorer,
      leastBytes: leastSnapshotBytes,
    });
  }

  get isHeld(): boolean {
    return this.#lease.isHeld;
  }

  start(): void {
    this.#view.start();
    this.#lease.start().catch((error: unknown) => this.end((error as Error).name));
    this.#lookLater();
  }

  /** The process ends at once. */
  end(why: string): void {
    if (this.life.isOver) return;
    this.life.world.note(`${this.name} ends: ${why}`);
    this.#view.stop();
    this.life.end();
  }

  /** SIGTERM: it hands over what it can, within a time, and ends. */
  async stop(): Promise<void> {
    await handOverAll(this.ownerships, this.life.clock);
    this.ownerships.end(new Error('the node stops'));
    await this.#lease.leave().catch(() => undefined);
    // Others may still send something here, and answers are on their way.
    await new Promise<void>((resolve) => void this.life.clock.after(1000, resolve));
    this.end('it was stopped');
  }

  handle(request: Request): Promise<Reply> {
    return this.#router.send(request.workspaceId, {
      kind: request.kind,
      here: () => this.#here(request),
      there: (node) =>
        this.#forward(node, (peer) =>
          peer.#router.receive(request.workspaceId, { kind: request.kind, here: () => peer.#here(request) }),
        ),
    });
  }

  async #here(request: Request): Promise<Reply> {
    if (request.kind === 'read') return { kind: 'read', ids: await this.files.read(request.workspaceId) };
    const { id, position, epoch, node } = await this.files.run(request.workspaceId, request.order);
    return { kind: 'done', id, position, epoch, node };
  }

  /** Another node may be gone, paused, or cut off; whether it has done anything is then unknown. */
  #forward<Answer>(node: NodeRecord, ask: (peer: SimNode) => Promise<Answer>): Promise<Answer> {
    const peer = this.#peers(node.node);
    if (peer === undefined) return Promise.reject(new NotServed());
    return new Promise((resolve, reject) => {
      const timer = this.life.clock.after(forwardTimeoutMs, () => reject(new Error('the other node did not answer')));
      const back = (settle: () => void): void =>
        this.link.pass(() =>
          this.life.deliver(() => {
            timer.cancel();
            settle();
          }),
        );
      peer.life.onEnd(() => back(() => reject(new Error('the other node ended'))));
      peer.link.pass(() =>
        peer.life.deliver(() => {
          ask(peer).then(
            (answer) => peer.link.pass(() => back(() => resolve(answer))),
            (error: unknown) => peer.link.pass(() => back(() => reject(error))),
          );
        }),
      );
    });
  }

  #lookLater(): void {
    this.life.clock.after(lookEveryMs, () => {
      this.#snapshots.look();
      this.#lookLater();
    });
  }

  begin(workspaceId: string): Promise<void> {
    return this.ownerships.begin(workspaceId);
  }

  move(workspaceId: string, node: string): void {
    this.ownerships.move(workspaceId, node).catch(() => undefined);
  }
}
