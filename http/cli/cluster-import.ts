// `switchboard cluster import`: brings the data folder of a single server, which must be stopped, into a cluster that has
// none yet. The owner's record of the directory is a lock on the way: a schema that no node can open, until everything is
// there. An interrupted import goes on when it is repeated.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  directoryPath,
  verifyAgreement,
  verifyDirectory,
  workspaceIdsIn,
  workspacePath,
} from '../../engine/operations/integrity.ts';
import { directoryId, Fenced, noNodesSchema, type Ownership } from '../../engine/runtime/cluster/ports.ts';
import { Database, maxWrittenBytes } from '../../store/database.ts';
import { reservedEmails, reservedWorkspaces } from '../../store/directory/directory.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { firstLink } from '../../store/page-log/pieces.ts';
import { schemaVersion } from '../../store/schema-version.ts';
import type { ClusterStore } from '../../workers/cluster/cluster.ts';
import type { Packing } from '../../workers/cluster/packing.ts';
import { isKey } from '../../workers/providers/objects.ts';
import { diskObjects } from '../../workers/providers/objects-disk.ts';
import { s3Objects } from '../../workers/providers/objects-s3.ts';
import { createSecretBox } from '../../workers/secrets/secret-box.ts';
import { type Config, readConfig } from '../process/config.ts';
import { holdDataFolder, readKeptSecret, runToCompletion, unfinishedCommand } from '../process/data-folder.ts';
import { folderKeyList, type KeyedFolder, standOf } from '../process/folder-keys.ts';
import { isOfNode } from '../process/folder-owner.ts';
import { clusterOf, openStore } from './cluster.ts';
import { type Command, exitCodes, ProgramError, say } from './command.ts';
import { createProgress, type Progress } from './progress.ts';

/** No node has these names, which begin with a dash: the first node that looks takes what has such an owner. */
const importedBy = '-imported';
const importingBy = '-importing';
const appendMs = 30_000;
const askedAtOnce = 16;
/** Files in the data folder that a cluster keeps elsewhere or does without. */
const leftBehind = ['outbox', 'operator-mail', 'models'];

export const command: Command = {
  usage: 'DATA_DIR',
  description: `Brings the data folder of a single server into a cluster that has no data yet: its workspaces, its directory, and, with
STORAGE_PROVIDER=s3, its uploads. The server must be stopped for good: afterwards the folder must not be served by itself. The nodes
can run meanwhile, if they have not made a directory: best import first, and start them then.

The settings are those of a node. JWT_SECRET and SECRETS_KEY must be the ones that the folder was served with: the contents of its
files jwt-secret and secrets-key, unless they came from the environment.

If it is interrupted, repeat it: it goes on. Until then the folder cannot be served.`,
  options: {},
  operands: { min: 1, max: 1 },
  async run({ operands: [folder = ''] }) {
    const config = readConfig(process.env);
    clusterOf(config);
    const dataDir = resolve(folder);
    if (isOfNode(dataDir))
      throw new ProgramError(
        `${dataDir} is the data folder of a node: it holds copies of what its cluster has. switchboard backup with the settings of that cluster copies what it has, and a folder that this was restored to can be imported`,
      );
    if (!existsSync(directoryPath(dataDir)))
      throw new ProgramError(`${dataDir} is no data folder: it has no directory.db`);
    const lock = holdDataFolder(dataDir);
    const progress = createProgress();
    let store: ClusterStore | undefined;
    const { createPacking } = await import('../../workers/cluster/packing.ts');
    const packing = createPacking();
    try {
      requireWhole(dataDir);
      requireKeys(config, dataDir);
      requireSizes(dataDir);
      const uploads = uploadsIn(config, dataDir);
      store = await openStore(config, { mustExist: false });
      await new Import({ config, dataDir, store, packing, progress }).run(uploads);
    } finally {
      progress.end();
      await packing.stop();
      await store?.close();
      lock.release();
    }
    return exitCodes.done;
  },
};

function requireSizes(dataDir: string): void {
  const paths = [directoryPath(dataDir), ...workspaceIdsIn(dataDir).map((id) => workspacePath(dataDir, id))];
  for (const path of paths)
    if (statSync(path).size > maxWrittenBytes)
      throw new ProgramError(`${path} is larger than 2 GiB, the most that a cluster holds of one workspace`);
}

interface ImportOptions {
  readonly config: Config;
  readonly dataDir: string;
  readonly store: ClusterStore;
  readonly packing: Packing;
  readonly progress: Progress;
}

