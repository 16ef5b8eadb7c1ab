// Removes the second factors of one agent, for an operator: for a workspace's only admin who has lost them all, whom no
// one else can let in. In a data folder whose lock the caller holds, where the mail about it is sent when the service
// next runs; or in a running cluster, by the node that serves the workspace. Recorded in the workspace's audit log and
// the operator log.

import { Database } from '../../store/database.ts';
import { insertOperatorAudit } from '../../store/directory/operator-audit.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { newestSeq } from '../../store/runtime/events.ts';
import type { Directory } from '../directory/directory.ts';
import { systemCaller } from '../runtime/caller.ts';
import { Context, type Settings } from '../runtime/context.ts';
import type { Engine } from '../runtime/engine.ts';
import type { Ids } from '../runtime/ids.ts';
import { Registry } from '../runtime/registry.ts';
import { hasSecondFactor, resetSecondFactorsByOperator } from '../team/second-factors.ts';
import { directoryPath, workspacePath } from './integrity.ts';

export interface ResetOptions {
  readonly dataDir: string;
  readonly workspaceId: string;
  readonly agentId: string;
  readonly settings: Settings;
  readonly nowMs: number;
  readonly ids: Ids;
}

/** Returns false if the agent has none. */
export function resetSecondFactorsOf(options: ResetOptions): boolean {
  const { dataDir, workspaceId, agentId, settings, nowMs, ids } = options;
  const db = Database.openWriter(workspacePath(dataDir, workspaceId), workspaceMigrations);
  const directory = Database.openWriter(directoryPath(dataDir), directoryMigrations);
  try {
    const ctx = new Context(
      { workspaceId, settings, ceilings: undefined, db, registry: new Registry(db), ids, lastSeq: newestSeq(db) },
      systemCaller,
      nowMs,
    );
    db.begin();
    if (!resetSecondFactorsByOperator.handle(ctx, { agentId })) return false;
    // First: an entry for a reset that a crash prevented is better than a reset without an entry.
    insertOperatorAudit(directory, {
      id: ids.uuid(),
      action: 'agent.second_factors_reset',
      targetKind: 'agent',
      targetId: agentId,
      context: { workspaceId },
      createdAt: ctx.at,
    });
    db.commit();
    return true;
  } finally {
    db.rollback();
    db.close();
    directory.close();
  }
}

export interface ServedReset {
  /** Names the entry in the operator log: done again under the same id, it leaves one. */
  readonly entryId: string;
  readonly workspaceId: string;
  readonly agentId: string;
}

/**
 * The same for a workspace that this node serves. Resolves to false if the agent has none. Rejects as Engine.execute()
 * and Directory.change() do; with ServedElsewhere, the agent has them still.
 */
export async function resetSecondFactorsServed(
  { engine, directory }: { readonly engine: Engine; readonly directory: Directory },
  { entryId, workspaceId, agentId }: ServedReset,
): Promise<boolean> {
  await engine.whenOpen(workspaceId);
  const workspace = engine.workspace(workspaceId);
  if (workspace === undefined || !hasSecondFactor(workspace.view(systemCaller), agentId)) return false;
  // First, as above.
  await directory.change('note-operator-action', {
    id: entryId,
    action: 'agent.second_factors_reset',
    targetKind: 'agent',
    targetId: agentId,
    context: { workspaceId },
  });
  return engine.execute(resetSecondFactorsByOperator, { workspaceId, caller: systemCaller, params: { agentId } });
}
