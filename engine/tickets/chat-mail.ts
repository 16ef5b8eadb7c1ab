// A chat goes on by mail: answers that its customer has not seen, and is not there to see, leave as one mail to the
// customer's address. Its messages are marked and the mail is queued in one transaction, so that none is mailed twice.
// As long as the address is only claimed, the mail holds nothing that the customer wrote or named. Decisions "A chat
// goes on by mail", "Whose address it is".

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import { findMessage, type MessageRecord, questionsIn, setMailed } from '../../store/conversations/messages.ts';
import { findVisitorPresence, thereUntilMs } from '../../store/customers/visitor-presence.ts';
import { findProvedEmail } from '../../store/customers/visitor-proofs.ts';
import type { VisitorRecord } from '../../store/customers/visitors.ts';
import { addParticipants, findMailThread, putMailThread } from '../../store/mail/mails.ts';
import { findSuppression } from '../../store/mail/suppressions.ts';
import { audienceOf, conversationKind } from '../conversations/conversation.ts';
import { appendServiceLine, messageView } from '../conversations/messages.ts';
import { noteUnseenDue, setUnseen, unseenDueMs, waitingAnswers } from '../conversations/unseen.ts';
import { addressOf, visitorKind } from '../customers/visitors.ts';
import { dayMs } from '../directory/ceilings.ts';
import { Refusal } from '../errors.ts';
import { emit } from '../events.ts';
import { mailboxName, oneLine } from '../lines.ts';
import { answerAddress, mainAddress } from '../mail/inbound-addresses.ts';
import { messageContent } from '../mail/mail-content.ts';
import { customerLocale } from '../mail/mail-words.ts';
import { enqueueMail, type Mail } from '../mail/outgoing.ts';
import { answeredIn } from '../mail/sending.ts';
import { recordSent } from '../mail/sent-mail.ts';
import { subjectKeyOf } from '../mail-addresses.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import { escapeHtml, firstChars, htmlOf } from '../text.ts';
import { publicNameOf, theRoster } from '../workspace/roster.ts';
import { theWorkspace } from '../workspace/workspace.ts';

/** Answers in one mail; more follow in the next. */
const maxAnswers = 50;
const subjectChars = 60;
const quotedChars = 1000;
/** How long the link back to the chat works. */
const linkMs = 30 * dayMs;

/** Runs some minutes after the first answer that waits. */
export const mailUnseenAnswers = command('chat.mailUnseen', (ctx, { subjectId }: DeadlineParams): void => {
  noteUnseenDue(ctx, subjectId);
  const chat = ctx.state(conversationKind, subjectId);
  const visitor = chat === undefined ? undefined : customerToMail(ctx, chat);
  if (chat === undefined || visitor === undefined) return;
  const to = addressOf(ctx, visitor);
  if (to === undefined) return;
  // The assistant may repeat what the customer wrote.
  const mayQuote = isProved(ctx, visitor, to);
  const answers = waitingAnswers(ctx, chat, maxAnswers).filter(({ senderType }) => senderType !== 'ai' || mayQuote);
  const [first] = answers;
  if (first === undefined) return;
  const dueMs = Math.max(unseenDueMs(ctx, first), thereUntilMs(findVisitorPresence(ctx.db, visitor.id)));
  // Leaving, or giving an address, sets the deadline again.
  if (dueMs === Number.POSITIVE_INFINITY) return;
  if (dueMs > ctx.nowMs) setUnseen(ctx, chat.id, dueMs);
  else if (findSuppression(ctx.db, to) !== undefined) {
    for (const answer of answers) put(ctx, chat, { ...answer, deliveryStatus: 'failed' });
    appendServiceLine(ctx, chat, "Not mailed: earlier mail to the customer's address bounced.");
  } else mailAnswers(ctx, chat, { visitor, to, answers });
});

/** Whether a queued mail must not leave any more: all of it was seen meanwhile, or its customer is mailed nothing now. */
export function isWithdrawn(view: View, { messageIds }: Pick<Mail, 'messageIds'>): boolean {
  if (messageIds === undefined) return false;
  const messages = messageIds.flatMap((id) => findMessage(view.db, id) ?? []);
  const chat = view.state(conversationKind, messages[0]?.conversationId ?? '');
  return (
    chat === undefined || customerToMail(view, chat) === undefined || messages.every(({ readAt }) => readAt !== null)
  );
}

