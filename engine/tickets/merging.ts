// Merging two tickets, and undoing it for a day. The target has the messages, notes, files, drafts and mails of both, so
// that whoever answers either finds it; the merged ticket is closed and says where they are. If the tickets have
// different customers, the merged one's is copied from then on.

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import { findMessage } from '../../store/conversations/messages.ts';
import {
  countMovable,
  customersMessagesAfter,
  findMerge,
  firstAnswerIn,
  insertTicketMove,
  isSplitFrom,
  isSpokenAfter,
  type MoveDetail,
  mergesInto,
  messagesOfMove,
  movableMessages,
  moveNote,
  noDetail,
  type TicketMove,
} from '../../store/conversations/moves.ts';
import { findNote, notesOf } from '../../store/conversations/notes.ts';
import type { ConversationView } from '../../store/conversations/records.ts';
import { draftsIn } from '../../store/mail/drafts.ts';
import { addParticipants, findMailThread, participantsOf, removeParticipants } from '../../store/mail/mails.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import {
  type ConversationChanges,
  changeConversation,
  conversationKind,
  conversationView,
  later,
  requireReachable,
  requireUnmerged,
  whereNow,
} from '../conversations/conversation.ts';
import { maxFollowers } from '../conversations/followers.ts';
import { endHandshake } from '../conversations/handshake.ts';
import { appendSystemLine } from '../conversations/messages.ts';
import { expectNotice, messageNoticeDeadline } from '../conversations/notices.ts';
import { moveTo, scheduleClosing } from '../conversations/status.ts';
import { dayMs } from '../directory/ceilings.ts';
import { refuse, refuseField } from '../errors.ts';
import { requireVersion } from '../preconditions.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';
import { reaches } from '../workspace/access.ts';
import { holdDrafts, moveDrafts, returnDrafts } from './drafts.ts';
import { maxCopies } from './mail-copies.ts';
import { emitMove, moveMessages, spokenFields } from './moving.ts';

/** Messages, notes and drafts that one command moves: some ten milliseconds. */
const maxMoved = 1000;
/** How long a merge can be undone. */
export const undoMs = dayMs;

interface Answer {
  readonly conversation: ConversationView;
}

export interface MergeParams {
  readonly conversationId: string;
  readonly into: string;
  readonly expectedVersion?: number | undefined;
  readonly intoExpectedVersion?: number | undefined;
}

/**
 * Answers with the target. Repeating it has no effect. Refuses not_found, forbidden for either, stale_version,
 * invalid_body, conflict for a ticket that is merged already, illegal_status_transition for spam, semantic_error for
 * other channels and beyond the limits.
 */
export const mergeTickets = command('conversation.merge', (ctx, params: MergeParams): Answer => {
  const { agent, conversation: source } = requireReachable(ctx, params.conversationId);
  const target = requireTarget(ctx, agent, params.into);
  if (source.mergedInto === target.id) return { conversation: conversationView(target) };
  requireVersion(source, params.expectedVersion);
  requireVersion(target, params.intoExpectedVersion);
  requireMergeable(ctx, source, target);
  const copiedTo = newCopies(ctx, source, target);
  const participants = newParticipants(ctx, source, target);
  const followerIds = newFollowers(source, target);
  const response = responseOf(source, target);
  const messages = movableMessages(ctx.db, source.id);
  const noteIds = notesOf(ctx.db, source.id).map(({ id }) => id);
  const moveId = ctx.ids.uuid();
  insertTicketMove(ctx.db, {
    id: moveId,
    kind: 'merge',
    fromId: source.id,
    toId: target.id,
    agentId: agent.id,
    detail: {
      noteIds,
      draftIds: draftsIn(ctx.db, source.id).map(({ id }) => id),
      copiedTo,
      participants,
      followerIds,
      firstResponseAt: response.firstResponseAt ?? null,
      before: { status: source.status, waitingSince: source.waitingSince },
      target: {
        status: target.status,
        solvedAt: target.solvedAt,
        closedAt: target.closedAt,
        snoozedUntil: target.snoozedUntil,
        copiedTo: target.copiedTo,
        participants: participantsOf(ctx.db, target.id),
      },
    },
    createdAt: ctx.at,
  });
  moveMessages(
    ctx,
    messages.map((message) => ({ ...message, writtenAt: message.createdAt })),
    { moveId, toId: target.id },
  );
  for (const noteId of noteIds) moveNote(ctx.db, noteId, target.id);
  addParticipants(ctx.db, target.id, participants);
  const merged = closeInto(ctx, source, { target, agent });
  const extended = changeConversation(ctx, copiedTo.length === 0 ? target : anew(target), {
    ...spokenFields(ctx, target, earlier(waitingIn(source), waitingIn(target))),
    ...response,
    copiedTo: [...target.copiedTo, ...copiedTo],
    followerIds: [...target.followerIds, ...followerIds],
  });
  const told = appendSystemLine(ctx, extended, `${agent.name} merged ticket #${source.ticketNumber} into this.`);
  const opened = opens(source, told) ? moveTo(ctx, told, 'open') : told;
  if (copiedTo.length > 0) holdDrafts(ctx, opened, { mergedNumber: source.ticketNumber });
  moveDrafts(ctx, merged, opened);
  emitMove(ctx, { from: merged, to: opened, count: messages.length });
  expectNotice(ctx, messageNoticeDeadline, target.id);
  ctx.audit({
    action: 'conversation.merged',
    targetKind: 'conversation',
    targetId: source.id,
    context: { into: target.id, messages: messages.length },
  });
  return { conversation: conversationView(present(ctx, opened)) };
});

