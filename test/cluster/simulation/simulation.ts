// A seeded simulation of a cluster: three nodes, a log, clients that write, read and claim names, and everything that
// goes wrong between them. The promises are checked as answers come and once all is well again. The same seed gives the
// same run. It needs neither network nor disk nor real time.

import { createHash } from 'node:crypto';
import { leaseMs } from '../../../engine/runtime/cluster/lease.ts';
import { Link } from './connection.ts';
import { firedOf, Ledger } from './ledger.ts';
import { LogServers } from './log-servers.ts';
import { type Folder, Refused } from './node-files.ts';
import { directory, type Reply, type Request, SimNode } from './sim-node.ts';
import { Told } from './told.ts';
import { World } from './world.ts';

export const names = ['ada', 'bea', 'cleo'] as const;
export const workspaces = ['w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7', directory] as const;
const clientCount = 20;
const clientTimeoutMs = 15_000;
/** All is well for this long before everything is checked. */
const healMs = 45_000;
/** And then each workspace answers within this time. */
const servedWithinMs = 5000;

/** Names the seed, so that it can be repeated. */
export class ClusterFailed extends Error {
  override readonly name = 'ClusterFailed';

  constructor({ seed, trace, wrong }: { seed: number; trace: readonly string[]; wrong: string }) {
    super(
      `seed ${seed}: ${wrong}\n  after\n    ${trace.slice(-25).join('\n    ')}\n  again with: node test/cluster/simulation/main.ts ${seed}`,
    );
  }
}

interface Machine {
  readonly link: Link;
  folder: Folder;
  node: SimNode | undefined;
  /** A second process of the same name. */
  double: SimNode | undefined;
}

export class ClusterSimulation {
  readonly seed: number;
  readonly world: World;
  readonly servers: LogServers;
  readonly told: Told;
  readonly #machines = new Map<string, Machine>();
  #incarnations = 0;
  #ids = 0;
  #isEnding = false;
  /** The next fault waits for so long. */
  #quietMs = 0;
  acknowledged = 0;
  faults = 0;

