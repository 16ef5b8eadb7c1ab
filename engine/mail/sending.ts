// Decides whom an agent's mail on a ticket goes to, from which address, and which mail it answers. A mail to someone
// other than the customer (a forwarded message, and what answers it) is a side mail: it has a thread of its own, and
// the customer's thread never names it.

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import {
  findMessage,
  type MessageMail,
  type MessageRecord,
  newestMailOfCustomer,
} from '../../store/conversations/messages.ts';
import {
  findMailThread,
  findReceivedMail,
  type MailThread,
  mailIdOfMessage,
  mailIdsOfThread,
} from '../../store/mail/mails.ts';
import { findSuppression } from '../../store/mail/suppressions.ts';
import { refuseField } from '../errors.ts';
import { oneLine } from '../lines.ts';
import { comparable, derivedMailId, isAddress } from '../mail-addresses.ts';
import type { View } from '../runtime/context.ts';
import { answerAddress, takesMailAt } from './inbound-addresses.ts';
import { hasWritten, knownIn } from './known-addresses.ts';
import type { Quoted } from './mail-content.ts';
import { customerLocale } from './mail-words.ts';
import type { Mail } from './outgoing.ts';
import { senderAddresses } from './signatures.ts';

/** How an agent addresses a mail. Whatever is left out follows from the ticket. */
export interface Addressing {
  /** One of the workspace's addresses. */
  readonly from?: string | undefined;
  readonly to?: readonly string[] | undefined;
  readonly cc?: readonly string[] | undefined;
  readonly bcc?: readonly string[] | undefined;
  /** False: only to the customer. */
  readonly copy?: boolean | undefined;
  /** The message that it answers; a side message is answered apart from the customer. */
  readonly answerTo?: string | undefined;
  /** The message that it forwards to someone else. */
  readonly forwardOf?: string | undefined;
  readonly withSignature?: boolean | undefined;
  /** Quotes the message that it answers. */
  readonly withQuote?: boolean | undefined;
}

export interface Sending {
  readonly from: string;
  /** Without suppressed addresses, as are the others. Empty: the mail cannot be sent. */
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly subject: string;
  readonly thread: Pick<Mail, 'inReplyTo' | 'references'> | undefined;
  /** The message that a side mail forwards or answers. */
  readonly sideOf: string | undefined;
  readonly quoted: Quoted | undefined;
  readonly withSignature: boolean;
  /** Of its fixed words. */
  readonly locale: string;
  /** If not, the mail is one that no one asked for. */
  isKnown(address: string): boolean;
  /** Later mails to the customer go to these, too; undefined if they stay as they are. */
  readonly copiedTo: readonly string[] | undefined;
}

/** Recipients of one mail. Each is a separate mail. */
export const maxRecipients = 50;
/** A References header of about 2 KiB; servers truncate longer ones. */
const maxReferences = 30;

