// Files of a cluster as a data folder, for commands: the directory first, then workspaces, each as of its
// own moment. Never served. It holds what a data folder holds, so it is removed at the end, also of an interrupted command.

import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { directoryPath, workspacePath } from '../../engine/operations/integrity.ts';
import { directoryId, noNodesSchema } from '../../engine/runtime/cluster/ports.ts';
import { Database, removeDatabase } from '../../store/database.ts';
import { directoryWorkspaces } from '../../store/directory/directory.ts';
import type { ClusterStore } from '../../workers/cluster/cluster.ts';
import type { Gathered, GatherOptions, gather } from '../../workers/cluster/gathering.ts';
import type { Packing } from '../../workers/cluster/packing.ts';
import type { ClusterConfig, Config } from '../process/config.ts';
import { clusterOf, openStore } from './cluster.ts';
import { ProgramError } from './command.ts';
import { createProgress } from './progress.ts';
import { workspaceNamed } from './workspace-named.ts';

export interface GatherAsked {
  /** The backup's folder, which must not exist. */
  readonly to: string;
  /** One workspace, by id or subdomain. */
  readonly named: string | undefined;
}

/** Packed and unpacked at once; the log behind a snapshot makes it little larger. */
const roomPerByte = 2;
const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** For a backup. The folder is removed when `use` has ended. */
export async function withGathered<Result>(
  config: Config,
  { to, named }: GatherAsked,
  use: (dataDir: string) => Promise<Result>,
): Promise<Result> {
  if (existsSync(to)) throw new ProgramError(`${to} already exists`);
  const dataDir = `${to}.gathered`;
  rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  return removedAtTheEnd(dataDir, async () => {
    const room = { dataDir, advice: 'choose a FOLDER on a disk with more room' };
    await withGathering(config, room, (gathering) => gatherAll(gathering, named));
    return use(dataDir);
  });
}

/** One workspace in a temporary folder, which is removed when `use` has ended. */
export function withGatheredWorkspace<Result>(
  config: Config,
  named: string,
  use: (dataDir: string) => Promise<Result>,
): Promise<Result> {
  return inTemporaryFolder(config, async (gathering) => {
    await gatherAll(gathering, named);
    return use(gathering.dataDir);
  });
}

/** The directory alone is in the folder when `use` is called; the folder is removed when that has ended. */
export async function inTemporaryFolder<Result>(
  config: Config,
  use: (gathering: Gathering) => Promise<Result>,
): Promise<Result> {
  const temporary = mkdtempSync(join(tmpdir(), 'switchboard-gathered-'));
  return removedAtTheEnd(temporary, () => {
    // Named as what was checked, in findings.
    const dataDir = join(temporary, clusterOf(config).name);
    mkdirSync(dataDir, { mode: 0o700 });
    return withGathering(config, { dataDir, advice: 'set TMPDIR to a folder on a disk with more room' }, use);
  });
}

interface Room {
  readonly dataDir: string;
  /** What to do where the disk has too little room. */
  readonly advice: string;
}

/** Rejects if the cluster has no data yet. */
async function withGathering<Result>(
  config: Config,
  room: Room,
  use: (gathering: Gathering) => Promise<Result>,
): Promise<Result> {
  const { gather } = await import('../../workers/cluster/gathering.ts');
  const { createPacking } = await import('../../workers/cluster/packing.ts');
  for (const name of ['workspaces', 'incoming']) mkdirSync(join(room.dataDir, name), { mode: 0o700 });
  const packing = createPacking();
  let store: ClusterStore | undefined;
  try {
    const cluster = clusterOf(config);
    store = await openStore(config, { mustExist: true });
    // A name that a backup leaves out.
    const options = { store, packing, work: join(room.dataDir, 'incoming') };
    const gathering = new Gathering({
      cluster,
      config,
      store,
      packing,
      room,
      gather: (...of) => gather(options, ...of),
    });
    if (!(await gathering.fetch(directoryId))) throw new ProgramError(`the cluster ${cluster.name} has no data yet`);
    return await use(gathering);
  } finally {
    await packing.stop();
    await store?.close();
  }
}

type Gather = typeof gather extends (options: GatherOptions, ...of: infer Of) => infer Result
  ? (...of: Of) => Result
  : never;

interface GatheringOptions {
  readonly cluster: ClusterConfig;
  readonly config: Config;
  readonly store: ClusterStore;
  readonly packing: Packing;
  readonly room: Room;
  readonly gather: Gather;
}

export class Gathering {
  readonly dataDir: string;
  /** For messages. */
  readonly title: string;
  readonly store: ClusterStore;
  readonly packing: Packing;
  readonly #options: GatheringOptions;

