// Inbound mail: each mail once, into its conversation or a new ticket, or dropped with an audit entry that says why.
// The webhook and the SMTP listener both end here. Specification 4.20, decisions "Inbound email".

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import { findMessage } from '../../store/conversations/messages.ts';
import type { VisitorRecord } from '../../store/customers/visitors.ts';
import {
  addParticipants,
  addReferences,
  findMail,
  findMailThread,
  insertMail,
  isAnsweredAt,
  isMailWith,
  isParticipant,
  placeBySubject,
  placesOf,
  renameMail,
  setDroppedFor,
} from '../../store/mail/mails.ts';
import { handOver } from '../assistant/answering.ts';
import { keepMailed } from '../conversations/attachments.ts';
import { conversationKind, whereNow } from '../conversations/conversation.ts';
import { appendMessage } from '../conversations/messages.ts';
import { reopenForCustomer } from '../conversations/status.ts';
import { addressesOfPerson, seeVisitor, visitorKind } from '../customers/visitors.ts';
import { oneLine } from '../lines.ts';
import { localeIn } from '../locales.ts';
import { takesMailAt } from '../mail/inbound-addresses.ts';
import { startMailThread } from '../mail/ticket-mail.ts';
import { derivedMailId, mailIdsIn, subjectKeyOf } from '../mail-addresses.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { firstChars } from '../text.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { copyKind } from './attachment-copies.ts';
import { recordBounce } from './bounces.ts';
import {
  claimOn,
  customerOf,
  type DropReason,
  type IncomingMail,
  judgeMail,
  mailIdOf,
  replyToOf,
  type Verdict,
} from './judgement.ts';
import { copiesAfter, keptCopies, setCopies } from './mail-copies.ts';
import { findThread, type Place, type ThreadMatch } from './threading.ts';
import { openTicket, ticketCustomer } from './tickets.ts';

export interface ReceiveParams {
  readonly mail: IncomingMail;
}

/** The limit for subjects that agents write (specification 8). The original mail keeps all of it. */
export const maxSubjectChars = 200;
export const noSubject = '(no subject)';
/** More recipients than a person's mail to a business names. */
const maxParticipants = 100;

/** Accepts one mail. The same mail again has no effect. Refuses site_bootstrap_failed. */
export const receiveMail = command('mail.receive', (ctx, params: ReceiveParams): Verdict => {
  const verdict = judgeMail(ctx, params.mail);
  const claim = claimOn(ctx, params.mail);
  if (claim !== undefined) renameMail(ctx.db, claim.mailId, `${derivedMailId}${claim.messageId}`);
  if (verdict.kind === 'take') return take(ctx, params.mail);
  if (verdict.kind === 'drop') drop(ctx, params.mail, verdict.reason);
  return verdict;
});

/** A mail with what its thread is found by. */
interface Threaded {
  readonly mail: IncomingMail;
  readonly mailId: string;
  readonly references: readonly string[];
  readonly match: ThreadMatch;
  readonly isDisproved: boolean;
}

function take(ctx: Context, mail: IncomingMail): Verdict {
  const threaded = threadOf(ctx, mail);
  const known = threaded.match.conversationId && ctx.state(conversationKind, threaded.match.conversationId);
  const chat = known && known.channel === 'chat' ? known : undefined;
  const visitor = chat?.visitorId == null ? undefined : ctx.state(visitorKind, chat.visitorId);
  if (chat === undefined || visitor === undefined) takeIntoTicket(ctx, threaded);
  else if (visitor.blockedAt === null) takeIntoChat(ctx, threaded, { chat, visitor });
  else {
    drop(ctx, mail, 'blocked');
    return { kind: 'drop', reason: 'blocked' };
  }
  return { kind: 'take' };
}

function threadOf(ctx: Context, mail: IncomingMail): Threaded {
  const mailId = mailIdOf(mail);
  const inReplyTo = mailIdsIn(mail.headers.inReplyTo);
  const references = mailIdsIn(mail.headers.references);
  const isDisproved = mail.authentication?.dmarc === 'fail';
  const addresses = addressesOfPerson(ctx, mail.from.address);
  const match = findThread(
    { mailId, sender: mail.from.address, isDisproved, inReplyTo, references, subjectKey: subjectKeyOf(mail.subject) },
    {
      placesOf: (id) => placesOf(ctx.db, id).map((place) => presentPlace(ctx, place)),
      placeBySubject: (_, subjectKey) => {
        const [place] = addresses.flatMap((address) => {
          const found = placeBySubject(ctx.db, address, subjectKey);
          return found === undefined || (address !== mail.from.address && !isTicket(ctx, found)) ? [] : [found];
        });
        return place && presentPlace(ctx, place);
      },
      isOnThread: (conversationId, address, id) =>
        isOnThread(ctx, { conversationId, address, mailId: id }) ||
        isOnTicketByOther(ctx, { conversationId, addresses }),
    },
  );
  return { mail, mailId, references: [...inReplyTo, ...references], match, isDisproved };
}

