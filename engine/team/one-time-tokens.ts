// Tokens that are mailed and used once: join codes and password resets. Only their hashes are stored.

import type { AgentRecord } from '../../store/workspace/agents.ts';
import { endOneTimeTokens, insertOneTimeToken, type OneTimeToken } from '../../store/workspace/one-time-tokens.ts';
import { compactId, hashOf } from '../directory/compact-ids.ts';
import { refuse } from '../errors.ts';
import { isoTime } from '../runtime/clock.ts';
import type { Context, View } from '../runtime/context.ts';
import { theRoster } from '../workspace/roster.ts';

/** 128 bits. With the workspace's compact id that is 44 characters, so that a link fits one line of a mail. */
const codeBytes = 16;

/** Ends every earlier token of the kind. Returns the new one, for a mail. */
export function issueToken(
  ctx: Context,
  options: { agent: AgentRecord; kind: OneTimeToken['kind']; lifetimeMs: number },
): string {
  const token = compactId(ctx.workspaceId) + ctx.ids.secret(codeBytes);
  endOneTimeTokens(ctx.db, options.agent.id, options.kind, ctx.at);
  insertOneTimeToken(ctx.db, {
    hash: hashOf(token),
    kind: options.kind,
    agentId: options.agent.id,
    expiresAt: isoTime(ctx.nowMs + options.lifetimeMs),
    endedAt: null,
  });
  return token;
}

/** The agent for a token. Refuses with the slug if the token was used, replaced or has expired. */
export function requireTokenHolder(view: View, token: OneTimeToken, slug: 'gone' | 'reset_token_expired'): AgentRecord {
  const agent = theRoster(view).agents.get(token.agentId);
  // A deactivated agent's tokens ended with it.
  if (agent === undefined || token.endedAt !== null || token.expiresAt <= view.at) refuse(slug);
  return agent;
}
