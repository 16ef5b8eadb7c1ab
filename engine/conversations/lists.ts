// Lists of conversations for the inbox, their counts, and tags. Decisions 4.5.

import type { ListedRow } from '../../store/conversations/listed-rows.ts';
import { recentlyClosedPage, spamPage } from '../../store/conversations/lists.ts';
import type { ListsOfReader } from '../../store/conversations/queue-counts.ts';
import { type QueueQuestion, type QueueSort, queuePage } from '../../store/conversations/queue-pages.ts';
import type { QueueFilter } from '../../store/conversations/queue-runs.ts';
import type { ConversationView } from '../../store/conversations/records.ts';
import type { Cursor } from '../../store/cursor.ts';
import { distinctNames } from '../../store/folding.ts';
import { isBlank, oneLine } from '../lines.ts';
import { requireVersion } from '../preconditions.ts';
import { command } from '../runtime/command.ts';
import type { View } from '../runtime/context.ts';
import { callingAgent, reachOf } from '../workspace/access.ts';
import { theRoster } from '../workspace/roster.ts';
import { changeConversation, conversationView, requireReachable } from './conversation.ts';
import { listSavedViews } from './saved-views.ts';

/** A row that can be shown without another request. */
export type ListedConversation = ConversationView & { readonly customerName: string | null };

interface Page {
  readonly cursor: Cursor | undefined;
  readonly limit: number;
}

export interface QueueList {
  readonly filter: QueueFilter;
  readonly sort: QueueSort;
}

/** Open and pending conversations that the agent may see. */
export function queueQuestion(view: View, list: QueueList): QueueQuestion {
  return { ...list, reach: reachOf(callingAgent(view)) };
}

/** Only if the question is read in ranges: other reads take too long for this thread. */
export function listQueue(view: View, page: Page & QueueQuestion): ListedConversation[] {
  return listed(queuePage(view.db, page));
}

/** Conversations with a pending offer to the agent, newest first. */
export function listOffers(view: View, { limit }: Pick<Page, 'limit'>): ListedConversation[] {
  const question = queueQuestion(view, { filter: { isOffered: true }, sort: 'newest' });
  return listQueue(view, { ...question, cursor: undefined, limit });
}

/** Solved and closed conversations that the agent may see, last solved first. */
export function listRecentlyClosed(view: View, page: Page): ListedConversation[] {
  return listed(recentlyClosedPage(view.db, { ...page, reach: reachOf(callingAgent(view)) }));
}

/** Spam that the agent may see, newest first. */
export function listSpam(view: View, page: Page): ListedConversation[] {
  return listed(spamPage(view.db, { ...page, reach: reachOf(callingAgent(view)) }));
}

export function listed(rows: readonly ListedRow[]): ListedConversation[] {
  return rows.map((row) => ({ ...conversationView(row), customerName: row.customerName }));
}

/** The lists that the agent has, to be counted by another thread. */
export function listsToCount(view: View): ListsOfReader {
  const agent = callingAgent(view);
  const reach = reachOf(agent);
  return {
    reach,
    departmentIds: reach.departmentIds ?? [...theRoster(view).departments.keys()],
    views: listSavedViews(view).map(({ id, filter }) => ({
      viewId: id,
      filter: { ...filter, assigneeId: filter.assigneeId === 'me' ? agent.id : filter.assigneeId },
    })),
  };
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
