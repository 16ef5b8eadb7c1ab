// The visitor and the contact for a phone number, found or created. A caller was never on a page, so its visitor
// belongs to the workspace's oldest site, or to one created for it.

import { findOldestContactByPhone } from '../../store/customers/contacts.ts';
import { findVisitorByPhone, type VisitorRecord } from '../../store/customers/visitors.ts';
import { insertVisitor } from '../../store/customers/writes.ts';
import { findOldestSite } from '../../store/workspace/sites.ts';
import { newVisitor, putVisitor, seeContact } from '../customers/visitors.ts';
import type { Context } from '../runtime/context.ts';
import { addSite } from '../workspace/sites.ts';
import { theWorkspace } from '../workspace/workspace.ts';

/** Undefined when the number is withheld. */
export function findOrAddCaller(ctx: Context, fromE164: string | null): VisitorRecord | undefined {
  if (fromE164 === null) return undefined;
  const known = findVisitorByPhone(ctx.db, fromE164);
  const visitor: VisitorRecord = known ?? { ...newVisitor(ctx, siteOfCallers(ctx)), phoneE164: fromE164 };
  if (known === undefined) insertVisitor(ctx.db, visitor);
  const contactId =
    visitor.contactId ??
    seeContact(ctx, findOldestContactByPhone(ctx.db, fromE164), { name: null, email: null, phone: fromE164 });
  const seen: VisitorRecord = { ...visitor, contactId, lastSeenAt: ctx.at };
  putVisitor(ctx, seen);
  return seen;
}

function siteOfCallers(ctx: Context): string {
  const { name, subdomain } = theWorkspace(ctx);
  // A domain that can never exist (RFC 2606), for a workspace without a site.
  return (findOldestSite(ctx.db) ?? addSite(ctx, { name, domain: `${subdomain}.invalid` })).id;
}
