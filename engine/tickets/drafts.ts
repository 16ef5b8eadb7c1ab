// Mails that agents write: kept on the server while they are written, and sent a few seconds or days after "send", until
// when they can be taken back. A scheduled mail is a row and a job of the outbox, so it leaves once, also after a restart.
// Its message has the draft's id.

import { isDeepStrictEqual } from 'node:util';
import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import { findMessage } from '../../store/conversations/messages.ts';
import type { Cursor } from '../../store/cursor.ts';
import {
  countDrafts,
  type DraftMail,
  type DraftRecord,
  DraftView,
  deleteDraft,
  draftPage,
  draftsIn,
  findDraft,
  insertDraft,
  unsetDraft,
  updateDraft,
} from '../../store/mail/drafts.ts';
import { viewer } from '../../store/record.ts';
import { type AttachmentInput, filesOf } from '../conversations/attachments.ts';
import { conversationKind, requireReadable, whereNow } from '../conversations/conversation.ts';
import { appendServiceLine, appendSystemLine } from '../conversations/messages.ts';
import { moveTo, transitions } from '../conversations/status.ts';
import { takeByReply } from '../conversations/taking.ts';
import { dayMs } from '../directory/ceilings.ts';
import { refuse, refuseField } from '../errors.ts';
import { emit } from '../events.ts';
import { oneLine } from '../lines.ts';
import { type Addressing, planMail, requireAddressing } from '../mail/sending.ts';
import { mailHabitOf } from '../mail/signatures.ts';
import { requireText, requireVersion } from '../preconditions.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { type NoPayload, outboxKind } from '../runtime/kinds.ts';
import type { OutboxItem, OutboxOutcome } from '../runtime/outbox.ts';
import { callingAgent } from '../workspace/access.ts';
import { isActive, theRoster } from '../workspace/roster.ts';
import { clockFor } from '../workspace/time-zones.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { appendAgentMessage } from './replies.ts';
import { openTicketOf, requireTicket } from './tickets.ts';

declare module '../events.ts' {
  interface EventRecords {
    readonly draft: DraftView;
  }
}

/** Sends the scheduled draft that is its subject. */
export const draftKind = outboxKind<NoPayload>('draft', {
  // At a limit of mails: they last an hour or a day.
  retryDelaysMs: [60_000, 10 * 60_000, 3600_000, 6 * 3600_000, 12 * 3600_000],
});

/** More than anyone keeps in mind. */
const maxDrafts = 200;
const maxDelayDays = 366;
/** The longest time that an agent may choose for taking a mail back. */
const maxUndoMs = 30_000;

const draftView = viewer(DraftView);

/** As the caller names them: attachments with their keys. */
export type MailChanges = { readonly [Field in keyof DraftMail]?: DraftMail[Field] | undefined };

const emptyMail: DraftMail = {
  from: null,
  to: null,
  cc: null,
  bcc: null,
  copy: true,
  subject: null,
  body: '',
  format: 'markdown',
  attachments: [],
  answerTo: null,
  forwardOf: null,
  withSignature: true,
  withQuote: true,
  departmentId: null,
  statusAfter: null,
};

/**
 * Newest first. Refuses nothing: a draft stays its author's, also when its conversation is out of its reach meanwhile.
 */
export function listDrafts(
  view: View,
  page: { conversationId: string | undefined; cursor: Cursor | undefined; limit: number },
): DraftView[] {
  return draftPage(view.db, { ...page, agentId: callingAgent(view).id }).map(draftView);
}

/** The caller's own. Refuses not_found. */
export function readDraft(view: View, draftId: string): DraftView {
  return draftView(requireOwn(view, draftId));
}

