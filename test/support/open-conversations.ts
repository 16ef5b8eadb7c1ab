// Many open conversations, inserted straight into a workspace's file: by the API each would take a millisecond and more.

import { type Clock, systemClock } from '../../engine/runtime/clock.ts';
import { createIds } from '../../engine/runtime/ids.ts';
import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import { insertConversation, unsetConversation } from '../../store/conversations/writes.ts';
import { insertVisitor, unsetVisitor } from '../../store/customers/writes.ts';
import type { Database } from '../../store/database.ts';
import { foldConversation } from '../../store/reports/rollups.ts';

export interface ManyOpen {
  readonly count: number;
  /** Of the first; the others follow each other. */
  readonly startMs: number;
  readonly stepMs: number;
  readonly siteId: string;
  readonly clock?: Clock;
  /** False: reports do not know them, and would not be right. */
  readonly isReported?: boolean;
  /** What is different about that one. */
  readonly fields?: (index: number) => Partial<ConversationRecord>;
}

/** Chats that wait for an answer, the oldest first. Returns their ids. */
export function insertOpenConversations(
  db: Database,
  { count, startMs, stepMs, siteId, clock = systemClock(), isReported = true, fields = () => ({}) }: ManyOpen,
): string[] {
  const ids = createIds(clock);
  db.begin();
  const made = Array.from({ length: count }, (_, index) => {
    const [id, visitorId, at] = [ids.uuid(), ids.uuid(), new Date(startMs + index * stepMs).toISOString()];
    insertVisitor(db, {
      id: visitorId,
      siteId,
      ...unsetVisitor,
      name: `Customer ${index}`,
      firstSeenAt: at,
      lastSeenAt: at,
      isOnline: false,
      visitCount: 1,
    });
    const conversation: ConversationRecord = {
      ...unsetConversation,
      unreachable: false,
      id,
      version: 1,
      channel: 'chat',
      status: 'open',
      siteId,
      visitorId,
      tags: index % 5 === 0 ? ['order'] : [],
      preview: `Where is my order ${index}?`,
      lastMessageAt: at,
      lastSenderType: 'visitor',
      lastSenderId: visitorId,
      waitingSince: at,
      lastLineAt: at,
      lastCustomerMessageAt: at,
      createdAt: at,
      updatedAt: at,
      ...fields(index),
    };
    insertConversation(db, conversation);
    if (isReported) foldConversation(db, undefined, { ...conversation, isCallOver: false, isMerged: false });
    return id;
  });
  db.commit();
  return made;
}