/** Undefined if the conversation is not by mail. Refuses invalid_body. */
export function planMail(view: View, conversation: ConversationRecord, addressing: Addressing): Sending | undefined {
  const thread = conversation.channel === 'ticket' ? findMailThread(view.db, conversation.id) : undefined;
  if (thread === undefined) {
    requireUnaddressed(addressing);
    return undefined;
  }
  const { forwardOf, answerTo } = addressing;
  const about =
    forwardOf === undefined
      ? answerTo === undefined
        ? undefined
        : messageOf(view, conversation, { answerTo })
      : messageOf(view, conversation, { forwardOf });
  const isSide = about !== undefined && (forwardOf !== undefined || about.mail?.side !== undefined);
  const people = isSide ? peopleOnSide(view, about, addressing) : peopleOfCustomer(conversation, thread, addressing);
  const { to, cc, bcc } = recipientsOf(view, { ...people, bcc: addressing.bcc ?? [] });
  if (isSide && [...to, ...cc, ...bcc].includes(thread.customerAddress))
    refuseField('invalid_body', 'to', 'must not name the customer: this mail is about the conversation with them');
  const reaches = (address: string): boolean => findSuppression(view.db, address) === undefined;
  const subject = oneLine(conversation.subject ?? '');
  const isFirst = mailIdsOfThread(view.db, conversation.id, 1).length === 0;
  const isAddressedAnew = addressing.to !== undefined || addressing.cc !== undefined;
  return {
    from: addressing.from === undefined ? answerAddress(view, thread.ourAddress) : senderOf(view, addressing.from),
    to: to.filter(reaches),
    cc: cc.filter(reaches),
    bcc: bcc.filter(reaches),
    subject: forwardOf !== undefined ? `Fwd: ${subject}` : isFirst ? subject : `Re: ${subject}`,
    thread: isSide ? sideThread(view, about, forwardOf) : answeredIn(view, conversation.id, answerTo),
    sideOf: isSide ? about.id : undefined,
    quoted: quotedIn(view, conversation, { about, addressing }),
    withSignature: addressing.withSignature ?? true,
    locale: customerLocale(view, isSide ? null : conversation.visitorId),
    isKnown: isSide
      ? (address) => forwardOf === undefined && isOnSide(view, about, address)
      : knownIn(view, conversation, { isFirst }),
    copiedTo:
      isSide || !isAddressedAnew ? undefined : [...to, ...cc].filter((address) => address !== thread.customerAddress),
  };
}

/** For a mail whose ticket does not exist yet. Refuses invalid_body. */
export function requireAddressing(view: View, { from, to = [], cc = [], bcc = [] }: Addressing): void {
  recipientsOf(view, { to, cc, bcc });
  if (from !== undefined) senderOf(view, from);
}

/** The sender and the recipients, as the message keeps them. */
export function mailOn({ from, to, cc, bcc, sideOf }: Sending, { name }: { name: string }): MessageMail {
  return {
    from: { address: from, name },
    sentTo: to,
    copiedTo: cc,
    ...(bcc.length === 0 ? {} : { bcc }),
    ...(sideOf === undefined ? {} : { side: { messageId: sideOf } }),
    authentication: null,
  };
}

/** The mails that the next one to a customer answers; with `messageId`, first of all that one. */
export function answeredIn(
  view: Pick<View, 'db'>,
  conversationId: string,
  messageId?: string,
): Pick<Mail, 'inReplyTo' | 'references'> | undefined {
  const exchanged = mailIdsOfThread(view.db, conversationId, maxReferences);
  const chain = exchanged.filter(({ mailId }) => !mailId.startsWith(derivedMailId));
  const named = messageId === undefined ? undefined : mailIdOfMessage(view.db, messageId);
  // The customer's client certainly has its own mail, and ours only if it was delivered.
  const answered =
    chain.find(({ mailId }) => mailId === named) ?? chain.findLast((mail) => mail.direction === 'in') ?? chain.at(-1);
  return answered && { inReplyTo: answered.mailId, references: chain.map(({ mailId }) => mailId) };
}

/** From the forwarded mail, which its recipient does not have, to this one. */
function sideThread(
  view: Pick<View, 'db'>,
  about: MessageRecord,
  forwardOf: string | undefined,
): Pick<Mail, 'inReplyTo' | 'references'> | undefined {
  if (forwardOf !== undefined) return undefined;
  const chain: string[] = [];
  for (
    let message: MessageRecord | undefined = about;
    message?.mail?.side !== undefined && chain.length < maxReferences;
    message = findMessage(view.db, message.mail.side.messageId)
  ) {
    const mailId = mailIdOfMessage(view.db, message.id);
    if (mailId !== undefined && !mailId.startsWith(derivedMailId)) chain.unshift(mailId);
  }
  const answered = chain.at(-1);
  return answered === undefined ? undefined : { inReplyTo: answered, references: chain };
}