/** Refuses not_found and channel_not_assigned for the conversation, semantic_error for too many, conflict. */
export const createDraft = command(
  'draft.create',
  (
    ctx,
    params: { draftId?: string | undefined; conversationId?: string | null | undefined; mail: MailChanges },
  ): DraftView => {
    const agent = callingAgent(ctx);
    const { draftId, conversationId = null } = params;
    const known = draftId === undefined ? undefined : findDraft(ctx.db, draftId);
    if (known !== undefined)
      return known.agentId === agent.id ? draftView(known) : refuse('conflict', { message: 'This id is taken.' });
    if (draftId !== undefined && findMessage(ctx.db, draftId) !== undefined)
      refuse('conflict', { message: 'It has been sent already.' });
    const ticketId = conversationId === null ? null : requireTicketOfDraft(ctx, whereNow(ctx, conversationId)).id;
    if (countDrafts(ctx.db, agent.id) >= maxDrafts)
      refuse('semantic_error', {
        message: `At most ${maxDrafts} drafts can be kept. Delete one first.`,
        detail: { maxDrafts },
      });
    const draft: DraftRecord = {
      ...unsetDraft,
      id: draftId ?? ctx.ids.uuid(),
      version: 1,
      agentId: agent.id,
      conversationId: ticketId,
      state: 'draft',
      mail: withChanges(emptyMail, params.mail),
      unlessAnswered: false,
      createdAt: ctx.at,
      updatedAt: ctx.at,
    };
    insertDraft(ctx.db, draft);
    emitDraft(ctx, 'draft.updated', draft);
    return draftView(draft);
  },
);

/** Refuses not_found, stale_version, conflict for one that is scheduled. */
export const changeDraft = command(
  'draft.update',
  (ctx, params: { draftId: string; expectedVersion: number; mail: MailChanges }): DraftView => {
    const before = requireOwn(ctx, params.draftId);
    if (before.state === 'scheduled') refuse('conflict', { message: 'It is about to be sent. Take it back first.' });
    requireVersion(before, params.expectedVersion);
    const mail = withChanges(before.mail, params.mail);
    // Saved again as it is: another device that has it open can go on from its version.
    if (before.failure === null && isDeepStrictEqual(mail, before.mail)) return draftView(before);
    return draftView(put(ctx, before, { mail, failure: null }));
  },
);

/** Also one that is scheduled, which is then not sent. Refuses not_found. */
export const removeDraft = command('draft.delete', (ctx, params: { draftId: string }): void => {
  const draft = requireOwn(ctx, params.draftId);
  if (draft.state === 'scheduled') noteTakenBack(ctx, draft);
  deleteDraft(ctx.db, draft.id);
  emitDraft(ctx, 'draft.deleted', draft);
});

export interface ScheduleParams {
  readonly draftId: string;
  readonly expectedVersion: number;
  readonly content: { readonly text: string; readonly html: string | null };
  readonly attachments: readonly AttachmentInput[];
  /** Undefined: after the seconds within which the agent may take it back. */
  readonly sendAt?: string | undefined;
  readonly unlessAnswered?: boolean | undefined;
}

/**
 * Refuses not_found, stale_version, and whatever would refuse the mail now. Scheduling a scheduled one again changes
 * nothing.
 */
export const scheduleDraft = command('draft.send', (ctx, params: ScheduleParams): DraftView => {
  const before = requireOwn(ctx, params.draftId);
  if (before.state === 'scheduled') return draftView(before);
  requireVersion(before, params.expectedVersion);
  const agent = callingAgent(ctx);
  const { content, sendAt, unlessAnswered = true } = params;
  const dueMs = sendAt === undefined ? ctx.nowMs + mailHabitOf(ctx, agent.id).undoSeconds * 1000 : Date.parse(sendAt);
  if (sendAt !== undefined && !(dueMs > ctx.nowMs)) refuseField('invalid_body', 'sendAt', 'must be in the future');
  if (dueMs > ctx.nowMs + maxDelayDays * dayMs)
    refuseField('invalid_body', 'sendAt', `must be within ${maxDelayDays} days`);
  requireText(content.text);
  const files = filesOf(ctx, params.attachments);
  if (before.conversationId === null) {
    requireTicket(ctx, agent, ticketOf(before.mail));
    requireAddressing(ctx, addressingOf(before.mail));
  } else {
    const conversation = requireTicketOfDraft(ctx, before.conversationId);
    if (takesNoMail(conversation) || conversation.status === 'solved') refuse('conversation_archived');
    planMail(ctx, conversation, addressingOf(before.mail));
    if (dueMs - ctx.nowMs > maxUndoMs)
      appendSystemLine(ctx, conversation, `${agent.name} will send a mail on ${timeOf(ctx, isoTime(dueMs))}.`);
  }
  const scheduled = put(ctx, before, {
    state: 'scheduled',
    content: { ...content, files },
    sendAt: isoTime(dueMs),
    unlessAnswered: sendAt !== undefined && unlessAnswered,
    failure: null,
  });
  ctx.enqueue(draftKind, {
    target: `draft:${scheduled.id}`,
    subjectId: scheduled.id,
    payload: {},
    delayMs: dueMs - ctx.nowMs,
  });
  emitDraft(ctx, 'draft.updated', scheduled);
  return draftView(scheduled);
});

