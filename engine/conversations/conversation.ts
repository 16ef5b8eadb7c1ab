// The conversation actor: writes changes of a conversation, counts its version and emits events. The rules of what may
// change are in status.ts, handshake.ts, messages.ts and others; they all end in changeConversation().

import {
  type ConversationRecord,
  conversationIdsOfVisitor,
  findConversation,
} from '../../store/conversations/conversations.ts';
import { ConversationView } from '../../store/conversations/records.ts';
import { insertConversation, unsetConversation, updateConversation } from '../../store/conversations/writes.ts';
import { viewer } from '../../store/record.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import type { ConversationAudience } from '../audience.ts';
import { refuse } from '../errors.ts';
import { type EventOf, emit, events } from '../events.ts';
import { foldChange } from '../rollups.ts';
import type { Context, View } from '../runtime/context.ts';
import type { ActorKind } from '../runtime/registry.ts';
import { callingAgent, passesDepartment, reaches, worksIn } from '../workspace/access.ts';
import { customerSees } from './customer-view.ts';
import { expectNotice, messageNoticeDeadline } from './notices.ts';

export const conversationKind: ActorKind<ConversationRecord> = { name: 'conversation', load: findConversation };

declare module '../events.ts' {
  interface EventRecords {
    readonly conversation: ConversationView;
  }
}

/** The record as agents see it (decisions 4.5). */
export const conversationView = viewer(ConversationView);

export function audienceOf(
  conversation: ConversationRecord,
  options: { visitorToo: boolean; before?: ConversationRecord },
): ConversationAudience {
  const before = options.before ?? conversation;
  const departmentIds =
    before.departmentId === conversation.departmentId
      ? [conversation.departmentId]
      : [conversation.departmentId, before.departmentId];
  const agentIds: string[] = [];
  for (const agentId of [
    conversation.assignedAgentId,
    conversation.handshake?.toAgentId,
    before.assignedAgentId,
    before.handshake?.toAgentId,
  ]) {
    if (agentId != null && !agentIds.includes(agentId)) agentIds.push(agentId);
  }
  // A ticket's customer is notified by mail: a browser that claims the address must not receive what is sent to it.
  const visitorId = options.visitorToo && conversation.channel !== 'ticket' ? conversation.visitorId : null;
  const { channel, mailPreview } = conversation;
  return {
    kind: 'conversation',
    channel,
    departmentIds,
    agentIds,
    visitorId,
    ...(visitorId === null || mailPreview === null ? {} : { mailPreview }),
  };
}

/**
 * A conversation that the calling agent may act on. Refuses not_found, then `outOfScope` if it is outside the agent's
 * channels or departments.
 */
export function requireReachable(
  view: View,
  conversationId: string,
  outOfScope: 'forbidden' | 'not_found' = 'forbidden',
): { agent: AgentRecord; conversation: ConversationRecord } {
  const agent = callingAgent(view);
  const conversation = view.state(conversationKind, conversationId) ?? refuse('not_found');
  if (!reaches(agent, conversation)) refuse(outOfScope);
  return { agent, conversation };
}

/**
 * Like requireReachable for messages, whose area specifies other errors (specification 7): 404 by department, 403 by
 * channel.
 */
export function requireReadable(
  view: View,
  conversationId: string,
): { agent: AgentRecord; conversation: ConversationRecord } {
  const agent = callingAgent(view);
  const conversation = view.state(conversationKind, conversationId);
  if (conversation === undefined || !passesDepartment(agent, conversation)) refuse('not_found');
  if (!worksIn(agent, conversation.channel)) refuse('channel_not_assigned');
  return { agent, conversation };
}

/** Refuses conflict for a ticket whose messages another one has. */
export function requireUnmerged(view: Pick<View, 'state'>, conversation: ConversationRecord): void {
  if (conversation.mergedInto === null) return;
  const mergedInto = whereNow(view, conversation.id);
  const { ticketNumber = null } = view.state(conversationKind, mergedInto) ?? {};
  refuse('conflict', {
    message: `This ticket was merged into #${ticketNumber}, which has its messages.`,
    detail: { mergedInto },
  });
}

/** The conversation that has its messages. A merged ticket is never merged into, so this comes to an end. */
export function whereNow(view: Pick<View, 'state'>, conversationId: string): string {
  const { mergedInto = null } = view.state(conversationKind, conversationId) ?? {};
  return mergedInto === null ? conversationId : whereNow(view, mergedInto);
}

/** An open conversation without messages; addConversation() writes it. */
export function newConversation(
  ctx: Context,
  fields: Pick<ConversationRecord, 'channel' | 'siteId' | 'visitorId' | 'contactId' | 'departmentId'> &
    Partial<ConversationRecord>,
): ConversationRecord {
  return {
    ...unsetConversation,
    unreachable: false,
    id: ctx.ids.uuid(),
    version: 1,
    status: 'open',
    createdAt: ctx.at,
    updatedAt: ctx.at,
    ...fields,
  };
}

