// A conversation that is offered to somebody: who to, for how long, and the answers to it.

import type { JSX } from 'preact';
import type { Conversation } from '../../records.ts';

export function HandshakeBanner(_props: { readonly conversation: Conversation }): JSX.Element | null {
  return null;
}
