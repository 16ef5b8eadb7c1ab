// Notifies agents outside of the pages. A push leaves at once to an agent without an open socket. A mail follows if no
// one has looked after some minutes. Both are decided on the state after the commit, and again when they leave: what was
// seen meanwhile is not news. Decisions "Push".

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import { findContact } from '../../store/customers/contacts.ts';
import { findDeadline } from '../../store/runtime/deadlines.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import {
  addUnseenNotice,
  deletePushSubscription,
  deleteUnseenNotice,
  findPushSubscription,
  type NotifyReason,
  pushSubscriptionsOf,
  type UnseenNotice,
  unseenNoticesOf,
} from '../../store/workspace/notifications.ts';
import { type CallState, callKind, numberOf } from '../conversations/call.ts';
import { conversationKind } from '../conversations/conversation.ts';
import { ringTarget } from '../conversations/ringing.ts';
import { visitorKind } from '../customers/visitors.ts';
import { countIfBelow, hourMs, minuteMs } from '../directory/ceilings.ts';
import { oneLine, plainName } from '../lines.ts';
import { enqueueMail } from '../mail/outgoing.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import { deadline, outboxKind } from '../runtime/kinds.ts';
import type { OutboxItem, OutboxOutcome } from '../runtime/outbox.ts';
import { firstChars } from '../text.ts';
import { reaches, worksIn } from '../workspace/access.ts';
import { isActive, theRoster } from '../workspace/roster.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { notifyChoiceOf } from './notifications.ts';

/** Subjects are agents. */
export const noticeMailDeadline = deadline('notice.mail');
/** How long something may wait unseen before agents who chose so are mailed. */
const unseenMs = 5 * minuteMs;
/** Mails about unseen work to one agent: a digest every five minutes at most. */
const mailsPerHour = 12;
/** Read at once. More follow in the next mail. */
const maxNoticesPerMail = 100;
const bodyChars = 180;
/** A push service keeps what it cannot deliver for this long. A ringing call or an offer is over sooner. */
const keptMs = 4 * hourMs;
const urgentMs = 30_000;

/** What the page's service worker shows. */
export interface PushNotice {
  readonly reason: NotifyReason;
  readonly title: string;
  readonly body: string;
  /** Replaces a notification with the same tag. */
  readonly tag: string;
  /** A path of the pages, opened on a click. */
  readonly url: string;
}

export interface Push {
  readonly subscriptionId: string;
  readonly notice: PushNotice;
  /** Lost if it cannot be delivered by then. */
  readonly expiresAt: string;
  readonly isUrgent: boolean;
}

export const pushKind = outboxKind<Push>('push', {
  retryDelaysMs: [5000, 30_000, 2 * minuteMs, 10 * minuteMs, 30 * minuteMs, hourMs],
  kept: ({ subscriptionId, expiresAt, isUrgent }) => ({ subscriptionId, expiresAt, isUrgent }),
  isApart: true,
});

/** The code of a delivery that failed because the browser no longer has the subscription. */
export const subscriptionGone = 'subscription_gone';

/** A subscription that its push service does not know any more is forgotten. */
export function settlePush(ctx: Context, { payload }: OutboxItem<Push>, outcome: OutboxOutcome): void {
  if (outcome.state === 'failed' && outcome.code === subscriptionGone)
    deletePushSubscription(ctx.db, payload.subscriptionId);
}

/** Whether the push is still news: its subscription exists, and nobody has looked since. */
export function isPushDue(view: View, push: Push, conversationId: string): boolean {
  const subscription = findPushSubscription(view.db, push.subscriptionId);
  const agent = subscription && theRoster(view).agents.get(subscription.agentId);
  const conversation = view.state(conversationKind, conversationId);
  if (agent === undefined || conversation === undefined || !isActive(agent) || agent.isOnline) return false;
  if (push.expiresAt <= view.at) return false;
  const { assignedAgentId, handshake } = conversation;
  switch (push.notice.reason) {
    case 'own_messages':
      return isNotified(agent, conversation) && isUnseen(conversation);
    case 'queue':
      return assignedAgentId === null && isUnseen(conversation);
    case 'offers':
      return push.isUrgent ? handshake?.toAgentId === agent.id : assignedAgentId === agent.id;
    case 'calls':
      return !push.isUrgent || view.state(callKind, conversationId)?.phase === 'ringing';
  }
}

