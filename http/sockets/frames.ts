// Frames: an event as text for agents and for its customer, serialised at most once each; who may receive it; and the
// parsing of client frames. Decisions 6.

import type { Audience, ConversationAudience } from '../../engine/audience.ts';
import { customerConversation, provesEmail } from '../../engine/conversations/customer-view.ts';
import { recordIn } from '../../engine/events.ts';
import type { Caller } from '../../engine/runtime/caller.ts';
import type { PublishedEvent } from '../../engine/runtime/published-event.ts';
import { passesDepartment, worksIn } from '../../engine/workspace/access.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { JsonTooIntricate, parseJson } from '../pipeline/json.ts';

export class EventFrame {
  readonly event: PublishedEvent;
  readonly audience: Audience;
  #forAgents: Uint8Array | undefined;
  #forVisitor: Uint8Array | undefined;
  /** For tokens that prove the address which the conversation's preview came from by mail. */
  #forProved: Uint8Array | undefined;

  constructor(event: PublishedEvent) {
    this.event = event;
    // emit() takes no other.
    this.audience = event.audience as Audience;
  }

  get forAgents(): Uint8Array {
    this.#forAgents ??= Buffer.from(textOf(this.event, this.event.dataText));
    return this.#forAgents;
  }

  /** The same without members that only agents, or only other tokens of the visitor, may see. */
  forVisitor(caller: Caller): Uint8Array {
    const mailPreview = this.#mailPreview;
    if (mailPreview !== undefined && provesEmail(caller, mailPreview.emailHash)) {
      this.#forProved ??= Buffer.from(textOf(this.event, visitorData(this.event, undefined)));
      return this.#forProved;
    }
    this.#forVisitor ??= Buffer.from(textOf(this.event, visitorData(this.event, mailPreview)));
    return this.#forVisitor;
  }

  /** Whether a token of the visitor may see the event: what came by mail is for those that prove its sender's address. */
  isFor(caller: Caller): boolean {
    const { audience } = this;
    return (
      audience.kind !== 'conversation' || audience.emailHash === undefined || provesEmail(caller, audience.emailHash)
    );
  }

  get #mailPreview(): ConversationAudience['mailPreview'] {
    return this.audience.kind === 'conversation' ? this.audience.mailPreview : undefined;
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
  if (audience.kind === 'agent') return audience.agentId === agent.id;
  if (audience.kind === 'admins') return agent.role === 'admin';
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
const frontBytes = 500;

const callAtFront = /^\s*\{[^{}[\]]*"type"\s*:\s*"call"/;

/** Whether a frame is a call with an id, as far as its front says. */
export function isCallInFront(frame: Uint8Array): boolean {
  return idOfCall(frame) !== undefined && callAtFront.test(frontOf(frame));
}

/** The id of a call, without parsing its parameters; undefined if it is not at the front. */
export function idOfCall(frame: Uint8Array): string | number | undefined {
  const [, id] = idAtFront.exec(frontOf(frame)) ?? [];
  // The pattern allows a text without escapes or an integer.
  return id === undefined ? undefined : (JSON.parse(id) as string | number);
}

function frontOf(frame: Uint8Array): string {
  return Buffer.from(frame.buffer, frame.byteOffset, Math.min(frame.length, frontBytes)).toString();
}

/** Undefined for anything but a JSON object; a problem for one with too many values or levels, which is not parsed. */
export function clientFrame(bytes: Uint8Array): Readonly<Record<string, unknown>> | JsonTooIntricate | undefined {
  try {
    const value = parseJson(bytes);
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

function visitorData(event: PublishedEvent, mailPreview: ConversationAudience['mailPreview']): string {
  if (!event.type.startsWith('conversation.')) return event.dataText;
  const conversation = recordIn(event, 'conversation');
  return conversation === undefined
    ? event.dataText
    : JSON.stringify({ conversation: customerConversation(conversation, { mailPreview }) });
}
