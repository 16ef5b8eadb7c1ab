// The customer's side of a chat: starting one, writing in it, rating it. Decisions 4.12.

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import { findCurrentConversation, newestConversationsOfVisitor } from '../../store/conversations/conversations.ts';
import { findMessage, lastAgentIn, type MessageRecord } from '../../store/conversations/messages.ts';
import type { CustomerConversation, MessageView } from '../../store/conversations/records.ts';
import type { VisitorRecord } from '../../store/customers/visitors.ts';
import { beginsWithAssistant, expectAnswer } from '../assistant/answering.ts';
import { type AttachmentInput, filesOf } from '../conversations/attachments.ts';
import {
  addConversation,
  changeConversation,
  conversationKind,
  newConversation,
} from '../conversations/conversation.ts';
import { customerConversation } from '../conversations/customer-view.ts';
import {
  appendMessage,
  appendServiceLine,
  listMessagesForCustomer,
  type MessageDraft,
  type MessageList,
  markReadBy,
  messageView,
} from '../conversations/messages.ts';
import { routeChat } from '../conversations/routing.ts';
import { reopenForCustomer } from '../conversations/status.ts';
import { countChat } from '../customers/visitor-bounds.ts';
import { callingVisitor, seeVisitor, visitorKind } from '../customers/visitors.ts';
import { refuse } from '../errors.ts';
import { noteStartedChat } from '../growth/campaigns.ts';
import { isBlank } from '../lines.ts';
import { requireText } from '../preconditions.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { noteMoment } from './presence.ts';

export interface StartedChat {
  readonly conversation: CustomerConversation;
  readonly message: MessageView;
}

export interface CustomerDraft {
  /** Chosen by the client, so that a retry does not send a second message. */
  readonly messageId?: string | undefined;
  readonly body: string;
  readonly attachments?: readonly AttachmentInput[] | undefined;
}

/**
 * Opens a chat with its first message and routes it. Agents see which campaign it came from. Refuses forbidden if
 * blocked, invalid_body, conflict if the messageId is another message's, rate_limited for too many chats.
 */
export const startChat = command(
  'widget.startChat',
  (ctx, params: CustomerDraft & { campaignId?: string | undefined; network: string }): StartedChat => {
    const visitor = callingVisitor(ctx);
    requireText(params.body);
    const sent = sentBefore(ctx, visitor, params.messageId, ({ channel }) => channel === 'chat');
    if (sent !== undefined)
      return {
        conversation: ownView(ctx, requireOwnConversation(ctx, sent.conversationId).conversation),
        message: messageView(sent),
      };
    const { siteId, id: visitorId, contactId } = visitor;
    countChat(ctx, { visitorId, network: params.network });
    seeVisitor(ctx, visitor);
    const added = addConversation(
      ctx,
      newConversation(ctx, {
        channel: 'chat',
        siteId,
        visitorId,
        contactId,
        departmentId: theWorkspace(ctx).settings.defaultDepartmentId,
        assistant: beginsWithAssistant(ctx, { siteId, network: params.network }) ? 'answering' : null,
      }),
    );
    const conversation =
      params.campaignId === undefined
        ? added
        : noteCampaign(ctx, added, { campaignId: params.campaignId, visitorId: visitor.id });
    const {
      message,
      view,
      conversation: begun,
    } = appendMessage(ctx, conversation, customerMessage(ctx, visitor, params));
    if (!visitor.isOnline) noteMoment(ctx, visitor.id);
    const answered = expectAnswer(ctx, begun, message);
    return { conversation: ownView(ctx, routeChat(ctx, answered)), message: view };
  },
);

/**
 * The customer sends a message. Reopens a solved or closed chat. Refuses forbidden, not_found, invalid_body, conflict
 * if the messageId is another message's.
 */
export const writeAsCustomer = command(
  'widget.sendMessage',
  (ctx, params: CustomerDraft & { conversationId: string }): MessageView => {
    const { visitor, conversation } = requireOwnConversation(ctx, params.conversationId);
    requireText(params.body);
    const sent = sentBefore(ctx, visitor, params.messageId, ({ id }) => id === conversation.id);
    if (sent !== undefined) return messageView(sent);
    seeVisitor(ctx, visitor);
    if (!visitor.isOnline) noteMoment(ctx, visitor.id);
    const reopened = reopenForCustomer(ctx, ctx.state(conversationKind, conversation.id) ?? conversation);
    const written = appendMessage(ctx, reopened, customerMessage(ctx, visitor, params));
    expectAnswer(ctx, written.conversation, written.message);
    return written.view;
  },
);

