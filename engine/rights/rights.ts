// What somebody may do at this moment, for what outlives the request that it was asked with: webhooks, links to
// reports, replies that are read in parts. Rights are those of now: of the agent, of its key, of what it allows an app.
// What the app itself registers, and whether it is still there, is the edge's to add, since it may be another
// workspace's. Decisions "Settled after the audit".

import { findApiKey } from '../../store/platform/api-keys.ts';
import { liveScopesOfApp } from '../../store/platform/oauth-grants.ts';
import { type AgentRecord, findActiveAgent } from '../../store/workspace/agents.ts';
import type { Caller } from '../runtime/caller.ts';
import type { View } from '../runtime/context.ts';
import { type Grant, type GrantedScope, scopeNames } from './scopes.ts';

/** Whose rights something lives by. Neither key nor app: what its agent may. */
export interface Holder {
  readonly agentId: string;
  readonly keyId: string | null;
  /** The client id of an app. */
  readonly appId: string | null;
}

/** Who is there with which grant; undefined for a grant is everything that the agent may. */
export interface Rights {
  readonly agent: AgentRecord;
  readonly grant: Grant | undefined;
}

export function holderOf(caller: Caller, grant: Pick<Grant, 'by' | 'id'> | undefined): Holder {
  if (caller.kind !== 'agent') throw new Error(`a ${caller.kind} holds no rights of an agent`);
  return {
    agentId: caller.agentId,
    keyId: grant?.by === 'key' ? grant.id : null,
    appId: grant?.by === 'app' ? grant.id : null,
  };
}

/**
 * Undefined when nothing is left: the agent has gone, the key is revoked, or the agent allows the app nothing any more.
 */
export function rightsOf(view: Pick<View, 'db' | 'at'>, { agentId, keyId, appId }: Holder): Rights | undefined {
  const agent = findActiveAgent(view.db, agentId);
  if (agent === undefined) return undefined;
  if (keyId !== null) {
    const key = findApiKey(view.db, keyId);
    // createApiKey() is the only writer of a key's scopes.
    return key?.createdByAgentId !== agentId
      ? undefined
      : { agent, grant: { by: 'key', id: keyId, scopes: key.scopes as readonly GrantedScope[], mode: key.mode } };
  }
  if (appId === null) return { agent, grant: undefined };
  const granted = liveScopesOfApp(view.db, { clientId: appId, agentId, at: view.at });
  return granted.length === 0
    ? undefined
    : {
        agent,
        grant: { by: 'app', id: appId, scopes: scopeNames.filter((scope) => granted.includes(scope)), mode: 'live' },
      };
}
