// Decides whether a mail becomes a message or is dropped silently: automatic replies, lists, mail loops and duplicates.
// Specification 4.20, decisions "Inbound email".

import { findVisitorByEmail } from '../../store/customers/visitors.ts';
import {
  countTakenFrom,
  findMail,
  type KnownMail,
  type MailAuthentication,
  type MailSource,
} from '../../store/mail/mails.ts';
import { findOutbox } from '../../store/runtime/outbox.ts';
import type { IncomingAttachment } from '../conversations/attachments.ts';
import { hashOf } from '../directory/compact-ids.ts';
import { isImportedId } from '../imported-ids.ts';
import { isOwnSender, takesMailAt } from '../mail/inbound-addresses.ts';
import { mailKind, outboxIdIn } from '../mail/outgoing.ts';
import { derivedMailId, isMailerDaemon, type Mailbox, mailIdIn } from '../mail-addresses.ts';
import { isoTime } from '../runtime/clock.ts';
import type { View } from '../runtime/context.ts';
import type { Bounce } from './bounces.ts';

/** A mail from the webhook or SMTP, parsed and sanitised. */
export interface IncomingMail {
  /** The raw header; empty if there is none. */
  readonly messageId: string;
  readonly from: Mailbox;
  /** Where its author wants replies (RFC 5322 §3.6.2); empty for the sender's address. */
  readonly replyTo: readonly Mailbox[];
  /** This workspace's addresses among the recipients, in order. At least one. */
  readonly ourAddresses: readonly string[];
  /** All other recipients. */
  readonly otherRecipients: readonly string[];
  readonly subject: string;
  /** Complete, as received. At least one of both. */
  readonly text: string | null;
  readonly html: string | null;
  /** For display: bounded, sanitised, without quoted history. */
  readonly body: string;
  readonly bodyHtml: string | null;
  /** How many pictures elsewhere its HTML would load; undefined for none. */
  readonly remotePictures?: number | undefined;
  readonly headers: MailHeaders;
  readonly attachments: readonly IncomingAttachment[];
  readonly authentication: MailAuthentication | null;
  /** Set if the mail reports a failed delivery. */
  readonly bounce: Bounce | null;
  /** Null if the mail itself did not come here, as from the webhook. */
  readonly source: MailSource | null;
}