/** A scheduled mail is a draft again. Refuses not_found, conflict if it has left. */
export const takeBackDraft = command('draft.takeBack', (ctx, params: { draftId: string }): DraftView => {
  const agent = callingAgent(ctx);
  if (findMessage(ctx.db, params.draftId)?.senderId === agent.id)
    refuse('conflict', { message: 'It has been sent already.' });
  const before = requireOwn(ctx, params.draftId);
  if (before.state === 'draft') return draftView(before);
  noteTakenBack(ctx, before);
  const draft = put(ctx, before, unscheduled);
  emitDraft(ctx, 'draft.updated', draft);
  return draftView(draft);
});

/**
 * Runs when a mail is due. Does nothing for one that was taken back or put off. Refuses what makes it fail; its job
 * records that.
 */
export const sendDueDraft = command('draft.sendDue', (ctx, params: { draftId: string }): 'sent' | 'not due' => {
  const draft = findDraft(ctx.db, params.draftId);
  if (draft?.content == null || draft.sendAt === null || draft.sendAt > ctx.at) return 'not due';
  const agent = theRoster(ctx).agents.get(draft.agentId);
  if (agent === undefined || !isActive(agent)) refuse('forbidden', { message: 'Its author has left the workspace.' });
  deleteDraft(ctx.db, draft.id);
  emitDraft(ctx, 'draft.deleted', draft);
  const { mail, content } = draft;
  const message = {
    agent,
    id: draft.id,
    body: content.text,
    bodyHtml: content.html,
    attachments: content.files,
    addressing: addressingOf(mail),
  };
  const sent =
    draft.conversationId === null
      ? openTicketOf(ctx, ticketOf(mail), message)
      : answer(ctx, draft, draft.conversationId, message);
  const status = mail.statusAfter;
  if (status !== null && transitions[sent.status].includes(status))
    moveTo(ctx, sent, status, { line: `${agent.name} changed the status from ${sent.status} to ${status}.` });
  return 'sent';
});

function answer(
  ctx: Context,
  draft: DraftRecord,
  conversationId: string,
  message: Parameters<typeof appendAgentMessage>[2],
): ConversationRecord {
  const conversation = ctx.state(conversationKind, conversationId) ?? refuse('not_found');
  // Solved since: the answer was on its way before.
  if (takesNoMail(conversation)) refuse('conversation_archived');
  if (draft.unlessAnswered && (conversation.lastCustomerMessageAt ?? '') > draft.updatedAt)
    refuse('conflict', { message: 'The customer wrote before it was due.' });
  const { conversation: answered } = appendAgentMessage(ctx, conversation, message);
  return takeByReply(ctx, answered, message.agent);
}

/** A mail that could not be sent is a draft again, and its conversation says so. */
export function settleDraft(ctx: Context, item: OutboxItem<NoPayload>, outcome: OutboxOutcome): void {
  const before = outcome.state === 'failed' ? findDraft(ctx.db, item.subjectId ?? '') : undefined;
  // A later sending of the same draft has a job of its own.
  if (before?.state !== 'scheduled' || (before.sendAt ?? '') > ctx.at) return;
  holdBack(ctx, before, outcome.answer);
}

/**
 * The ticket was merged: its drafts are of the other one. What was about to be sent is not, since it would go to that
 * one's customer; its author is told and decides.
 */
export function moveDrafts(ctx: Context, from: ConversationRecord, to: ConversationRecord): void {
  const moved = { conversationId: to.id };
  const failure = `Ticket #${from.ticketNumber} was merged into #${to.ticketNumber} before it was due.`;
  for (const draft of draftsIn(ctx.db, from.id))
    if (draft.state === 'scheduled') holdBack(ctx, draft, failure, moved);
    else emitDraft(ctx, 'draft.updated', put(ctx, draft, moved));
}

/**
 * Another customer's ticket was merged into this one: what was about to be sent would go to that customer, too, unless
 * its author named the recipients. The author is told and decides.
 */