/**
 * Within a day: the ticket has its messages and notes again, except what was split off, deleted or sent since, and what
 * its customer wrote meanwhile, which the target's customer is to see no more of. Answers with the restored ticket.
 * Refuses not_found, forbidden for either, stale_version, conflict.
 */
export const unmergeTicket = command(
  'conversation.unmerge',
  (ctx, params: { conversationId: string; expectedVersion?: number | undefined }): Answer => {
    const { agent, conversation: source } = requireReachable(ctx, params.conversationId);
    requireVersion(source, params.expectedVersion);
    const merge = source.mergedInto === null ? undefined : findMerge(ctx.db, source.id);
    const target = merge && ctx.state(conversationKind, merge.toId);
    if (merge === undefined || target === undefined)
      refuse('conflict', { message: 'This ticket is not merged into another one.' });
    if (!reaches(agent, target))
      refuse('forbidden', { message: 'You are not allowed to change the ticket that this one was merged into.' });
    if (ctx.nowMs - Date.parse(merge.createdAt) > undoMs)
      refuse('conflict', {
        message: 'It was merged more than a day ago. Make single messages tickets of their own instead.',
      });
    if (target.mergedInto !== null)
      refuse('conflict', {
        message: `Ticket #${target.ticketNumber}, which it was merged into, was merged itself. Undo that first.`,
        detail: { mergedInto: target.mergedInto },
      });
    const { detail } = merge;
    const moved = messagesOfMove(ctx.db, merge.id).filter(
      ({ id }) => findMessage(ctx.db, id)?.conversationId === target.id,
    );
    const { written, addresses } = broughtSince(ctx, merge, { source, target });
    const messages = [...moved, ...written.map(({ id, createdAt }) => ({ id, writtenAt: createdAt }))];
    const moveId = ctx.ids.uuid();
    insertTicketMove(ctx.db, {
      id: moveId,
      kind: 'unmerge',
      fromId: target.id,
      toId: source.id,
      agentId: agent.id,
      detail: noDetail,
      createdAt: ctx.at,
    });
    moveMessages(
      ctx,
      messages.map(({ id, writtenAt }) => ({ id, createdAt: writtenAt, writtenAt })),
      { moveId, toId: source.id },
    );
    for (const noteId of detail.noteIds)
      if (findNote(ctx.db, noteId)?.conversationId === target.id) moveNote(ctx.db, noteId, source.id);
    removeParticipants(ctx.db, target.id, [...addresses]);
    const copiedTo = target.copiedTo.filter((address) => !addresses.has(address));
    const changed = changeConversation(ctx, copiedTo.length === target.copiedTo.length ? target : anew(target), {
      ...spokenFields(ctx, target, target.waitingSince),
      ...responseAlone(ctx, target, detail),
      copiedTo,
      followerIds: target.followerIds.filter((id) => !detail.followerIds.includes(id)),
    });
    const reduced = closeAgain(ctx, changed, merge);
    const asked = written.find(({ createdAt }) => target.waitingSince !== null && createdAt >= target.waitingSince);
    const restored = reopenAlone(ctx, source, {
      status: written.length > 0 ? 'open' : detail.before?.status,
      waitingFrom: earlier(detail.before?.waitingSince ?? null, asked?.createdAt ?? null),
      agent,
      target,
    });
    appendSystemLine(ctx, reduced, `${agent.name} undid the merge of ticket #${source.ticketNumber}.`);
    returnDrafts(ctx, detail.draftIds, { from: target.id, to: source.id });
    emitMove(ctx, { from: reduced, to: restored, count: messages.length });
    ctx.audit({
      action: 'conversation.unmerged',
      targetKind: 'conversation',
      targetId: source.id,
      context: { from: target.id, messages: messages.length },
    });
    return { conversation: conversationView(present(ctx, restored)) };
  },
);

