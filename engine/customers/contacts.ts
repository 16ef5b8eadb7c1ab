// Contacts: the directory for agents and a customer's history. Specification 4.12.

import {
  type Customer,
  conversationHistory,
  countByChannel,
  type HistoryRow,
} from '../../store/conversations/history.ts';
import {
  type ContactRecord,
  contactPage,
  findContact,
  findContactByFurtherEmail,
  findOtherWithEmail,
  indexContacts,
  indexDeadline,
} from '../../store/customers/contacts.ts';
import { updateContact } from '../../store/customers/writes.ts';
import { distinctNames } from '../../store/folding.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { refuse, refuseField } from '../errors.ts';
import { comparable, isAddress } from '../mail-addresses.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import { deadline } from '../runtime/kinds.ts';
import { callingAgent, isSenior, reachOf, worksIn } from '../workspace/access.ts';
import { theRoster } from '../workspace/roster.ts';
import { addContact, visitorKind } from './visitors.ts';

/** Newest first (specification 8). */
const historyLimit = 50;
/** Takes ten milliseconds. */
const indexedAtOnce = 200;

export interface ContactFields {
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly phoneE164?: string | undefined;
  readonly company?: string | undefined;
}

/**
 * Never merged with a contact that has the same email. Refuses invalid_body without a name, an email or a phone, and
 * conflict for a further address of another contact, which mails from it go on to.
 */
export const createContact = command('contact.create', (ctx, fields: ContactFields): { contact: ContactRecord } => {
  callingAgent(ctx);
  const { name, email, phoneE164, company } = fields;
  if (name === undefined && email === undefined && phoneE164 === undefined)
    refuseField('invalid_body', 'body', 'must have a name, an email or a phoneE164');
  const other = email === undefined ? undefined : findContactByFurtherEmail(ctx.db, email);
  if (email !== undefined && other !== undefined) refuseTaken(email, other);
  const contact = addContact(ctx, {
    name: name ?? null,
    email: email ?? null,
    phone: phoneE164 ?? null,
    company: company ?? null,
  });
  return { contact };
});

/** More than anyone writes from. */
export const maxEmails = 10;