/** A merged ticket's mails are answered in the one that it was merged into. */
function presentPlace<Found extends Place>(ctx: Context, place: Found): Found {
  return { ...place, conversationId: whereNow(ctx, place.conversationId) };
}

/** In a chat, a mail that is known counts only for its own sender and recipient. */
export function isOnThread(
  ctx: Pick<View, 'db' | 'state'>,
  { conversationId, address, mailId }: { conversationId: string; address: string; mailId: string },
): boolean {
  const isWith = isMailWith(ctx.db, mailId, address);
  const isChat = ctx.state(conversationKind, conversationId)?.channel === 'chat';
  return isChat && isWith !== undefined ? isWith : isWith === true || isParticipant(ctx.db, conversationId, address);
}

/** The same person wrote from another of its addresses. A chat goes on only with the one that its mails went to. */
function isOnTicketByOther(
  ctx: Context,
  { conversationId, addresses }: { conversationId: string; addresses: readonly string[] },
): boolean {
  return (
    isTicket(ctx, { conversationId }) && addresses.some((address) => isParticipant(ctx.db, conversationId, address))
  );
}

function isOnlyByOther(
  ctx: Context,
  { conversationId, address }: { conversationId: string; address: string },
): boolean {
  return (
    !isParticipant(ctx.db, conversationId, address) &&
    isOnTicketByOther(ctx, { conversationId, addresses: addressesOfPerson(ctx, address) })
  );
}

function isTicket(ctx: Context, { conversationId }: { readonly conversationId: string }): boolean {
  return ctx.state(conversationKind, conversationId)?.channel === 'ticket';
}

/** The visitor goes on with its chat by mail. Whoever else received the mail is no part of it. */
function takeIntoChat(
  ctx: Context,
  threaded: Threaded,
  { chat, visitor }: { chat: ConversationRecord; visitor: VisitorRecord },
): void {
  seeVisitor(ctx, visitor);
  keep(ctx, threaded, { conversation: reopenForCustomer(ctx, chat), customer: visitor, replyTo: null });
}

function takeIntoTicket(ctx: Context, threaded: Threaded): void {
  const { mail, match, isDisproved } = threaded;
  const sideOf = sideAnsweredBy(ctx, threaded);
  if (sideOf !== undefined) return takeIntoSide(ctx, threaded, sideOf);
  const named = customerOf(ctx, mail);
  const replyTo = replyToOf(mail, named);
  // In an existing conversation, a Reply-To counts only from an address that used it there before. Otherwise any
  // participant could speak for its customer.
  const isCustomer =
    match.conversationId === undefined ||
    replyTo === null ||
    isAnsweredAt(ctx.db, match.conversationId, { fromAddress: mail.from.address, replyTo });
  const sender = isCustomer ? named : mail.from;
  const locale = isDisproved ? null : localeIn(mail.headers.contentLanguage);
  const customer = ticketCustomer(ctx, { email: sender.address, name: sender.name, locale });
  const found = conversationOf(ctx, { mail, match, customer, customerAddress: sender.address });
  const others = othersOn(ctx, mail, { conversation: found, sender: sender.address });
  const kept = keptCopies(ctx, found);
  const isFromElsewhere = isOnlyByOther(ctx, { conversationId: found.id, address: mail.from.address });
  const copiedTo = copiesAfter({ others, rule: match.threading.rule, isDisproved, isFromElsewhere, kept });
  keep(ctx, threaded, { conversation: setCopies(ctx, found, copiedTo), customer, replyTo });
  if (copiedTo !== undefined) addParticipants(ctx.db, found.id, mail.otherRecipients.slice(0, maxParticipants));
}

/** The side message that the mail answers. The customer is on no side of its own conversation. */
function sideAnsweredBy(ctx: Context, { mail, match }: Threaded): SideMessage | undefined {
  const { matchedMessageId } = match.threading;
  const message = matchedMessageId === null ? undefined : findMessage(ctx.db, matchedMessageId);
  const conversation = message?.mail?.side && ctx.state(conversationKind, message.conversationId);
  if (message === undefined || conversation === undefined) return undefined;
  const customerAddress = findMailThread(ctx.db, conversation.id)?.customerAddress;
  const isCustomers =
    customerAddress !== undefined && addressesOfPerson(ctx, mail.from.address).includes(customerAddress);
  return isCustomers ? undefined : { conversation, messageId: message.id };
}

interface SideMessage {
  readonly conversation: ConversationRecord;
  readonly messageId: string;
}

/** Someone whom an agent wrote to about the conversation answers. It adds no one to the customer's thread. */
function takeIntoSide(ctx: Context, threaded: Threaded, { conversation, messageId }: SideMessage): void {
  const { mail } = threaded;
  const author = ticketCustomer(ctx, { email: mail.from.address, name: mail.from.name });
  const reopened = reopenForCustomer(ctx, conversation, mail.from.name ?? mail.from.address);
  const replyTo = replyToOf(mail, customerOf(ctx, mail));
  keep(ctx, threaded, { conversation: reopened, customer: author, replyTo, sideOf: messageId });
}

