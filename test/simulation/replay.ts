// Replays the public events as a client would that keeps everything in memory, and checks what only their order shows:
// versions never fall, an offer lasts its thirty seconds and is decided once, and routing follows its rules at each
// decision.

import type { EventRow } from '../../store/runtime/events.ts';
import { protectedPart, type ToldConversation } from './told.ts';

export interface ReplayedConversation {
  readonly id: string;
  readonly version: number;
  readonly channel: string;
  readonly status: string;
  readonly assignedAgentId: string | null;
  readonly departmentId: string | null;
  readonly handshake: {
    readonly toAgentId: string;
    readonly previousAgentId: string | null;
    readonly expiresAt: string;
  } | null;
  readonly tags: readonly string[];
  readonly rating: number | null;
  readonly solvedAt: string | null;
  readonly closedAt: string | null;
}

interface ReplayedAgent {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly inviteStatus: string;
  readonly role: string;
}

/** Specification 3. */
const offerMs = 30_000;
/** The setting of the simulation's service. */
export const autoCloseDays = 0.02;
const dayMs = 24 * 3600_000;

export class Replay {
  readonly conversations = new Map<string, ReplayedConversation>();
  readonly agents = new Map<string, ReplayedAgent>();
  readonly messageIds = new Set<string>();
  readonly maxOpenChats: number;
  /** The fields that the version protects, by conversation and version. */
  readonly #versions = new Map<string, string>();
  /** By conversation: the time of its newest message. */
  readonly #newestAt = new Map<string, string>();
  /** Conversations whose offer ended early, until the service gives the reason. */
  readonly #endedEarly = new Set<string>();
  /** By conversation: the state before its present version, to check what a line of the service refers to. */
  readonly #before = new Map<string, ReplayedConversation | undefined>();

  constructor(maxOpenChats: number) {
    this.maxOpenChats = maxOpenChats;
  }

