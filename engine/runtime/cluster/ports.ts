// What several nodes need of the outside: the log of each workspace, who owns it, who is there, snapshots and the other
// nodes; and of this node: its files. JetStream gives the former in workers/cluster/, a simulation in test/. Rules of
// the cluster import these types alone. Every call ends by itself within seconds, with an error if nothing answered,
// unless it says otherwise.

/** The id that the directory's file has beside those of workspaces. */
export const directoryId = 'directory';

/** One append to a workspace's log. */
export interface LogEntry {
  /** Increases within a workspace, not by one: it counts the entries of all workspaces that share a stream. */
  readonly sequence: number;
  /** The entry before, which it was appended after; 0: none. It may have been purged. A reader compares it. */
  readonly previous: number;
  readonly bytes: Uint8Array;
}

/** Another node has appended since: who gets this no longer owns the workspace. */
export class Fenced extends Error {
  override readonly name = 'Fenced';
}

/** Nothing was written onto a copy, which is as it was: the node stops, or too many are written to. */
export class CopyBusy extends Error {
  override readonly name = 'CopyBusy';
}

/** No majority answered in time. Whether the append was taken is unknown until it is asked again under the same id. */
export class LogUnreachable extends Error {
  override readonly name: string = 'LogUnreachable';
}

/** As above, and the log's servers said that they have no room left. */
export class LogFull extends LogUnreachable {
  override readonly name = 'LogFull';
}

/** The content of snapshots is kept elsewhere than the log, and cannot be read or written there now, or from here. */
export class SnapshotsUnreachable extends Error {
  override readonly name = 'SnapshotsUnreachable';
}

export interface WorkspaceLogs {
  /**
   * Appends after the entry `expected` (0: none), and resolves to the new entry's sequence once a majority has it. Asks
   * again under the same `id` after every failure but a refusal, until `signal` aborts. Rejects with Fenced, or with
   * LogUnreachable once aborted. An append without bytes is an entry like any other.
   */
  append(
    workspaceId: string,
    entry: { readonly id: string; readonly expected: number; readonly bytes: Uint8Array },
    signal: AbortSignal,
  ): Promise<number>;
  /** Entries after `after`, in order, up to the newest of now: the leader's, not a follower's that may be behind. */
  read(workspaceId: string, after: number): AsyncIterable<LogEntry>;
  /** Entries as they come, in order, after `after`. Ends when `signal` aborts. */
  follow(workspaceId: string, after: number, signal: AbortSignal): AsyncIterable<LogEntry>;
  /** Removes entries up to and including `upTo`, but never the newest. */
  purge(workspaceId: string, upTo: number): Promise<void>;
}

/** The schema of what no node is to serve. */
export const noNodesSchema = Number.MAX_SAFE_INTEGER;

/** In place of the node that owns it: nobody, since the making of the workspace failed. */
export const discardedOwner = '-discarded';
/** With this the name begins that a command has as an owner, while it changes a file that no node serves meanwhile. */
export const changingBy = '-changing-';

export interface Ownership {
  readonly node: string;
  /** One more with each change. */
  readonly epoch: number;
  /** Version of the file's schema: older programs cannot open it. */
  readonly schema: number;
  /** Moved there by hand: it stays while the node is there. */
  readonly isPinned: boolean;
}

export interface OwnerRecord {
  readonly ownership: Ownership;
  /** What a change must name. */
  readonly revision: number;
}

export interface Owners {
  of(workspaceId: string): Promise<OwnerRecord | undefined>;
  /**
   * Compare-and-set: resolves to the new revision, or to undefined if the record is no longer at `revision` (0: there
   * is none).
   */
  set(workspaceId: string, ownership: Ownership, revision: number): Promise<number | undefined>;
  /** Every record, then every change, also those during a disconnection, until `signal` aborts. */
  watch(signal: AbortSignal): AsyncIterable<{ readonly workspaceId: string; readonly record: OwnerRecord | undefined }>;
}

/** What a node says of itself. */
export interface NodeRecord {
  readonly node: string;
  readonly url: string;
  readonly version: string;
  /** The newest schema that its program can open. */
  readonly schema: number;
  /** Differs with each start, so that a second node of one name is noticed. */
  readonly incarnation: string;
  readonly isReady: boolean;
  /** It hands its workspaces over and takes none. */
  readonly isDraining: boolean;
  /** Fingerprints of the secrets that all nodes share, by setting. Older versions do not say. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The bucket that it can read snapshots from. Undefined: none, or its program is too old to. */
  readonly snapshotBucket?: string | undefined;
}

export interface Nodes {
  /** Says that this node is there, for `leaseMs` from now. False if another incarnation of the same name is there. */
  renew(record: NodeRecord): Promise<boolean>;
  /** The record as the leader has it now; undefined: its lease has ended or it left. */
  of(node: string): Promise<NodeRecord | undefined>;
  /** Says at once that it is gone, unless another incarnation of the same name is there. */
  leave(record: NodeRecord): Promise<void>;
  /**
   * Every record, then every change, also those during a disconnection; undefined: its lease has ended or it left.
   * Until `signal` aborts.
   */
  watch(signal: AbortSignal): AsyncIterable<{ readonly node: string; readonly record: NodeRecord | undefined }>;
}

