// Data about a visitor from the shop: the workspace's connector and its latest answer. Decisions 4.12.

import { deleteCommerce, findCommerce, putCommerce } from '../../store/customers/commerce.ts';
import { findContact } from '../../store/customers/contacts.ts';
import type { VisitorRecord } from '../../store/customers/visitors.ts';
import { updateContact } from '../../store/customers/writes.ts';
import type { Enrichment } from '../../workers/providers/commerce.ts';
import { refuse } from '../errors.ts';
import { command } from '../runtime/command.ts';
import { callingAgent, requireAdmin } from '../workspace/access.ts';
import { putVisitor, visitorKind } from './visitors.ts';

/** Null removes the connector. Refuses admin_required. */
export const setCommerce = command(
  'commerce.set',
  (ctx, params: { connector: { url: string; source: string; sealedSecret: string } | null }): void => {
    requireAdmin(ctx);
    const before = findCommerce(ctx.db);
    if (params.connector === null) deleteCommerce(ctx.db);
    else putCommerce(ctx.db, { ...params.connector, updatedAt: ctx.at });
    const shown = (connector: { url: string; source: string } | null | undefined): { commerce: object | null } => ({
      commerce: connector == null ? null : { url: connector.url, source: connector.source },
    });
    ctx.audit({
      action: 'workspace.updated',
      targetKind: 'workspace',
      targetId: ctx.workspaceId,
      before: shown(before),
      after: shown(params.connector),
    });
  },
);

/** Stores the shop's answer with the visitor and the customer's value with its contact. Refuses not_found. */
export const noteEnrichment = command(
  'visitor.noteEnrichment',
  (ctx, params: { visitorId: string; enrichment: Enrichment }): VisitorRecord => {
    callingAgent(ctx);
    const visitor = ctx.state(visitorKind, params.visitorId) ?? refuse('not_found');
    const enriched: VisitorRecord = { ...visitor, wcEnrichment: params.enrichment };
    putVisitor(ctx, enriched);
    const { customer } = params.enrichment;
    const contact =
      customer === null || visitor.contactId === null ? undefined : findContact(ctx.db, visitor.contactId);
    if (customer !== null && contact !== undefined)
      updateContact(ctx.db, { ...contact, lifetimeValueCents: customer.lifetimeValueCents });
    return enriched;
  },
);
