// Visitors: a customer's browser on one site. Identifying and blocking them. Decisions 4.12.

import { type ContactRecord, findContact, findOldestContactByEmail } from '../../store/customers/contacts.ts';
import { VisitorSelf } from '../../store/customers/records.ts';
import { putProvedEmail } from '../../store/customers/visitor-proofs.ts';
import { findVisitor, findVisitorByEmail, findVisitors, type VisitorRecord } from '../../store/customers/visitors.ts';
import {
  insertContact,
  insertVisitor,
  unsetContact,
  unsetVisitor,
  updateContact,
  updateVisitor,
} from '../../store/customers/writes.ts';
import { viewer } from '../../store/record.ts';
import { bumpConversationsOf, linkConversationsOf } from '../conversations/conversation.ts';
import { setUnreachable } from '../conversations/unreachable.ts';
import { expectUnseenOf } from '../conversations/unseen.ts';
import { emailHashOf } from '../directory/compact-ids.ts';
import { refuse } from '../errors.ts';
import { emit } from '../events.ts';
import { isBlank, oneLine } from '../lines.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { ActorKind } from '../runtime/registry.ts';
import { callingAgent } from '../workspace/access.ts';
import { requireSite } from '../workspace/sites.ts';
import { blockedAs, sharingBlock } from './visitor-bounds.ts';

const seenAgainMs = 5000;

export const visitorKind: ActorKind<VisitorRecord> = { name: 'visitor', load: findVisitor };

declare module '../events.ts' {
  interface EventRecords {
    readonly visitor: VisitorRecord;
  }
}

/** The record for its own browser. */
export const visitorSelf = viewer(VisitorSelf);

/** The visitor identifies itself; with `isProved`, its site vouches for the address. Refuses forbidden if it is blocked. */
export const identifySelf = command(
  'widget.identify',
  (
    ctx,
    { isProved, ...said }: { name?: string | undefined; email?: string | undefined; isProved: boolean },
  ): VisitorRecord => {
    const named = nameSelf(ctx, callingVisitor(ctx), said);
    if (isProved && said.email !== undefined) proveEmail(ctx, named, emailHashOf(said.email));
    return named;
  },
);

/** Writes and emits a visitor's details. */
export function nameSelf(
  ctx: Context,
  visitor: VisitorRecord,
  said: { name?: string | undefined; email?: string | undefined },
): VisitorRecord {
  const named = identifyHonestly(ctx, { ...visitor, lastSeenAt: ctx.at }, said);
  emitVisitor(ctx, named);
  return named;
}

/** Like identify, for details from a browser: a visitor that gives a blocked visitor's email is blocked with it. */
export function identifyHonestly(
  ctx: Context,
  visitor: VisitorRecord,
  said: { name?: string | undefined; email?: string | undefined },
): VisitorRecord {
  const blocked = visitor.blockedAt === null ? blockedAs(ctx, visitor, said.email) : undefined;
  if (blocked !== undefined) auditSharedBlock(ctx, visitor, blocked);
  return identify(ctx, blocked === undefined ? visitor : { ...visitor, blockedAt: blocked.blockedAt }, said);
}

/** The service blocked the visitor because of another's block. */
export function auditSharedBlock(ctx: Context, visitor: VisitorRecord, blocked: VisitorRecord): void {
  ctx.audit({
    action: 'visitor.blocked',
    targetKind: 'visitor',
    targetId: visitor.id,
    context: { blockedWith: blocked.id },
  });
}

/** Refuses not_found. A blocked visitor is locked out at once, on open sockets too. */
export const blockVisitor = command(
  'visitor.block',
  (ctx, params: { visitorId: string }): VisitorRecord => setBlocked(ctx, params.visitorId, true),
);
export const unblockVisitor = command(
  'visitor.unblock',
  (ctx, params: { visitorId: string }): VisitorRecord => setBlocked(ctx, params.visitorId, false),
);

/** Where mail reaches a visitor: its own address, or else its contact's. */
export function addressOf(view: Pick<View, 'db'>, { email, contactId }: VisitorRecord): string | undefined {
  return email ?? (contactId === null ? undefined : (findContact(view.db, contactId)?.email ?? undefined));
}

/** All addresses of the person who writes from this one, as far as agents have said so. */
export function addressesOfPerson(view: Pick<View, 'db'>, address: string): readonly string[] {
  const { emails = [] } = findOldestContactByEmail(view.db, address) ?? {};
  return [address, ...emails.map((email) => email.toLowerCase()).filter((email) => email !== address)];
}

/** The visitor's address turned out to be its own. A proof of another address, such as an earlier one, proves nothing of this one. */
export function proveEmail(ctx: Context, visitor: VisitorRecord, emailHash: string): void {
  const email = addressOf(ctx, visitor);
  if (email !== undefined && emailHashOf(email) === emailHash)
    putProvedEmail(ctx.db, { visitorId: visitor.id, email: email.toLowerCase(), provedAt: ctx.at });
}

/** The calling visitor. Refuses forbidden if it is blocked. */
export function callingVisitor(view: Pick<View, 'state' | 'caller'>): VisitorRecord {
  if (view.caller.kind !== 'visitor') throw new Error(`a visitor's command called by a ${view.caller.kind}`);
  const visitor = view.state(visitorKind, view.caller.visitorId) ?? refuse('unauthorized');
  return visitor.blockedAt === null ? visitor : refuse('forbidden');
}

/** The visitor wrote: it was there then. Every message passes here, and a few seconds are no news. */
export function seeVisitor(ctx: Context, visitor: VisitorRecord): void {
  if (ctx.nowMs - Date.parse(visitor.lastSeenAt) >= seenAgainMs) putVisitor(ctx, { ...visitor, lastSeenAt: ctx.at });
}

