// One node's connection to the log's servers, as bad as networks are: late, lost on the way there or back, twice, cut in
// the middle, or down for a while, with what was sent meanwhile dropped or delivered afterwards.

import {
  Fenced,
  type LogEntry,
  LogUnreachable,
  type Nodes,
  type Owners,
  type Snapshots,
  type WorkspaceLogs,
} from '../../../engine/runtime/cluster/ports.ts';
import type { LogServers } from './log-servers.ts';
import type { Life, World } from './world.ts';

const requestTimeoutMs = 2000;
const appendTimeoutMs = 700;
const askAgainMs = 100;

/** Between a machine and the log's servers. */
export class Link {
  readonly world: World;
  /** Faults of single messages. */
  isRough = true;
  #down: 'drops' | 'keeps' | undefined;
  #kept: (() => void)[] = [];

  constructor(world: World) {
    this.world = world;
  }

  get isUp(): boolean {
    return this.#down === undefined;
  }

  cut(how: 'drops' | 'keeps'): void {
    this.#down = how;
  }

  mend(): void {
    this.#down = undefined;
    for (const call of this.#kept.splice(0)) this.world.after(this.world.between(0, 50), () => this.pass(call));
  }

  /** Delivers after a while, perhaps never. */
  pass(call: () => void): void {
    const { random } = this.world;
    if (this.isRough && random.chance(0.004)) return;
    const isLate = this.isRough && random.chance(0.01);
    this.world.after(isLate ? this.world.between(50, 3000) : this.world.between(0.1, 2), () => {
      if (this.#down === 'keeps') this.#kept.push(call);
      else if (this.#down === undefined) call();
    });
  }
}

export class Connection {
  readonly #life: Life;
  readonly #link: Link;
  readonly #servers: LogServers;
  /** Packed files of the node, by path. */
  readonly #packed: Map<string, string>;

  constructor(options: { life: Life; link: Link; servers: LogServers; packed: Map<string, string> }) {
    this.#life = options.life;
    this.#link = options.link;
    this.#servers = options.servers;
    this.#packed = options.packed;
  }

  readonly logs: WorkspaceLogs = {
    append: (workspaceId, entry, signal) => this.#append(workspaceId, entry, signal),
    read: (workspaceId, after) => this.#read(workspaceId, after),
    follow: (workspaceId, after, signal) => this.#follow(workspaceId, { after, signal }),
    purge: (workspaceId, upTo) => this.#ask(() => this.#servers.purge(workspaceId, upTo)),
  };

  readonly owners: Owners = {
    of: (workspaceId) => this.#ask(() => this.#servers.ownerOf(workspaceId)),
    set: (workspaceId, ownership, revision) =>
      this.#ask(() => this.#servers.setOwner(workspaceId, ownership, revision)),
    watch: (signal) => this.#watchOwners(signal),
  };

  readonly nodes: Nodes = {
    renew: (record) => this.#ask(() => this.#servers.renew(record)),
    of: (node) => this.#ask(() => this.#servers.node(node)),
    leave: (record) => this.#ask(() => this.#servers.leave(record)),
    watch: (signal) => this.#watchNodes(signal),
  };

  readonly snapshots: Snapshots = {
    newest: (workspaceId) => this.#ask(() => this.#servers.newestSnapshot(workspaceId)),
    put: (workspaceId, snapshot, path) => {
      const content = this.#packed.get(path);
      if (content === undefined) return Promise.reject(new Error(`there is no ${path}`));
      return this.#ask(() => this.#servers.putSnapshot(workspaceId, snapshot, content), {
        takesMs: this.#life.world.between(1, 300),
      });
    },
    get: async (workspaceId, snapshot, path) => {
      const content = await this.#ask(() => this.#servers.snapshotContent(workspaceId, snapshot), {
        takesMs: this.#life.world.between(1, 300),
      });
      this.#packed.set(path, content);
    },
  };

  #ask<Answer>(
    serve: () => Answer,
    { timeoutMs = requestTimeoutMs, takesMs = 0 }: { timeoutMs?: number; takesMs?: number } = {},
  ): Promise<Answer> {
    const { random } = this.#link.world;
    return new Promise((resolve, reject) => {
      const timer = this.#life.clock.after(timeoutMs, () => reject(new LogUnreachable('nothing answered in time')));
      const answer = (settle: () => void): void =>
        this.#link.pass(() =>
          this.#life.deliver(() => {
            timer.cancel();
            settle();
          }),
        );
      const arrive = (): void => {
        if (this.#servers.isElecting) {
          if (random.chance(0.5)) answer(() => reject(new Error('there is no leader')));
          return;
        }
        try {
          const result = serve();
          answer(() => resolve(result));
        } catch (error) {
          answer(() => reject(error));
        }
      };
      this.#life.world.after(takesMs, () => this.#link.pass(arrive));
    });
  }

  async #append(
    workspaceId: string,
    entry: { id: string; expected: number; bytes: Uint8Array },
    signal: AbortSignal,
  ): Promise<number> {
    const { random } = this.#link.world;
    while (!signal.aborted) {
      const serve = (): number => {
        // Refused for another reason, or a batch of messages that broke off: nothing of it counts.
        if (this.#link.isRough && random.chance(0.005)) throw new Error('too many requests');
        return this.#servers.append(workspaceId, entry);
      };
      if (this.#link.isRough && random.chance(0.01)) void this.#ask(serve).catch(() => undefined);
      try {
        return await abortable(this.#ask(serve, { timeoutMs: appendTimeoutMs }), signal);
      } catch (error) {
        if (error instanceof Fenced) throw error;
      }
      if (!signal.aborted)
        await new Promise<void>((resolve) => void this.#life.clock.after(askAgainMs, () => resolve()));
    }
    throw new LogUnreachable('no majority has acknowledged it in time');
  }

  async *#read(workspaceId: string, after: number): AsyncIterable<LogEntry> {
    const { random } = this.#link.world;
    const entries = await this.#ask(() => this.#servers.entriesAfter(workspaceId, after));
    const cutAt = this.#link.isRough && random.chance(0.02) ? random.below(entries.length + 1) : undefined;
    for (const [index, entry] of entries.entries()) {
      if (index === cutAt) throw new Error('the connection broke');
      yield entry;
    }
  }

  async *#follow(
    workspaceId: string,
    { after, signal }: { after: number; signal: AbortSignal },
  ): AsyncIterable<LogEntry> {
    let last = after;
    for await (const _ of this.#news((call) => this.#servers.onEntry(workspaceId, call), signal)) {
      for (const entry of this.#servers.entriesAfter(workspaceId, last)) {
        last = entry.sequence;
        yield entry;
      }
    }
  }

  async *#watchOwners(signal: AbortSignal): ReturnType<Owners['watch']> {
    let seen = 0;
    const { ownerChanges } = this.#servers;
    for await (const _ of this.#news((call) => ownerChanges.watch(call), signal))
      for (const { key, value } of ownerChanges.list.slice(seen)) {
        seen += 1;
        yield { workspaceId: key, record: value };
      }
  }

  async *#watchNodes(signal: AbortSignal): ReturnType<Nodes['watch']> {
    let seen = 0;
    const { nodeChanges } = this.#servers;
    for await (const _ of this.#news((call) => nodeChanges.watch(call), signal))
      for (const { key, value } of nodeChanges.list.slice(seen)) {
        seen += 1;
        yield { node: key, record: value };
      }
  }

  /** Once at first, then whenever there is something new and the connection is up, a moment late. */
  async *#news(watch: (call: () => void) => () => void, signal: AbortSignal): AsyncIterable<void> {
    const { world } = this.#link;
    let isNew = true;
    let wake: () => void = () => {};
    const poke = (): void => {
      if (this.#life.isOver) return;
      if (!this.#link.isUp) {
        world.after(world.between(50, 2000), poke);
        return;
      }
      this.#life.deliver(() => {
        isNew = true;
        wake();
      });
    };
    const end = watch(() =>
      world.after(world.random.chance(0.03) ? world.between(20, 1500) : world.between(0.2, 5), poke),
    );
    signal.addEventListener('abort', () => wake());
    while (!signal.aborted) {
      if (!isNew) await new Promise<void>((resolve) => (wake = resolve));
      if (signal.aborted) break;
      isNew = false;
      yield;
    }
    end();
  }
}

/** Leaves nothing at the signal, which a gate has for all of its appends. */
async function abortable<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(new LogUnreachable('given up'));
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort);
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
