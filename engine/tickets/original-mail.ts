// The complete mail behind a message, for agents who need what the display leaves out.

import { findMessage } from '../../store/conversations/messages.ts';
import {
  findReceivedMail,
  findSource,
  findWritten,
  type MailAuthentication,
  type MailSource,
  receivedMailId,
  sourceSizeOf,
} from '../../store/mail/mails.ts';
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
  /** The mail's bytes in all, and whether all of them are kept. Null if none are. */
  readonly source: { readonly size: number; readonly isWhole: boolean } | null;
  readonly createdAt: string;
}

/** Refuses not_found, channel_not_assigned. */
export function readOriginal(view: View, ids: OfMessage): OriginalMail {
  requireMessage(view, ids);
  const mail = findReceivedMail(view.db, ids.messageId) ?? refuse('not_found');
  const source = sourceSizeOf(view.db, mail.mailId);
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
    source: source === undefined ? null : { size: source.bytes, isWhole: source.keptBytes === source.bytes },
    createdAt,
  };
}

/** The id of the mail that the message came by. Refuses not_found, channel_not_assigned. */
export function requireReceivedMail(view: View, ids: OfMessage): string {
  requireMessage(view, ids);
  return receivedMailId(view.db, ids.messageId) ?? refuse('not_found');
}

/** As its sender wrote it. Undefined if it was deleted. */
export function readWritten(view: View, mailId: string): Pick<OriginalMail, 'text' | 'html'> | undefined {
  return findWritten(view.db, mailId);
}

/**
 * The mail's own bytes, compressed, and its subject. Refuses not_found, also if they are not kept, and
 * channel_not_assigned.
 */
export function readSource(view: View, ids: OfMessage): Pick<MailSource, 'packed'> & Pick<OriginalMail, 'subject'> {
  return findSource(view.db, requireReceivedMail(view, ids)) ?? refuse('not_found');
}

interface OfMessage {
  readonly conversationId: string;
  readonly messageId: string;
}

function requireMessage(view: View, { conversationId, messageId }: OfMessage): void {
  requireReadable(view, conversationId);
  if (findMessage(view.db, messageId)?.conversationId !== conversationId) refuse('not_found');
}
