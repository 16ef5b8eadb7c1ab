// Webhook subscriptions: created, changed and ended by admins, or by keys and apps within their scopes.
// webhook-deliveries.ts records deliveries and disables failing receivers; webhook-rights.ts decides whose rights a
// webhook has. Specification 6, decisions 4.2.

import {
  deleteWebhook,
  insertWebhook,
  updateWebhook,
  type WebhookFeed,
  type WebhookRecord,
} from '../../store/platform/webhooks.ts';
import { deleteQueuedOutbox } from '../../store/runtime/outbox.ts';
import { refuse, refuseField } from '../errors.ts';
import { type EventType, isEventType, scopeOfEvent, webhookEventTypes } from '../events.ts';
import { holderOf } from '../rights/rights.ts';
import { allows, type Grant } from '../rights/scopes.ts';
import { localRightsOf, type PausedReason, whyPaused } from '../rights/webhook-rights.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { deadline } from '../runtime/kinds.ts';
import { targetsOf, theWebhooks, webhooksKind } from '../webhook-deliveries.ts';
import { requireAdmin } from '../workspace/access.ts';
import { auditChange } from '../workspace/audit.ts';

export interface WebhookView {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly description: string | null;
  readonly status: 'active' | 'disabled';
  /** Why it receives nothing although it is active. */
  readonly pausedReason: PausedReason | null;
  /** The agent whose rights it has. */
  readonly agentId: string | null;
  /** The app that subscribed. */
  readonly clientId: string | null;
  readonly createdAt: string;
}

/** Each one costs a row per event. */
const maxWebhooks = 50;
export const disableDeadline = deadline('webhook.disable');

/** Which of the workspace's webhooks the caller may name. */
export interface WebhookOf {
  readonly feed: WebhookFeed;
  readonly grant: Grant | undefined;
}

export interface NewWebhook {
  /** Chosen by the caller, who sealed the secret for it. */
  readonly webhookId: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly description: string | null;
  /** Null for an app's, which is signed with its client secret. */
  readonly sealedSecret: string | null;
  readonly grant: Grant | undefined;
}

/**
 * Refuses admin_required, insufficient_scope for an event that the key or app may not read, semantic_error for too
 * many.
 */
export const createWebhook = command(
  'webhook.create',
  (ctx, params: NewWebhook & { events: readonly (EventType | '*')[] }): WebhookView => {
    requireAdmin(ctx);
    requireReadable(params.events, params.grant);
    return webhookView(ctx, addWebhook(ctx, 'events', params));
  },
);

export interface WebhookChanges {
  readonly url?: string | undefined;
  readonly events?: readonly string[] | undefined;
  readonly description?: string | null | undefined;
  /** `active` re-enables a disabled webhook. */
  readonly status?: 'active' | 'disabled' | undefined;
}

/**
 * Saving a workspace's webhook makes the caller responsible for it; an app's stays the app's. Refuses admin_required,
 * not_found, invalid_body, insufficient_scope.
 */
export const changeWebhook = command(
  'webhook.update',
  (ctx, params: WebhookOf & { webhookId: string; changes: WebhookChanges }): WebhookView => {
    requireAdmin(ctx);
    const before = requireWebhook(ctx, params);
    const { url, events: wanted, description, status } = params.changes;
    if (Object.values(params.changes).every((value) => value === undefined))
      refuseField('invalid_body', 'body', 'must name a field that can be changed');
    const isAppsOwn = params.grant?.by === 'app';
    const holder = before.appId === null || isAppsOwn ? holderOf(ctx.caller, params.grant) : before;
    const after: WebhookRecord = {
      ...before,
      agentId: holder.agentId,
      keyId: holder.keyId,
      url: url === undefined ? before.url : soundUrl(url),
      events: wanted === undefined ? before.events : [...new Set(wanted)],
      description: description === undefined ? before.description : description,
      status: status ?? before.status,
      failingSince: status === 'active' && before.status === 'disabled' ? null : before.failingSince,
    };
    // Events that an app may no longer read are dropped. A caller who requests events again, or takes a webhook over,
    // must be able to read them. The names are the route's.
    if (before.feed === 'events' && (wanted !== undefined || !isAppsOwn)) requireReadable(after.events, params.grant);
    // The webhook keeps receiving what the app may read, which may be more than the key may.
    if (after.url !== before.url && before.appId !== null && params.grant?.by === 'key' && !allows(params.grant, null))
      refuse('insufficient_scope', {
        message: "Only a key with the scope * can change the URL of an app's webhook.",
        detail: { scope: '*' },
      });
    putWebhook(ctx, after);
    if (after.failingSince === null) ctx.clearDeadline(disableDeadline, after.id);
    auditChange(ctx, {
      action: 'webhook.updated',
      targetKind: 'webhook',
      targetId: after.id,
      before: webhookView(ctx, before),
      after: webhookView(ctx, after),
    });
    return webhookView(ctx, after);
  },
);

/** The former secret also signs for `overlapMs`. Refuses admin_required, not_found, semantic_error for an app's. */
export const rotateWebhookSecret = command(
  'webhook.rotateSecret',
  (
    ctx,
    params: WebhookOf & { webhookId: string; sealedSecret: string; overlapMs: number },
  ): WebhookView & { formerSecretUntil: string | null } => {
    requireAdmin(ctx);
    const before = requireWebhook(ctx, params);
    if (before.sealedSecret === null)
      refuse('semantic_error', { message: "An app's client secret signs this webhook." });
    const formerSecretUntil = params.overlapMs === 0 ? null : isoTime(ctx.nowMs + params.overlapMs);
    const after: WebhookRecord = {
      ...before,
      sealedSecret: params.sealedSecret,
      formerSecret: formerSecretUntil === null ? null : before.sealedSecret,
      formerSecretUntil,
    };
    putWebhook(ctx, after);
    ctx.audit({
      action: 'webhook.secret_rotated',
      targetKind: 'webhook',
      targetId: after.id,
      after: { formerSecretUntil },
    });
    return { ...webhookView(ctx, after), formerSecretUntil };
  },
);

