// Lists of conversations for the inbox, their counts, and tags. Decisions 4.5.

import type { Channel, ConversationRecord } from '../../store/conversations/conversations.ts';
import { customerNames } from '../../store/conversations/customer-names.ts';
import { type QueueSort, queuePage, recentlyClosedPage, spamPage } from '../../store/conversations/lists.ts';
import {
  countByDepartment,
  countForAnyone,
  countOwnUnread,
  countQueue,
  countQueueWithin,
  mostCounted,
} from '../../store/conversations/queue-counts.ts';
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

/** Open and pending conversations that the agent may see. */
export function listQueue(
  view: View,
  page: Page & { filter: QueueFilter; sort?: QueueSort | undefined },
): ListedConversation[] {
  return listed(view, queuePage(view.db, { ...page, reach: reachOf(callingAgent(view)) }));
}

/** How many listQueue() finds in all, at most `mostCounted`. */
export function countListed(view: View, filter: QueueFilter): number {
  return countQueue(view.db, { filter, reach: reachOf(callingAgent(view)) });
}

/** Solved and closed conversations that the agent may see, last solved first. */
export function listRecentlyClosed(view: View, page: Page): ListedConversation[] {
  return listed(view, recentlyClosedPage(view.db, { ...page, reach: reachOf(callingAgent(view)) }));
}

/** Spam that the agent may see, newest first. */
export function listSpam(view: View, page: Page): ListedConversation[] {
  return listed(view, spamPage(view.db, { ...page, reach: reachOf(callingAgent(view)) }));
}

function listed(view: View, records: readonly ConversationRecord[]): ListedConversation[] {
  const names = customerNames(
    view.db,
    records.map(({ id }) => id),
  );
  return records.map((record) => ({ ...conversationView(record), customerName: names.get(record.id) ?? null }));
}

/** At most `mostCounted` each. */
export interface QueueCounts {
  readonly mine: number;
  readonly unassigned: number;
  readonly all: number;
  readonly unread: number;
  readonly waiting: number;
  readonly waitingCalls: number;
  readonly offered: number;
  readonly channels: readonly { readonly channel: Channel; readonly count: number }[];
  readonly departments: readonly { readonly departmentId: string; readonly count: number }[];
  /** Null: unknown. */
  readonly views: readonly { readonly viewId: string; readonly count: number | null }[];
}

/**
 * One request counts views as far as this, which is about ten milliseconds each; the numbers of further views are
 * unknown. An agent in 20 departments has 67 ranges in a view without an assignee.
 */
const mostForViews = { ranges: 5000, entries: 5000 };

/** Of the lists that the agent has. The number of statements does not grow with its departments. */
export function countLists(view: View): QueueCounts {
  const agent = callingAgent(view);
  const reach = reachOf(agent);
  const count = (filter: QueueFilter): number => countQueue(view.db, { reach, filter });
  const waitingIn = (channel: Channel): number =>
    reach.channels.includes(channel) ? countForAnyone(view.db, { reach, channel }) : 0;
  const budget = { ...mostForViews };
  return {
    mine: count({ assigneeId: agent.id, isOfferedToo: true }),
    unassigned: count({ assigneeId: 'none' }),
    all: count({}),
    unread: countOwnUnread(view.db, reach),
    waiting: Math.min(mostCounted, waitingIn('chat') + waitingIn('ticket')),
    waitingCalls: waitingIn('call'),
    offered: count({ isOffered: true }),
    channels: reach.channels.map((channel) => ({ channel, count: count({ channel }) })),
    departments: countByDepartment(view.db, {
      reach,
      departmentIds: reach.departmentIds ?? [...theRoster(view).departments.keys()],
    }),
    views: listSavedViews(view).map(({ id, filter }) => {
      const assigneeId = filter.assigneeId === 'me' ? agent.id : filter.assigneeId;
      return {
        viewId: id,
        count: countQueueWithin(view.db, { reach, filter: { ...filter, assigneeId } }, budget) ?? null,
      };
    }),
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