/** Writes the message, and the mail as it was received. */
function keep(
  ctx: Context,
  { mail, mailId, references, match }: Threaded,
  into: { conversation: ConversationRecord; customer: VisitorRecord; replyTo: string | null; sideOf?: string },
): void {
  const { conversation, customer, replyTo, sideOf } = into;
  const { message, conversation: written } = appendMessage(ctx, conversation, {
    senderType: 'visitor',
    senderId: customer.id,
    body: mail.body,
    bodyHtml: mail.bodyHtml,
    attachments: mail.attachments.map(({ url, name, size }) => ({ url, name: oneLine(name) || 'file', size })),
    threading: match.threading,
    mail: {
      from: mail.from,
      copiedTo: mail.otherRecipients.slice(0, maxParticipants),
      ...(sideOf === undefined ? {} : { side: { messageId: sideOf } }),
      ...(mail.remotePictures === undefined ? {} : { remotePictures: mail.remotePictures }),
      authentication: mail.authentication,
    },
    isSide: sideOf !== undefined,
  });
  handOver(ctx, written, 'mail');
  insertMail(ctx.db, {
    mailId,
    direction: 'in',
    conversationId: conversation.id,
    messageId: message.id,
    fromAddress: mail.from.address,
    fromName: mail.from.name,
    replyTo,
    toAddresses: [...mail.ourAddresses, ...mail.otherRecipients],
    subject: mail.subject,
    text: mail.text,
    html: mail.html,
    authentication: mail.authentication,
    droppedFor: null,
    isSide: sideOf !== undefined,
    source: mail.source,
    createdAt: ctx.at,
  });
  addReferences(ctx.db, { conversationId: conversation.id, messageId: message.id }, references);
  for (const attachment of mail.attachments) {
    const { name, copy } = attachment;
    keepMailed(ctx, message.id, attachment);
    if (copy !== undefined)
      ctx.enqueue(copyKind, {
        target: `attachment:${new URL(copy.sourceUrl).host}`,
        subjectId: message.id,
        payload: { ...copy, name },
      });
  }
}

/** Everyone a reply to all would go to, besides the customer and us. */
function othersOn(
  ctx: Context,
  mail: IncomingMail,
  on: { conversation: ConversationRecord; sender: string },
): string[] {
  const customerAddress = findMailThread(ctx.db, on.conversation.id)?.customerAddress;
  const alsoAnswered = mail.replyTo
    .map(({ address }) => address)
    .filter((address) => takesMailAt(ctx, address) === undefined);
  return [on.sender, ...alsoAnswered, ...mail.otherRecipients].filter((address) => address !== customerAddress);
}

function conversationOf(
  ctx: Context,
  options: ReceiveParams & { match: ThreadMatch; customer: ReturnType<typeof ticketCustomer>; customerAddress: string },
) {
  const { mail, match, customer, customerAddress } = options;
  const known = match.conversationId === undefined ? undefined : ctx.state(conversationKind, match.conversationId);
  if (known !== undefined) return reopenForCustomer(ctx, known);
  const [ourAddress] = mail.ourAddresses;
  const mapped = ourAddress === undefined ? undefined : takesMailAt(ctx, ourAddress)?.departmentId;
  const subject = firstChars(oneLine(mail.subject), maxSubjectChars).trim();
  const ticket = openTicket(ctx, {
    customer,
    subject: subject === '' ? noSubject : subject,
    departmentId: mapped ?? theWorkspace(ctx).settings.defaultDepartmentId,
  });
  startMailThread(ctx, ticket, { customerAddress, ourAddress, subjectKey: subjectKeyOf(mail.subject) });
  // Its next mail may come without a Reply-To.
  addParticipants(ctx.db, ticket.id, [mail.from.address]);
  return ticket;
}

function drop(ctx: Context, mail: IncomingMail, reason: DropReason): void {
  const mailId = mailIdOf(mail);
  if (reason === 'bounce' && mail.bounce !== null) recordBounce(ctx, mail.bounce);
  if (findMail(ctx.db, mailId) !== undefined) setDroppedFor(ctx.db, mailId, reason);
  else {
    insertMail(ctx.db, {
      mailId,
      direction: 'in',
      conversationId: null,
      messageId: null,
      fromAddress: mail.from.address,
      fromName: mail.from.name,
      replyTo: null,
      toAddresses: mail.ourAddresses,
      subject: mail.subject,
      text: null,
      html: null,
      authentication: mail.authentication,
      droppedFor: reason,
      isSide: false,
      createdAt: ctx.at,
    });
  }
  // A person may have written it, so the audit entry keeps the content of the dropped mail.
  const content =
    reason === 'too_many'
      ? { body: mail.body, attachments: mail.attachments.map(({ url, name }) => ({ url, name })) }
      : {};
  ctx.audit({
    action: 'email.dropped',
    targetKind: 'email',
    targetId: mailId,
    context: {
      reason,
      from: mail.from.address,
      to: mail.ourAddresses,
      subject: firstChars(oneLine(mail.subject), maxSubjectChars),
      ...content,
    },
  });
}
