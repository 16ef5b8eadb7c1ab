// What a node of a cluster counts and reports, and what its figures mean to whoever asks whether it is ready.

/** Values that are read when metrics or /readyz are requested. */
export interface ClusterFigures {
  /** Workspaces that this node answers for now, the directory included. */
  readonly workspacesServed: number;
  /** Copies of workspaces that others serve. */
  readonly copies: number;
  /** Those of them that have not been brought to the newest entry of their log that this node knows of. */
  readonly copiesBehind: number;
  readonly isLeaseHeld: boolean;
  readonly isNatsConnected: boolean;
  /** Whether NATS had no room for what this node last wrote. */
  readonly isNatsFull: boolean;
}

/**
 * `answered`: by the owner. `not served`: the owner did nothing, so it was asked again or refused with 503. `unknown`: it
 * broke off after it was sent, so the caller got 503 and whether it was done is unknown.
 */
export type ForwardOutcome = 'answered' | 'not served' | 'unknown';

/** What is counted when it happens. */
export interface ClusterCounts {
  /** An entry was acknowledged by the log. */
  observeAppend(durationMs: number): void;
  /** A commit on this disk that the log did not take; whoever waited for it got 503. */
  observeVoided(): void;
  /** This node began to serve a workspace that nobody served, or that was handed to it. */
  observeTakeOver(): void;
  /** This node handed a workspace to another. */
  observeHandOver(): void;
  observeForwarded(outcome: ForwardOutcome): void;
}

type Hindering = Pick<ClusterFigures, 'isLeaseHeld' | 'isNatsConnected' | 'isNatsFull'>;

const full = 'NATS is full: give its servers more room (max_file_store, or max_file of the account)';

/** Why this node of a cluster answers nothing now, for /readyz. */
export function clusterHindrances(cluster: Hindering | undefined): string[] {
  if (cluster === undefined) return [];
  const { isLeaseHeld, isNatsConnected, isNatsFull } = cluster;
  if (!isNatsConnected) return ['no NATS server of the cluster can be reached: check CLUSTER_NATS_URL and the servers'];
  if (isLeaseHeld) return [];
  if (isNatsFull) return [`${full}. Until then, this node's lease has ended`];
  return ["this node's lease has ended: NATS did not renew it in time, or another node has its name"];
}

/** What is wrong while this node answers, for /readyz. */
export function clusterFaults(cluster: Hindering | undefined): string[] {
  return cluster?.isNatsFull === true ? [`${full}. Until then, changes are refused`] : [];
}
