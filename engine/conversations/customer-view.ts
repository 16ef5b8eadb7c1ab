// A conversation and its messages as the customer sees them, without who handles them and how. Used for replies and
// events alike. Mail that came from an address is only for a token that proves the address: a browser may claim any.
// Decisions "Whose address it is".

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import type { MessageRecord } from '../../store/conversations/messages.ts';
import { CustomerConversation } from '../../store/conversations/records.ts';
import { viewer } from '../../store/record.ts';
import { emailHashOf } from '../directory/compact-ids.ts';
import type { Caller } from '../runtime/caller.ts';

const viewed = viewer(CustomerConversation);

/** Also applied to the record that events carry. To its sender, spam looks open. */
export function customerConversation(
  conversation: CustomerConversation,
  options: { mailPreview?: ConversationRecord['mailPreview'] | undefined; caller?: Caller | undefined } = {},
): CustomerConversation {
  const { mailPreview, caller } = options;
  const view = viewed(conversation);
  const isHidden = mailPreview != null && !provesEmail(caller, mailPreview.emailHash);
  const shown = isHidden ? { ...view, preview: mailPreview.before } : view;
  return shown.status === 'spam' ? { ...shown, status: 'open' } : shown;
}

/** Returns false if only agents may see the change: the customer then gets no event at all. */
export function customerSees(before: CustomerConversation, after: CustomerConversation): boolean {
  const [was, is] = [customerConversation(before), customerConversation(after)];
  return was.status !== is.status || was.subject !== is.subject || was.rating !== is.rating;
}

/** The hash of the address that a customer's message came from by mail. */
export function mailedFrom({ senderType, mail }: Pick<MessageRecord, 'senderType' | 'mail'>): string | undefined {
  return senderType === 'visitor' && mail !== null ? emailHashOf(mail.from.address) : undefined;
}

export function provesEmail(caller: Caller | undefined, emailHash: string): boolean {
  return caller?.kind === 'visitor' && caller.provedEmailHash === emailHash;
}
