// Sends one message to the service. The draft's id makes retries safe.

import { type Api, CallFailed } from './api.ts';
import type { Draft } from './outbox.ts';
import type { Conversation, Message } from './protocol.ts';

export interface Delivered {
  readonly message: Message;
  /** The conversation that the message started. */
  readonly conversation: Conversation | undefined;
}

/**
 * Sends to this conversation, or starts a new one. If the conversation no longer exists, a new one is started, so that
 * the text is not lost. Rejects with CallFailed.
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
