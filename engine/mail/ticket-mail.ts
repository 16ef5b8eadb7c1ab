// Outgoing ticket mail: an agent's message goes to its recipients as an answer in the thread that their mail clients
// show. Queued in the message's transaction, sent after it. Specification 4.6, decisions 4.6.

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import type { MessageRecord } from '../../store/conversations/messages.ts';
import { addParticipants, insertMailThread } from '../../store/mail/mails.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { mailboxName } from '../lines.ts';
import type { Context } from '../runtime/context.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { mainAddress } from './inbound-addresses.ts';
import { contentOf } from './mail-content.ts';
import { enqueueMail, type Mail } from './outgoing.ts';
import type { Sending } from './sending.ts';
import { recordSent } from './sent-mail.ts';

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

/** Queues an agent's message as a mail to each of its recipients. At least one is in `to`. */
export function mailMessage(
  ctx: Context,
  message: MessageRecord,
  { agent, sending }: { agent: AgentRecord; sending: Sending },
): void {
  const { from, to, cc, bcc, subject, locale, withSignature, quoted } = sending;
  const [first = '', ...alsoTo] = to;
  const mail: Mail = {
    to: first,
    ...(alsoTo.length === 0 ? {} : { alsoTo }),
    ...(cc.length === 0 ? {} : { cc }),
    ...(bcc.length === 0 ? {} : { bcc }),
    from,
    fromName: `${mailboxName(agent.name)} (${mailboxName(theWorkspace(ctx).name)})`,
    subject,
    ...contentOf(ctx, message, { agentId: agent.id, from, locale, withSignature, quoted }),
    ...sending.thread,
  };
  const send = (one: Mail): string =>
    enqueueMail(ctx, one, { purpose: sending.isKnown(one.to) ? 'answer' : 'unasked', subjectId: message.id });
  const outboxId = send(mail);
  for (const other of [...alsoTo, ...cc, ...bcc]) send({ ...mail, to: other, copyOf: { id: outboxId, to: first } });
  // Whoever is named in the mail may answer it. Others only answer the mail that they received.
  if (sending.sideOf === undefined) addParticipants(ctx.db, message.conversationId, [...to, ...cc]);
  recordSent(ctx, {
    outboxId,
    conversationId: message.conversationId,
    messageId: message.id,
    from,
    fromName: agent.name,
    to: [...to, ...cc, ...bcc],
    subject,
    isSide: sending.sideOf !== undefined,
  });
}