function requireTarget(ctx: Context, agent: AgentRecord, into: string): ConversationRecord {
  const target = ctx.state(conversationKind, into);
  if (target === undefined) refuseField('invalid_body', 'into', 'must be a ticket of this workspace');
  if (!reaches(agent, target))
    refuse('forbidden', { message: 'You are not allowed to change the ticket to merge into.' });
  return target;
}

function requireMergeable(ctx: Context, source: ConversationRecord, target: ConversationRecord): void {
  if (source.channel !== 'ticket' || target.channel !== 'ticket')
    refuse('semantic_error', { message: 'Only tickets can be merged, and only into tickets.' });
  if (source.id === target.id) refuseField('invalid_body', 'into', 'must be another ticket');
  requireUnmerged(ctx, source);
  if (target.mergedInto !== null)
    refuse('conflict', {
      message: `Ticket #${target.ticketNumber} was itself merged into another one. Merge into that one.`,
      detail: { mergedInto: whereNow(ctx, target.id) },
    });
  for (const { status, ticketNumber } of [source, target])
    if (status === 'spam')
      refuse('illegal_status_transition', {
        message: `Ticket #${ticketNumber} is spam. Mark it as not spam first.`,
        detail: { from: status },
      });
  const moved =
    countMovable(ctx.db, source.id, maxMoved + 1) +
    notesOf(ctx.db, source.id).length +
    draftsIn(ctx.db, source.id).length;
  if (moved > maxMoved)
    refuse('semantic_error', {
      message: `A ticket with more than ${maxMoved} messages and notes cannot be merged. Merge the other one into it.`,
      detail: { maxMoved },
    });
}

/**
 * Whoever received the merged ticket's answers goes on receiving answers. A ticket that was split off the target brings
 * back a message and no one. A customer's other address receives nothing twice.
 */
function newCopies(ctx: Context, source: ConversationRecord, target: ConversationRecord): string[] {
  if (isSplitFrom(ctx.db, source.id, target.id)) return [];
  const customer = findMailThread(ctx.db, source.id)?.customerAddress;
  const known = [findMailThread(ctx.db, target.id)?.customerAddress, ...target.copiedTo];
  const isSamePerson = source.contactId !== null && source.contactId === target.contactId;
  const added = [
    ...new Set([...(customer === undefined || isSamePerson ? [] : [customer]), ...source.copiedTo]),
  ].filter((address) => !known.includes(address));
  if (target.copiedTo.length + added.length > maxCopies)
    refuse('semantic_error', {
      message: `Together, the answers would go to more than ${maxCopies} people. Remove some from either ticket first.`,
      detail: { maxCopies },
    });
  return added;
}

function newParticipants(ctx: Context, source: ConversationRecord, target: ConversationRecord): string[] {
  const known = new Set(participantsOf(ctx.db, target.id));
  return participantsOf(ctx.db, source.id).filter((address) => !known.has(address));
}

function newFollowers(source: ConversationRecord, target: ConversationRecord): string[] {
  const added = source.followerIds.filter((id) => !target.followerIds.includes(id));
  if (target.followerIds.length + added.length > maxFollowers)
    refuse('semantic_error', {
      message: `Together, more than ${maxFollowers} agents follow them. Remove some from either ticket first.`,
      detail: { maxFollowers },
    });
  return added;
}

/** The target's customer was answered in the merged ticket, which counts in no report any more. */
function responseOf(source: ConversationRecord, target: ConversationRecord): ConversationChanges {
  const { firstResponseAt, firstResponderId } = source;
  if (target.firstResponseAt !== null || firstResponseAt === null) return {};
  return { firstResponseAt: later(firstResponseAt, target.createdAt), firstResponderId };
}

function responseAlone(ctx: Context, target: ConversationRecord, { firstResponseAt }: MoveDetail): ConversationChanges {
  const isMerged = firstResponseAt !== null && target.firstResponseAt === firstResponseAt;
  return isMerged ? firstAnswerIn(ctx.db, target.id) : {};
}

/** Who decides by it must know that its answers go to others. */
function anew(target: ConversationRecord): ConversationRecord {
  return { ...target, version: target.version + 1 };
}

type Status = Pick<ConversationRecord, 'status'>;

function isOver({ status }: Status): boolean {
  return status === 'solved' || status === 'closed';
}

/** What was left unanswered when it was solved is over. */
function waitingIn(conversation: ConversationRecord): string | null {
  return isOver(conversation) ? null : conversation.waitingSince;
}

/** Whoever would have come back to the merged ticket finds it in the target. */
function opens(source: Status, target: Status): boolean {
  return source.status === 'open' ? target.status !== 'open' : source.status === 'pending' && isOver(target);
}

/**
 * What the merged ticket's people wrote in the target since, and whose addresses it has because of them. Neither those
 * that it had before, nor what another merge in force brings.
 */