export interface MailHeaders {
  readonly autoSubmitted?: string | undefined;
  readonly precedence?: string | undefined;
  readonly listUnsubscribe?: string | undefined;
  readonly listId?: string | undefined;
  /** X-Autoreply, X-Autorespond: used before RFC 3834. */
  readonly autoReply?: string | undefined;
  readonly inReplyTo?: string | undefined;
  readonly references?: string | undefined;
  readonly contentLanguage?: string | undefined;
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
 * More than people behind one address write, including a help desk that forwards. A higher rate means two machines
 * answer each other.
 */
const maxMailsPerHour = 100;
const hourMs = 3600_000;
/** Characters of the body in the key of a mail without a Message-ID (specification 4.20). */
const keyChars = 200;

/** Whom to answer: the Reply-To, unless that is us, or else the sender. A form or a shop sends on behalf of others. */
export function customerOf(view: View, mail: Pick<IncomingMail, 'from' | 'replyTo'>): Mailbox {
  return (
    mail.replyTo.find(({ address }) => !isOwnSender(view, address) && takesMailAt(view, address) === undefined) ??
    mail.from
  );
}

/** Stored with the mail; null if replies go to the sender. */
export function replyToOf(mail: Pick<IncomingMail, 'from'>, customer: Mailbox): string | null {
  return customer.address === mail.from.address ? null : customer.address;
}

/** Mail that no person wrote to this workspace. */
const automaticMail: readonly (readonly [
  DropReason,
  (mail: Pick<IncomingMail, 'bounce' | 'from' | 'headers'>) => boolean,
])[] = [
  ['bounce', (mail) => mail.bounce !== null],
  ['mailer_daemon', (mail) => isMailerDaemon(mail.from.address)],
  [
    'auto_submitted',
    ({ headers }) => /^\s*auto-/i.test(headers.autoSubmitted ?? '') || headers.autoReply !== undefined,
  ],
  ['precedence', ({ headers }) => /^\s*(?:bulk|list|junk|auto_reply)\b/i.test(headers.precedence ?? '')],
  ['list_unsubscribe', ({ headers }) => headers.listUnsubscribe !== undefined],
  ['list_id', ({ headers }) => headers.listId !== undefined],
];

export function isAutomatic(mail: Pick<IncomingMail, 'bounce' | 'from' | 'headers'>): boolean {
  return automaticMail.some(([, holds]) => holds(mail));
}

/** The first matching rule gives the reason. */
const dropRules: readonly (readonly [DropReason, (view: View, mail: IncomingMail) => boolean])[] = [
  ['loop', (view, mail) => isOwnMail(view, mail)],
  // A form on the workspace's own pages may send from its own address with a Reply-To.
  ['loop', (view, mail) => isOwnSender(view, customerOf(view, mail).address)],
  ...automaticMail.map(([reason, holds]): (typeof dropRules)[number] => [reason, (_, mail) => holds(mail)]),
  ['blocked', (view, mail) => isBlocked(view, mail.from.address) || isBlocked(view, customerOf(view, mail).address)],
  [
    'too_many',
    (view, mail) =>
      countTakenFrom(
        view.db,
        { fromAddress: mail.from.address, replyTo: replyToOf(mail, customerOf(view, mail)) },
        isoTime(view.nowMs - hourMs),
      ) >= maxMailsPerHour,
  ],
];

/** Identifies a mail: its Message-ID, or else a hash of its sender, subject and the start of its body. */
export function mailIdOf(mail: Pick<IncomingMail, 'messageId' | 'from' | 'subject' | 'text' | 'html'>): string {
  return (
    mailIdIn(mail.messageId) ??
    `${derivedMailId}${hashOf(JSON.stringify([mail.from.address, mail.subject, (mail.text ?? mail.html ?? '').slice(0, keyChars)]))}`
  );
}

/**
 * The import that claims the id of this mail without being it: another system, or an archive, may name any id. The same
 * mail has the same sender.
 */
export function claimOn(view: View, mail: IncomingMail): KnownMail | undefined {
  const known = findMail(view.db, mailIdOf(mail));
  if (known?.messageId == null || !isImportedId(known.messageId)) return undefined;
  // Of a customer who was erased: only its id is left, and it stays erased.
  if (known.direction === 'in' && known.fromAddress === '') return undefined;
  const senders = [mail.from.address, customerOf(view, mail).address];
  return senders.includes(known.fromAddress) ? undefined : known;
}

export function judgeMail(view: View, mail: IncomingMail): Verdict {
  const known = claimOn(view, mail) === undefined ? findMail(view.db, mailIdOf(mail)) : undefined;
  if (known !== undefined && (known.direction === 'in' || known.droppedFor !== null)) return { kind: 'duplicate' };
  for (const [reason, holds] of dropRules) if (holds(view, mail)) return { kind: 'drop', reason };
  return { kind: 'take' };
}

function isBlocked(view: View, address: string): boolean {
  return (findVisitorByEmail(view.db, address)?.blockedAt ?? null) !== null;
}

/** Whether we sent it: an answer on a ticket or any other mail of this workspace. */
function isOwnMail(view: View, mail: IncomingMail): boolean {
  const mailId = mailIdOf(mail);
  if (findMail(view.db, mailId)?.direction === 'out' && claimOn(view, mail) === undefined) return true;
  const outboxId = outboxIdIn(mailId);
  return outboxId !== undefined && findOutbox(view.db, outboxId)?.kind === mailKind.name;
}
