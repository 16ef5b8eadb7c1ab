// Voicemails: the recording, the message made from its transcript, and who may hear it. Decisions 4.8.

import {
  findVoicemail,
  insertVoicemail,
  setVoicemailListened,
  setVoicemailTranscript,
  type VoicemailRecord,
  voicemailPage,
} from '../../store/calls/voicemails.ts';
import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import type { Cursor } from '../../store/cursor.ts';
import { maxMessageChars } from '../constants.ts';
import { type CallState, callerNameOf, changeCall, emitCall, ringTimeoutDeadline } from '../conversations/call.ts';
import { conversationKind, requireReachable } from '../conversations/conversation.ts';
import { appendMessage, appendSystemLine } from '../conversations/messages.ts';
import { callNoticeDeadline, expectNotice } from '../conversations/notices.ts';
import { reopenForCustomer } from '../conversations/status.ts';
import { refuse } from '../errors.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { callingAgent, reachOf } from '../workspace/access.ts';
import { requireFeature } from '../workspace/entitlements.ts';

export interface LeftVoicemail {
  readonly durationMs?: number | undefined;
  readonly recordingUrl?: string | undefined;
  readonly transcript?: string | undefined;
}

export interface VoicemailView extends VoicemailRecord {
  readonly callerName: string | null;
}

/** Stores it with the call, whose conversation stays open so that an agent can call back. */
export function leaveVoicemail(
  ctx: Context,
  conversation: ConversationRecord,
  call: CallState,
  left: LeftVoicemail,
): void {
  const voicemail: VoicemailRecord = {
    id: ctx.ids.uuid(),
    conversationId: conversation.id,
    fromE164: call.fromE164,
    durationMs: left.durationMs ?? null,
    recordingUrl: left.recordingUrl ?? null,
    transcript: left.transcript ?? null,
    listenedAt: null,
    createdAt: ctx.at,
  };
  insertVoicemail(ctx.db, voicemail);
  ctx.clearDeadline(ringTimeoutDeadline, conversation.id);
  const rang = call.phase === 'ringing' ? ({ phase: 'voicemail', ringingAgentIds: [] } as const) : {};
  changeCall(
    ctx,
    call,
    { ...rang, voicemailId: voicemail.id },
    { eventType: 'voicemail_left', detail: { voicemailId: voicemail.id } },
  );
  const told = appendSystemLine(ctx, reopenForCustomer(ctx, conversation), 'The caller left a voicemail.');
  appendTranscript(ctx, told, voicemail);
  expectNotice(ctx, callNoticeDeadline, conversation.id);
  emitCall(ctx, 'call.voicemail_left', conversation.id);
}

/** The transcript comes after the voicemail. Only the first counts. */
export function transcribeVoicemail(
  ctx: Context,
  conversation: ConversationRecord,
  voicemailId: string,
  transcript: string,
): void {
  const voicemail = findVoicemail(ctx.db, voicemailId);
  if (voicemail === undefined || voicemail.transcript !== null) return;
  setVoicemailTranscript(ctx.db, voicemailId, transcript);
  appendTranscript(ctx, reopenForCustomer(ctx, conversation), { ...voicemail, transcript });
  emitCall(ctx, 'call.voicemail_left', conversation.id);
}

export function listVoicemails(
  view: View,
  page: { conversationId?: string | undefined; cursor: Cursor | undefined; limit: number },
): VoicemailView[] {
  requireFeature(view, 'calls');
  return voicemailPage(view.db, { ...page, reach: reachOf(callingAgent(view)) }).map((voicemail) =>
    voicemailView(view, voicemail),
  );
}

function voicemailView(view: Pick<View, 'db' | 'state'>, voicemail: VoicemailRecord): VoicemailView {
  const conversation = view.state(conversationKind, voicemail.conversationId);
  return { ...voicemail, callerName: conversation === undefined ? null : callerNameOf(view, conversation) };
}

/**
 * Returns a voicemail and records the first time an agent listens to it. Refuses feature_locked, not_found, forbidden.
 */
export const listenToVoicemail = command('voicemail.read', (ctx, params: { voicemailId: string }): VoicemailView => {
  requireFeature(ctx, 'calls');
  const voicemail = findVoicemail(ctx.db, params.voicemailId) ?? refuse('not_found');
  requireReachable(ctx, voicemail.conversationId);
  if (voicemail.listenedAt !== null) return voicemailView(ctx, voicemail);
  setVoicemailListened(ctx.db, voicemail.id, ctx.at);
  return voicemailView(ctx, { ...voicemail, listenedAt: ctx.at });
});

/** Appends the transcript as a message of the customer's, with the recording if there is one. */
function appendTranscript(ctx: Context, conversation: ConversationRecord, voicemail: VoicemailRecord): void {
  const body = voicemail.transcript?.trim().slice(0, maxMessageChars) ?? '';
  if (body === '') return;
  const attachments =
    voicemail.recordingUrl === null ? [] : [{ url: voicemail.recordingUrl, name: 'Voicemail', size: null }];
  appendMessage(ctx, conversation, { senderType: 'visitor', senderId: conversation.visitorId, body, attachments });
}
