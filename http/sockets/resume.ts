// What a session missed: the events after the position that a client names in `since`, filtered by what the person may
// see now. Decisions 6.

import { conversationKind } from '../../engine/conversations/conversation.ts';
import { recordIn } from '../../engine/events.ts';
import type { PublishedEvent } from '../../engine/runtime/context.ts';
import type { Workspace } from '../../engine/runtime/workspace.ts';
import { reaches } from '../../engine/workspace/access.ts';
import { theRoster } from '../../engine/workspace/roster.ts';
import { findConversation } from '../../store/conversations/conversations.ts';
import { findMessage } from '../../store/conversations/messages.ts';
import type { ConversationView } from '../../store/conversations/records.ts';
import { eventsBetween, eventsOfVisitorBetween, oldestSeq } from '../../store/runtime/events.ts';
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
  const agent =
    place.namespace === 'agent' ? theRoster(workspace.view({ kind: 'system' })).agents.get(place.personId) : undefined;
  const events =
    place.namespace === 'agent'
      ? eventsBetween(workspace.db, page)
      : eventsOfVisitorBetween(workspace.db, { ...page, visitorId: place.personId });
  const isOwn = (frame: EventFrame): boolean => frame.visitorId === place.personId && frame.isFor(credential.caller);
  for (const event of events) {
    const frame = new EventFrame(event);
    if (place.namespace === 'agent') yield { seq: event.seq, frame: agent && missedFrame(workspace, agent, frame) };
    else yield { seq: event.seq, frame: isOwn(frame) ? frame : undefined };
  }
}

/**
 * The frame of a past event for an agent: nothing from before it joined, and nothing of a conversation that it can no
 * longer read, except that it left.
 */
function missedFrame(workspace: Workspace, agent: AgentRecord, frame: EventFrame): EventFrame | undefined {
  const { event, audience } = frame;
  if (agent.joinedAt === null || event.seq <= agent.joinedSeq || !agentMaySee(agent, audience)) return undefined;
  if (audience.kind !== 'conversation' || event.conversationId === null) return frame;
  // A message may be in another conversation since.
  const message = recordIn(event, 'message');
  const conversationId = (message && findMessage(workspace.db, message.id)?.conversationId) ?? event.conversationId;
  const present =
    workspace.registry.peek(conversationKind, conversationId) ?? findConversation(workspace.db, conversationId);
  if (present !== undefined && reaches(agent, present)) return frame;
  return event.type === 'conversation.updated' ? farewellTo(agent, event) : undefined;
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
  return new EventFrame({ ...event, data: JSON.stringify({ conversation: left }) });
}
