// Has the node that serves a workspace do something, also while the workspace moves: it is asked again until a node
// answers. Only for what does no harm when it is done twice.

import { setTimeout as pause } from 'node:timers/promises';
import { CallRefused, CallTimedOut, NodeAway } from '../../engine/runtime/cluster/ports.ts';
import type { ClusterStore } from '../../workers/cluster/cluster.ts';
import { ProgramError } from './command.ts';

/** A dead node's workspaces have another within seconds. */
const tryForMs = 40_000;
const callMs = 10_000;
const againMs = 500;

export interface Asked {
  readonly result: unknown;
  /** An earlier attempt may have been done without an answer. */
  readonly mayHaveBeenDone: boolean;
}

/** What comes with a refusal that is not for good. */
export interface TryAgain {
  readonly tryAgain: 'nothing was done' | 'unknown';
}

/** Throws ProgramError. */
export async function askOwner(
  { owners, calls }: Pick<ClusterStore, 'owners' | 'calls'>,
  workspaceId: string,
  call: { readonly name: string; readonly params: unknown },
): Promise<Asked> {
  const untilMs = performance.now() + tryForMs;
  let mayHaveBeenDone = false;
  for (;;) {
    const node = (await owners.of(workspaceId))?.ownership.node;
    if (node === undefined) throw new ProgramError(`the cluster has no workspace with the id ${workspaceId}`);
    try {
      return { result: await calls.ask(node, call.name, call.params, callMs), mayHaveBeenDone };
    } catch (error) {
      const outcome = outcomeOf(error);
      if (outcome === undefined) throw refusedBy(node, error);
      mayHaveBeenDone ||= outcome === 'unknown';
      if (performance.now() > untilMs)
        throw new ProgramError(
          `${node}, which is to serve ${workspaceId}, did not do it: ${error instanceof Error ? error.message : String(error)}. ${
            mayHaveBeenDone ? 'It may have been done' : 'Nothing was done'
          }; run the command again when switchboard cluster status shows its node ready`,
        );
    }
    await pause(againMs);
  }
}

/** Undefined: it is refused for good. */
function outcomeOf(error: unknown): TryAgain['tryAgain'] | undefined {
  if (error instanceof NodeAway) return 'nothing was done';
  if (error instanceof CallTimedOut) return 'unknown';
  if (!(error instanceof CallRefused)) return undefined;
  const data = error.data as (Partial<TryAgain> & { readonly isNotServed?: true }) | undefined;
  // Of the directory, which has become another's.
  return data?.isNotServed === true ? 'nothing was done' : data?.tryAgain;
}

function refusedBy(node: string, error: unknown): unknown {
  return error instanceof CallRefused ? new ProgramError(`the node ${node} refused: ${error.message}`) : error;
}
