// Current rights for things that outlive the request that created them: webhooks, links to reports, streamed replies.
// They derive from the agent, its key and its grant to an app as they are now. The edge adds the app's own
// registration, because the app may belong to another workspace. Decisions "Settled after the audit".

import { findApiKey } from '../../store/platform/api-keys.ts';
import { liveScopesOfApp } from '../../store/platform/oauth-grants.ts';
import { type AgentRecord, findActiveAgent } from '../../store/workspace/agents.ts';
import type { Caller } from '../runtime/caller.ts';
import type { View } from '../runtime/context.ts';
import { type Grant, type GrantedScope, scopeNames } from './scopes.ts';

/** Whose rights something has. Without a key or an app, the agent's own. */
export interface Holder {
  readonly agentId: string;
  readonly keyId: string | null;
  /** The client id of an app. */
  readonly appId: string | null;
}

/** The agent and its grant; an undefined grant means all of the agent's rights. */
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

/** Undefined if no rights are left: the agent has left, the key is revoked, or the grant to the app has ended. */
export function rightsOf(view: Pick<View, 'db' | 'at'>, { agentId, keyId, appId }: Holder): Rights | undefined {
  const agent = findActiveAgent(view.db, agentId);
  if (agent === undefined) return undefined;
  if (keyId !== null) {
    const key = findApiKey(view.db, keyId);
    // Only createApiKey() writes a key's scopes.
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
