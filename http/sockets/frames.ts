// Frames: an event as text for agents and for its customer, serialised at most once each; who may receive it; and the
// parsing of client frames. Decisions 6.

import { customerConversation } from '../../engine/conversations/customer-view.ts';
import { type Audience, recordIn } from '../../engine/events.ts';
import type { PublishedEvent } from '../../engine/runtime/context.ts';
import { passesDepartment, worksIn } from '../../engine/workspace/access.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { JsonTooIntricate, parseJson } from '../pipeline/json.ts';

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
