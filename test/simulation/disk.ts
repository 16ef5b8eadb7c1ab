// The disk of a simulated machine. For every database it knows what was written, and what of it would survive a power
// cut. The simulation completes syncs, in any order, or fails them. A folder's sync is requested and completed like a
// log's.

import {
  copyFileSync,
  existsSync,
  fstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { SyncToDisk } from '../../store/database.ts';
import type { Random } from '../support/seeded.ts';

/**
 * The durable content of each file's log. It survives the process, not a power cut. Only copying a log back writes to a
 * file itself, between syncs of its own, so files are always as written.
 */
export type Kept = Map<string, Buffer>;

/** `process`: everything written survives. `power`: synced data survives, and a random part of the rest. */
export type Crash = 'process' | 'power';

/** SQLite syncs these itself before it writes what follows. */
const logHeaderBytes = 32;
/** A disk writes a sector completely or not at all. */
const sectorBytes = 512;

export class SimulatedDisk {
  readonly #folder: string;
  readonly #random: Random;
  readonly kept: Kept;
  /** By file, the newest completed sync. An older one that completes later changes nothing. */
  readonly #newest = new Map<string, number>();
  #waiting: ((error: Error | null) => void)[] = [];
  #asked = 0;
  /** Completes each sync immediately. */
  isPrompt = true;
  #onDurable: (file: string) => () => void = () => () => {};

  /** Without `kept`, everything found in the folder counts as durable. */
  constructor(folder: string, options: { random: Random; kept?: Kept }) {
    this.#folder = folder;
    this.#random = options.random;
    mkdirSync(join(folder, 'workspaces'), { recursive: true });
    this.kept = options.kept ?? new Map(this.#files().map((file) => [file, this.#logOf(file)]));
  }

  /** `asked` is called when a file's sync begins; the function it returns, when that has become durable. */
  onDurable(asked: (file: string) => () => void): void {
    this.#onDurable = asked;
  }

  readonly sync: SyncToDisk = (descriptor, done, kind) => {
    if (kind === 'folder') {
      this.#wait(done);
      return;
    }
    const file = this.#fileOf(descriptor);
    const log = this.#logOf(file);
    const order = (this.#asked += 1);
    if (kind === 'found log') {
      this.#keep(file, { log, order });
      done(null);
      return;
    }
    const isDurable = this.#onDurable(file);
    this.#wait((error) => {
      if (error === null) {
        this.#keep(file, { log, order });
        isDurable();
      }
      done(error);
    });
  };

  /** A log was copied back, which syncs the log before and the file after. */
  copiedBack(path: string): void {
    const file = path.slice(this.#folder.length + 1);
    this.#keep(file, { log: this.#logOf(file), order: (this.#asked += 1) });
  }

  /** A power cut would lose nothing of the log of the file at `path`. */
  isCertain(path: string): boolean {
    const file = path.slice(this.#folder.length + 1);
    return this.kept.get(file)?.equals(this.#logOf(file)) ?? false;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Completes one of the pending syncs, usually the oldest. */
  complete(error: Error | null = null): void {
    const index = this.#random.next() < 0.3 ? this.#random.below(this.#waiting.length) : 0;
    for (const end of this.#waiting.splice(index, 1)) end(error);
  }

  completeAll(): void {
    while (this.#waiting.length > 0) this.complete();
  }

  /** Writes what survives a crash to another folder, and returns its durable part. Pending syncs never complete. */
  crashInto(folder: string, crash: Crash): Kept {
    this.#waiting = [];
    mkdirSync(join(folder, 'workspaces'), { recursive: true });
    const left: Kept = new Map();
    for (const file of this.#files()) {
      const log = crash === 'process' ? this.#logOf(file) : this.#logAfterPowerCut(file);
      if (log === undefined) continue;
      left.set(file, log);
      copyFileSync(join(this.#folder, file), join(folder, file));
      if (log.length > 0) writeFileSync(join(folder, `${file}-wal`), log);
    }
    return crash === 'process' ? this.kept : left;
  }

  /** Undefined if not even the file's name survived. */
  #logAfterPowerCut(file: string): Buffer | undefined {
    const kept = this.kept.get(file);
    const written = this.#logOf(file);
    if (kept === undefined) return this.#random.next() < 0.5 ? undefined : written;
    return this.#tornLog(kept, written);
  }

  /** Some of the unsynced sectors survive. */
  #tornLog(kept: Buffer, written: Buffer): Buffer {
    const header = written.subarray(0, logHeaderBytes);
    const torn = Buffer.alloc(Math.max(kept.length, written.length));
    kept.copy(torn);
    header.copy(torn);
    const kind = this.#random.pick(['none', 'all', 'first', 'some'] as const);
    if (kind === 'none') return torn.subarray(0, Math.max(kept.length, header.length));
    const end = kind === 'first' ? this.#random.below(written.length + 1) : written.length;
    for (let at = 0; at < end; at += sectorBytes) {
      if (kind !== 'some' || this.#random.next() < 0.7) written.copy(torn, at, at, Math.min(end, at + sectorBytes));
    }
    return torn;
  }

  #keep(file: string, { log, order }: { log: Buffer; order: number }): void {
    if (order < (this.#newest.get(file) ?? 0)) return;
    this.#newest.set(file, order);
    this.kept.set(file, log);
  }

  #wait(end: (error: Error | null) => void): void {
    if (this.isPrompt) setImmediate(() => end(null));
    else this.#waiting.push(end);
  }

  #files(): string[] {
    const workspaces = readdirSync(join(this.#folder, 'workspaces')).map((name) => `workspaces/${name}`);
    return ['directory.db', ...workspaces]
      .filter((file) => file.endsWith('.db') && existsSync(join(this.#folder, file)))
      .sort();
  }

  #fileOf(descriptor: number): string {
    const { ino } = fstatSync(descriptor);
    const file = this.#files().find(
      (one) => existsSync(join(this.#folder, `${one}-wal`)) && statSync(join(this.#folder, `${one}-wal`)).ino === ino,
    );
    if (file === undefined) throw new Error(`the descriptor is of no log in ${this.#folder}`);
    return file;
  }

  #logOf(file: string): Buffer {
    const path = join(this.#folder, `${file}-wal`);
    return existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  }
}
