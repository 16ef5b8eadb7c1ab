// The customer, beside the conversation.

import type { JSX } from 'preact';
import type { Conversation } from '../../records.ts';
import { customerName } from '../customers.ts';

export function CustomerPanel({ conversation }: { readonly conversation: Conversation }): JSX.Element {
  return (
    <aside class="customer" aria-label="Customer">
      <h2>{customerName(conversation)}</h2>
    </aside>
  );
}
