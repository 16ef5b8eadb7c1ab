// Who is answered, and who is written to unasked: a workspace may send few mails to people who never wrote to it. An
// import and an agent can name anyone, so neither makes an address known.

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import { mergesInto, messagesBegunWith } from '../../store/conversations/moves.ts';
import { isImported } from '../../store/imports/imported.ts';
import { findMailThread, isParticipant, messageIdsFrom, namedInThread } from '../../store/mail/mails.ts';
import { isImportedId } from '../imported-ids.ts';
import { comparable } from '../mail-addresses.ts';
import type { View } from '../runtime/context.ts';

/** Of one address. Beyond them it wrote so long ago that it is asked anew. */
const maxMailsRead = 100;
/** A customer's mail replaces the people that earlier ones named. */
const maxMailsOfThread = 20;

/** Whether a mail came from the address, to any conversation of the workspace. */
export function hasWritten({ db }: Pick<View, 'db'>, address: string): boolean {
  return messageIdsFrom(db, address, maxMailsRead).some((messageId) => !isImportedId(messageId));
}

/**
 * Decides who in a ticket is known: who wrote, whom a mail that came names, and the customer of a ticket that began
 * here. In a ticket that an agent opened that is its customer, once the first mail is sent.
 */
export function knownIn(
  { db }: Pick<View, 'db'>,
  conversation: Pick<ConversationRecord, 'id' | 'lastCustomerMessageAt'>,
  { isFirst }: { isFirst: boolean },
): (address: string) => boolean {
  if (isFirst && conversation.lastCustomerMessageAt === null) return () => false;
  const known = new Set([
    ...namedInThread(db, conversation.id, maxMailsOfThread).flatMap(({ messageId, addresses }) =>
      messageId === null || isImportedId(messageId) ? [] : addresses.map(comparable),
    ),
    ...[conversation.id, ...mergesInto(db, conversation.id).map(({ fromId }) => fromId)].flatMap((id) =>
      beganElsewhere(db, id) ? [] : (findMailThread(db, id)?.customerAddress ?? []),
    ),
  ]);
  return (address) =>
    isParticipant(db, conversation.id, address) && (known.has(address) || hasWritten({ db }, address));
}

function beganElsewhere(db: View['db'], conversationId: string): boolean {
  return isImported(db, conversationId) || messagesBegunWith(db, conversationId).some(isImportedId);
}
