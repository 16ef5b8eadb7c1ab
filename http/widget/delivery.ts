// One message's way to the service. The id that the draft carries makes it the same message however often it goes.

import { type Api, CallFailed } from './api.ts';
import type { Draft } from './outbox.ts';
import type { Conversation, Message } from './protocol.ts';

export interface Delivered {
  readonly message: Message;
  /** The one that the message began. */
  readonly conversation: Conversation | undefined;
}

/**
 * Into this conversation, or a new one; a new one also where it is no longer there, since what was written in it still
 * is. Rejects with CallFailed.
 */
export async function deliver(api: Api, draft: Draft, conversationId: string | undefined): Promise<Delivered> {
  const { id: messageId, body, campaignId } = draft;
  const attachments = draft.attachments.map(({ url, name, size }) => ({
    url,
    ...(name === null ? {} : { name }),
    ...(size === null ? {} : { size }),
  }));
  const content = { messageId, body, attachments };
  if (conversationId === undefined)
    return api.call<Delivered>('POST', 'conversations', {
      ...content,
      ...(campaignId === undefined ? {} : { campaignId }),
    });
  try {
    return {
      message: await api.call<Message>('POST', `conversations/${conversationId}/messages`, content),
      conversation: undefined,
    };
  } catch (error) {
    if (error instanceof CallFailed && error.status === 404) return deliver(api, draft, undefined);
    throw error;
  }
}
