// The same person twice: two contacts become one, and can be two again for a day. The target keeps its own values where
// both have one. The merged contact stays as it was, without visitors and conversations, and says where they are.

import { conversationIdsOfVisitor } from '../../store/conversations/conversations.ts';
import {
  type ContactMerge,
  type ContactRecord,
  conversationIdsOfContact,
  deleteContactMerge,
  findContact,
  findContactMerge,
  insertContactMerge,
  type MergedFields,
  visitorIdsOfContact,
  visitorIdsWithAddress,
} from '../../store/customers/contacts.ts';
import { updateContact } from '../../store/customers/writes.ts';
import { distinctNames } from '../../store/folding.ts';
import { conversationKind, giveConversation } from '../conversations/conversation.ts';
import { dayMs } from '../directory/ceilings.ts';
import { refuse, refuseField } from '../errors.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';
import { callingAgent } from '../workspace/access.ts';
import { maxEmails, requireContact, requireMayIdentify, requireOneself } from './contacts.ts';
import { giveVisitor, visitorKind } from './visitors.ts';

/** Visitors and conversations that one command moves: some ten milliseconds. */
const maxMoved = 500;
/** As the API limits them. */
const maxTags = 50;
const maxFields = 50;
/** How long a merge can be undone. */
const undoMs = dayMs;

interface Answer {
  readonly contact: ContactRecord;
}

/**
 * Answers with the target. Repeating it has no effect. Refuses forbidden, not_found, invalid_body, conflict for a contact that is
 * merged already, semantic_error beyond the limits.
 */
export const mergeContacts = command('contact.merge', (ctx, params: { contactId: string; into: string }): Answer => {
  const agent = callingAgent(ctx);
  requireMayIdentify(agent);
  const source = requireContact(ctx, params.contactId);
  const target = findContact(ctx.db, params.into);
  if (target === undefined) refuseField('invalid_body', 'into', 'must be a contact of this workspace');
  if (source.id === target.id) refuseField('invalid_body', 'into', 'must be another contact');
  if (source.mergedInto === target.id) return { contact: target };
  requireOneself(source);
  requireOneself(target);
  const after = mergedFields(source, target);
  const visitorIds = visitorIdsOfContact(ctx.db, source.id, maxMoved + 1);
  const conversationIds = conversationIdsOfContact(ctx.db, source.id, maxMoved + 1);
  if (visitorIds.length + conversationIds.length > maxMoved)
    refuse('semantic_error', {
      message: `A contact with more than ${maxMoved} conversations and visits cannot be merged. Merge the other one into it.`,
      detail: { maxMoved },
    });
  insertContactMerge(ctx.db, {
    id: ctx.ids.uuid(),
    fromId: source.id,
    toId: target.id,
    agentId: agent.id,
    detail: { visitorIds, conversationIds, before: fieldsOf(target), after },
    createdAt: ctx.at,
  });
  updateContact(ctx.db, { ...source, mergedInto: target.id });
  const contact: ContactRecord = { ...target, ...after, email: after.emails[0] ?? null };
  updateContact(ctx.db, contact);
  give(ctx, { visitorIds, conversationIds }, target.id);
  ctx.audit({
    action: 'contact.merged',
    targetKind: 'contact',
    targetId: source.id,
    context: { into: target.id, visitors: visitorIds.length, conversations: conversationIds.length },
  });
  return { contact };
});

/**
 * Within a day. Visitors go back with all of their conversations; what the merge changed in the target and no one has
 * changed since is as before. Answers with the restored contact. Refuses forbidden, not_found,
 * conflict.
 */
export const unmergeContact = command('contact.unmerge', (ctx, params: { contactId: string }): Answer => {
  requireMayIdentify(callingAgent(ctx));
  const source = requireContact(ctx, params.contactId);
  const merge = source.mergedInto === null ? undefined : findContactMerge(ctx.db, source.id);
  const target = merge && findContact(ctx.db, merge.toId);
  if (merge === undefined || target === undefined)
    refuse('conflict', { message: 'This contact is not merged into another one.' });
  if (ctx.nowMs - Date.parse(merge.createdAt) > undoMs)
    refuse('conflict', { message: 'It was merged more than a day ago, which cannot be undone any more.' });
  if (target.mergedInto !== null)
    refuse('conflict', {
      message: 'The contact that it was merged into was merged itself. Undo that first.',
      detail: { mergedInto: target.mergedInto },
    });
  const before = fieldsBefore(target, source, merge.detail);
  updateContact(ctx.db, { ...target, ...before, email: before.emails[0] ?? null });
  const contact: ContactRecord = { ...source, mergedInto: null };
  updateContact(ctx.db, contact);
  const addresses = target.emails.filter((address) => !before.emails.includes(address));
  const { visitorIds, conversationIds } = movedBack(ctx, target.id, { merge, addresses });
  deleteContactMerge(ctx.db, merge.id);
  give(ctx, { visitorIds, conversationIds }, source.id);
  ctx.audit({
    action: 'contact.unmerged',
    targetKind: 'contact',
    targetId: source.id,
    context: { from: target.id, visitors: visitorIds.length, conversations: conversationIds.length },
  });
  return { contact };
});

