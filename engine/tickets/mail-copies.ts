// Copies of a ticket's mails: every recipient of the customer's last mail gets the answer too, as with a reply to all.
// Recipients of a mail that cannot be tied to the customer do not: a forged sender would have our answers copied to
// itself.

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import type { Threading } from '../../store/conversations/messages.ts';
import { changeConversation } from '../conversations/conversation.ts';
import type { Context } from '../runtime/context.ts';

/** Each is a separate mail. */
const maxCopies = 50;

export interface MailOfThread {
  /** Everyone a reply to all would go to, besides the customer and us. */
  readonly others: readonly string[];
  readonly rule: Threading['rule'];
  /** The sender's domain disowns it (DMARC). */
  readonly isDisproved: boolean;
}

/** Undefined: unchanged. */
export function copiesAfter(mail: MailOfThread): readonly string[] | undefined {
  if (mail.isDisproved || mail.rule === 'subject') return undefined;
  return [...new Set(mail.others)].slice(0, maxCopies);
}

/** Keeps the version: no one decides by the copies. */
export function setCopies(
  ctx: Context,
  conversation: ConversationRecord,
  copiedTo: readonly string[] | undefined,
): ConversationRecord {
  if (copiedTo === undefined || copiedTo.join() === conversation.copiedTo.join()) return conversation;
  return changeConversation(ctx, conversation, { copiedTo });
}
