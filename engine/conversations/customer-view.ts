// A conversation as its customer sees it, without who handles it and how. Used for replies and events alike.

import { CustomerConversation } from '../../store/conversations/records.ts';
import { viewer } from '../../store/record.ts';

const viewed = viewer(CustomerConversation);

/** Also applied to the record that events carry. To its sender, spam looks open. */
export function customerConversation(conversation: CustomerConversation): CustomerConversation {
  const view = viewed(conversation);
  return view.status === 'spam' ? { ...view, status: 'open' } : view;
}

/** Returns false if only agents may see the change: the customer then gets no event at all. */
export function customerSees(before: CustomerConversation, after: CustomerConversation): boolean {
  const [was, is] = [customerConversation(before), customerConversation(after)];
  return was.status !== is.status || was.subject !== is.subject || was.rating !== is.rating;
}
