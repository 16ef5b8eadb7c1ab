// The receipt for a question that a customer left in the widget: its number, from the address that the answer will come
// from, so that an answer to the receipt lands in the ticket. It holds nothing that the visitor wrote as long as the
// address is only claimed. Decisions "Receipts".

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import type { MessageRecord } from '../../store/conversations/messages.ts';
import { findProvedEmail } from '../../store/customers/visitor-proofs.ts';
import { findMailThread } from '../../store/mail/mails.ts';
import { findSuppression } from '../../store/mail/suppressions.ts';
import { Refusal } from '../errors.ts';
import { mailboxName, oneLine } from '../lines.ts';
import { answerAddress } from '../mail/inbound-addresses.ts';
import { customerLocale, directed, mailWordsFor } from '../mail/mail-words.ts';
import { enqueueMail, type Mail } from '../mail/outgoing.ts';
import { recordSent } from '../mail/sent-mail.ts';
import type { Context } from '../runtime/context.ts';
import { htmlOf } from '../text.ts';
import { theWorkspace } from '../workspace/workspace.ts';

/** Queues the mail, unless none may be sent to the address. */
export function mailReceipt(
  ctx: Context,
  ticket: ConversationRecord,
  { question, visitorId }: { question: MessageRecord; visitorId: string },
): void {
  const thread = findMailThread(ctx.db, ticket.id);
  if (thread === undefined || findSuppression(ctx.db, thread.customerAddress) !== undefined) return;
  const to = thread.customerAddress;
  const isProved = findProvedEmail(ctx.db, visitorId) === to.toLowerCase();
  const from = answerAddress(ctx, thread.ourAddress);
  const name = mailboxName(theWorkspace(ctx).name);
  const words = mailWordsFor(customerLocale(ctx, visitorId));
  const number = ticket.ticketNumber;
  const subject = isProved ? oneLine(`Re: ${ticket.subject ?? ''}`) : words.questionSubject({ name, number });
  const text = [
    words.thanks(number),
    words.weAnswer,
    ...(isProved ? [question.body.replace(/^/gm, '> ')] : []),
    name,
  ].join('\n\n');
  const mail: Mail = {
    to,
    from,
    fromName: name,
    subject,
    text,
    html: directed(words, htmlOf(text)),
    language: words.language,
    // No machine answers it (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-replied' },
    ...(isProved ? {} : { isClaimed: true }),
  };
  let outboxId: string;
  try {
    outboxId = enqueueMail(ctx, mail, { purpose: 'answer', subjectId: ticket.id });
  } catch (error) {
    // At a limit of mails, the question counts and the receipt does not.
    if (error instanceof Refusal) return;
    throw error;
  }
  recordSent(ctx, {
    outboxId,
    conversationId: ticket.id,
    messageId: question.id,
    from,
    fromName: name,
    to: [to],
    subject,
  });
}