export interface ContactChanges {
  readonly name?: string | undefined;
  readonly emails?: readonly string[] | undefined;
  readonly company?: string | null | undefined;
  readonly note?: string | null | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly customFields?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Email and phone cannot change; further addresses can. Lists and objects are replaced. Refuses empty_patch, not_found,
 * forbidden for addresses, invalid_body, conflict for a merged contact and for an address of another one.
 */
export const changeContact = command(
  'contact.update',
  (ctx, params: { contactId: string; changes: ContactChanges }): { contact: ContactRecord } => {
    const agent = callingAgent(ctx);
    const before = requireContact(ctx, params.contactId);
    const { changes } = params;
    if (Object.values(changes).every((value) => value === undefined)) refuse('empty_patch');
    requireOneself(before);
    const emails = changes.emails === undefined ? before.emails : requireEmails(ctx, before, changes.emails);
    if (emails.join() !== before.emails.join()) requireMayIdentify(agent);
    const {
      name = before.name,
      company = before.company,
      note = before.note,
      tags,
      customFields = before.customFields,
    } = changes;
    const contact: ContactRecord = {
      ...before,
      name,
      email: emails[0] ?? null,
      emails,
      company,
      note,
      tags: tags === undefined ? before.tags : distinctNames(tags),
      customFields,
    };
    updateContact(ctx.db, contact);
    if (emails.join() !== before.emails.join())
      ctx.audit({
        action: 'contact.emails_changed',
        targetKind: 'contact',
        targetId: contact.id,
        before: { emails: before.emails },
        after: { emails },
      });
    return { contact };
  },
);

/**
 * Who says that two addresses are one person's gives each the tickets of the other, in all departments. Refuses
 * forbidden for an agent who works in no tickets.
 */
export function requireMayIdentify(agent: AgentRecord): void {
  if (!isSenior(agent) && !worksIn(agent, 'ticket'))
    refuse('forbidden', { message: 'Only agents who work in tickets may say which addresses are the same person’s.' });
}

/** Refuses conflict for a contact whose visitors and conversations another one has. */
export function requireOneself({ mergedInto }: ContactRecord): void {
  if (mergedInto !== null)
    refuse('conflict', {
      message: 'This contact was merged into another one. Change that one.',
      detail: { mergedInto },
    });
}

/** Without the other's name, which not everyone who may write contacts may read. */
function refuseTaken(address: string, { id }: ContactRecord): never {
  refuse('conflict', {
    message: `${address} belongs to another contact already. If both are the same person, merge the two contacts.`,
    detail: { contactId: id },
  });
}

/** Each once, the first as it was. */
function requireEmails(ctx: Context, before: ContactRecord, given: readonly string[]): string[] {
  const emails = new Map<string, string>();
  for (const [index, written] of given.entries()) {
    const field = `emails.${index}`;
    if (!isAddress(written)) refuseField('invalid_body', field, 'must be an email address');
    const address = comparable(written);
    const kept = before.emails.find((one) => one.toLowerCase() === address);
    const other = kept === undefined ? findOtherWithEmail(ctx.db, address, before.id) : undefined;
    if (other !== undefined) refuseTaken(address, other);
    emails.set(address, kept ?? address);
  }
  const [first] = emails.values();
  if (before.email !== null && first !== before.email)
    refuseField('invalid_body', 'emails', `must begin with ${before.email}, which cannot be changed`);
  return [...emails.values()];
}

/** Newest first. */
export function listContacts(view: View, page: { limit: number; offset: number }): ContactRecord[] {
  return contactPage(view.db, page);
}

export const contactsDeadline = deadline(indexDeadline);

/** Adds contacts to the search indexes in pages, so that each command stays short. */
export const indexOlder = command('contacts.index', (ctx, { subjectId }: DeadlineParams): void => {
  const next = indexContacts(ctx.db, { number: Number(subjectId), count: indexedAtOnce });
  if (next !== undefined) ctx.setDeadline(contactsDeadline, String(next), ctx.nowMs);
});

export interface HistoryItem {
  readonly id: string;
  readonly type: HistoryRow['channel'];
  readonly status: HistoryRow['status'];
  readonly preview: string | null;
  readonly callDirection: 'inbound' | null;
  readonly callPeerE164: string | null;
  readonly agentName: string | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly durationSec: number | null;
  readonly rating: number | null;
}

export interface ContactStats {
  readonly total: number;
  readonly chats: number;
  readonly tickets: number;
  readonly calls: number;
}

/** With the newest conversations that the agent may see and their total number. Refuses not_found. */
export function readContact(
  view: View,
  contactId: string,
): { contact: ContactRecord; conversations: HistoryItem[]; stats: ContactStats } {
  const contact = requireContact(view, contactId);
  const of = { customer: { contactId }, reach: reachOf(callingAgent(view)) };
  const counts = countByChannel(view.db, of);
  const [chats, tickets, calls] = [counts.get('chat') ?? 0, counts.get('ticket') ?? 0, counts.get('call') ?? 0];
  return {
    contact,
    conversations: historyOf(view, of.customer),
    stats: { total: chats + tickets + calls, chats, tickets, calls },
  };
}

/** The visitor's conversations that the agent may see. Refuses not_found. */
export function visitorHistory(view: View, visitorId: string): HistoryItem[] {
  if (view.state(visitorKind, visitorId) === undefined) refuse('not_found');
  return historyOf(view, { visitorId });
}

function historyOf(view: View, customer: Customer): HistoryItem[] {
  const { agents } = theRoster(view);
  return conversationHistory(view.db, { customer, reach: reachOf(callingAgent(view)), limit: historyLimit }).map(
    (row) => historyItem(row, agents.get(row.assignedAgentId ?? '')?.name ?? null),
  );
}

function historyItem(row: HistoryRow, agentName: string | null): HistoryItem {
  const isCall = row.callPhase !== null;
  const endedAt = isCall ? row.callEndedAt : (row.solvedAt ?? row.closedAt);
  const durationMs = row.callDurationMs ?? (endedAt === null ? null : Date.parse(endedAt) - Date.parse(row.createdAt));
  return {
    id: row.id,
    type: row.channel,
    status: row.status,
    preview: row.preview,
    callDirection: isCall ? 'inbound' : null,
    callPeerE164: row.callPeerE164,
    agentName,
    startedAt: row.createdAt,
    endedAt,
    durationSec: durationMs === null ? null : Math.round(durationMs / 1000),
    rating: row.rating,
  };
}

export function requireContact(view: Pick<View, 'db'>, contactId: string): ContactRecord {
  return findContact(view.db, contactId) ?? refuse('not_found');
}
