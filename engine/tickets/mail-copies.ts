// Copies of a ticket's mails: every recipient of the customer's last mail gets the answer too, as with a reply to all.
// Recipients of a mail that cannot be tied to the customer do not: a forged sender would have our answers copied to
// itself.

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import type { Threading } from '../../store/conversations/messages.ts';
import { mergesInto } from '../../store/conversations/moves.ts';
import type { ConversationView } from '../../store/conversations/records.ts';
import { addParticipants, findMailThread } from '../../store/mail/mails.ts';
import {
  changeConversation,
  conversationView,
  requireReachable,
  requireUnmerged,
} from '../conversations/conversation.ts';
import { refuse, refuseField } from '../errors.ts';
import { takesMailAt } from '../mail/inbound-addresses.ts';
import { comparable, isAddress } from '../mail-addresses.ts';
import { requireVersion } from '../preconditions.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';

/** Each is a separate mail. */
export const maxCopies = 50;

export interface MailOfThread {
  /** Everyone a reply to all would go to, besides the customer and us. */
  readonly others: readonly string[];
  readonly rule: Threading['rule'];
  /** The sender's domain disowns it (DMARC). */
  readonly isDisproved: boolean;
  /** Written from another address of the customer's, which none of the ticket's mails names: agents may be mistaken. */
  readonly isFromElsewhere?: boolean;
  /** Those who go on receiving copies, whomever the mail names. */
  readonly kept?: readonly string[];
}

/** Undefined: unchanged. */
export function copiesAfter(mail: MailOfThread): readonly string[] | undefined {
  if (mail.isDisproved || mail.isFromElsewhere === true || mail.rule === 'subject') return undefined;
  return [...new Set([...(mail.kept ?? []), ...mail.others])].slice(0, maxCopies);
}

/**
 * In a ticket that another customer's was merged into, a mail adds people and drops none, since no one can be expected
 * to name the other's. An agent removes them.
 */
export function keptCopies(ctx: Context, { id, copiedTo }: ConversationRecord): readonly string[] {
  const brought = copiedTo.length === 0 ? [] : mergesInto(ctx.db, id).flatMap(({ detail }) => detail.copiedTo);
  return copiedTo.some((address) => brought.includes(address)) ? copiedTo : [];
}

/** Keeps the version: no one decides by the copies. */
export function setCopies(
  ctx: Context,
  conversation: ConversationRecord,
  copiedTo: readonly string[] | undefined,
): ConversationRecord {
  if (copiedTo === undefined || copiedTo.join() === conversation.copiedTo.join()) return conversation;
  return changeConversation(ctx, conversation, { copiedTo });
}

/**
 * An agent says who receives the ticket's answers beside the customer; they may answer, too. Refuses not_found,
 * forbidden, stale_version, conflict for a merged ticket, semantic_error for other channels, invalid_body.
 */
export const replaceCopies = command(
  'conversation.copiedTo',
  (
    ctx,
    params: { conversationId: string; copiedTo: readonly string[]; expectedVersion?: number | undefined },
  ): { conversation: ConversationView } => {
    const { conversation } = requireReachable(ctx, params.conversationId);
    requireVersion(conversation, params.expectedVersion);
    if (conversation.channel !== 'ticket')
      refuse('semantic_error', { message: 'Only the answers of tickets are copied to others.' });
    requireUnmerged(ctx, conversation);
    const customerAddress = findMailThread(ctx.db, conversation.id)?.customerAddress;
    const copiedTo = [
      ...new Set(
        params.copiedTo.map((written, index) => {
          const field = `copiedTo.${index}`;
          if (!isAddress(written)) refuseField('invalid_body', field, 'must be an email address');
          const address = comparable(written);
          if (takesMailAt(ctx, address) !== undefined)
            refuseField('invalid_body', field, 'must not be an address of this workspace');
          if (address === customerAddress) refuseField('invalid_body', field, 'must not be the customer');
          return address;
        }),
      ),
    ];
    addParticipants(ctx.db, conversation.id, copiedTo);
    const changed = setCopies(ctx, conversation, copiedTo);
    if (changed !== conversation)
      ctx.audit({
        action: 'conversation.copies_changed',
        targetKind: 'conversation',
        targetId: conversation.id,
        before: { copiedTo: conversation.copiedTo },
        after: { copiedTo },
      });
    return { conversation: conversationView(changed) };
  },
);