/**
 * 1 to 5; the last rating counts. Refuses forbidden, not_found, semantic_error if the workspace does not ask for
 * ratings.
 */
export const rateConversation = command(
  'widget.rate',
  (
    ctx,
    params: { conversationId: string; rating: number; comment?: string | undefined },
  ): { conversation: CustomerConversation } => {
    const { conversation } = requireOwnConversation(ctx, params.conversationId);
    if (!theWorkspace(ctx).settings.csatEnabled)
      refuse('semantic_error', { message: 'This workspace does not ask for ratings.' });
    const rated = changeConversation(ctx, conversation, {
      rating: params.rating,
      ratingComment: params.comment === undefined || isBlank(params.comment) ? null : params.comment,
      ratedAgentId: lastAgentIn(ctx.db, conversation.id) ?? conversation.assignedAgentId,
    });
    return { conversation: ownView(ctx, rated) };
  },
);

/** The customer has read the agents' messages. Refuses forbidden, not_found. */
export const readAsCustomer = command(
  'widget.read',
  (ctx, params: { conversationId: string }): { conversation: CustomerConversation } => {
    const { conversation } = requireOwnConversation(ctx, params.conversationId);
    return { conversation: ownView(ctx, markReadBy(ctx, conversation, 'customer')) };
  },
);

export function listOwnMessages(
  view: View,
  page: { conversationId: string; before: string | undefined; limit: number },
): MessageList {
  requireOwnConversation(view, page.conversationId);
  return listMessagesForCustomer(view, page);
}

/**
 * The visitor's newest chat, if any, for the widget to show when it opens; without its messages for a blocked visitor.
 */
export function currentChat(view: View, visitorId: string): CustomerConversation | null {
  const conversation = findCurrentConversation(view.db, visitorId, 'chat');
  if (conversation === undefined) return null;
  const isBlocked = view.state(visitorKind, visitorId)?.blockedAt !== null;
  return isBlocked ? { ...ownView(view, conversation), preview: null } : ownView(view, conversation);
}

function ownView(view: Pick<View, 'caller'>, conversation: ConversationRecord): CustomerConversation {
  return customerConversation(conversation, { mailPreview: conversation.mailPreview, caller: view.caller });
}

/** The visitor's chats, newest first. */
export function listOwnChats(view: View, limit: number): readonly CustomerConversation[] {
  return newestConversationsOfVisitor(view.db, { visitorId: callingVisitor(view).id, channel: 'chat', limit }).map(
    (conversation) => ownView(view, conversation),
  );
}

/**
 * Another visitor's conversation does not exist for the caller. Nor does a ticket: a browser only claims its visitor's
 * address, while mail goes to the address's owner.
 */
export function requireOwnConversation(
  view: View,
  conversationId: string,
): { visitor: VisitorRecord; conversation: ConversationRecord } {
  const visitor = callingVisitor(view);
  const conversation = view.state(conversationKind, conversationId);
  if (conversation === undefined || conversation.visitorId !== visitor.id || conversation.channel === 'ticket')
    refuse('not_found');
  return { visitor, conversation };
}

/**
 * Finds an earlier send with the same messageId. Refuses `conflict` if that one went to a different conversation,
 * because the retry would then be lost.
 */
export function sentBefore(
  ctx: Context,
  visitor: VisitorRecord,
  messageId: string | undefined,
  isThere: (conversation: ConversationRecord) => boolean,
): MessageRecord | undefined {
  const message = messageId === undefined ? undefined : findMessage(ctx.db, messageId);
  if (message === undefined) return undefined;
  const conversation = ctx.state(conversationKind, message.conversationId);
  if (
    message.senderType !== 'visitor' ||
    message.senderId !== visitor.id ||
    conversation === undefined ||
    !isThere(conversation)
  )
    refuse('conflict', { message: 'Another message already has this messageId.' });
  return message;
}

/** Refuses invalid_body for files that are not the visitor's own uploads. */
export function customerMessage(
  ctx: Context,
  visitor: VisitorRecord,
  { messageId, body, attachments }: CustomerDraft,
): MessageDraft {
  return { id: messageId, senderType: 'visitor', senderId: visitor.id, body, attachments: filesOf(ctx, attachments) };
}

function noteCampaign(
  ctx: Context,
  conversation: ConversationRecord,
  from: { campaignId: string; visitorId: string },
): ConversationRecord {
  const campaign = noteStartedChat(ctx, { ...from, conversationId: conversation.id });
  return appendServiceLine(ctx, conversation, `The customer came from the campaign ${campaign.name}.`);
}
