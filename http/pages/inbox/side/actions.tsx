// What can be done with a conversation, in its heading.

import type { JSX } from 'preact';
import type { Conversation } from '../../records.ts';

export function ConversationActions(_props: { readonly conversation: Conversation }): JSX.Element | null {
  return null;
}
