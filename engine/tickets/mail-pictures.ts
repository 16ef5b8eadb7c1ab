// The pictures of a mail that are on other servers. They are shown only when an agent asks for them, and fetched by the
// service, so that their server learns neither who reads the mail nor where. What is asked for is the place of a picture
// in a mail, never an address.

import { findMessage } from '../../store/conversations/messages.ts';
import { requireReadable } from '../conversations/conversation.ts';
import { refuse } from '../errors.ts';
import type { View } from '../runtime/context.ts';
import { shownHtml } from '../text.ts';

/** The mail's formatting with the places of these pictures, `<img data-picture="1">`. Refuses not_found, channel_not_assigned. */
export function readWithPictures(view: View, ids: { conversationId: string; messageId: string }): { bodyHtml: string } {
  requireReadable(view, ids.conversationId);
  const message = findMessage(view.db, ids.messageId);
  if (message === undefined || message.conversationId !== ids.conversationId) refuse('not_found');
  return { bodyHtml: message.bodyHtml ?? shownHtml(message) };
}