  /** Throws. */
  take(event: EventRow): void {
    const data = JSON.parse(event.data);
    if (data.agent !== undefined) this.agents.set(data.agent.id, data.agent);
    else if (data.conversation !== undefined) this.#change(event, data.conversation);
    else if (event.type === 'message.created') {
      if (this.messageIds.has(data.message.id))
        throw new Error(`event ${event.seq} tells of message ${data.message.id} a second time`);
      this.messageIds.add(data.message.id);
      const { conversationId, createdAt } = data.message;
      if (createdAt <= (this.#newestAt.get(conversationId) ?? ''))
        throw new Error(
          `event ${event.seq} tells of a message of ${createdAt} after one of ${this.#newestAt.get(conversationId)}`,
        );
      this.#newestAt.set(conversationId, createdAt);
      if (data.message.senderType !== 'system') return;
      if (
        this.#endedEarly.delete(event.conversationId ?? '') &&
        !data.message.body.includes('its recipient is no longer available')
      )
        throw new Error(`the offer before event ${event.seq} ran out before its time`);
      this.#checkRouting(event, data.message.body);
    }
  }

  /** The reported result of a command matches the events. Throws. */
  checkTold(conversation: ToldConversation): void {
    const { id, version } = conversation;
    const replayed = this.#versions.get(`${id} ${version}`);
    if (replayed !== protectedPart(conversation))
      throw new Error(
        `version ${version} of ${id} was answered as ${protectedPart(conversation)}, the events say ${replayed ?? 'nothing of it'}`,
      );
  }

  #change(event: EventRow, next: ReplayedConversation): void {
    const present = this.conversations.get(next.id);
    if (present === undefined && event.type !== 'conversation.created')
      throw new Error(`event ${event.seq} changes ${next.id}, which was never created`);
    if (present !== undefined && next.version < present.version)
      throw new Error(`event ${event.seq} takes ${next.id} from version ${present.version} back to ${next.version}`);
    if (present !== undefined && next.version === present.version && protectedPart(next) !== protectedPart(present))
      throw new Error(
        `event ${event.seq} makes ${protectedPart(next)} of ${protectedPart(present)} without a new version`,
      );
    if (present !== undefined) this.#checkOffer(event, present, next);
    if (
      event.type === 'conversation.closed' &&
      present?.solvedAt != null &&
      Date.parse(event.at) - Date.parse(present.solvedAt) < autoCloseDays * dayMs
    )
      throw new Error(`event ${event.seq} closes ${next.id} too early`);
    this.#versions.set(`${next.id} ${next.version}`, protectedPart(next));
    // An assignment has two events, of which the second changes nothing.
    if (present?.version !== next.version) this.#before.set(next.id, present);
    this.conversations.set(next.id, next);
  }

  /**
   * An offer begins and ends with its own event, and changes the assignee only when accepted. One that is withdrawn
   * because another agent took the unassigned conversation, is withdrawn by the same change.
   */
  #checkOffer(event: EventRow, present: ReplayedConversation, next: ReplayedConversation): void {
    const where = `event ${event.seq} (${event.type}) of ${next.id}`;
    if (!event.type.startsWith('assignment.')) {
      if (JSON.stringify(next.handshake) !== JSON.stringify(present.handshake))
        throw new Error(`${where} changes the offer`);
      return;
    }
    if (event.type === 'assignment.pending') {
      if (present.handshake !== null) throw new Error(`${where} makes a second offer`);
      if (next.handshake === null || Date.parse(next.handshake.expiresAt) - Date.parse(event.at) !== offerMs)
        throw new Error(`${where} lasts until ${next.handshake?.expiresAt}, from ${event.at}`);
      if (next.assignedAgentId !== present.assignedAgentId) throw new Error(`${where} changes the assignee`);
      return;
    }
    if (event.type === 'assignment.given') {
      if (present.handshake !== null || next.handshake !== null) throw new Error(`${where} comes with an offer`);
      if (next.assignedAgentId === null || next.assignedAgentId === present.assignedAgentId)
        throw new Error(`${where} gives it to no one new`);
      return;
    }
    if (present.handshake === null || next.handshake !== null) throw new Error(`${where} ends no offer`);
    const { toAgentId, expiresAt } = present.handshake;
    const isOver = event.at >= expiresAt;
    if (event.type === 'assignment.accepted') {
      if (isOver) throw new Error(`${where} comes when the offer was over at ${expiresAt}`);
      if (next.assignedAgentId !== toAgentId)
        throw new Error(`${where} gives it to ${next.assignedAgentId}, it was offered to ${toAgentId}`);
    } else if (next.assignedAgentId !== present.assignedAgentId) {
      const isTaken =
        event.type === 'assignment.cancelled' && present.assignedAgentId === null && next.assignedAgentId !== toAgentId;
      if (!isTaken) throw new Error(`${where} changes the assignee`);
    }
    if (event.type === 'assignment.expired' && !isOver) this.#endedEarly.add(next.id);
  }

  /** Routing writes `Assigned to <name>.` after its decision. */
  #checkRouting(event: EventRow, line: string): void {
    const name = /^Assigned to (.+)\.$/.exec(line)?.[1];
    if (name === undefined || event.conversationId === null) return;
    const agent = [...this.agents.values()].find((one) => one.name === name);
    const given = this.conversations.get(event.conversationId);
    if (agent === undefined || given?.assignedAgentId !== agent.id)
      throw new Error(`event ${event.seq} says ${line} and it is not so`);
    if (agent.status !== 'available' || agent.inviteStatus !== 'joined')
      throw new Error(`event ${event.seq}: routed to ${name}, who is ${agent.inviteStatus} and ${agent.status}`);
    if (this.#before.get(given.id)?.assignedAgentId != null)
      throw new Error(`event ${event.seq}: routed away from its assignee`);
    const others = [...this.conversations.values()].filter(
      (one) =>
        one.id !== given.id && one.channel === 'chat' && one.status === 'open' && one.assignedAgentId === agent.id,
    );
    if (others.length >= this.maxOpenChats)
      throw new Error(`event ${event.seq}: routed to ${name}, who had ${others.length} open chats already`);
  }
}