export function putVisitor(ctx: Context, visitor: VisitorRecord): void {
  updateVisitor(ctx.db, visitor);
  ctx.setState(visitorKind, visitor.id, visitor);
}

/**
 * Writes the visitor with the details it gives. An email links it, and the conversations it began anonymously, to the
 * oldest contact with that email, or to a new one.
 */
export function identify(
  ctx: Context,
  visitor: VisitorRecord,
  said: { name?: string | undefined; email?: string | undefined },
): VisitorRecord {
  const email = said.email ?? visitor.email;
  const name = said.name === undefined || isBlank(said.name) ? visitor.name : oneLine(said.name);
  const contactId =
    email === null
      ? visitor.contactId
      : seeContact(ctx, findOldestContactByEmail(ctx.db, email), { name, email, phone: null });
  const named: VisitorRecord = { ...visitor, email, name, contactId };
  putVisitor(ctx, named);
  if (email !== visitor.email) {
    expectUnseenOf(ctx, visitor.id);
    setUnreachable(ctx, visitor.id, false);
  }
  if (contactId !== null && visitor.contactId === null) linkConversationsOf(ctx, visitor.id, contactId);
  return named;
}

/**
 * The visitor for an email address: one who gave it, or a new one of the site. The name is only used if none is known.
 */
export function visitorOfAddress(
  ctx: Context,
  person: { email: string; name: string | null; locale?: string | null },
  siteId: () => string,
): VisitorRecord {
  const known = findVisitorByEmail(ctx.db, person.email);
  const visitor = known ?? newVisitor(ctx, siteId());
  if (known === undefined) insertVisitor(ctx.db, visitor);
  // Some programs put their own language into every mail; a browser asks for the reader's.
  const ofBrowser = visitor.visitCount > 0 ? visitor.locale : null;
  return identify(
    ctx,
    { ...visitor, locale: ofBrowser ?? person.locale ?? visitor.locale, lastSeenAt: ctx.at },
    { email: person.email, name: visitor.name ?? person.name ?? undefined },
  );
}

/** Records that the contact was seen, or creates it. Returns its id. */
export function seeContact(
  ctx: Context,
  known: ContactRecord | undefined,
  person: { name: string | null; email: string | null; phone: string | null },
): string {
  if (known !== undefined) {
    updateContact(ctx.db, { ...known, name: known.name ?? person.name, lastSeenAt: ctx.at });
    return known.id;
  }
  return addContact(ctx, person).id;
}

/** Writes a new contact. */
export function addContact(ctx: Context, person: Partial<ContactRecord>): ContactRecord {
  const contact: ContactRecord = {
    ...unsetContact,
    ...person,
    id: ctx.ids.uuid(),
    emails: person.email == null ? [] : [person.email],
    customFields: {},
    lifetimeValueCents: 0,
    firstSeenAt: ctx.at,
    lastSeenAt: ctx.at,
    createdAt: ctx.at,
  };
  insertContact(ctx.db, contact);
  return contact;
}

function setBlocked(ctx: Context, visitorId: string, blocked: boolean): VisitorRecord {
  callingAgent(ctx);
  const visitor = ctx.state(visitorKind, visitorId) ?? refuse('not_found');
  if ((visitor.blockedAt !== null) === blocked) return visitor;
  // Unblocks visitors who were blocked with it.
  const sharing = blocked ? [] : sharingBlock(ctx, visitor);
  const changed = putBlock(ctx, visitor, blocked ? ctx.at : null);
  for (const other of sharing) putBlock(ctx, other, null);
  return changed;
}

function putBlock(ctx: Context, visitor: VisitorRecord, blockedAt: string | null): VisitorRecord {
  const changed: VisitorRecord = { ...visitor, blockedAt };
  putVisitor(ctx, changed);
  bumpConversationsOf(ctx, visitor.id);
  // Nothing was mailed to it meanwhile.
  if (blockedAt === null) expectUnseenOf(ctx, visitor.id);
  emitVisitor(ctx, changed);
  const target = { targetKind: 'visitor', targetId: visitor.id };
  ctx.audit(blockedAt === null ? { action: 'visitor.unblocked', ...target } : { action: 'visitor.blocked', ...target });
  return changed;
}

/** The visitor turned out to be someone else's: of a contact that was merged, or whose merge was undone. */
export function giveVisitor(ctx: Context, visitor: VisitorRecord, contactId: string): void {
  const given: VisitorRecord = { ...visitor, contactId };
  putVisitor(ctx, given);
  emitVisitor(ctx, given);
}

/** Emitted to every agent, because every agent may read every visitor (GET /visitors/{id}). */
function emitVisitor(ctx: Context, visitor: VisitorRecord): void {
  emit(ctx, { type: 'visitor.updated', audience: { kind: 'workspace' }, data: { visitor } });
}

/** Refuses not_found. */
export function readVisitor(view: View, visitorId: string): VisitorRecord {
  callingAgent(view);
  return view.state(visitorKind, visitorId) ?? refuse('not_found');
}

/** Those that exist, in no particular order. */
export function readVisitors(view: View, visitorIds: readonly string[]): VisitorRecord[] {
  callingAgent(view);
  return findVisitors(view.db, visitorIds);
}

export function newVisitor(ctx: Context, siteId: string): VisitorRecord {
  requireSite(ctx, siteId);
  return {
    id: ctx.ids.uuid(),
    siteId,
    ...unsetVisitor,
    firstSeenAt: ctx.at,
    lastSeenAt: ctx.at,
    isOnline: false,
    visitCount: 0,
  };
}