interface Moved {
  readonly visitorIds: readonly string[];
  readonly conversationIds: readonly string[];
}

function give(ctx: Context, { visitorIds, conversationIds }: Moved, contactId: string): void {
  for (const visitorId of visitorIds) {
    const visitor = ctx.state(visitorKind, visitorId);
    if (visitor !== undefined) giveVisitor(ctx, visitor, contactId);
  }
  for (const conversationId of conversationIds) giveConversation(ctx, conversationId, contactId);
}

/**
 * What is still the target's: visitors that moved or have given an address since that goes back, their conversations,
 * also those begun since, and the others that moved.
 */
function movedBack(
  ctx: Context,
  targetId: string,
  { merge, addresses }: { merge: ContactMerge; addresses: readonly string[] },
): Moved {
  const { detail } = merge;
  const visitorIds = distinct([
    ...detail.visitorIds.filter((id) => ctx.state(visitorKind, id)?.contactId === targetId),
    ...visitorIdsWithAddress(ctx.db, targetId, addresses),
  ]);
  const conversationIds = distinct([
    ...detail.conversationIds,
    ...visitorIds.flatMap((id) => conversationIdsOfVisitor(ctx.db, id)),
  ]).filter((id) => ctx.state(conversationKind, id)?.contactId === targetId);
  return { visitorIds, conversationIds };
}

function fieldsOf(contact: ContactRecord): MergedFields {
  const { id: _, email: _email, mergedInto: _merged, createdAt: _created, ...fields } = contact;
  return fields;
}

function mergedFields(source: ContactRecord, target: ContactRecord): MergedFields {
  const emails = distinct([...target.emails, ...source.emails]);
  if (emails.length > maxEmails)
    refuse('semantic_error', {
      message: `Together they have more than ${maxEmails} addresses. Remove some from either contact first.`,
      detail: { maxEmails },
    });
  return {
    name: target.name ?? source.name,
    emails,
    phone: target.phone ?? source.phone,
    company: target.company ?? source.company,
    note: target.note ?? source.note,
    tags: distinctNames([...target.tags, ...source.tags]).slice(0, maxTags),
    customFields: Object.fromEntries(
      Object.entries({ ...target.customFields, ...source.customFields, ...target.customFields }).slice(0, maxFields),
    ),
    // What a shop says of a customer, under either address: no sum.
    lifetimeValueCents: Math.max(source.lifetimeValueCents, target.lifetimeValueCents),
    firstSeenAt: source.firstSeenAt < target.firstSeenAt ? source.firstSeenAt : target.firstSeenAt,
    lastSeenAt: source.lastSeenAt > target.lastSeenAt ? source.lastSeenAt : target.lastSeenAt,
  };
}

/** Without what came from `source`, where it is still as the merge left it. */
function fieldsBefore(
  target: ContactRecord,
  source: ContactRecord,
  { before, after }: ContactMerge['detail'],
): MergedFields {
  const unchanged = <Field extends keyof MergedFields>(field: Field): MergedFields[Field] =>
    target[field] === after[field] ? before[field] : target[field];
  const [emailsBefore, tagsBefore] = [new Set(before.emails), new Set(before.tags)];
  const added = new Map(Object.entries(after.customFields).filter(([key]) => !(key in before.customFields)));
  return {
    name: unchanged('name'),
    emails: target.emails.filter((address) => emailsBefore.has(address) || !source.emails.includes(address)),
    phone: unchanged('phone'),
    company: unchanged('company'),
    note: unchanged('note'),
    tags: target.tags.filter((tag) => tagsBefore.has(tag) || !after.tags.includes(tag)),
    customFields: Object.fromEntries(
      Object.entries(target.customFields).filter(([key, value]) => !added.has(key) || added.get(key) !== value),
    ),
    lifetimeValueCents: unchanged('lifetimeValueCents'),
    firstSeenAt: unchanged('firstSeenAt'),
    // Never goes back: the visitor of the one was seen while it was the other.
    lastSeenAt: target.lastSeenAt,
  };
}

/** Compared without case, which addresses have, and kept as they were first. */
function distinct(texts: readonly string[]): string[] {
  return [...new Map(texts.toReversed().map((text) => [text.toLowerCase(), text])).values()].toReversed();
}
