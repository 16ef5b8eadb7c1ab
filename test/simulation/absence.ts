// Who is there and who is not: agents that fall away, come back or chose a status, customers who leave, and the mails to
// those who did not see an answer. Follows the events, and compares the rows with the sockets. Decisions "Presence of
// agents", "Presence of customers", "A chat goes on by mail". Each check throws its violation.

import { unseenDeadline } from '../../engine/conversations/unseen.ts';
import { awayDeadline } from '../../engine/team/presence.ts';
import type { EventRow } from '../../store/runtime/events.ts';
import type { Rows } from './invariants.ts';

/** The settings of the simulated workspace, in minutes. */
export const awayAfterMinutes = 0.5;
export const unseenMailMinutes = 0.5;
const minuteMs = 60_000;

interface KnownAgent {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly statusSource: string;
  readonly isOnline: boolean;
  readonly inviteStatus: string;
}

interface KnownChat {
  readonly id: string;
  readonly channel: string;
  readonly status: string;
  readonly assignedAgentId: string | null;
  readonly visitorId: string | null;
}

interface KnownMessage {
  readonly id: string;
  readonly conversationId: string;
  readonly senderType: string;
  readonly body: string;
  readonly readAt: string | null;
  readonly createdAt: string;
  readonly deliveryStatus: string | null;
  readonly mail: { readonly delayed?: unknown } | null;
}

export class Absence {
  readonly #agents = new Map<string, KnownAgent>();
  readonly #chats = new Map<string, KnownChat>();
  readonly #onlineVisitorIds = new Set<string>();
  /** By chat: the agent to whom routing gave it, until one deals with it or someone else gets it. */
  readonly #routed = new Map<string, string>();
  /** By message. */
  readonly #deliveries = new Map<string, string | null>();
  /** By chat: the time of the event by which the answers of its last mail were queued. */
  readonly #queuedAt = new Map<string, string>();

  take(event: EventRow): void {
    const data = JSON.parse(event.data);
    if (data.agent !== undefined) this.#takeAgent(event, data.agent);
    else if (data.conversation !== undefined) this.#takeChat(data.conversation);
    else if (event.type === 'visitor.online' && data.visitor.isOnline) this.#onlineVisitorIds.add(data.visitor.id);
    else if (event.type === 'visitor.offline') this.#onlineVisitorIds.delete(data.visitor.id);
    else if (event.type === 'message.created') this.#takeMessage(data.message);
    else if (event.type === 'message.updated') this.#takeDelivery(event, data.message);
  }

  /** Of rows to which nothing is being added, and the agents and visitors with an established connection. */
  check(rows: Rows, connectedIds: ReadonlySet<string>): void {
    this.#checkAgents(rows, connectedIds);
    for (const { id, isOnline } of rows.visitors.values())
      if (connectedIds.has(id) && isOnline === 0) throw new Error(`visitor ${id} has a socket and counts as gone`);
    for (const [chatId, agentId] of this.#routed) {
      const [chat, agent] = [this.#chats.get(chatId), this.#agents.get(agentId)];
      if (chat?.status === 'open' && agent !== undefined && agent.status !== 'available')
        throw new Error(`${chatId} waits for ${agent.name}, to whom it was routed and who is ${agent.status}`);
    }
    checkWaitingAnswers(rows);
  }

  #takeAgent({ seq }: EventRow, next: KnownAgent): void {
    const before = this.#agents.get(next.id);
    this.#agents.set(next.id, next);
    if (before === undefined || before.status === next.status || next.statusSource !== 'automatic') return;
    // Who joins is available, and who is deactivated offline.
    if (before.inviteStatus !== next.inviteStatus) return;
    if (next.status === 'away' && (before.status !== 'available' || next.isOnline))
      throw new Error(
        `event ${seq}: ${next.name}, who was ${before.status}${next.isOnline ? ' and has a socket' : ''}, became away by itself`,
      );
    if (next.status === 'available' && before.statusSource === 'chosen')
      throw new Error(`event ${seq}: ${next.name} became available by itself, and had chosen to be ${before.status}`);
  }