/** A customer wrote, or a conversation with unseen messages got another assignee. */
export const noticeMessage = command('notice.message', (ctx, { subjectId }: DeadlineParams): void => {
  const conversation = ctx.state(conversationKind, subjectId);
  if (conversation === undefined || !isUnseen(conversation)) return;
  // A voicemail's transcript: the call has its own notice.
  if (conversation.channel === 'call' && conversation.assignedAgentId === null) return;
  const news = {
    body: textOf(conversation),
    ...(conversation.lastCustomerMessageAt === null ? {} : { at: conversation.lastCustomerMessageAt }),
  };
  const own = [...theRoster(ctx).agents.values()]
    .filter((agent) => isNotified(agent, conversation))
    .map(({ id }) => id);
  notify(ctx, conversation, own, { ...news, reason: 'own_messages' });
  if (conversation.assignedAgentId !== null) return;
  const others = reachingIds(ctx, conversation).filter((agentId) => !own.includes(agentId));
  notify(ctx, conversation, others, { ...news, reason: 'queue' });
});

/** Whether its messages are the agent's: its assignee, and whoever follows it and still sees it. */
function isNotified(agent: AgentRecord, conversation: ConversationRecord): boolean {
  const { assignedAgentId, followerIds } = conversation;
  return assignedAgentId === agent.id || (followerIds.includes(agent.id) && reaches(agent, conversation));
}

export const noticeOffer = command('notice.offer', (ctx, { subjectId }: DeadlineParams): void => {
  const conversation = ctx.state(conversationKind, subjectId);
  if (conversation?.handshake == null) return;
  const { toAgentId, initiatedByAgentId, note, expiresAt } = conversation.handshake;
  const by = theRoster(ctx).agents.get(initiatedByAgentId)?.name ?? 'A colleague';
  notify(ctx, conversation, [toAgentId], {
    reason: 'offers',
    body: `${by} offers you this conversation.${note === null ? '' : ` ${note}`}`,
    untilMs: Date.parse(expiresAt),
  });
});

/** Assigned without an offer. Unseen messages in it have their own notice. */
export const noticeGiven = command('notice.given', (ctx, { subjectId }: DeadlineParams): void => {
  const conversation = ctx.state(conversationKind, subjectId);
  if (conversation === undefined || conversation.assignedAgentId === null || isUnseen(conversation)) return;
  notify(ctx, conversation, [conversation.assignedAgentId], {
    reason: 'offers',
    body: 'This conversation is yours now.',
  });
});

/** A call rings, was missed, or left a voicemail. */
export const noticeCall = command('notice.call', (ctx, { subjectId }: DeadlineParams): void => {
  const conversation = ctx.state(conversationKind, subjectId);
  const call = ctx.state(callKind, subjectId);
  if (conversation === undefined || call === undefined) return;
  if (call.phase === 'ringing')
    notify(ctx, conversation, callableIds(ctx, conversation, call), {
      reason: 'calls',
      body: 'Is calling now.',
      untilMs: ctx.nowMs + urgentMs,
    });
  else if (waitsForCallBack(conversation, call))
    notify(ctx, conversation, callableIds(ctx, conversation, call), {
      reason: 'calls',
      body: call.voicemailId === null ? 'Missed call.' : 'Left a voicemail.',
      ...(call.endedAt === null ? {} : { at: call.endedAt }),
    });
});

/** Mails the agent what it chose and no one has looked at for some minutes. */
export const mailUnseen = command('notice.mail', (ctx, { subjectId }: DeadlineParams): void => {
  const agent = theRoster(ctx).agents.get(subjectId);
  const notices = unseenNoticesOf(ctx.db, subjectId, maxNoticesPerMail);
  const due = notices.filter(({ createdAt }) => Date.parse(createdAt) + unseenMs <= ctx.nowMs);
  for (const notice of due) deleteUnseenNotice(ctx.db, notice);
  const next = notices.find((notice) => !due.includes(notice));
  if (next !== undefined) ctx.setDeadline(noticeMailDeadline, subjectId, Date.parse(next.createdAt) + unseenMs);
  else if (notices.length === maxNoticesPerMail) ctx.setDeadline(noticeMailDeadline, subjectId, ctx.nowMs + unseenMs);
  if (agent === undefined || !isActive(agent)) return;
  const { mail } = notifyChoiceOf(ctx, agent.id);
  const waiting = new Map<string, { conversation: ConversationRecord; reason: NotifyReason }>();
  for (const notice of due) {
    const conversation = ctx.state(conversationKind, notice.conversationId);
    if (conversation !== undefined && mail.includes(notice.reason) && isStillUnseen(ctx, agent, conversation, notice))
      waiting.set(conversation.id, { conversation, reason: notice.reason });
  }
  mailWaiting(ctx, agent, [...waiting.values()]);
});

