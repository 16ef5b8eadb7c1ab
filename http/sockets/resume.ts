// What a session missed: the events after the position that a client names in `since`, filtered by what the person may
// see now. Decisions 6.

import { conversationKind } from '../../engine/conversations/conversation.ts';
import { publishedFrom } from '../../engine/event-forms.ts';
import { events, isEventType, recordIn } from '../../engine/events.ts';
import { PublishedEvent } from '../../engine/runtime/published-event.ts';
import type { Workspace } from '../../engine/runtime/workspace.ts';
import { reaches } from '../../engine/workspace/access.ts';
import { theRoster } from '../../engine/workspace/roster.ts';
import { findConversation } from '../../store/conversations/conversations.ts';
import { eventsBetween, eventsOfVisitorBetween, type KeptEvent } from '../../store/conversations/kept-events.ts';
import { findMessage } from '../../store/conversations/messages.ts';
import type { ConversationView } from '../../store/conversations/records.ts';
import { oldestSeq } from '../../store/runtime/events.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import type { Known } from '../pipeline/credentials.ts';
import { agentMaySee, EventFrame } from './frames.ts';

/** The position at which a session's events start, and whether earlier ones are no longer kept. */
export function startOf(workspace: Workspace, since: unknown): { cursor: number; resync: boolean } {
  const newest = workspace.publishedSeq;
  if (since === undefined || since === null) return { cursor: newest, resync: false };
  const seq = typeof since === 'string' && /^\d{1,15}$/.test(since) ? Number(since) : since;
  const oldest = oldestSeq(workspace.db) ?? newest + 1;
  const isKept = typeof seq === 'number' && Number.isSafeInteger(seq) && seq <= newest && seq >= oldest - 1;
  return isKept ? { cursor: seq, resync: false } : { cursor: newest, resync: true };
}

/**
 * The next events after a session's position, each with its frame for this session; undefined for an event that it may
 * not see, which advances the position as well.
 */
export function* missedBy(
  workspace: Workspace,
  { place, credential }: Pick<Known, 'place' | 'credential'>,
  page: { afterSeq: number; upToSeq: number; limit: number },
): Generator<{ seq: number; frame: EventFrame | undefined }> {
  if (page.afterSeq >= page.upToSeq) return;
  if (place.namespace === 'visitor') {
    for (const row of eventsOfVisitorBetween(workspace.db, { ...page, visitorId: place.personId })) {
      const frame = new EventFrame(publishedFrom(row));
      const isOwn = frame.visitorId === place.personId && frame.isFor(credential.caller);
      yield { seq: row.seq, frame: isOwn ? frame : undefined };
    }
    return;
  }
  const agent = theRoster(workspace.view({ kind: 'system' })).agents.get(place.personId);
  const isReached = agent && reachOf(workspace, agent);
  for (const row of eventsBetween(workspace.db, page))
    yield { seq: row.seq, frame: agent && isReached && missedFrame(workspace, row, { agent, isReached }) };
}

/** Whether the agent reaches a conversation as it is now. Remembers the answers: a page has many events of each. */
function reachOf(workspace: Workspace, agent: AgentRecord): (conversationId: string) => boolean {
  const known = new Map<string, boolean>();
  return (conversationId) => {
    let reached = known.get(conversationId);
    if (reached === undefined) {
      const present =
        workspace.registry.peek(conversationKind, conversationId) ?? findConversation(workspace.db, conversationId);
      reached = present !== undefined && reaches(agent, present);
      known.set(conversationId, reached);
    }
    return reached;
  };
}

/**
 * The frame of a past event for an agent: nothing from before it joined, and nothing of a conversation that it can no
 * longer read, except that it left.
 */
function missedFrame(
  workspace: Workspace,
  row: KeptEvent,
  { agent, isReached }: { agent: AgentRecord; isReached(conversationId: string): boolean },
): EventFrame | undefined {
  if (agent.joinedAt === null || row.seq <= agent.joinedSeq) return undefined;
  const frame = new EventFrame(publishedFrom(row));
  const { event, audience } = frame;
  if (!agentMaySee(agent, audience)) return undefined;
  if (audience.kind !== 'conversation' || row.conversationId === null) return frame;
  if (isReached(messageIsIn(workspace, row, event) ?? row.conversationId)) return frame;
  return event.type === 'conversation.updated' ? farewellTo(agent, event) : undefined;
}

/** The conversation that the event's message is in now: it may have moved. Undefined if it is about no message. */
function messageIsIn(workspace: Workspace, { message, type }: KeptEvent, event: PublishedEvent): string | undefined {
  if (message !== undefined) return message.conversationId;
  if (!isEventType(type) || events[type].data !== 'message') return undefined;
  // Stored before events referred to their messages.
  const whole = recordIn(event, 'message');
  return whole && findMessage(workspace.db, whole.id)?.conversationId;
}

/** The event that a conversation left an agent's reach, without its content; undefined for any other change. */
function farewellTo(agent: AgentRecord, event: PublishedEvent): EventFrame | undefined {
  const conversation = recordIn(event, 'conversation');
  if (conversation === undefined || reaches(agent, conversation)) return undefined;
  const left: ConversationView = {
    ...conversation,
    subject: null,
    visitorId: null,
    contactId: null,
    tags: [],
    handshake: null,
    rating: null,
    ratingComment: null,
    preview: null,
    lastSenderType: null,
    lastSenderId: null,
    waitingSince: null,
  };
  return new EventFrame(new PublishedEvent(event, () => ({ conversation: left })));
}
