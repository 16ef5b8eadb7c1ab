// Whether a mail becomes a message, or is dropped without a word to its sender: machines that answer machines, lists,
// mail that goes round in a circle, and what was here before. Specification 4.20, decisions "Inbound email".

import { findVisitorByEmail } from '../../store/customers/visitors.ts';
import { countTakenFrom, findMail, type MailAuthentication } from '../../store/mail/mails.ts';
import { findOutbox } from '../../store/runtime/outbox.ts';
import type { IncomingAttachment } from '../conversations/attachments.ts';
import { hashOf } from '../directory/locator.ts';
import { isOwnSender, takesMailAt } from '../mail/inbound-addresses.ts';
import { mailKind, outboxIdIn } from '../mail/outgoing.ts';
import { derivedMailId, isMailerDaemon, type Mailbox, mailIdIn } from '../mail-addresses.ts';
import { isoTime } from '../runtime/clock.ts';
import type { View } from '../runtime/context.ts';
import type { Bounce } from './bounces.ts';

/** A mail as it came in, by webhook or SMTP, read and made safe. */
export interface IncomingMail {
  /** The header as it stands; empty when there is none. */
  readonly messageId: string;
  readonly from: Mailbox;
  /** Where its author wants to be answered (RFC 5322 §3.6.2); empty where that is where it came from. */
  readonly replyTo: readonly Mailbox[];
  /** Addresses of this workspace's that it was sent to, the first one first. At least one. */
  readonly ourAddresses: readonly string[];
  /** Everybody else that it names as a recipient. */
  readonly otherRecipients: readonly string[];
  readonly subject: string;
  /** Whole, as it came. At least one of both. */
  readonly text: string | null;
  readonly html: string | null;
  /** For display: without the history it quotes, bounded, safe. */
  readonly body: string;
  readonly bodyHtml: string | null;
  readonly headers: MailHeaders;
  readonly attachments: readonly IncomingAttachment[];
  readonly authentication: MailAuthentication | null;
  /** Set when it reports that a mail was not delivered. */
  readonly bounce: Bounce | null;
}

export interface MailHeaders {
  readonly autoSubmitted?: string | undefined;
  readonly precedence?: string | undefined;
  readonly listUnsubscribe?: string | undefined;
  readonly listId?: string | undefined;
  /** X-Autoreply, X-Autorespond: what answered before RFC 3834. */
  readonly autoReply?: string | undefined;
  readonly inReplyTo?: string | undefined;
  readonly references?: string | undefined;
}

export type DropReason =
  | 'bounce'
  | 'mailer_daemon'
  | 'loop'
  | 'auto_submitted'
  | 'precedence'
  | 'list_unsubscribe'
  | 'list_id'
  | 'blocked'
  | 'too_many';
export type Verdict =
  | { readonly kind: 'take' }
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'drop'; readonly reason: DropReason };

/**
 * More than the people behind one address write, a colleague's help desk that forwards among them; what comes faster is
 * two machines in conversation.
 */
export const maxMailsPerHour = 100;
const hourMs = 3600_000;
/** Of the body, into the key of a mail without a Message-ID (specification 4.20). */
const keyChars = 200;

/**
 * Who is to be answered: whom it names for that, unless it is ourselves, else who sent it. A form or a shop sends for
 * others.
 */
export function customerOf(view: View, mail: Pick<IncomingMail, 'from' | 'replyTo'>, mailHost: string): Mailbox {
  return (
    mail.replyTo.find(
      ({ address }) => !isOwnSender(view, address, mailHost) && takesMailAt(view, address, mailHost) === undefined,
    ) ?? mail.from
  );
}

/** As it is kept with the mail; null where who sent it is who is answered. */
export function replyToOf(mail: Pick<IncomingMail, 'from'>, customer: Mailbox): string | null {
  return customer.address === mail.from.address ? null : customer.address;
}

/** The first rule that holds says why. */
const dropRules: readonly (readonly [DropReason, (view: View, mail: IncomingMail, mailHost: string) => boolean])[] = [
  ['loop', (view, mail) => isOwnMail(view, mailIdOf(mail))],
  // A form of the workspace's own pages may send from its own address, and asks to be answered elsewhere.
  ['loop', (view, mail, mailHost) => isOwnSender(view, customerOf(view, mail, mailHost).address, mailHost)],
  ['bounce', (_, mail) => mail.bounce !== null],
  ['mailer_daemon', (_, mail) => isMailerDaemon(mail.from.address)],
  [
    'auto_submitted',
    (_, { headers }) => /^\s*auto-/i.test(headers.autoSubmitted ?? '') || headers.autoReply !== undefined,
  ],
  ['precedence', (_, { headers }) => /^\s*(?:bulk|list|junk|auto_reply)\b/i.test(headers.precedence ?? '')],
  ['list_unsubscribe', (_, { headers }) => headers.listUnsubscribe !== undefined],
  ['list_id', (_, { headers }) => headers.listId !== undefined],
  [
    'blocked',
    (view, mail, mailHost) =>
      isBlocked(view, mail.from.address) || isBlocked(view, customerOf(view, mail, mailHost).address),
  ],
  [
    'too_many',
    (view, mail, mailHost) =>
      countTakenFrom(
        view.db,
        { fromAddress: mail.from.address, replyTo: replyToOf(mail, customerOf(view, mail, mailHost)) },
        isoTime(view.nowMs - hourMs),
      ) >= maxMailsPerHour,
  ],
];

/**
 * What a mail is known by: its Message-ID, else what is made of its sender, its subject and the beginning of its body.
 */
export function mailIdOf(mail: Pick<IncomingMail, 'messageId' | 'from' | 'subject' | 'text' | 'html'>): string {
  return (
    mailIdIn(mail.messageId) ??
    `${derivedMailId}${hashOf(JSON.stringify([mail.from.address, mail.subject, (mail.text ?? mail.html ?? '').slice(0, keyChars)]))}`
  );
}

export function judgeMail(view: View, mail: IncomingMail, mailHost: string): Verdict {
  const known = findMail(view.db, mailIdOf(mail));
  if (known !== undefined && (known.direction === 'in' || known.droppedFor !== null)) return { kind: 'duplicate' };
  for (const [reason, holds] of dropRules) if (holds(view, mail, mailHost)) return { kind: 'drop', reason };
  return { kind: 'take' };
}

function isBlocked(view: View, address: string): boolean {
  return (findVisitorByEmail(view.db, address)?.blockedAt ?? null) !== null;
}

/** One that we sent: an answer on a ticket, or any other mail of this workspace. */
function isOwnMail(view: View, mailId: string): boolean {
  if (findMail(view.db, mailId)?.direction === 'out') return true;
  const outboxId = outboxIdIn(mailId);
  return outboxId !== undefined && findOutbox(view.db, outboxId)?.kind === mailKind;
}
