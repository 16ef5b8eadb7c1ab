// Agents who follow a conversation: they are notified of its messages as its assignee is (team/notifying.ts). Following
// gives no access: whoever no longer sees the conversation is not notified either.

import type { ConversationView } from '../../store/conversations/records.ts';
import { refuse } from '../errors.ts';
import { requireVersion } from '../preconditions.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';
import { reaches } from '../workspace/access.ts';
import { isActive, requireAgent } from '../workspace/roster.ts';
import { changeConversation, conversationView, requireReachable, requireUnmerged } from './conversation.ts';

/** More people than need to know of one conversation. */
export const maxFollowers = 20;

interface Answer {
  readonly conversation: ConversationView;
}

interface FollowParams {
  readonly conversationId: string;
  /** Undefined: the caller. */
  readonly agentId?: string | undefined;
  readonly expectedVersion?: number | undefined;
}

/**
 * Adds the caller, or another agent who sees the conversation. Refuses not_found, forbidden, stale_version, conflict for
 * a merged ticket, semantic_error for an agent who does not see it and beyond the limit.
 */
export const followConversation = command('conversation.follow', (ctx, params: FollowParams): Answer => {
  const { agent, conversation } = requireReachable(ctx, params.conversationId);
  requireVersion(conversation, params.expectedVersion);
  requireUnmerged(ctx, conversation);
  const follower = params.agentId === undefined ? agent : requireAgent(ctx, params.agentId);
  if (conversation.followerIds.includes(follower.id)) return { conversation: conversationView(conversation) };
  if (!isActive(follower) || !reaches(follower, conversation))
    refuse('semantic_error', { message: `${follower.name} does not see this conversation.` });
  if (conversation.followerIds.length >= maxFollowers)
    refuse('semantic_error', {
      message: `At most ${maxFollowers} agents can follow a conversation. Remove one first.`,
      detail: { maxFollowers },
    });
  return setFollowers(ctx, params.conversationId, [...conversation.followerIds, follower.id]);
});

/** Removes the caller or another agent. Refuses not_found, forbidden. */
export const unfollowConversation = command('conversation.unfollow', (ctx, params: FollowParams): Answer => {
  const { agent, conversation } = requireReachable(ctx, params.conversationId);
  const followerId = params.agentId ?? agent.id;
  if (!conversation.followerIds.includes(followerId)) return { conversation: conversationView(conversation) };
  return setFollowers(
    ctx,
    params.conversationId,
    conversation.followerIds.filter((id) => id !== followerId),
  );
});

function setFollowers(ctx: Context, conversationId: string, followerIds: readonly string[]): Answer {
  const { conversation } = requireReachable(ctx, conversationId);
  const changed = changeConversation(ctx, conversation, { followerIds });
  ctx.audit({
    action: 'conversation.followers_changed',
    targetKind: 'conversation',
    targetId: conversation.id,
    before: { followerIds: conversation.followerIds },
    after: { followerIds },
  });
  return { conversation: conversationView(changed) };
}
