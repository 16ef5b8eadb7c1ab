// Makes conversations of any channel, with messages, by commands of the engine without a caller: for tests that need
// many, or states that no route produces.

import { addConversation } from '../../engine/conversations/conversation.ts';
import { appendMessage, type MessageDraft } from '../../engine/conversations/messages.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { command } from '../../engine/runtime/command.ts';
import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import type { Service } from './service.ts';

export interface Said
  extends Partial<
    Pick<
      ConversationRecord,
      'channel' | 'status' | 'subject' | 'visitorId' | 'departmentId' | 'assignedAgentId' | 'tags' | 'handshake'
    >
  > {
  /** Bodies of the visitor's messages, or complete drafts. */
  readonly messages?: readonly (string | MessageDraft)[];
}

const say = command('test.say', (ctx, said: Said): string => {
  const { messages = [], ...given } = said;
  let conversation = addConversation(ctx, {
    id: ctx.ids.uuid(),
    version: 1,
    channel: 'chat',
    status: 'open',
    subject: null,
    ticketNumber: null,
    siteId: null,
    visitorId: null,
    contactId: null,
    departmentId: null,
    assignedAgentId: null,
    routedAt: null,
    notToAgentIds: [],
    tags: [],
    handshake: null,
    copiedTo: [],
    rating: null,
    ratingComment: null,
    ratedAgentId: null,
    preview: null,
    lastMessageAt: null,
    lastSenderType: null,
    lastSenderId: null,
    waitingSince: null,
    snoozedUntil: null,
    firstResponseAt: null,
    firstResponderId: null,
    solvedAt: null,
    closedAt: null,
    lastLineAt: null,
    lastCustomerMessageAt: null,
    agentsReadUpTo: null,
    customerReadUpTo: null,
    mailPreview: null,
    unreachable: false,
    assistant: null,
    followerIds: [],
    mergedInto: null,
    createdAt: ctx.at,
    updatedAt: ctx.at,
    ...given,
  });
  for (const message of messages) {
    const draft: MessageDraft =
      typeof message === 'string'
        ? { senderType: 'visitor', senderId: conversation.visitorId, body: message }
        : message;
    ({ conversation } = appendMessage(ctx, conversation, draft));
  }
  return conversation.id;
});

/** Returns its id. */
export function addThread(service: Service, workspaceId: string, said: Said): Promise<string> {
  return service.running.services.engine.execute(say, { workspaceId, caller: systemCaller, params: said });
}
