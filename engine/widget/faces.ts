// Who answers a customer: the names and pictures that the widget shows. Only what an agent shows to customers, and only
// of those who wrote in the conversation or have it.

import { authorsIn } from '../../store/conversations/messages.ts';
import type { View } from '../runtime/context.ts';
import { publicNameOf, theRoster } from '../workspace/roster.ts';
import { requireOwnConversation } from './chats.ts';

export interface Face {
  readonly id: string;
  readonly name: string;
  readonly avatarUrl: string | null;
}

/** More than answer one customer. */
const maxFaces = 20;

/** Refuses not_found, and forbidden if the caller is blocked. */
export function facesOf(
  view: View,
  conversationId: string,
): { readonly assignedAgentId: string | null; readonly agents: readonly Face[] } {
  const { conversation } = requireOwnConversation(view, conversationId);
  const { assignedAgentId } = conversation;
  const authors = authorsIn(view.db, { conversationId, limit: maxFaces });
  const { agents } = theRoster(view);
  const faces = [...new Set([...(assignedAgentId === null ? [] : [assignedAgentId]), ...authors])].flatMap((id) => {
    const agent = agents.get(id);
    return agent === undefined ? [] : [{ id, name: publicNameOf(agent), avatarUrl: agent.avatarUrl }];
  });
  return { assignedAgentId, agents: faces };
}