function messageOf(
  { db }: View,
  conversation: ConversationRecord,
  named: { readonly answerTo: string } | { readonly forwardOf: string },
): MessageRecord {
  const [[field, messageId] = ['', '']] = Object.entries(named);
  const message = findMessage(db, messageId);
  if (message?.conversationId !== conversation.id || message.senderType === 'system')
    refuseField('invalid_body', field, 'must be a message of this conversation');
  return message;
}

interface People {
  readonly to: readonly string[];
  readonly cc: readonly string[];
}

function peopleOfCustomer(
  { copiedTo }: ConversationRecord,
  { customerAddress }: MailThread,
  { to = [customerAddress], cc, copy = true }: Addressing,
): People {
  return { to, cc: cc ?? (copy ? copiedTo : []) };
}

/** A reply goes to whoever wrote the message, or received it from us. A forwarded one to whom the agent names. */
function peopleOnSide(view: View, about: MessageRecord, { to, cc, forwardOf }: Addressing): People {
  if (forwardOf !== undefined)
    return { to: to ?? refuseField('invalid_body', 'to', 'is required for a forwarded message'), cc: cc ?? [] };
  const { from, sentTo, copiedTo = [] } = about.mail ?? {};
  const author = findReceivedMail(view.db, about.id)?.replyTo ?? from?.address;
  return {
    to: to ?? (about.senderType === 'agent' ? sentTo : author === undefined ? [] : [author]) ?? [],
    cc: cc ?? (to === undefined ? copiedTo.filter((address) => takesMailAt(view, address) === undefined) : []),
  };
}

/** Whoever wrote the side message, or was named by it. */
function isOnSide(view: View, about: MessageRecord, address: string): boolean {
  if (about.senderType !== 'visitor') return false;
  const { to, cc } = peopleOnSide(view, about, {});
  return [...to, ...cc].map(comparable).includes(address) || hasWritten(view, address);
}

/** Each address once, where it is named first. Refuses invalid_body. */
function recipientsOf(view: View, people: { to: readonly string[]; cc: readonly string[]; bcc: readonly string[] }) {
  const seen = new Set<string>();
  const others = (field: keyof typeof people): string[] =>
    people[field]
      .map((written) => {
        if (!isAddress(written)) refuseField('invalid_body', field, `must not name ${written}, which is no address`);
        const address = comparable(written);
        if (takesMailAt(view, address) !== undefined)
          refuseField('invalid_body', field, `must not name ${address}, which is an address of this workspace`);
        return address;
      })
      .filter((address) => !seen.has(address) && seen.add(address) !== undefined);
  const recipients = { to: others('to'), cc: others('cc'), bcc: others('bcc') };
  if (recipients.to.length === 0) refuseField('invalid_body', 'to', 'must name at least one recipient');
  if (seen.size > maxRecipients)
    refuseField('invalid_body', 'to', `and cc and bcc may name at most ${maxRecipients} recipients together`);
  return recipients;
}

function senderOf(view: View, chosen: string): string {
  const address = comparable(chosen);
  if (!senderAddresses(view).includes(address))
    refuseField('invalid_body', 'from', 'must be an address that this workspace sends from');
  return address;
}

/**
 * Only what came or left as a mail is quoted to a customer: someone may have claimed the address in the widget, and
 * such a customer receives nothing that the visitor wrote.
 */
function quotedIn(
  { db }: View,
  conversation: ConversationRecord,
  { about, addressing }: { about: MessageRecord | undefined; addressing: Addressing },
): Quoted | undefined {
  if (about !== undefined && addressing.forwardOf !== undefined) return { message: about, isForwarded: true };
  if (addressing.withQuote !== true) return undefined;
  const message = about ?? newestMailOfCustomer(db, conversation.id);
  return message === undefined || message.mail === null ? undefined : { message, isForwarded: false };
}

const ofMailOnly = ['from', 'to', 'cc', 'bcc', 'answerTo', 'forwardOf'] as const;

function requireUnaddressed(addressing: Addressing): void {
  const field = ofMailOnly.find((name) => addressing[name] !== undefined);
  if (field !== undefined) refuseField('invalid_body', field, 'is for tickets, which go by mail');
}