  #takeChat(chat: KnownChat): void {
    this.#chats.set(chat.id, chat);
    // Solved or set aside, it was dealt with.
    if (chat.assignedAgentId !== this.#routed.get(chat.id) || chat.status !== 'open') this.#routed.delete(chat.id);
  }

  #takeMessage({ conversationId, senderType, body }: KnownMessage): void {
    if (senderType === 'agent') this.#routed.delete(conversationId);
    const { assignedAgentId = null } = this.#chats.get(conversationId) ?? {};
    // Written by the service alone: texts of people begin differently here.
    if (senderType === 'system' && /^Assigned to .+\.$/.test(body) && assignedAgentId !== null)
      this.#routed.set(conversationId, assignedAgentId);
  }

  #takeDelivery({ seq, at }: EventRow, message: KnownMessage): void {
    const { id, conversationId, senderType, deliveryStatus } = message;
    const chat = this.#chats.get(conversationId);
    if (chat?.channel !== 'chat' || senderType !== 'agent') return;
    const before = this.#deliveries.get(id) ?? null;
    this.#deliveries.set(id, deliveryStatus);
    if (deliveryStatus !== 'queued') return;
    // Its server did not take it yet, and the service says why.
    if (before === 'queued' && message.mail?.delayed !== undefined) return;
    const what = `event ${seq}: message ${id}`;
    if (before !== null) throw new Error(`${what} is mailed again, it was ${before}`);
    if (message.readAt !== null) throw new Error(`${what} is mailed though it was seen`);
    if (this.#onlineVisitorIds.has(chat.visitorId ?? ''))
      throw new Error(`${what} is mailed to a customer who is there`);
    // The first that waited decides when all of them leave.
    const isFirst = this.#queuedAt.get(conversationId) !== at;
    this.#queuedAt.set(conversationId, at);
    if (isFirst && Date.parse(at) - Date.parse(message.createdAt) < unseenMailMinutes * minuteMs)
      throw new Error(`${what} of ${message.createdAt} is mailed at ${at}, too early`);
  }

  #checkAgents({ agents, deadlines }: Rows, connectedIds: ReadonlySet<string>): void {
    for (const { id, status, statusSource, isOnline, goneAt, joinedAt, deactivatedAt } of agents.values()) {
      if ((isOnline === 1) !== connectedIds.has(id))
        throw new Error(`agent ${id} ${isOnline === 1 ? 'counts as there without' : 'counts as gone with'} a socket`);
      if (status === 'away' && statusSource === 'automatic' && isOnline === 1)
        throw new Error(`agent ${id} is there, and still away by itself`);
      if (joinedAt === null || deactivatedAt !== null) continue;
      const dueAt = deadlines.get(`${awayDeadline.deadlineKind} ${id}`);
      const falls = status === 'available' && isOnline === 0 && goneAt !== null;
      if (falls && dueAt === undefined) throw new Error(`agent ${id} is gone since ${goneAt} and never becomes away`);
      if (falls && Date.parse(dueAt ?? '') < Date.parse(goneAt) + awayAfterMinutes * minuteMs)
        throw new Error(`agent ${id} is gone since ${goneAt} and becomes away at ${dueAt} already`);
    }
  }
}

/** An answer whose customer is gone and has an address is mailed, has been, or has a time at which it will be. */
function checkWaitingAnswers({ conversations, messages, visitors, deadlines }: Rows): void {
  const waiting = Map.groupBy(
    messages.filter(
      ({ senderType, readAt, deliveryStatus }) => senderType === 'agent' && readAt === null && deliveryStatus === null,
    ),
    ({ conversationId }) => conversationId,
  );
  for (const { id, channel, status, visitorId, customerReadUpTo } of conversations) {
    const visitor = visitorId === null ? undefined : visitors.get(visitorId);
    if (channel !== 'chat' || status === 'spam' || visitor === undefined) continue;
    if (visitor.isOnline === 1 || visitor.email === null || visitor.blockedAt !== null) continue;
    const answer = waiting.get(id)?.find(({ createdAt }) => customerReadUpTo === null || createdAt > customerReadUpTo);
    if (answer !== undefined && !deadlines.has(`${unseenDeadline.deadlineKind} ${id}`))
      throw new Error(`answer ${answer.id} of ${id} waits for a customer who is gone, and is never mailed`);
  }
}