interface News {
  readonly reason: NotifyReason;
  readonly body: string;
  /** When it happened; by default now. */
  readonly at?: string;
  /** Over after that; by default it is kept for hours. */
  readonly untilMs?: number;
}

function notify(ctx: Context, conversation: ConversationRecord, agentIds: readonly string[], news: News): void {
  const { reason } = news;
  for (const agentId of agentIds) {
    const agent = theRoster(ctx).agents.get(agentId);
    if (agent === undefined || !isActive(agent)) continue;
    const choice = notifyChoiceOf(ctx, agentId);
    if (choice.push.includes(reason) && !agent.isOnline) push(ctx, agent, conversation, news);
    if (choice.mail.includes(reason))
      noteUnseen(ctx, { agentId, reason, conversationId: conversation.id, createdAt: news.at ?? ctx.at });
  }
}

function push(ctx: Context, agent: AgentRecord, conversation: ConversationRecord, news: News): void {
  const { reason, body, untilMs } = news;
  const { assignedAgentId } = conversation;
  const isTheirs = assignedAgentId === agent.id || reason === 'offers';
  const list = isTheirs ? 'mine' : assignedAgentId === null ? 'unassigned' : 'all';
  const notice: PushNotice = {
    reason,
    title: customerOf(ctx, conversation),
    body: firstChars(body, bodyChars),
    tag: conversation.id,
    url: conversation.channel === 'call' ? `/calls/${conversation.id}` : `/inbox/${list}/${conversation.id}`,
  };
  for (const { id } of pushSubscriptionsOf(ctx.db, agent.id, ctx.at))
    ctx.enqueue(pushKind, {
      target: `push:${id}`,
      subjectId: conversation.id,
      payload: {
        subscriptionId: id,
        notice,
        expiresAt: new Date(untilMs ?? ctx.nowMs + keptMs).toISOString(),
        isUrgent: untilMs !== undefined,
      },
    });
}

function noteUnseen(ctx: Context, notice: UnseenNotice): void {
  addUnseenNotice(ctx.db, notice);
  if (findDeadline(ctx.db, noticeMailDeadline.deadlineKind, notice.agentId) === undefined)
    ctx.setDeadline(noticeMailDeadline, notice.agentId, Date.parse(notice.createdAt) + unseenMs);
}

/** The customer waits for a person, and no one who may see it for the team has looked. */
function isUnseen({
  status,
  assistant,
  waitingSince,
  lastCustomerMessageAt,
  agentsReadUpTo,
}: ConversationRecord): boolean {
  return (
    (status === 'open' || status === 'pending') &&
    assistant !== 'answering' &&
    waitingSince !== null &&
    lastCustomerMessageAt !== null &&
    (agentsReadUpTo === null || agentsReadUpTo < lastCustomerMessageAt)
  );
}

function isStillUnseen(
  ctx: Context,
  agent: AgentRecord,
  conversation: ConversationRecord,
  { reason, createdAt }: UnseenNotice,
): boolean {
  const { assignedAgentId } = conversation;
  // An agent with an open page was shown offers and calls.
  const wasThere = agent.isOnline || (agent.goneAt !== null && agent.goneAt >= createdAt);
  switch (reason) {
    case 'own_messages':
      // A follower who was there has read it, whether or not the assignee has.
      return isNotified(agent, conversation) && isUnseen(conversation) && (assignedAgentId === agent.id || !wasThere);
    case 'queue':
      return assignedAgentId === null && reaches(agent, conversation) && isUnseen(conversation);
    case 'offers':
      return !wasThere && (conversation.status === 'open' || conversation.status === 'pending');
    case 'calls': {
      const call = ctx.state(callKind, conversation.id);
      return call !== undefined && reaches(agent, conversation) && waitsForCallBack(conversation, call);
    }
  }
}