export function holdDrafts(
  ctx: Context,
  conversation: ConversationRecord,
  { mergedNumber }: { mergedNumber: number | null },
): void {
  for (const draft of draftsIn(ctx.db, conversation.id)) {
    const { cc, copy, forwardOf } = draft.mail;
    if (draft.state !== 'scheduled' || cc !== null || !copy || forwardOf !== null) continue;
    holdBack(ctx, draft, `Ticket #${mergedNumber} was merged into this one before it was due.`);
  }
}

function holdBack(ctx: Context, before: DraftRecord, failure: string, changes: Partial<DraftRecord> = {}): DraftRecord {
  const draft = put(ctx, before, { ...changes, ...unscheduled, failure });
  emitDraft(ctx, 'draft.updated', draft);
  const conversation = draft.conversationId === null ? undefined : ctx.state(conversationKind, draft.conversationId);
  const author = theRoster(ctx).agents.get(draft.agentId)?.name ?? 'an agent';
  if (conversation !== undefined) appendServiceLine(ctx, conversation, `A mail of ${author} was not sent: ${failure}`);
  return draft;
}

/** The merge was undone. What was sent, deleted or scheduled since stays. */
export function returnDrafts(
  ctx: Context,
  draftIds: readonly string[],
  places: { readonly from: string; readonly to: string },
): void {
  for (const draftId of draftIds) {
    const before = findDraft(ctx.db, draftId);
    if (before?.conversationId !== places.from || before.state === 'scheduled') continue;
    emitDraft(ctx, 'draft.updated', put(ctx, before, { conversationId: places.to }));
  }
}

const unscheduled = { state: 'draft', content: null, sendAt: null, unlessAnswered: false } as const;

function put(ctx: Context, before: DraftRecord, changes: Partial<DraftRecord>): DraftRecord {
  const draft: DraftRecord = { ...before, ...changes, version: before.version + 1, updatedAt: ctx.at };
  updateDraft(ctx.db, draft);
  return draft;
}

/** Only a mail that was put off for longer than anyone takes back was announced. */
function noteTakenBack(ctx: Context, draft: DraftRecord): void {
  const conversation = draft.conversationId === null ? undefined : ctx.state(conversationKind, draft.conversationId);
  if (conversation === undefined || draft.sendAt === null) return;
  if (Date.parse(draft.sendAt) - Date.parse(draft.updatedAt) > maxUndoMs)
    appendSystemLine(
      ctx,
      conversation,
      `${callingAgent(ctx).name} took back the mail planned for ${timeOf(ctx, draft.sendAt)}.`,
    );
}

function emitDraft(ctx: Context, type: 'draft.updated' | 'draft.deleted', draft: DraftRecord): void {
  emit(ctx, { type, audience: { kind: 'agent', agentId: draft.agentId }, data: { draft: draftView(draft) } });
}

const timeOf = (view: View, at: string): string => clockFor(theWorkspace(view))(at);

/** Another agent's draft does not exist for the caller. */
function requireOwn(view: View, draftId: string): DraftRecord {
  const agent = callingAgent(view);
  const draft = findDraft(view.db, draftId);
  return draft?.agentId === agent.id ? draft : refuse('not_found');
}

/** Only tickets are answered by mail. */
function requireTicketOfDraft(ctx: Context, conversationId: string): ConversationRecord {
  const { conversation } = requireReadable(ctx, conversationId);
  if (conversation.channel !== 'ticket') refuseField('invalid_body', 'conversationId', 'must be a ticket');
  return conversation;
}

function takesNoMail({ status }: ConversationRecord): boolean {
  return status === 'spam' || status === 'closed';
}

function withChanges(mail: DraftMail, changes: MailChanges): DraftMail {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  // Each member of a change has the type of the member that it replaces.
  return { ...mail, ...(Object.fromEntries(given) as Partial<DraftMail>) };
}

function addressingOf({
  from,
  to,
  cc,
  bcc,
  copy,
  answerTo,
  forwardOf,
  withSignature,
  withQuote,
}: DraftMail): Addressing {
  return {
    from: from ?? undefined,
    to: to ?? undefined,
    cc: cc ?? undefined,
    bcc: bcc ?? undefined,
    copy,
    answerTo: answerTo ?? undefined,
    forwardOf: forwardOf ?? undefined,
    withSignature,
    withQuote,
  };
}

function ticketOf({ to, subject, departmentId }: DraftMail) {
  return {
    customerEmail: to?.[0] ?? '',
    subject: oneLine(subject ?? ''),
    departmentId: departmentId ?? undefined,
  };
}
