// Calendar invitations of a message: its files that are calendars, to be read by the thread for opened mails.

import { findMessage } from '../../store/conversations/messages.ts';
import { requireReadable } from '../conversations/conversation.ts';
import { refuse } from '../errors.ts';
import type { View } from '../runtime/context.ts';

/** Files of one message. A mail has its invitation twice: for programs that show it, and as a file. */
const maxCalendars = 4;

/** The addresses of the calendars. Refuses not_found, channel_not_assigned. */
export function calendarsOf(view: View, ids: { conversationId: string; messageId: string }): readonly string[] {
  requireReadable(view, ids.conversationId);
  const message = findMessage(view.db, ids.messageId);
  if (message === undefined || message.conversationId !== ids.conversationId) refuse('not_found');
  return message.attachments
    .map(({ url }) => url)
    .filter((url) => url.toLowerCase().endsWith('.ics'))
    .slice(0, maxCalendars);
}
