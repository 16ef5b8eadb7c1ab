// Who else is on a ticket's mails: whoever the customer's last one went to gets the answer too, as if its reader had
// answered to all. Not whom a mail names that nothing ties to the customer: somebody who forges a sender would have our
// answers copied to itself.

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import type { Threading } from '../../store/conversations/messages.ts';
import { changeConversation } from '../conversations/conversation.ts';
import type { Context } from '../runtime/context.ts';

/** Each is a mail of its own. */
const maxCopies = 50;

export interface MailOfThread {
  /** Whom an answer to all would go to, beside the customer and us. */
  readonly others: readonly string[];
  readonly rule: Threading['rule'];
  /** The domain that it says it is from says that it is not. */
  readonly isDisproved: boolean;
}

/** Undefined: as before. */
export function copiesAfter(mail: MailOfThread): readonly string[] | undefined {
  if (mail.isDisproved || mail.rule === 'subject') return undefined;
  return [...new Set(mail.others)].slice(0, maxCopies);
}

/** Its version stays: nobody decides by it. */
export function setCopies(
  ctx: Context,
  conversation: ConversationRecord,
  copiedTo: readonly string[] | undefined,
): ConversationRecord {
  if (copiedTo === undefined || copiedTo.join() === conversation.copiedTo.join()) return conversation;
  return changeConversation(ctx, conversation, { copiedTo });
}
