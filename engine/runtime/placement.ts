// Which workspaces this node serves, where there are several nodes. A node alone serves them all and has no placement.
// The engine asks before anything is done; whoever catches ServedElsewhere may ask the node that serves the workspace.

/** The workspace is served by another node, or by none at the moment. Nothing was done. */
export class ServedElsewhere extends Error {
  override readonly name = 'ServedElsewhere';
  readonly workspaceId: string;

  constructor(workspaceId: string) {
    super(`workspace ${workspaceId} is served by another node`);
    this.workspaceId = workspaceId;
  }
}

export interface Placement {
  /** The epoch in which this node may answer from its file now. Undefined: it does not serve it. */
  epochServed(workspaceId: string): number | undefined;
  /** Takes a new workspace. */
  begin(workspaceId: string): Promise<void>;
}
