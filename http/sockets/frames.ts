// What goes over a socket: an event as the text that agents or its customer get, made at most once for all of them; who
// may get it; what a session missed; a client's frame as the object that it must be. Decisions 6.

import { type ConversationView, conversationKind } from '../../engine/conversations/conversation.ts';
import { customerConversation } from '../../engine/conversations/customer-view.ts';
import type { Audience } from '../../engine/events.ts';
import type { PublishedEvent } from '../../engine/runtime/context.ts';
import type { Workspace } from '../../engine/runtime/workspace.ts';
import { passesDepartment, reaches, worksIn } from '../../engine/workspace/access.ts';
import { theRoster } from '../../engine/workspace/roster.ts';
import { findConversation } from '../../store/conversations/conversations.ts';
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

  /** The same without what is only the agents' to know. */
  get forVisitor(): Uint8Array {
    this.#forVisitor ??= Buffer.from(textOf(this.event, visitorData(this.event)));
    return this.#forVisitor;
  }

  /** Undefined when it is no customer's to know. */
  get visitorId(): string | undefined {
    return this.audience.kind === 'conversation' ? (this.audience.visitorId ?? undefined) : undefined;
  }
}

/**
 * On the agent as it is now: its role, channels and departments; who has the conversation or has just lost it is named
 * by the audience.
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

/** Where a session's events start, and whether what came before can no longer be told. */
export function startOf(workspace: Workspace, since: unknown): { cursor: number; resync: boolean } {
  const newest = workspace.publishedSeq;
  if (since === undefined || since === null) return { cursor: newest, resync: false };
  const seq = typeof since === 'string' && /^\d{1,15}$/.test(since) ? Number(since) : since;
  const oldest = oldestSeq(workspace.db) ?? newest + 1;
  const isKept = typeof seq === 'number' && Number.isSafeInteger(seq) && seq <= newest && seq >= oldest - 1;
  return isKept ? { cursor: seq, resync: false } : { cursor: newest, resync: true };
}

/**
 * The next events after a session's place, with what it is told of each now; of the others, which move its place on as
 * well, undefined.
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
 * What an agent is told of an event after it happened: nothing from before it joined, and nothing of a conversation
 * that it can no longer
 * read, but that it left.
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

/** That a conversation left an agent's reach, without what is in it; undefined for any other change of one. */
function farewellTo(agent: AgentRecord, event: PublishedEvent): EventFrame | undefined {
  // The engine wrote it; erasing a customer empties it.
  const { conversation } = JSON.parse(event.data) as { conversation?: ConversationView };
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

/** What stands before the id of a call, and the id, where only the names of the call are before it. */
const idAtFront =
  /^\s*\{(?:\s*"(?:type|method)"\s*:\s*"[^"\\]{0,100}"\s*,){0,2}\s*"id"\s*:\s*("[^"\\]{0,100}"|-?\d{1,15})\s*[,}]/;
const frontChars = 500;

/** The id of a call, without reading what it calls with; undefined where it does not stand at the front. */
export function idOfCall(text: string): string | number | undefined {
  const [, id] = idAtFront.exec(text.slice(0, frontChars)) ?? [];
  // A text without escapes, or a whole number, by the pattern.
  return id === undefined ? undefined : (JSON.parse(id) as string | number);
}

/**
 * Undefined for what is no JSON object, and for a binary frame, which comes as undefined; the problem of one with too
 * many values or levels, which is not read.
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
  // The engine wrote it as {conversation}, whose customer's view is a subset.
  const { conversation } = JSON.parse(event.data) as { conversation: Parameters<typeof customerConversation>[0] };
  return JSON.stringify({ conversation: customerConversation(conversation) });
}
