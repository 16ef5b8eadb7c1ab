// Frames: an event as text for agents and for its customer, serialised at most once each; who may receive it; what a
// session missed; and the parsing of client frames. Decisions 6.

import { conversationKind } from '../../engine/conversations/conversation.ts';
import { customerConversation } from '../../engine/conversations/customer-view.ts';
import { type Audience, recordIn } from '../../engine/events.ts';
import type { PublishedEvent } from '../../engine/runtime/context.ts';
import type { Workspace } from '../../engine/runtime/workspace.ts';
import { passesDepartment, reaches, worksIn } from '../../engine/workspace/access.ts';
import { theRoster } from '../../engine/workspace/roster.ts';
import { findConversation } from '../../store/conversations/conversations.ts';
import type { ConversationView } from '../../store/conversations/records.ts';
import { eventsBetween, eventsOfVisitorBetween, oldestSeq } from '../../store/runtime/events.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { JsonTooIntricate, parseJson } from '../pipeline/json.ts';
import type { Place } from '../request.ts';

export class EventFrame {
  readonly event: PublishedEvent;
  readonly audience: Audience;
  #forAgents: Uint8Array | undefined;
  #forVisitor: Uint8Array | undefined;

  constructor(event: PublishedEvent) {
    this.event = event;
    // Written by the engine as an Audience.
    this.audience = JSON.parse(event.audience) as Audience;
  }

  get forAgents(): Uint8Array {
    this.#forAgents ??= Buffer.from(textOf(this.event, this.event.data));
    return this.#forAgents;
  }

  /** The same without members that only agents may see. */
  get forVisitor(): Uint8Array {
    this.#forVisitor ??= Buffer.from(textOf(this.event, visitorData(this.event)));
    return this.#forVisitor;
  }

  /** Undefined when the customer may not see the event. */
  get visitorId(): string | undefined {
    return this.audience.kind === 'conversation' ? (this.audience.visitorId ?? undefined) : undefined;
  }
}

/**
 * Checks the agent as it is now: role, channels and departments. The audience names the agents that have the
 * conversation or have just lost it.
 */
export function agentMaySee(agent: AgentRecord, audience: Audience): boolean {
  if (audience.kind === 'workspace') return true;
  if (!worksIn(agent, audience.channel)) return false;
  if (audience.kind === 'channel') return true;
  return (
    audience.agentIds.includes(agent.id) ||
    audience.departmentIds.some((departmentId) =>
      passesDepartment(agent, { departmentId, assignedAgentId: null, handshake: null }),
    )
  );
}

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
  place: Place,
  page: { afterSeq: number; upToSeq: number; limit: number },
): Generator<{ seq: number; frame: EventFrame | undefined }> {
  if (page.afterSeq >= page.upToSeq) return;
  const agent =
    place.namespace === 'agent' ? theRoster(workspace.view({ kind: 'system' })).agents.get(place.personId) : undefined;
  const events =
    place.namespace === 'agent'
      ? eventsBetween(workspace.db, page)
      : eventsOfVisitorBetween(workspace.db, { ...page, visitorId: place.personId });
  for (const event of events) {
    const frame = new EventFrame(event);
    if (place.namespace === 'agent') yield { seq: event.seq, frame: agent && toldLate(workspace, agent, frame) };
    else yield { seq: event.seq, frame: frame.visitorId === place.personId ? frame : undefined };
  }
}

/**
 * The frame of a past event for an agent: nothing from before it joined, and nothing of a conversation that it can no
 * longer read, except that it left.
 */
function toldLate(workspace: Workspace, agent: AgentRecord, frame: EventFrame): EventFrame | undefined {
  const { event, audience } = frame;
  if (agent.joinedAt === null || event.seq <= agent.joinedSeq || !agentMaySee(agent, audience)) return undefined;
  if (audience.kind !== 'conversation' || event.conversationId === null) return frame;
  const present =
    workspace.registry.peek(conversationKind, event.conversationId) ??
    findConversation(workspace.db, event.conversationId);
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
  };
  return new EventFrame({ ...event, data: JSON.stringify({ conversation: left }) });
}

/** Everything before the id of a call, and the id, if only the names of the call come first. */
const idAtFront =
  /^\s*\{(?:\s*"(?:type|method)"\s*:\s*"[^"\\]{0,100}"\s*,){0,2}\s*"id"\s*:\s*("[^"\\]{0,100}"|-?\d{1,15})\s*[,}]/;
const frontChars = 500;

/** The id of a call, without parsing its parameters; undefined if it is not at the front. */
export function idOfCall(text: string): string | number | undefined {
  const [, id] = idAtFront.exec(text.slice(0, frontChars)) ?? [];
  // The pattern allows a text without escapes or an integer.
  return id === undefined ? undefined : (JSON.parse(id) as string | number);
}

/**
 * Undefined for anything but a JSON object, and for a binary frame, which arrives as undefined; a problem for one with
 * too many values or levels, which is not parsed.
 */
export function clientFrame(
  text: string | undefined,
): Readonly<Record<string, unknown>> | JsonTooIntricate | undefined {
  if (text === undefined) return undefined;
  try {
    const value = parseJson(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch (error) {
    return error instanceof JsonTooIntricate ? error : undefined;
  }
}

function textOf(event: PublishedEvent, data: string): string {
  const conversation = event.conversationId === null ? '' : `,"conversationId":"${event.conversationId}"`;
  return `{"seq":${event.seq},"type":"${event.type}","at":"${event.at}"${conversation},"data":${data}}`;
}

function visitorData(event: PublishedEvent): string {
  if (!event.type.startsWith('conversation.')) return event.data;
  const conversation = recordIn(event, 'conversation');
  return conversation === undefined ? event.data : JSON.stringify({ conversation: customerConversation(conversation) });
}
