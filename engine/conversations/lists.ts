// Lists of conversations for the inbox, and tags. Decisions 4.5.

import {
  countQueue,
  type QueueFilter,
  type QueueSort,
  queuePage,
  recentlyClosedPage,
  spamPage,
} from '../../store/conversations/lists.ts';
import type { ConversationView } from '../../store/conversations/records.ts';
import type { Cursor } from '../../store/cursor.ts';
import { distinctNames } from '../../store/folding.ts';
import { isBlank, oneLine } from '../lines.ts';
import { requireVersion } from '../preconditions.ts';
import { command } from '../runtime/command.ts';
import type { View } from '../runtime/context.ts';
import { callingAgent, reachOf } from '../workspace/access.ts';
import { changeConversation, conversationView, requireReachable } from './conversation.ts';

/** Open and pending conversations that the agent may see. */
export function listQueue(
  view: View,
  page: { filter: QueueFilter; sort?: QueueSort | undefined; cursor: Cursor | undefined; limit: number },
): ConversationView[] {
  return queuePage(view.db, { ...page, reach: reachOf(callingAgent(view)) }).map(conversationView);
}

/** How many listQueue() finds in all, at most `mostCounted`. */
export function countListed(view: View, filter: QueueFilter): number {
  return countQueue(view.db, { filter, reach: reachOf(callingAgent(view)) });
}

/** Solved and closed conversations that the agent may see, last solved first. */
export function listRecentlyClosed(
  view: View,
  page: { cursor: Cursor | undefined; limit: number },
): ConversationView[] {
  return recentlyClosedPage(view.db, { ...page, reach: reachOf(callingAgent(view)) }).map(conversationView);
}

/** Spam that the agent may see, newest first. */
export function listSpam(view: View, page: { cursor: Cursor | undefined; limit: number }): ConversationView[] {
  return spamPage(view.db, { ...page, reach: reachOf(callingAgent(view)) }).map(conversationView);
}

/** Refuses not_found, forbidden. */
export function readConversation(view: View, conversationId: string): { conversation: ConversationView } {
  return { conversation: conversationView(requireReachable(view, conversationId).conversation) };
}

/** Replaces the tags. Refuses not_found, forbidden. */
export const setTags = command(
  'conversation.setTags',
  (
    ctx,
    params: { conversationId: string; tags: readonly string[]; expectedVersion?: number | undefined },
  ): { conversation: ConversationView } => {
    const { conversation } = requireReachable(ctx, params.conversationId);
    requireVersion(conversation, params.expectedVersion);
    const tags = distinctNames(params.tags.map(oneLine).filter((tag) => !isBlank(tag)));
    const isSame =
      tags.length === conversation.tags.length && tags.every((tag, index) => tag === conversation.tags[index]);
    return { conversation: conversationView(isSame ? conversation : changeConversation(ctx, conversation, { tags })) };
  },
);
