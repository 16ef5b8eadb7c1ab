// Tickets by mail, outward: what an agent writes on one goes to its customer, as an answer in the thread that the customer's own
// mail client shows. Written in the message's transaction; sent after it. Specification 4.6, decisions 4.6.

import type { AgentRecord } from '../store/agents.ts';
import type { ConversationRecord } from '../store/conversations.ts';
import { addParticipants, findMailThread, insertMail, insertMailThread, mailIdsOfThread } from '../store/mails.ts';
import type { MessageRecord } from '../store/messages.ts';
import { findSuppression } from '../store/suppressions.ts';
import { answerAddress, mainAddress } from './inbound-addresses.ts';
import { enqueueMail, mailIdOf } from './mail.ts';
import { oneLine } from './lines.ts';
import { derivedMailId } from './mail-addresses.ts';
import type { Context } from './runtime/context.ts';
import { escapeHtml, htmlOf } from './text.ts';
import { theWorkspace } from './workspace.ts';

/** A References header of about 2 KiB; longer ones are cut by servers on the way. */
const maxReferences = 30;

/** Begins the thread of a new ticket. Without `ourAddress` it is answered from the workspace's main one. */
export function startMailThread(ctx: Context, conversation: ConversationRecord, thread: { customerAddress: string; ourAddress?: string | undefined; subjectKey: string; mailHost: string }): void {
  const { customerAddress, ourAddress = mainAddress(ctx, thread.mailHost), subjectKey } = thread;
  insertMailThread(ctx.db, { conversationId: conversation.id, customerAddress, ourAddress, subjectKey });
  addParticipants(ctx.db, conversation.id, [customerAddress]);
}

/** Whether a message on this conversation would be mailed: `failed` when the customer's address takes none, null when nothing is sent. */
export function deliveryOf(ctx: Context, conversation: ConversationRecord): MessageRecord['deliveryStatus'] {
  const thread = conversation.channel === 'ticket' ? findMailThread(ctx.db, conversation.id) : undefined;
  if (thread === undefined) return null;
  return findSuppression(ctx.db, thread.customerAddress) === undefined ? 'queued' : 'failed';
}

/** Queues an agent's message as a mail to the ticket's customer. */
export function mailToCustomer(ctx: Context, conversation: ConversationRecord, message: MessageRecord, options: { agent: AgentRecord; mailHost: string }): void {
  const thread = findMailThread(ctx.db, conversation.id);
  if (thread === undefined) throw new Error(`ticket ${conversation.id} has nobody to mail to`);
  const from = answerAddress(ctx, thread.ourAddress, options.mailHost);
  const exchanged = mailIdsOfThread(ctx.db, conversation.id, maxReferences);
  const chain = exchanged.filter(({ mailId }) => !mailId.startsWith(derivedMailId));
  // The customer's own client has its own mail for certain, ours only if it was delivered.
  const answered = (chain.findLast((mail) => mail.direction === 'in') ?? chain.at(-1))?.mailId;
  const subject = oneLine(conversation.subject ?? '');
  const outboxId = enqueueMail(
    ctx,
    {
      to: thread.customerAddress,
      from,
      fromName: oneLine(`${options.agent.name} (${theWorkspace(ctx).name})`),
      subject: exchanged.length === 0 ? subject : `Re: ${subject}`,
      text: textOf(message),
      html: htmlPartOf(message),
      ...(answered === undefined ? {} : { inReplyTo: answered, references: chain.map((mail) => mail.mailId) }),
    },
    { subjectId: message.id },
  );
  insertMail(ctx.db, {
    mailId: mailIdOf(outboxId, from),
    direction: 'out',
    conversationId: conversation.id,
    messageId: message.id,
    fromAddress: from,
    fromName: options.agent.name,
    toAddresses: [thread.customerAddress],
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
  const files = message.attachments.map(({ url, name }) => `<li><a href="${escapeHtml(url)}">${escapeHtml(name ?? url)}</a></li>`);
  return files.length === 0 ? htmlOf(message.body) : `${htmlOf(message.body)}<ul>${files.join('')}</ul>`;
}
