// The addresses that agents send from, with their signatures, and how each agent sends: its own signature, the key that
// sends, and how long a mail can be taken back.

import { allMailboxes } from '../../store/mail/mailboxes.ts';
import type { RichText } from '../../store/mail/records.ts';
import {
  findMailHabit,
  findSenderSignature,
  type MailHabit,
  putMailHabit,
  putSenderSignature,
} from '../../store/mail/signatures.ts';
import { refuse } from '../errors.ts';
import { hostOf } from '../mail-addresses.ts';
import { command } from '../runtime/command.ts';
import type { View } from '../runtime/context.ts';
import { callingAgent, requireAdmin } from '../workspace/access.ts';
import { auditChange } from '../workspace/audit.ts';
import { theEmailDomain } from '../workspace/workspace.ts';
import { listInboundAddresses, mainAddress } from './inbound-addresses.ts';

export interface Sender {
  readonly address: string;
  readonly isDefault: boolean;
  readonly signature: RichText | null;
}

const byDefault: MailHabit = { undoSeconds: 10, sendKey: 'mod_enter', signature: null };

/** The default first. A workspace with a verified domain sends from that domain and from its mailboxes. */
export function senderAddresses(view: View): string[] {
  const domain = theEmailDomain(view);
  const main = mainAddress(view);
  const listed = listInboundAddresses(view).map(({ address }) => address);
  const usable = domain?.status === 'verified' ? listed.filter((address) => hostOf(address) === domain.name) : listed;
  return [...new Set([main, ...allMailboxes(view.db).map(({ address }) => address), ...usable])];
}

export function listSenders(view: View): Sender[] {
  callingAgent(view);
  return senderAddresses(view).map((address, index) => ({
    address,
    isDefault: index === 0,
    signature: findSenderSignature(view.db, address) ?? null,
  }));
}

/** Null removes it. Refuses admin_required, not_found for an address that the workspace does not send from. */
export const setSenderSignature = command(
  'sender.setSignature',
  (ctx, params: { address: string; signature: RichText | null }): Sender => {
    requireAdmin(ctx);
    const address = params.address.toLowerCase();
    const before = listSenders(ctx).find((sender) => sender.address === address) ?? refuse('not_found');
    putSenderSignature(ctx.db, address, params.signature);
    auditChange(ctx, {
      action: 'workspace.updated',
      targetKind: 'workspace',
      targetId: ctx.workspaceId,
      before: { signature: { address, markdown: before.signature?.markdown ?? null } },
      after: { signature: { address, markdown: params.signature?.markdown ?? null } },
    });
    return { ...before, signature: params.signature };
  },
);

export function mailHabitOf(view: Pick<View, 'db'>, agentId: string): MailHabit {
  return findMailHabit(view.db, agentId) ?? byDefault;
}

export function readMailHabit(view: View): MailHabit {
  return mailHabitOf(view, callingAgent(view).id);
}

/** Changes what is given. */
export const changeMailHabit = command(
  'mailHabit.change',
  (
    ctx,
    {
      changes,
    }: {
      changes: {
        undoSeconds?: number | undefined;
        sendKey?: MailHabit['sendKey'] | undefined;
        signature?: RichText | null | undefined;
      };
    },
  ): MailHabit => {
    const agent = callingAgent(ctx);
    const present = mailHabitOf(ctx, agent.id);
    const next: MailHabit = {
      undoSeconds: changes.undoSeconds ?? present.undoSeconds,
      sendKey: changes.sendKey ?? present.sendKey,
      signature: changes.signature === undefined ? present.signature : changes.signature,
    };
    putMailHabit(ctx.db, agent.id, next);
    return next;
  },
);

/** The agent's own above the address's, which names the business. */
export function signatureFor(
  view: Pick<View, 'db'>,
  { agentId, address }: { agentId: string; address: string },
): Pick<RichText, 'text' | 'html'> | undefined {
  const parts = [mailHabitOf(view, agentId).signature, findSenderSignature(view.db, address) ?? null].filter(
    (part) => part !== null,
  );
  if (parts.length === 0) return undefined;
  return { text: parts.map(({ text }) => text).join('\n\n'), html: parts.map(({ html }) => html).join('') };
}