/** Stops sending and deletes its log. Refuses admin_required, not_found. */
export const removeWebhook = command('webhook.delete', (ctx, params: WebhookOf & { webhookId: string }): void => {
  requireAdmin(ctx);
  dropWebhook(ctx, requireWebhook(ctx, params));
});

/** Also deletes its pending deliveries. */
export function dropWebhook(ctx: Context, webhook: WebhookRecord): void {
  const view = webhookView(ctx, webhook);
  deleteQueuedOutbox(ctx.db, targetsOf(webhook.id));
  deleteWebhook(ctx.db, webhook.id);
  ctx.clearDeadline(disableDeadline, webhook.id);
  setWebhooks(
    ctx,
    theWebhooks(ctx).filter(({ id }) => id !== webhook.id),
  );
  ctx.audit({ action: 'webhook.deleted', targetKind: 'webhook', targetId: webhook.id, before: view });
}

/** For an app that was deleted, or whose grant by this agent ended. */
export function dropWebhooksOfApp(ctx: Context, of: { clientId: string; agentId?: string }): void {
  for (const webhook of theWebhooks(ctx)) {
    if (webhook.appId === of.clientId && (of.agentId === undefined || webhook.agentId === of.agentId))
      dropWebhook(ctx, webhook);
  }
}

/** Newest first. Refuses admin_required. */
export function listWebhooks(view: View, of: WebhookOf): WebhookView[] {
  requireAdmin(view);
  return theWebhooks(view)
    .filter((webhook) => isOf(webhook, of))
    .map((webhook) => webhookView(view, webhook));
}

/** Refuses admin_required, not_found. */
export function readWebhook(view: View, of: WebhookOf & { webhookId: string }): WebhookView {
  requireAdmin(view);
  return webhookView(view, requireWebhook(view, of));
}

/** An app sees only its own. Refuses not_found. */
export function requireWebhook(view: Pick<View, 'state'>, of: WebhookOf & { webhookId: string }): WebhookRecord {
  return theWebhooks(view).find((webhook) => webhook.id === of.webhookId && isOf(webhook, of)) ?? refuse('not_found');
}

/** With the caller's rights. Refuses semantic_error for too many. */
export function addWebhook(ctx: Context, feed: WebhookFeed, named: NewWebhook): WebhookRecord {
  const present = theWebhooks(ctx);
  if (present.length >= maxWebhooks)
    refuse('semantic_error', {
      message: `A workspace may have at most ${maxWebhooks} webhooks.`,
      detail: { maxWebhooks },
    });
  const webhook: WebhookRecord = {
    ...holderOf(ctx.caller, named.grant),
    id: named.webhookId,
    feed,
    url: soundUrl(named.url),
    events: [...new Set(named.events)],
    description: named.description,
    sealedSecret: named.sealedSecret,
    formerSecret: null,
    formerSecretUntil: null,
    status: 'active',
    failingSince: null,
    createdAt: ctx.at,
  };
  insertWebhook(ctx.db, webhook);
  setWebhooks(ctx, [webhook, ...present]);
  ctx.audit({
    action: 'webhook.created',
    targetKind: 'webhook',
    targetId: webhook.id,
    after: webhookView(ctx, webhook),
  });
  return webhook;
}

export function putWebhook(ctx: Context, webhook: WebhookRecord): void {
  updateWebhook(ctx.db, webhook);
  setWebhooks(
    ctx,
    theWebhooks(ctx).map((one) => (one.id === webhook.id ? webhook : one)),
  );
}

/** The name its secrets are sealed under. */
export function webhookSecretName(workspaceId: string, webhookId: string): string {
  return `${workspaceId}:webhook:${webhookId}`;
}

export function webhookView(view: Pick<View, 'db' | 'at'>, webhook: WebhookRecord): WebhookView {
  const { id, url, events: wanted, description, status, agentId, appId: clientId, createdAt } = webhook;
  return {
    id,
    url,
    events: wanted,
    description,
    status,
    pausedReason: whyPaused(webhook, localRightsOf(view, webhook)) ?? null,
    agentId,
    clientId,
    createdAt,
  };
}

function setWebhooks(ctx: Context, webhooks: readonly WebhookRecord[]): void {
  ctx.setState(webhooksKind, '', webhooks);
}

function requireReadable(wanted: readonly string[], grant: Grant | undefined): void {
  if (grant === undefined) return;
  const types = wanted.includes('*') ? webhookEventTypes : wanted.filter(isEventType);
  for (const type of types) {
    const scope = scopeOfEvent(type);
    if (!allows(grant, scope))
      refuse('insufficient_scope', { message: `${type} needs the scope ${scope ?? '*'}.`, detail: { scope } });
  }
}

function isOf(webhook: WebhookRecord, { feed, grant }: WebhookOf): boolean {
  return webhook.feed === feed && (grant?.by !== 'app' || webhook.appId === grant.id);
}

/** Refuses invalid_body if it is not a web address or contains credentials. */
function soundUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || url.host === '' || url.username !== '' || url.password !== '')
    refuseField('invalid_body', 'url', 'must be a web address without a user name');
  return url.href;
}