function broughtSince(
  ctx: Context,
  merge: TicketMove,
  { source, target }: { source: ConversationRecord; target: ConversationRecord },
) {
  const { copiedTo, participants } = merge.detail;
  const others = mergesInto(ctx.db, target.id).filter(({ fromId }) => fromId !== source.id);
  const own = new Set([
    findMailThread(ctx.db, target.id)?.customerAddress,
    ...(merge.detail.target?.copiedTo ?? []),
    ...(merge.detail.target?.participants ?? []),
    ...others.flatMap(({ fromId, detail }) => [
      findMailThread(ctx.db, fromId)?.customerAddress,
      ...detail.copiedTo,
      ...detail.participants,
    ]),
  ]);
  const addresses = new Set([...copiedTo, ...participants].filter((address) => !own.has(address)));
  const written = customersMessagesAfter(ctx.db, target.id, merge.createdAt).filter(({ senderId, mail }) => {
    const from = mail?.from.address;
    const isTheirs = senderId === source.visitorId || (from !== undefined && addresses.has(from));
    if (!isTheirs || senderId === target.visitorId || own.has(from)) return false;
    for (const address of mail?.copiedTo ?? []) if (!own.has(address)) addresses.add(address);
    return true;
  });
  return { written, addresses };
}

/** Only this merge opened the target, and no one wrote in it since: it is as it was. */
function closeAgain(
  ctx: Context,
  target: ConversationRecord,
  { id, detail, createdAt }: TicketMove,
): ConversationRecord {
  const before = detail.target;
  if (before === null || before.status === target.status || target.status !== 'open') return target;
  if (isSpokenAfter(ctx.db, target.id, createdAt)) return target;
  // What a later merge brought keeps its times, and found the target open: no message and no status tells of it.
  const isOpenForOther = mergesInto(ctx.db, target.id).some(
    (other) =>
      other.id !== id &&
      other.createdAt >= createdAt &&
      other.detail.before !== null &&
      opens(other.detail.before, before),
  );
  if (isOpenForOther) return target;
  if (before.status !== 'pending') return resolve(ctx, target, before);
  const { snoozedUntil } = before;
  return snoozedUntil !== null && snoozedUntil <= ctx.at ? target : moveTo(ctx, target, 'pending', { snoozedUntil });
}

/** With the times of then, by which it closes and is counted. */
function resolve(
  ctx: Context,
  conversation: ConversationRecord,
  { status, solvedAt, closedAt }: Pick<ConversationRecord, 'status' | 'solvedAt' | 'closedAt'>,
  changes: Parameters<typeof moveTo>[3] = {},
): ConversationRecord {
  const told = moveTo(ctx, conversation, status, changes);
  const resolved = changeConversation(ctx, told, { solvedAt, closedAt });
  if (status === 'solved') scheduleClosing(ctx, resolved);
  return resolved;
}

/** Ends what waits on it: an offer, a snooze, its closing by itself. */
function closeInto(
  ctx: Context,
  source: ConversationRecord,
  { target, agent }: { target: ConversationRecord; agent: AgentRecord },
): ConversationRecord {
  // Its own lines come after the times that its messages get back if this is undone.
  const { lastLineAt } = source;
  const emptied = { ...spokenFields(ctx, source, null), lastLineAt, mergedInto: target.id };
  const line = `${agent.name} merged this into ticket #${target.ticketNumber}.`;
  if (source.status !== 'closed') return moveTo(ctx, source, 'closed', { ...emptied, line });
  return appendSystemLine(ctx, changeConversation(ctx, endHandshake(ctx, source), emptied), line);
}

/** Solved or closed if it was, and otherwise open. */
function reopenAlone(
  ctx: Context,
  source: ConversationRecord,
  {
    status,
    waitingFrom,
    agent,
    target,
  }: {
    status: ConversationRecord['status'] | undefined;
    waitingFrom: string | null;
    agent: AgentRecord;
    target: ConversationRecord;
  },
): ConversationRecord {
  const filled = { ...spokenFields(ctx, source, waitingFrom), mergedInto: null };
  const line = `${agent.name} undid the merge into ticket #${target.ticketNumber}.`;
  if (status === 'closed') return appendSystemLine(ctx, changeConversation(ctx, source, filled), line);
  if (status !== 'solved') return moveTo(ctx, source, 'open', { ...filled, line });
  return resolve(ctx, source, { status, solvedAt: source.solvedAt, closedAt: null }, { ...filled, line });
}

function earlier(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}

/** The conversation as earlier steps of this command left it. */
function present(ctx: Context, conversation: ConversationRecord): ConversationRecord {
  return ctx.state(conversationKind, conversation.id) ?? conversation;
}