function mailWaiting(
  ctx: Context,
  agent: AgentRecord,
  waiting: readonly { conversation: ConversationRecord; reason: NotifyReason }[],
): void {
  const [first] = waiting;
  if (first === undefined) return;
  const budget = { ceiling: 'unseen_mails_to_agent', of: agent.id, limit: mailsPerHour, perMs: hourMs };
  if (!countIfBelow(ctx, budget)) return;
  const { baseUrl } = ctx.settings;
  const workspace = plainName(theWorkspace(ctx).name);
  // A mail is kept with the conversation that it names, so that erasing its customer finds it. One about several names
  // no one.
  const isOne = waiting.length === 1;
  const subject = isOne
    ? oneSubject(plainName(customerOf(ctx, first.conversation)), first.reason)
    : `${waiting.length} conversations are waiting`;
  const lines = isOne
    ? [textOf(first.conversation), `${baseUrl}${pathOf(agent, first.conversation)}`]
    : [
        waiting
          .map(({ conversation, reason }) => `- ${nounOf[reason]}: ${baseUrl}${pathOf(agent, conversation)}`)
          .join('\n'),
      ];
  enqueueMail(
    ctx,
    {
      to: agent.email,
      subject,
      text: [
        `Hello ${plainName(agent.name)},`,
        isOne
          ? `${subject} in ${workspace}, and no one has looked for ${unseenMs / minuteMs} minutes.`
          : `${subject} in ${workspace}, and no one has looked for ${unseenMs / minuteMs} minutes:`,
        ...lines.filter((line) => line !== ''),
        `You can choose what you are mailed about: ${baseUrl}/account`,
      ]
        .join('\n\n')
        .concat('\n'),
      notice: { agentId: agent.id, reasons: [...new Set(waiting.map(({ reason }) => reason))] },
    },
    { purpose: 'account', ...(isOne ? { subjectId: first.conversation.id } : {}) },
  );
}

const nounOf: Record<NotifyReason, string> = {
  own_messages: 'Yours',
  queue: 'Unassigned',
  offers: 'Offered to you',
  calls: 'Call',
};

function oneSubject(customer: string, reason: NotifyReason): string {
  switch (reason) {
    case 'own_messages':
      return `${customer} wrote to you`;
    case 'queue':
      return `${customer} is waiting for an answer`;
    case 'offers':
      return `A conversation with ${customer} was offered to you`;
    case 'calls':
      return `${customer} called`;
  }
}

function pathOf(agent: AgentRecord, conversation: ConversationRecord): string {
  if (conversation.channel === 'call') return `/calls/${conversation.id}`;
  return `/inbox/${conversation.assignedAgentId === agent.id ? 'mine' : 'all'}/${conversation.id}`;
}

function textOf({ subject, preview }: ConversationRecord): string {
  return [subject, preview].filter((part) => part !== null && part !== '').join(': ');
}

function customerOf(ctx: Context, { visitorId, contactId }: ConversationRecord): string {
  const contact = contactId === null ? undefined : findContact(ctx.db, contactId);
  const visitor = visitorId === null ? undefined : ctx.state(visitorKind, visitorId);
  const name =
    contact?.name ?? visitor?.name ?? contact?.email ?? visitor?.email ?? visitor?.phoneE164 ?? contact?.phone;
  return oneLine(name ?? 'A visitor');
}

function reachingIds(ctx: Context, conversation: ConversationRecord): string[] {
  return [...theRoster(ctx).agents.values()]
    .filter((agent) => isActive(agent) && reaches(agent, conversation))
    .map(({ id }) => id);
}

/** Those whom the call rings, or would ring if they were there. */
function callableIds(ctx: Context, conversation: ConversationRecord, call: CallState): string[] {
  const target = ringTarget(ctx, conversation, numberOf(ctx, call));
  return [...theRoster(ctx).agents.values()]
    .filter(
      (agent) =>
        isActive(agent) &&
        worksIn(agent, 'call') &&
        (target.kind !== 'agent' || target.agentId === agent.id) &&
        (target.kind !== 'department' || agent.groupIds.includes(target.departmentId)),
    )
    .map(({ id }) => id);
}

/** No agent spoke with the caller, and none has taken the conversation since. */
function waitsForCallBack({ status, assignedAgentId }: ConversationRecord, call: CallState): boolean {
  const isMissed = call.phase === 'ended' && call.answeredAt === null;
  return (
    (status === 'open' || status === 'pending') && assignedAgentId === null && (isMissed || call.voicemailId !== null)
  );
}
