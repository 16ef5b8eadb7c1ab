// Outgoing ticket mail: an agent's message goes to the customer as an answer in the thread that their mail client
// shows. Queued in the message's transaction, sent after it. Specification 4.6, decisions 4.6.

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import type { MessageMail, MessageRecord } from '../../store/conversations/messages.ts';
import {
  addParticipants,
  findMailThread,
  insertMail,
  insertMailThread,
  mailIdsOfThread,
} from '../../store/mail/mails.ts';
import { findSuppression } from '../../store/mail/suppressions.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { mailboxName, oneLine } from '../lines.ts';
import { derivedMailId } from '../mail-addresses.ts';
import type { Context } from '../runtime/context.ts';
import { escapeHtml, htmlOf } from '../text.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { answerAddress, mainAddress } from './inbound-addresses.ts';
import { enqueueMail, type Mail, mailIdOf } from './outgoing.ts';

/** A References header of about 2 KiB; servers truncate longer ones. */
const maxReferences = 30;

/** Starts the thread of a new ticket. Without `ourAddress` it is answered from the workspace's main address. */
export function startMailThread(
  ctx: Context,
  conversation: ConversationRecord,
  thread: { customerAddress: string; ourAddress?: string | undefined; subjectKey: string },
): void {
  const { customerAddress, ourAddress = mainAddress(ctx), subjectKey } = thread;
  insertMailThread(ctx.db, { conversationId: conversation.id, customerAddress, ourAddress, subjectKey });
  addParticipants(ctx.db, conversation.id, [customerAddress]);
}

/**
 * Whether a message in this conversation would be mailed: `failed` if the customer's address is suppressed, null if
 * nothing is sent.
 */
export function deliveryOf(ctx: Context, conversation: ConversationRecord): MessageRecord['deliveryStatus'] {
  const thread = conversation.channel === 'ticket' ? findMailThread(ctx.db, conversation.id) : undefined;
  if (thread === undefined) return null;
  return findSuppression(ctx.db, thread.customerAddress) === undefined ? 'queued' : 'failed';
}

/** The sender and the copies of an agent's message as a mail. Null if nothing is sent. */
export function envelopeOf(
  ctx: Context,
  conversation: ConversationRecord,
  sending: { agent: AgentRecord; isCopied: boolean },
): MessageMail | null {
  const thread = conversation.channel === 'ticket' ? findMailThread(ctx.db, conversation.id) : undefined;
  if (thread === undefined) return null;
  const copiedTo = sending.isCopied
    ? conversation.copiedTo.filter((address) => findSuppression(ctx.db, address) === undefined)
    : [];
  return {
    from: { address: answerAddress(ctx, thread.ourAddress), name: sending.agent.name },
    copiedTo,
    authentication: null,
  };
}

/** Queues an agent's message as a mail to the ticket's customer and to each copy's recipient. */
export function mailToCustomer(
  ctx: Context,
  conversation: ConversationRecord,
  message: MessageRecord,
  options: { agent: AgentRecord },
): void {
  const thread = findMailThread(ctx.db, conversation.id);
  if (thread === undefined || message.mail === null)
    throw new Error(`ticket ${conversation.id} has no address to mail to`);
  const { copiedTo: cc } = message.mail;
  const from = message.mail.from.address;
  const exchanged = mailIdsOfThread(ctx.db, conversation.id, maxReferences);
  const chain = exchanged.filter(({ mailId }) => !mailId.startsWith(derivedMailId));
  // The customer's client certainly has its own mail, and ours only if it was delivered.
  const answered = (chain.findLast((mail) => mail.direction === 'in') ?? chain.at(-1))?.mailId;
  const subject = oneLine(conversation.subject ?? '');
  const mail: Mail = {
    to: thread.customerAddress,
    ...(cc.length === 0 ? {} : { cc }),
    from,
    fromName: `${mailboxName(options.agent.name)} (${mailboxName(theWorkspace(ctx).name)})`,
    subject: exchanged.length === 0 ? subject : `Re: ${subject}`,
    text: textOf(message),
    html: htmlPartOf(message),
    ...(answered === undefined ? {} : { inReplyTo: answered, references: chain.map(({ mailId }) => mailId) }),
  };
  // The first mail to a customer who has not written, by mail or in the widget.
  const purpose = exchanged.length === 0 && conversation.lastCustomerMessageAt === null ? 'unasked' : 'answer';
  const outboxId = enqueueMail(ctx, mail, { purpose, subjectId: message.id });
  for (const to of cc)
    enqueueMail(ctx, { ...mail, to, copyOf: { id: outboxId, to: mail.to } }, { purpose, subjectId: message.id });
  insertMail(ctx.db, {
    mailId: mailIdOf(outboxId, from),
    direction: 'out',
    conversationId: conversation.id,
    messageId: message.id,
    fromAddress: from,
    fromName: options.agent.name,
    replyTo: null,
    toAddresses: [thread.customerAddress, ...cc],
    subject,
    text: null,
    html: null,
    authentication: null,
    droppedFor: null,
    createdAt: ctx.at,
  });
}

function textOf(message: MessageRecord): string {
  const files = message.attachments.map(({ url, name }) => (name === null ? url : `${name}: ${url}`));
  return files.length === 0 ? message.body : `${message.body}\n\n${files.join('\n')}`;
}

function htmlPartOf(message: MessageRecord): string {
  const files = message.attachments.map(
    ({ url, name }) => `<li><a href="${escapeHtml(url)}">${escapeHtml(name ?? url)}</a></li>`,
  );
  return files.length === 0 ? htmlOf(message.body) : `${htmlOf(message.body)}<ul>${files.join('')}</ul>`;
}