/** A database file as it was after an entry of its log. */
export interface Snapshot {
  readonly sequence: number;
  /** Of the unpacked file, lower-case hexadecimal. */
  readonly sha256: string;
  readonly bytes: number;
  /** The schema's version. */
  readonly version: number;
  /** What the next change of the file names (store/page-log/pieces.ts). */
  readonly link: string;
}

export interface Snapshots {
  /** The one of the highest sequence. */
  newest(workspaceId: string): Promise<Snapshot | undefined>;
  /**
   * Writes the packed file at `path`, whole or not at all; afterwards those of lower sequences are removed, never one
   * of a higher: a node that was paused may come late with an old one. Takes as long as the file needs, and ends with
   * LogUnreachable or SnapshotsUnreachable if nothing moves.
   */
  put(workspaceId: string, snapshot: Snapshot, path: string): Promise<void>;
  /** Fetches it packed to `path`. Rejects if it is no longer there, and as `put`. */
  get(workspaceId: string, snapshot: Snapshot, path: string): Promise<void>;
}

/** The other nodes. */
export interface Peers {
  /** Asks the node to bring its copy up to the log's newest entry; resolves when it has. Rejects if it cannot. */
  warm(node: NodeRecord, workspaceId: string): Promise<void>;
}

/** Nobody answers calls under the node's name now, or it has too many under way. It did nothing. */
export class NodeAway extends Error {
  override readonly name = 'NodeAway';
}

/** The other node refused. */
export class CallRefused extends Error {
  override readonly name = 'CallRefused';
  /** What the other node's handler gave its CallRefused: plain data, such as the slug of a refusal. */
  readonly data: unknown;

  constructor(message: string, data?: unknown) {
    super(message);
    this.data = data;
  }
}

/** No answer in time. Whether the other node did it is unknown. */
export class CallTimedOut extends Error {
  override readonly name = 'CallTimedOut';
}

export type CallHandlers = Readonly<Record<string, (params: unknown) => Promise<unknown>>>;

/** Small questions from node to node: parameters and results are JSON, each at most 512 KiB. */
export interface NodeCalls {
  /** Asks once. Rejects with NodeAway, CallRefused or CallTimedOut. */
  ask(node: string, name: string, params: unknown, timeoutMs: number): Promise<unknown>;
  /**
   * Answers calls to this node from now on, at most 64 at a time. A handler that rejects refuses: its message is passed
   * on, and the data of a CallRefused. Call it once.
   */
  answer(handlers: CallHandlers): void;
}

/**
 * What a commit waits for: `done` is called once, with null, with Voided (`lane.ts`), or with the disk's error. One commit
 * at a time: another one before that voids both.
 */
export interface CommitGate {
  pass(
    change: { readonly bytes: Uint8Array; readonly sync: (done: (error: Error | null) => void) => void },
    done: (error: Error | null) => void,
  ): void;
  /** Voids what is not acknowledged, and all that comes: what was committed cannot be put into the log. */
  break(cause: unknown): void;
}

/** The files of this node. A file is served, or it is a copy that follows the log, or there is none. */
export interface Files {
  /** The entry whose file the copy equals, to the byte. 0: there is none, or it may hold what the log does not. */
  sequence(workspaceId: string): number;
  /** Replaces the copy by the snapshot. */
  load(workspaceId: string, snapshot: Snapshot): Promise<void>;
  /** Applies the entries behind the one that the copy equals, in order. */
  apply(workspaceId: string, entries: readonly LogEntry[]): Promise<void>;
  /** The copy has everything up to now: it may be read. */
  current(workspaceId: string): Promise<void>;
  /**
   * Opens the copy for writing, or makes the file, and migrates it. Serves nothing yet. Resolves to what that changed of
   * its pages. From here on sequence() is 0, also after a crash, until release().
   */
  open(workspaceId: string): Promise<Uint8Array>;
  /** Serves it: each commit passes the gate, its timers and its outbox begin. */
  serve(workspaceId: string, gate: CommitGate): void;
  /**
   * Starts no more outside work of it, and resolves when what is under way is recorded, or after a while. Commands go
   * on.
   */
  settle(workspaceId: string): Promise<void>;
  /** Takes no more commands, not even its own timers'; resolves when nothing waits or is under way. */
  rest(workspaceId: string): Promise<void>;
  /**
   * Ends serving at once: who still waits gets an error, actors, timers and outbox are forgotten. The file equals the
   * entry `sequence`; undefined: it may hold what the log does not, and is void.
   */
  release(workspaceId: string, sequence: number | undefined): void;
  /** Removes a copy that is not served. */
  remove(workspaceId: string): void;
  /** Of the served file. */
  bytes(workspaceId: string): number;
  /**
   * Packs the served file while commands go on. `sequence` is called at the moment whose state it packs: no batch is
   * under way.
   */
  pack(
    workspaceId: string,
    sequence: () => number,
  ): Promise<{ readonly snapshot: Snapshot; readonly path: string; discard(): void }>;
}