export function addConversation(ctx: Context, conversation: ConversationRecord): ConversationRecord {
  insertConversation(ctx.db, conversation);
  foldChange(ctx, undefined, conversation);
  ctx.setState(conversationKind, conversation.id, conversation);
  emit(ctx, {
    type: 'conversation.created',
    conversationId: conversation.id,
    audience: audienceOf(conversation, { visitorToo: false }),
    data: { conversation: conversationView(conversation) },
  });
  return conversation;
}

export type ConversationChanges = Partial<Omit<ConversationRecord, 'id' | 'version' | 'createdAt' | 'updatedAt'>>;

/** Fields that the lock protects: changing one makes a new version (decisions 4.5). */
const versioned = [
  'status',
  'departmentId',
  'assignedAgentId',
  'handshake',
  'tags',
  'snoozedUntil',
  'mergedInto',
] as const satisfies readonly (keyof ConversationRecord)[];

/** When and past whom it was routed applies only to the former assignee. */
const unrouted: ConversationChanges = { routedAt: null, notToAgentIds: [] };

/** Writes a change and its version. Emits nothing. */
function writeConversation(ctx: Context, before: ConversationRecord, changes: ConversationChanges): ConversationRecord {
  const isNewVersion = versioned.some((field) => field in changes && changes[field] !== before[field]);
  const isReassigned = 'assignedAgentId' in changes && changes.assignedAgentId !== before.assignedAgentId;
  const isMoved = 'status' in changes && changes.status !== before.status;
  // That the customer left, or whose contact it is, is no activity: goals and lists go by the time of the last one.
  const isActivity = Object.keys(changes).some((field) => field !== 'unreachable' && field !== 'contactId');
  const changed = { ...before, ...changes };
  const isTaken =
    changed.assignedAgentId !== null || changed.handshake !== null || changed.departmentId !== before.departmentId;
  const after: ConversationRecord = {
    ...before,
    ...(isReassigned ? unrouted : {}),
    ...(isMoved ? { snoozedUntil: null } : {}),
    ...(isTaken && before.assistant === 'answering' ? { assistant: 'handed_over' } : {}),
    ...changes,
    version: before.version + (isNewVersion ? 1 : 0),
    updatedAt: isActivity ? later(ctx.at, before.updatedAt) : before.updatedAt,
  };
  updateConversation(ctx.db, after);
  foldChange(ctx, before, after);
  ctx.setState(conversationKind, after.id, after);
  return after;
}

/**
 * Writes a change and emits it to those who may see it, as `type` if the change has an event of its own besides
 * conversation.updated.
 */
export function changeConversation(
  ctx: Context,
  before: ConversationRecord,
  changes: ConversationChanges,
  type?: EventOf<'conversation'>,
): ConversationRecord {
  const after = writeConversation(ctx, before, changes);
  // What waits unseen is news for the new assignee, or for everyone.
  if (after.assignedAgentId !== before.assignedAgentId) expectNotice(ctx, messageNoticeDeadline, after.id);
  emitChange(ctx, { before, after, ...(type === undefined ? {} : { type }) });
  return after;
}

function emitChange(
  ctx: Context,
  change: { before: ConversationRecord; after: ConversationRecord; type?: EventOf<'conversation'> },
): void {
  const { before, after } = change;
  const data = { conversation: conversationView(after) };
  const isSeen = customerSees(before, after);
  if (change.type !== undefined) {
    const visitorToo = isSeen && events[change.type].visitorToo;
    emit(ctx, {
      type: change.type,
      conversationId: after.id,
      audience: audienceOf(after, { visitorToo, before }),
      data,
    });
  }
  emit(ctx, {
    type: 'conversation.updated',
    conversationId: after.id,
    audience: audienceOf(after, { visitorToo: isSeen, before }),
    data,
  });
}

/** The conversations' customer turned out to be another contact. */
export function giveConversation(ctx: Context, conversationId: string, contactId: string): void {
  const conversation = ctx.state(conversationKind, conversationId);
  if (conversation !== undefined) changeConversation(ctx, conversation, { contactId });
}

/** The visitor identified itself: the conversations it began anonymously belong to its contact. */
export function linkConversationsOf(ctx: Context, visitorId: string, contactId: string): void {
  for (const conversationId of conversationIdsOfVisitor(ctx.db, visitorId)) {
    const conversation = ctx.state(conversationKind, conversationId);
    if (conversation?.contactId === null) changeConversation(ctx, conversation, { contactId });
  }
}

/**
 * Counts the versions of the visitor's conversations, for a change that their locks protect, such as a block (decisions
 * 4.5).
 */
export function bumpConversationsOf(ctx: Context, visitorId: string): void {
  for (const conversationId of conversationIdsOfVisitor(ctx.db, visitorId)) {
    const before = ctx.state(conversationKind, conversationId);
    if (before === undefined) continue;
    const after: ConversationRecord = {
      ...before,
      version: before.version + 1,
      updatedAt: later(ctx.at, before.updatedAt),
    };
    updateConversation(ctx.db, after);
    ctx.setState(conversationKind, after.id, after);
    emitChange(ctx, { before, after });
  }
}

/** Times of a conversation never go back, even if a tie or a wrong clock put an earlier one ahead of now. */
export function later(at: string, other: string): string {
  return at > other ? at : other;
}