  constructor(seed: number) {
    this.seed = seed;
    this.world = new World(seed);
    this.servers = new LogServers(this.world);
    this.told = new Told(this.world);
    for (const name of names)
      this.#machines.set(name, {
        link: new Link(this.world),
        folder: new Map(),
        node: undefined,
        double: undefined,
      });
  }

  /** Rejects with ClusterFailed. */
  async run(seconds: number): Promise<void> {
    await this.open();
    for (let index = 0; index < clientCount; index += 1) void this.#client(index);
    this.#faultLater();
    await this.world.run(seconds * 1000);
    this.#isEnding = true;
    this.#heal();
    await this.world.run(healMs);
    await this.#checkServed();
    if (this.world.wrong === undefined) this.#checkEnd();
    this.end();
    const { wrong, trace } = this.world;
    if (wrong !== undefined) throw new ClusterFailed({ seed: this.seed, trace, wrong });
  }

  /** Three nodes, and the workspaces begun. */
  async open(): Promise<void> {
    for (const name of names) this.start(name);
    await this.world.run(200);
    for (const workspaceId of workspaces) void this.#begin(workspaceId);
    await this.world.run(5000);
  }

  /** The network loses and delays nothing from here on. */
  calm(): void {
    for (const { link } of this.#machines.values()) link.isRough = false;
  }

  end(): void {
    for (const { node, double } of this.#machines.values()) for (const one of [node, double]) one?.end('the end');
  }

  /** The same for every run of the same seed. */
  fingerprint(): string {
    const hash = createHash('sha256').update(this.world.trace.join('\n'));
    for (const [workspaceId, entries] of this.servers.history)
      for (const { sequence, bytes } of entries) hash.update(`${workspaceId} ${sequence}`).update(bytes);
    return hash.digest('hex');
  }

  nodeOf(name: string): SimNode | undefined {
    const node = this.#machines.get(name)?.node;
    return node?.life.isOver === false ? node : undefined;
  }

  #make(
    name: string,
    { folder, schema = 1, isReady = true }: { folder: Folder; schema?: number; isReady?: boolean },
  ): SimNode {
    this.#incarnations += 1;
    const link = this.#machines.get(name)?.link;
    if (link === undefined) throw new Error('no such machine');
    const node = new SimNode({
      world: this.world,
      servers: this.servers,
      link,
      name,
      incarnation: `${name}${this.#incarnations}`,
      folder,
      schema,
      isReady,
      peers: (peer) => this.nodeOf(peer),
      onFired: (workspaceId, id) => this.told.fire(workspaceId, id),
    });
    node.start();
    return node;
  }

  /** Starts a process on the machine of that name, if none runs. */
  start(name: string, as: { schema?: number; isReady?: boolean } = {}): void {
    const machine = this.#machines.get(name);
    if (machine !== undefined && this.nodeOf(name) === undefined)
      machine.node = this.#make(name, { folder: machine.folder, ...as });
  }

  /** As whoever registers does it: again, if it failed. */
  async #begin(workspaceId: string): Promise<void> {
    for (let isNew = true; isNew; )
      isNew =
        (await this.nodeOf(this.world.random.pick(names))
          ?.begin(workspaceId)
          .then(
            () => false,
            () => this.servers.ownerOf(workspaceId) === undefined,
          )) ?? true;
  }

  /** Stays with a node for a while, as behind a load balancer, and writes or reads. */
  async #client(index: number): Promise<void> {
    const { world } = this;
    const { random } = world;
    while (!this.#isEnding) {
      const name = random.pick(names);
      const isWriter = random.chance(0.25);
      for (let count = random.below(60); count > 0 && !this.#isEnding; count -= 1) {
        await world.sleep(world.between(20, 400));
        const workspaceId = random.pick(workspaces);
        if (isWriter) await this.#write(workspaceId, { client: `c${index}`, name });
        else await this.#read(workspaceId, name);
      }
    }
  }

  async #read(workspaceId: string, name: string): Promise<void> {
    const before = this.told.count(workspaceId);
    const reply = await this.ask({ kind: 'read', workspaceId }, name).catch(() => undefined);
    if (reply?.kind === 'read') this.told.read(workspaceId, { before, ids: reply.ids });
  }

  async #write(workspaceId: string, { client, name }: { client: string; name: string }): Promise<void> {
    const { world } = this;
    const { random } = world;
    this.#ids += 1;
    const id = `${client}-${this.#ids}`;
    const order =
      workspaceId === directory
        ? { id, kind: 'claim' as const, name: `name ${random.below(this.#ids)}` }
        : random.chance(0.15)
          ? { id, kind: 'arm' as const, delayMs: world.between(100, 15_000) }
          : { id, kind: 'write' as const };
    this.told.ask(workspaceId, order);
    // Some ask again after an answer that says nothing, perhaps elsewhere, and with the same id.
    let asked = name;
    for (let attempts = random.pick([1, 3, 8]); attempts > 0; attempts -= 1) {
      try {
        const reply = await this.ask({ kind: 'command', workspaceId, order }, asked);
        if (reply.kind === 'done') this.told.acknowledge(workspaceId, reply);
        this.acknowledged += 1;
        return;
      } catch (error) {
        if (error instanceof Refused) return;
        await world.sleep(world.between(100, 1000));
        asked = random.pick(names);
      }
    }
  }

  /** Over a connection to the node. Rejects if nothing is known of the outcome. */
  ask(request: Request, name: string): Promise<Reply> {
    const { world } = this;
    const machine = this.#machines.get(name);
    const node =
      machine?.double?.life.isOver === false && world.random.chance(0.5) ? machine.double : this.nodeOf(name);
    return new Promise((resolve, reject) => {
      if (node === undefined) {
        world.after(1, () => reject(new Error('refused')));
        return;
      }
      world.after(clientTimeoutMs, () => reject(new Error('timed out')));
      node.life.onEnd(() => world.after(1, () => reject(new Error('reset'))));
      world.after(world.between(0.1, 1), () =>
        node.life.deliver(() => {
          node.handle(request).then(
            (reply) => this.#leave(node, () => resolve(reply)),
            (error: unknown) => this.#leave(node, () => reject(error)),
          );
        }),
      );
    });
  }

  /** An answer is written to the connection, and arrives unless the process ended. */
  #leave(node: SimNode, settle: () => void): void {
    if (!node.life.isOver) node.life.deliver(() => void this.world.after(this.world.between(0.1, 1), settle));
  }

  #faultLater(): void {
    const quietMs = this.#quietMs;
    this.#quietMs = 0;
    this.world.after(quietMs + this.world.between(300, 6000), () => {
      if (this.#isEnding) return;
      this.faults += 1;
      this.#fault();
      this.#faultLater();
    });
  }

  #fault(): void {
    const { world } = this;
    const { random } = world;
    const name = random.pick(names);
    const machine = this.#machines.get(name);
    const node = this.nodeOf(name);
    if (machine === undefined) return;
    const forMs = world.between(500, random.pick([3000, 20_000]));
    const faults: Record<string, () => void> = {
      kill: () => {
        const isKept = random.chance(0.5);
        node?.end(isKept ? 'killed' : 'killed, its folder removed');
        if (!isKept) machine.folder = new Map();
        world.after(random.pick([10, 2000, forMs]), () => this.start(name));
      },
      pause: () => {
        node?.life.pause();
        world.note(`${name} is paused for ${Math.round(forMs)} ms`);
        world.after(forMs, () => {
          if (node?.life.isPaused === true) world.note(`${name} goes on`);
          node?.life.resume();
        });
      },
      cut: () => this.#cut(machine, { name, forMs }),
      'cut and pause': () => {
        this.#cut(machine, { name, forMs });
        faults['pause']?.();
      },
      // It ends when another has just taken over, and nothing else is wrong.
      'cut for a lease': () => {
        const ms = world.between(leaseMs - 1000, leaseMs + 2500);
        this.#cut(machine, { name, forMs: ms });
        this.#quietMs = ms + 2000;
      },
      elect: () => {
        const electionMs = world.between(1000, 9000);
        world.note(`the log elects for ${Math.round(electionMs)} ms`);
        this.servers.isElecting = true;
        world.after(electionMs, () => (this.servers.isElecting = false));
      },
      double: () => {
        if (machine.double?.life.isOver === false) return;
        world.note(`a second ${name} starts`);
        const double = this.#make(name, { folder: new Map() });
        machine.double = double;
        world.after(40_000, () => double.end('it was ended'));
      },
      stop: () => {
        if (node === undefined) return;
        world.note(`${name} is told to stop`);
        void node.stop();
        world.after(5000 + forMs, () => this.start(name));
      },
      jump: () => {
        world.note(`the clock of ${name} is set forward`);
        node?.life.jump(world.between(500, 8000));
      },
      move: () => {
        const [workspaceId, to] = [random.pick(workspaces), random.pick(names)];
        world.note(`${workspaceId} is moved to ${to}`);
        for (const one of names) this.nodeOf(one)?.move(workspaceId, to);
      },
    };
    faults[
      random.pick([
        'kill',
        'kill',
        'pause',
        'pause',
        'cut',
        'cut for a lease',
        'cut for a lease',
        'cut and pause',
        ...Object.keys(faults),
      ])
    ]?.();
  }

  #cut({ link }: Machine, { name, forMs }: { name: string; forMs: number }): void {
    const { world } = this;
    const how = world.random.pick(['drops', 'keeps'] as const);
    world.note(`${name} is cut off for ${Math.round(forMs)} ms; what it sends is ${how === 'keeps' ? 'kept' : 'lost'}`);
    link.cut(how);
    world.after(forMs, () => link.mend());
  }

  #heal(): void {
    this.world.note('all is well from here on');
    this.servers.isElecting = false;
    for (const [name, machine] of this.#machines) {
      machine.link.mend();
      machine.link.isRough = false;
      machine.double?.end('it was ended');
      machine.node?.life.resume();
      this.start(name);
      // Those that stop may still be at it, or have just ended.
      for (const ms of [2000, 8000, 15_000]) this.world.after(ms, () => this.start(name));
    }
  }

  async #checkServed(): Promise<void> {
    for (const workspaceId of workspaces) {
      for (const name of names) {
        let isServed = false;
        const failed = (error: unknown): void =>
          this.world.isWrong(`${workspaceId} is never served again, asked of ${name}: ${String(error)}`);
        const before = this.told.count(workspaceId);
        this.ask({ kind: 'read', workspaceId }, name).then((reply) => {
          isServed = true;
          if (reply.kind === 'read') this.told.read(workspaceId, { before, ids: reply.ids });
        }, failed);
        for (let ms = 0; ms < servedWithinMs && !isServed && this.world.wrong === undefined; ms += 100)
          await this.world.run(100);
        if (!isServed) failed('no answer');
        if (this.world.wrong !== undefined) return;
      }
    }
  }

  /** The log from its beginning, the served files, and what clients were told must agree. */
  #checkEnd(): void {
    for (const workspaceId of workspaces) {
      const ledger = new Ledger();
      for (const { bytes } of this.servers.history.get(workspaceId) ?? []) {
        const wrong = ledger.apply(bytes);
        if (wrong !== undefined) this.world.isWrong(`${workspaceId}: ${wrong}`);
      }
      this.told.checkEnd(workspaceId, ledger.items);
      for (const { id, kind } of ledger.items)
        if (kind === 'arm' && !ledger.positions.has(firedOf(id)))
          this.world.isWrong(`the deadline of ${id} in ${workspaceId} never fired`);
    }
  }
}
