// The complete mail behind a message, for agents who need what the display leaves out.

import { findMessage } from '../../store/conversations/messages.ts';
import { findReceivedMail, type MailAuthentication } from '../../store/mail/mails.ts';
import { requireReadable } from '../conversations/conversation.ts';
import { refuse } from '../errors.ts';
import type { View } from '../runtime/context.ts';

export interface OriginalMail {
  readonly mailId: string;
  readonly from: { readonly address: string; readonly name: string | null };
  readonly replyTo: string | null;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string | null;
  readonly html: string | null;
  readonly authentication: MailAuthentication | null;
  readonly createdAt: string;
}

/** Refuses not_found, channel_not_assigned. */
export function readOriginal(view: View, ids: { conversationId: string; messageId: string }): OriginalMail {
  requireReadable(view, ids.conversationId);
  if (findMessage(view.db, ids.messageId)?.conversationId !== ids.conversationId) refuse('not_found');
  const mail = findReceivedMail(view.db, ids.messageId) ?? refuse('not_found');
  const { mailId, fromAddress, fromName, replyTo, toAddresses, subject, text, html, authentication, createdAt } = mail;
  return {
    mailId,
    from: { address: fromAddress, name: fromName },
    replyTo,
    to: toAddresses,
    subject,
    text,
    html,
    authentication,
    createdAt,
  };
}
