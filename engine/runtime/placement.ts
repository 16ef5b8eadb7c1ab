// Which of several nodes serves a workspace, as the engine of one node needs to know it. With one node there is no
// placement: it serves all.

/** Another node serves the workspace, or will in a moment. Nothing was done: it can be asked there. */
export class ServedElsewhere extends Error {
  override readonly name = 'ServedElsewhere';
  readonly workspaceId: string;

  constructor(workspaceId: string) {
    super(`workspace ${workspaceId} is served by another node`);
    this.workspaceId = workspaceId;
  }
}

/** What the caller goes on with is in another node's memory. Nothing was done: it can be asked there. */
export class KeptElsewhere extends Error {
  override readonly name = 'KeptElsewhere';
  readonly node: string;

  constructor(node: string) {
    super(`node ${node} has it in memory`);
    this.node = node;
  }
}

/** A part of another workspace, which another node serves, is needed first. Nothing was done. */
export class NeededFromElsewhere extends Error {
  override readonly name = 'NeededFromElsewhere';
  /** Resolves when it is here for a moment: then the same can be done again. */
  readonly fetch: () => Promise<void>;

  constructor(what: string, fetch: () => Promise<void>) {
    super(`${what} is served by another node`);
    this.fetch = fetch;
  }
}

/** Nothing was done here, and a request can be answered in another way. */
export type Elsewhere = ServedElsewhere | KeptElsewhere | NeededFromElsewhere;

export function isElsewhere(error: unknown): error is Elsewhere {
  return error instanceof ServedElsewhere || error instanceof KeptElsewhere || error instanceof NeededFromElsewhere;
}

/** Nothing was done; whoever asked may ask again after this time (503 and Retry-After). */
export class NotServed extends Error {
  override readonly name = 'NotServed';
  readonly retryAfterSeconds: number;
  /** For who asked, if it takes more than a moment. */
  readonly why: string | undefined;

  constructor(retryAfterSeconds = 1, why?: string) {
    super(why ?? 'the workspace is served nowhere at the moment');
    this.retryAfterSeconds = retryAfterSeconds;
    this.why = why;
  }
}

/** `app`: by its client id, as its record. */
export interface ForeignPart {
  readonly kind: 'app';
  readonly workspaceId: string;
  readonly key: string;
}

export interface Placement {
  /** Whether new work for it may begin here now. */
  takes(workspaceId: string): boolean;
  /** The epoch in which this node may answer from its file now. Undefined: it does not serve it. */
  epochServed(workspaceId: string): number | undefined;
  /** Whether the cluster has its file. */
  hasOwner(workspaceId: string): boolean;
  /** The same, for one that this node does not know of. Throws NeededFromElsewhere until it has asked. */
  mayExist(workspaceId: string): boolean;
  /**
   * Part of a workspace that another node serves, as it was a moment ago: plain data, null for none. Throws
   * NeededFromElsewhere if it is not here yet.
   */
  foreign(part: ForeignPart): unknown;
  /** Gives up a workspace whose making failed. Rejects if it is another node's, which may have made it. */
  discard(workspaceId: string): Promise<void>;
  /** Takes a new workspace, whose file is made. Rejects if it could not. */
  begin(workspaceId: string): Promise<void>;
}
