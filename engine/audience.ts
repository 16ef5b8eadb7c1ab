// Who may receive an event.

import type { Channel } from '../store/conversations/records.ts';

/**
 * Who may receive an event about a conversation: agents by the rules of access.ts, and the visitor if it concerns them.
 */
export interface ConversationAudience {
  readonly kind: 'conversation';
  readonly channel: Channel;
  /**
   * Its department (`null`: none, so every agent with the channel), and the one it just left, whose agents must see it
   * go.
   */
  readonly departmentIds: readonly (string | null)[];
  /** Its assignee and the recipient of an offer, now and until now. */
  readonly agentIds: readonly string[];
  /** The conversation's visitor; null if the event does not concern it. */
  readonly visitorId: string | null;
  /** What came by mail: of the visitor's tokens, only for those that prove this address. */
  readonly emailHash?: string;
  /** While the conversation's preview is of a mail. */
  readonly mailPreview?: { readonly emailHash: string; readonly before: string | null };
}

export type Audience =
  /** Every agent of the workspace. */
  | { readonly kind: 'workspace' }
  /** Only this agent; never a webhook. */
  | { readonly kind: 'agent'; readonly agentId: string }
  /** Every admin; never a webhook. */
  | { readonly kind: 'admins' }
  /** Every agent who works in the channel. */
  | { readonly kind: 'channel'; readonly channel: Channel }
  | ConversationAudience;
