// Bounced invitations: notifies the inviter, because no one else would notice a mistyped address.

import { oneLine } from '../lines.ts';
import { mailAccountNotice } from '../mail/account-notices.ts';
import type { Mail } from '../mail/outgoing.ts';
import type { Context } from '../runtime/context.ts';
import { ownerOf, theRoster } from '../workspace/roster.ts';

/** Characters kept of a server's answer; some are very long. */
const maxAnswerChars = 300;

/**
 * Queues the mail to the inviter, or to the owner if the inviter is gone. No effect for an agent who has joined since,
 * or for a mail that is not an invitation.
 */
export function notifyOfLostInvitation(
  ctx: Context,
  { to, invitation }: Pick<Mail, 'to' | 'invitation'>,
  answer: string,
): void {
  const roster = theRoster(ctx);
  const agent = invitation === undefined ? undefined : roster.agents.get(invitation.agentId);
  if (invitation === undefined || agent === undefined || agent.joinedAt !== null || agent.deactivatedAt !== null)
    return;
  const invitedBy = invitation.invitedBy === null ? undefined : roster.agents.get(invitation.invitedBy);
  const told = invitedBy === undefined || invitedBy.deactivatedAt !== null ? ownerOf(roster) : invitedBy;
  if (told === undefined) return;
  mailAccountNotice(ctx, told, {
    subject: 'An invitation did not arrive',
    text: `The invitation of ${oneLine(agent.name)} to ${to} could not be delivered: ${oneLine(answer).slice(0, maxAnswerChars)}`,
    advice: 'Check the address. You can change it, and send the invitation again, under Settings, Agents.',
  });
}