/** Undefined if nothing is mailed: it is no chat, spam, its visitor is blocked, or the workspace mails no answers. */
function customerToMail(view: Pick<View, 'state'>, chat: ConversationRecord): VisitorRecord | undefined {
  if (chat.channel !== 'chat' || chat.status === 'spam' || chat.visitorId === null) return undefined;
  if (theWorkspace(view).settings.unseenMailMinutes === 0) return undefined;
  const visitor = view.state(visitorKind, chat.visitorId);
  return visitor?.blockedAt === null ? visitor : undefined;
}

function isProved(ctx: Context, visitor: VisitorRecord, to: string): boolean {
  return findProvedEmail(ctx.db, visitor.id) === to.toLowerCase();
}

interface ToMail {
  readonly visitor: VisitorRecord;
  readonly to: string;
  /** At least one. */
  readonly answers: readonly MessageRecord[];
}

function mailAnswers(ctx: Context, chat: ConversationRecord, { visitor, to, answers }: ToMail): void {
  const { name } = theWorkspace(ctx);
  const agent = agentName(ctx, answers.at(-1));
  const from = answerAddress(ctx, findMailThread(ctx.db, chat.id)?.ourAddress ?? mainAddress(ctx));
  const mayQuote = isProved(ctx, visitor, to);
  const { first, last } = mayQuote
    ? questionsIn(ctx.db, { conversationId: chat.id, before: answers[0]?.createdAt ?? '' })
    : {};
  const subject =
    first === undefined ? mailboxName(name) : `Re: ${oneLine(firstChars(first.body, subjectChars)).trim()}`;
  const mail: Mail = {
    to,
    from,
    fromName: agent === undefined ? mailboxName(name) : `${mailboxName(agent)} (${mailboxName(name)})`,
    subject,
    ...bodyOf(ctx, answers, last),
    locale: customerLocale(ctx, visitor.id),
    ...answeredIn(ctx, chat.id),
    messageIds: answers.map(({ id }) => id),
    chatLink: { visitorId: visitor.id, email: to, expiresAt: isoTime(ctx.nowMs + linkMs) },
    ...(mayQuote ? {} : { isClaimed: true }),
  };
  const lastId = answers.at(-1)?.id ?? '';
  let outboxId: string;
  try {
    outboxId = enqueueMail(ctx, mail, { purpose: 'answer', subjectId: lastId });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // The workspace has sent as many mails as it may for now.
    setUnseen(ctx, chat.id, ctx.nowMs + (error.retryAfter ?? 60) * 1000);
    return;
  }
  putMailThread(ctx.db, {
    conversationId: chat.id,
    customerAddress: to,
    ourAddress: from,
    subjectKey: subjectKeyOf(subject),
  });
  addParticipants(ctx.db, chat.id, [to]);
  recordSent(ctx, {
    outboxId,
    conversationId: chat.id,
    messageId: lastId,
    from,
    fromName: agent ?? null,
    to: [to],
    subject,
  });
  for (const answer of answers)
    put(ctx, chat, {
      ...answer,
      deliveryStatus: 'queued',
      mail: { from: { address: from, name: agentName(ctx, answer) ?? null }, to, copiedTo: [], authentication: null },
    });
  const [next] = waitingAnswers(ctx, chat, 1);
  if (next !== undefined) setUnseen(ctx, chat.id, Math.max(unseenDueMs(ctx, next), ctx.nowMs));
}

function put(ctx: Context, chat: ConversationRecord, message: MessageRecord): void {
  setMailed(ctx.db, message);
  emit(ctx, {
    type: 'message.updated',
    conversationId: chat.id,
    audience: audienceOf(chat, { visitorToo: false }),
    data: { message: messageView(message) },
  });
}

/** Each answer under its author, below the question that they answer. */
function bodyOf(
  view: Pick<View, 'state'>,
  answers: readonly MessageRecord[],
  question: MessageRecord | undefined,
): Pick<Mail, 'text' | 'html'> {
  const text: string[] = [];
  const html: string[] = [];
  if (question !== undefined) {
    const quoted = firstChars(question.body, quotedChars);
    text.push(quoted.replace(/^/gm, '> '));
    html.push(`<blockquote>${htmlOf(quoted)}</blockquote>`);
  }
  for (const answer of answers) {
    const author = agentName(view, answer) ?? theWorkspace(view).name;
    const content = messageContent(answer);
    text.push(`${author}:\n${content.text}`);
    html.push(`<p><strong>${escapeHtml(author)}</strong></p>${content.html}`);
  }
  return { text: text.join('\n\n'), html: html.join('') };
}

/** As customers know the agent. */
function agentName(view: Pick<View, 'state'>, message: MessageRecord | undefined): string | undefined {
  const agent = message?.senderId == null ? undefined : theRoster(view).agents.get(message.senderId);
  return agent && publicNameOf(agent);
}