  constructor(options: GatheringOptions) {
    this.#options = options;
    this.dataDir = options.room.dataDir;
    this.store = options.store;
    this.packing = options.packing;
    this.title = `the cluster ${options.cluster.name}`;
  }

  /**
   * Fetches the file of a workspace, or of the directory, as it is now, in place of one that is there. Undefined: the
   * cluster has none. Throws ProgramError if the disk has too little room.
   */
  async fetch(id: string): Promise<Gathered | undefined> {
    this.remove(id);
    await this.#requireRoom(id);
    try {
      return await this.#options.gather(id, this.pathOf(id));
    } catch (error) {
      if (!isFull(error)) throw error;
      throw new ProgramError(`the disk of ${this.dataDir} is full; ${this.#options.room.advice}`);
    }
  }

  remove(id: string): void {
    removeDatabase(this.pathOf(id));
  }

  /** For what is under way. */
  workPath(name: string): string {
    return join(this.dataDir, 'incoming', name);
  }

  pathOf(id: string): string {
    return id === directoryId ? directoryPath(this.dataDir) : workspacePath(this.dataDir, id);
  }

  /** Those whose registration is complete, by the directory that was fetched last. */
  listed(): string[] {
    const directory = Database.openReader(directoryPath(this.dataDir));
    try {
      return directoryWorkspaces(directory).flatMap(({ id, reservedAt }) => (reservedAt === null ? [id] : []));
    } finally {
      directory.close();
    }
  }

  /** Those that a node serves or is to serve. */
  async owned(): Promise<string[]> {
    const owners = await this.#options.store.inventory.owners();
    // Not those whose making failed.
    return [...owners].flatMap(([id, { schema }]) => (id === directoryId || schema === noNodesSchema ? [] : [id]));
  }

  async #requireRoom(id: string): Promise<void> {
    const { store, config, room } = this.#options;
    const bytes = ((await store.snapshots.newest(id))?.bytes ?? 0) * roomPerByte;
    const { bavail, bsize } = await statfs(this.dataDir);
    const besideNode = statSync(this.dataDir).dev === statSync(config.dataDir, { throwIfNoEntry: false })?.dev;
    const kept = besideNode ? config.diskReserveBytes : 0;
    if (bavail * bsize >= bytes + kept) return;
    const what = id === directoryId ? 'the directory' : `workspace ${id}`;
    throw new ProgramError(
      `${dirname(this.dataDir)} has ${inMb(bavail * bsize)} free: ${what} may take ${inMb(bytes)} there for a while${kept === 0 ? '' : `, and ${inMb(kept)} must stay free for the node (DISK_RESERVE_BYTES)`}; ${room.advice}`,
    );
  }
}

async function gatherAll(gathering: Gathering, named: string | undefined): Promise<void> {
  const { dataDir, title } = gathering;
  const progress = createProgress();
  try {
    const ids = named === undefined ? gathering.listed() : [workspaceNamed(dataDir, named, title).id];
    for (const [index, id] of ids.entries()) {
      progress.at(index / ids.length, `gathering workspace ${id}`);
      // What is missing is a finding of the backup.
      await gathering.fetch(id);
    }
  } finally {
    progress.end();
  }
}

async function removedAtTheEnd<Result>(folder: string, use: () => Promise<Result>): Promise<Result> {
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const interrupted = (signal: NodeJS.Signals): void => {
    if (isUninterrupted) {
      // Once more ends it at once.
      process.stderr.write('switchboard: ends in a moment\n');
      interruption ??= signal;
      return;
    }
    remove();
    process.kill(process.pid, signal);
  };
  for (const signal of signals) process.once(signal, interrupted);
  // Also after what nobody catches, such as a full disk behind stdout.
  process.once('exit', remove);
  try {
    return await use();
  } catch (error) {
    // The signal ends the process before its caller says so.
    if (interruption !== undefined)
      process.stderr.write(`switchboard: ${error instanceof Error ? error.message : error}\n`);
    throw error;
  } finally {
    for (const signal of signals) process.off(signal, interrupted);
    process.off('exit', remove);
    remove();
    if (interruption !== undefined) process.kill(process.pid, interruption);
  }
}

let isUninterrupted = false;
let interruption: NodeJS.Signals | undefined;

/** For work that must not be left half done: a signal that comes meanwhile counts when the command has ended. */
export async function uninterrupted<Result>(work: () => Promise<Result>): Promise<Result> {
  isUninterrupted = true;
  try {
    return await work();
  } finally {
    isUninterrupted = false;
  }
}

/** What comes from another thread has its message alone. */
function isFull(error: unknown): boolean {
  return error instanceof Error && /\bENOSPC\b|database or disk is full/.test(error.message);
}

function inMb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
