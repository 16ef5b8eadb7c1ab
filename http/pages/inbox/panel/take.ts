// Taking a conversation.

import type { Conversation } from '../../records.ts';
import { hasRole, me } from '../../session.ts';
import { act } from '../conversations.ts';
import { answerOffer } from './standing-offers.ts';

/**
 * An unassigned conversation, or for those who may, another agent's, is taken at once; other agents offer it to
 * themselves and accept. False if that offer could not be accepted, which is said elsewhere. Rejects as `act` does.
 */
export async function take(conversation: Conversation): Promise<boolean> {
  const own = me.peek()?.agent;
  if (own === undefined) return false;
  const isSenior = hasRole('supervisor');
  if (conversation.assignedAgentId === null && conversation.status !== 'spam' && conversation.status !== 'closed') {
    await act(conversation.id, 'take', { expectedVersion: conversation.version });
    return true;
  }
  const { conversation: taken } = await act(conversation.id, 'assign-to-agent', {
    agentId: own.id,
    expectedVersion: conversation.version,
    ...(isSenior ? { force: true } : {}),
  });
  return isSenior || taken.handshake?.toAgentId !== own.id || answerOffer(taken, 'accept');
}