class Import {
  readonly #options: ImportOptions;
  readonly #ids: readonly string[];
  readonly #deed: string;
  /** Names the folder by what does not change while it is brought in. */
  readonly #lockName: string;

  constructor(options: ImportOptions) {
    const { dataDir } = options;
    this.#options = options;
    this.#ids = workspaceIdsIn(dataDir);
    this.#deed = `cluster import ${dataDir}`;
    const digest = createHash('sha256').update(this.#ids.join('\n')).digest('hex').slice(0, 16);
    this.#lockName = `${importingBy}-${digest}`;
  }

  async run(uploads: readonly string[]): Promise<void> {
    const { dataDir } = this.#options;
    const begun = unfinishedCommand(dataDir);
    if (begun !== undefined && begun !== this.#deed)
      throw new ProgramError(`an earlier command was interrupted; finish it first: switchboard ${begun}`);
    const revision = await this.#lock({ isAgain: begun !== undefined });
    // Its last step was done, and only the note in the folder is left.
    if (revision === undefined) await runToCompletion(dataDir, this.#deed, async () => undefined);
    else await runToCompletion(dataDir, this.#deed, () => this.#bringIn(uploads, revision));
    const { length } = this.#ids;
    say(
      `${length === 1 ? '1 workspace is' : `${length} workspaces are`} in the cluster ${this.#options.config.cluster?.name}. Do not serve ${dataDir} by itself any more.`,
    );
    const left = leftBehind.filter((name) => existsSync(join(dataDir, name)));
    if (left.length > 0) say(`Not brought in, since nodes keep it each on its own: ${left.join(', ')}.`);
  }

  /** Keeps nodes and other imports out. The lock's revision; undefined if an earlier run of this import was complete. */
  async #lock({ isAgain }: { isAgain: boolean }): Promise<number | undefined> {
    const { owners } = this.#options.store;
    const found = await owners.of(directoryId);
    if (found?.ownership.node === this.#lockName) return found.revision;
    if (found !== undefined && isAgain) return undefined;
    if (found?.ownership.node.startsWith(importingBy) === true)
      throw new ProgramError('another data folder is being imported into this cluster');
    if (found !== undefined || isAgain || (await this.#isAnyKnown()))
      throw new ProgramError(
        'the cluster has data already: a data folder can be imported only before the first node has started. Set another CLUSTER_NAME for a new cluster',
      );
    const lock = { node: this.#lockName, epoch: 1, schema: noNodesSchema, isPinned: false };
    const revision = await owners.set(directoryId, lock, 0);
    if (revision === undefined) throw new ProgramError('the cluster was just started by a node or another import');
    return revision;
  }

  async #isAnyKnown(): Promise<boolean> {
    const { inventory } = this.#options.store;
    const files = [...this.#ids, directoryId];
    const [owned, sequences] = await Promise.all([inventory.owners(), inventory.sequences(files)]);
    return files.some((id) => owned.has(id) || sequences.get(id) !== 0);
  }

  async #bringIn(uploads: readonly string[], lockRevision: number): Promise<void> {
    const { store, progress } = this.#options;
    await this.#copyUploads(uploads);
    const files = [...this.#ids, directoryId];
    const bytes = files.map((id) => statSync(this.#pathOf(id)).size);
    const all = bytes.reduce((sum, one) => sum + one, 1);
    let done = 0;
    for (const [index, id] of files.entries()) {
      progress.at(done / all, id === directoryId ? 'the directory' : `workspace ${id}`);
      await this.#storeFile(id);
      done += bytes[index] ?? 0;
    }
    await eachOf(this.#ids, async (id) => {
      // Taken at an earlier run, it may be a node's by now.
      if ((await store.owners.of(id)) === undefined) await store.owners.set(id, unowned(1), 0);
    });
    // The last step: from here on the nodes serve.
    if ((await store.owners.set(directoryId, unowned(2), lockRevision)) === undefined)
      throw new ProgramError('somebody changed the owner of the directory during the import: nothing is served');
  }

  /** The log's first entry is empty, and the snapshot is the file as it is after it. */
  async #storeFile(id: string): Promise<void> {
    const { store, packing, dataDir } = this.#options;
    if ((await store.snapshots.newest(id)) !== undefined) return;
    let sequence: number;
    try {
      const entry = { id: `import ${this.#lockName}`, expected: 0, bytes: new Uint8Array() };
      sequence = await store.logs.append(id, entry, AbortSignal.timeout(appendMs));
    } catch (error) {
      if (error instanceof Fenced) throw new ProgramError(`the cluster has a log of ${id} already`);
      throw error;
    }
    const work = join(dataDir, 'importing');
    rmSync(work, { recursive: true, force: true });
    mkdirSync(work, { mode: 0o700 });
    try {
      const packed = join(work, `${id}.packed`);
      const held = await packing.hold(this.#pathOf(id));
      const file = await held.pack(packed);
      await store.snapshots.put(id, { sequence, ...file, link: firstLink }, packed);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }

  async #copyUploads(keys: readonly string[]): Promise<void> {
    const { config, dataDir, progress } = this.#options;
    if (config.storage.provider !== 's3') return;
    const bucket = s3Objects(config.storage);
    const disk = diskObjects(join(dataDir, 'storage'));
    for (const [index, key] of keys.entries()) {
      progress.at(index / keys.length, 'uploads');
      const found = await disk.find(key);
      if (found === undefined || (await bucket.find(key))?.size === found.size) continue;
      const content = disk.read(key, { start: 0, end: Math.max(0, found.size - 1) });
      await bucket.put(key, { contentType: 'application/octet-stream', size: found.size }, content);
    }
  }

  #pathOf(id: string): string {
    const { dataDir } = this.#options;
    return id === directoryId ? directoryPath(dataDir) : workspacePath(dataDir, id);
  }
}

function unowned(epoch: number): Ownership {
  return { node: importedBy, epoch, schema: schemaVersion, isPinned: false };
}

async function eachOf(ids: readonly string[], work: (id: string) => Promise<void>): Promise<void> {
  const waiting = ids.values();
  const some = async (): Promise<void> => {
    // They share the iterator.
    for (const id of waiting) await work(id);
  };
  await Promise.all(Array.from({ length: askedAtOnce }, some));
}

/** What a start of the server by itself would settle or complain of is not carried into a cluster. */
function requireWhole(dataDir: string): void {
  const faults = [...verifyDirectory(directoryPath(dataDir)), ...verifyAgreement(dataDir)];
  const [first] = faults;
  if (first !== undefined)
    throw new ProgramError(`${first.where}: ${first.fault}. switchboard verify shows it all; repair it first`);
  const directory = Database.openReader(directoryPath(dataDir));
  try {
    for (const id of workspaceIdsIn(dataDir)) requireVersion(workspacePath(dataDir, id));
    if (reservedWorkspaces(directory).length + reservedEmails(directory).length > 0)
      throw new ProgramError(
        `a registration or an invitation in ${dataDir} was interrupted: start the server on it once more and stop it, which settles that`,
      );
  } finally {
    directory.close();
  }
}

function requireVersion(path: string): void {
  const db = Database.openReader(path);
  try {
    const newest = workspaceMigrations.at(-1)?.version ?? 0;
    if (db.version < 1 || db.version > newest)
      throw new ProgramError(
        db.version < 1
          ? `${path} is empty: restore it first`
          : `${path} was written by a newer version of this program`,
      );
  } finally {
    db.close();
  }
}

/** The cluster's keys must open what the folder's sealed. */
function requireKeys({ jwtSecret, secretsKey }: Config, dataDir: string): void {
  const directory = Database.openReader(directoryPath(dataDir));
  try {
    const folder: KeyedFolder = { dataDir, directory, given: { jwtSecret, secretsKey }, boxOf: createSecretBox };
    for (const one of folderKeyList) {
      const { stand, key } = standOf(folder, one);
      const kept = readKeptSecret(join(dataDir, one.file));
      const isSame = stand === 'same' || (stand === 'new' && (kept === undefined || kept === key));
      if (!isSame)
        throw new ProgramError(
          `${one.setting} is not the key that ${dataDir} was served with; on every node, set it to ${kept === undefined ? 'the one from its environment' : `the content of ${join(dataDir, one.file)}`}`,
        );
    }
  } finally {
    directory.close();
  }
}

/** Keys of the uploads on the disk. Throws ProgramError if the cluster keeps none. */
function uploadsIn({ storage }: Config, dataDir: string): string[] {
  const folder = join(dataDir, 'storage');
  if (!existsSync(folder)) return [];
  const keys = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(isKey);
  if (keys.length > 0 && storage.provider !== 's3')
    throw new ProgramError(
      `${dataDir} has ${keys.length} uploaded files, and the cluster keeps none: set STORAGE_PROVIDER=s3 and a bucket, on every node`,
    );
  return keys;
}
