// The status machine of conversations: chats, tickets and calls. Specification 3.

import type { ConversationRecord, ConversationStatus } from '../../store/conversations/conversations.ts';
import type { ConversationView } from '../../store/conversations/records.ts';
import { refuse, refuseField } from '../errors.ts';
import { requireVersion } from '../preconditions.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import { deadline } from '../runtime/kinds.ts';
import { reschedule } from '../runtime/rescheduling.ts';
import { callingAgent, worksIn } from '../workspace/access.ts';
import { isActive, isGone, theRoster } from '../workspace/roster.ts';
import { clockFor, dayMs } from '../workspace/time-zones.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { emitCall, endCallOf, requireCallHolder } from './call.ts';
import {
  type ConversationChanges,
  changeConversation,
  conversationKind,
  conversationView,
  requireReachable,
  requireUnmerged,
} from './conversation.ts';
import { endHandshake } from './handshake.ts';
import { appendSystemLine } from './messages.ts';
import { ringFreeAgents } from './ringing.ts';
import { drainQueue, routeChat } from './routing.ts';
import { expectUnseenIn } from './unseen.ts';

/** Transitions that an agent may request. Closed is not among them: a solved conversation closes by itself. */
export const transitions: Readonly<Record<ConversationStatus, readonly ConversationStatus[]>> = {
  open: ['pending', 'solved', 'spam'],
  pending: ['open', 'solved', 'spam'],
  solved: ['open'],
  spam: ['open'],
  closed: ['open', 'solved'],
};

export const wakeDeadline = deadline('conversation.wake');
export const autoCloseDeadline = deadline('conversation.autoClose');
export const rescheduleClosingsDeadline = deadline('workspace.autoCloseAnew');
const maxSnoozeDays = 366;

interface Answer {
  readonly conversation: ConversationView;
}

/**
 * Does not check the version (specification 3). Refuses not_found, forbidden, illegal_status_transition, conflict for a
 * merged ticket; not_assigned if it would end another agent's call.
 */
export const setStatus = command(
  'conversation.status',
  (ctx, params: { conversationId: string; status: Exclude<ConversationStatus, 'closed'> }): Answer => {
    const { agent, conversation } = requireReachable(ctx, params.conversationId);
    requireUnmerged(ctx, conversation);
    if (!transitions[conversation.status].includes(params.status)) {
      refuse('illegal_status_transition', {
        message: `A conversation that is ${conversation.status} cannot become ${params.status}.`,
        detail: { from: conversation.status, to: params.status },
      });
    }
    if (!isWorkedOn(params.status)) requireCallHolder(ctx, agent, conversation);
    return { conversation: conversationView(moveTo(ctx, conversation, params.status, byPeople(conversation))) };
  },
);

/**
 * From every status; no effect on spam (decisions). Refuses not_found, forbidden, conflict for a merged ticket;
 * not_assigned for a call under way that is another agent's.
 */
export const markSpam = command('conversation.spam', (ctx, params: { conversationId: string }): Answer => {
  const { agent, conversation } = requireReachable(ctx, params.conversationId);
  requireUnmerged(ctx, conversation);
  requireCallHolder(ctx, agent, conversation);
  return {
    conversation: conversationView(
      conversation.status === 'spam' ? conversation : moveTo(ctx, conversation, 'spam', byPeople(conversation)),
    ),
  };
});

/** Only from spam. */
export const unmarkSpam = command('conversation.notSpam', (ctx, params: { conversationId: string }): Answer => {
  const { conversation } = requireReachable(ctx, params.conversationId);
  if (conversation.status !== 'spam')
    refuse('illegal_status_transition', { message: 'The conversation is not marked as spam.' });
  return { conversation: conversationView(moveTo(ctx, conversation, 'open', byPeople(conversation))) };
});

/**
 * Pending until then, unless the customer writes before. A snoozed one gets another time. Refuses not_found, forbidden,
 * stale_version, invalid_body, illegal_status_transition.
 */
export const snoozeConversation = command(
  'conversation.snooze',
  (ctx, params: { conversationId: string; until: string; expectedVersion?: number | undefined }): Answer => {
    const { agent, conversation } = requireReachable(ctx, params.conversationId);
    requireVersion(conversation, params.expectedVersion);
    const untilMs = Date.parse(params.until);
    if (!(untilMs > ctx.nowMs)) refuseField('invalid_body', 'until', 'must be in the future');
    if (untilMs > ctx.nowMs + maxSnoozeDays * dayMs)
      refuseField('invalid_body', 'until', `must be within ${maxSnoozeDays} days`);
    if (!isWorkedOn(conversation.status))
      refuse('illegal_status_transition', {
        message: `A conversation that is ${conversation.status} cannot be snoozed.`,
        detail: { from: conversation.status, to: 'pending' },
      });
    const snoozedUntil = isoTime(untilMs);
    if (snoozedUntil === conversation.snoozedUntil) return { conversation: conversationView(conversation) };
    const line = `${agent.name} snoozed this until ${clockFor(theWorkspace(ctx))(snoozedUntil)}.`;
    return {
      conversation: conversationView(
        moveTo(ctx, conversation, 'pending', { ...byPeople(conversation), snoozedUntil, line }),
      ),
    };
  },
);

/** A snooze is over. */
export const wakeConversation = command('conversation.wake', (ctx, params: DeadlineParams): void => {
  const conversation = ctx.state(conversationKind, params.subjectId);
  if (conversation?.status !== 'pending' || conversation.snoozedUntil === null) return;
  // The time may have moved on since this deadline was set.
  if (conversation.snoozedUntil > ctx.at) return;
  moveTo(ctx, conversation, 'open', { line: 'The snooze is over: pending became open.' });
});

/** Closes a solved conversation that was not touched for the workspace's number of days. */
export const autoClose = command('conversation.autoClose', (ctx, params: DeadlineParams): void => {
  const conversation = ctx.state(conversationKind, params.subjectId);
  if (conversation?.status === 'solved') moveTo(ctx, conversation, 'closed');
});

/** The workspace's number of days changed: it applies to conversations already solved, too. */
export function rescheduleClosings(ctx: Context, afterId = ''): void {
  reschedule(ctx, { of: autoCloseDeadline, next: rescheduleClosingsDeadline, afterId }, (id) => {
    const conversation = ctx.state(conversationKind, id);
    if (conversation?.status === 'solved') scheduleClosing(ctx, conversation);
  });
}

/** Continues where rescheduleClosings stopped. */
export const continueRescheduling = command('workspace.autoCloseAnew', (ctx, params: DeadlineParams): void =>
  rescheduleClosings(ctx, params.subjectId),
);

/** Counted from when it was solved; at once if that time has passed. */
export function scheduleClosing(ctx: Context, conversation: ConversationRecord): void {
  const dueMs = Date.parse(conversation.solvedAt ?? ctx.at) + theWorkspace(ctx).settings.autoCloseDays * dayMs;
  ctx.setDeadline(autoCloseDeadline, conversation.id, Math.max(dueMs, ctx.nowMs));
}

/** A chat in whose status an agent had a hand is people's: the assistant would not know when to go on. */
function byPeople({ assistant }: ConversationRecord): ConversationChanges {
  return assistant === 'answering' ? { assistant: 'handed_over' } : {};
}

/** Changes the status, with all consequences. The caller has checked that the transition is legal. */
export function moveTo(
  ctx: Context,
  conversation: ConversationRecord,
  status: ConversationStatus,
  { line, ...more }: ConversationChanges & { line?: string } = {},
): ConversationRecord {
  const stays = isWorkedOn(status);
  const free = stays ? conversation : endHandshake(ctx, conversation);
  const changes: ConversationChanges = {
    snoozedUntil: null,
    ...more,
    status,
    ...timesOf(ctx, free, status),
    ...(stays ? assigneeOf(ctx, free) : { notToAgentIds: [] }),
  };
  const endsCall = !stays && conversation.channel === 'call' && endCallOf(ctx, conversation.id);
  const moved = changeConversation(ctx, free, changes, status === 'closed' ? 'conversation.closed' : undefined);
  if (endsCall) {
    emitCall(ctx, 'call.ended', moved.id);
    ringFreeAgents(ctx);
  }
  if (status === 'solved') scheduleClosing(ctx, moved);
  else if (conversation.status === 'solved') ctx.clearDeadline(autoCloseDeadline, moved.id);
  if (moved.snoozedUntil !== null) ctx.setDeadline(wakeDeadline, moved.id, Date.parse(moved.snoozedUntil));
  else if (conversation.snoozedUntil !== null) ctx.clearDeadline(wakeDeadline, moved.id);
  // Nothing of spam is mailed.
  if (conversation.status === 'spam') expectUnseenIn(ctx, moved);
  const told = appendSystemLine(ctx, moved, line ?? lineOf(ctx, conversation.status, status));
  if (status === 'open') return routeChat(ctx, told);
  if (conversation.channel === 'chat' && conversation.status === 'open') drainQueue(ctx);
  return told;
}

/** In these statuses, an offer and a call continue. */
function isWorkedOn(status: ConversationStatus): boolean {
  return status === 'open' || status === 'pending';
}

/** A customer's message reopens a pending, solved or closed conversation, but not spam (decisions 4.5, "Reopening"). */
export function reopenForCustomer(
  ctx: Context,
  conversation: ConversationRecord,
  who = 'The customer',
): ConversationRecord {
  if (conversation.status === 'open' || conversation.status === 'spam') return conversation;
  return moveTo(ctx, conversation, 'open', {
    line: `${who} came back: ${conversation.status} became open.`,
    // What was left unanswered when it was solved is over.
    ...(isWorkedOn(conversation.status) ? {} : { waitingSince: null }),
  });
}

/**
 * The former assignee may have left since: then the conversation returns to the queue. So does a chat whose agent is
 * not there now, because a chat cannot wait.
 */
function assigneeOf(ctx: Context, conversation: ConversationRecord): ConversationChanges {
  if (conversation.assignedAgentId === null) return {};
  const assignee = theRoster(ctx).agents.get(conversation.assignedAgentId);
  const canHaveIt =
    assignee !== undefined &&
    isActive(assignee) &&
    worksIn(assignee, conversation.channel) &&
    (conversation.channel !== 'chat' || !isGone(assignee));
  return canHaveIt ? {} : { assignedAgentId: null };
}

function timesOf(ctx: Context, conversation: ConversationRecord, status: ConversationStatus): ConversationChanges {
  switch (status) {
    case 'solved':
      return { solvedAt: ctx.at, closedAt: null };
    case 'closed':
      return { closedAt: ctx.at };
    case 'spam':
      return {};
    default:
      return conversation.solvedAt === null && conversation.closedAt === null ? {} : { solvedAt: null, closedAt: null };
  }
}

function lineOf(ctx: Context, from: ConversationStatus, to: ConversationStatus): string {
  return ctx.caller.kind === 'agent'
    ? `${callingAgent(ctx).name} changed the status from ${from} to ${to}.`
    : `The status changed from ${from} to ${to}.`;
}
