// Subscriptions to events by HTTP: made and ended by admins, or by keys and apps as far as their scopes reach. What is sent, and how
// failing receivers are let go, stands in webhook-deliveries.ts. Specification 6, decisions 4.2.

import { deleteWebhook, insertWebhook, type WebhookFeed, type WebhookRecord } from '../store/webhooks.ts';
import { requireAdmin } from './access.ts';
import { refuse, refuseField } from './errors.ts';
import { events, type EventType } from './events.ts';
import { command } from './runtime/command.ts';
import type { Context, View } from './runtime/context.ts';
import { allows, type Grant, type Scope } from './scopes.ts';
import { theWebhooks, webhooksKind } from './webhook-feed.ts';

export interface WebhookView {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly description: string | null;
  readonly status: 'active' | 'disabled';
  readonly createdAt: string;
}

/** Each one costs a row per event. */
const maxWebhooks = 50;

/** Who is told of a record must be allowed to read it. By the member of an event's data. */
const scopeOf: Record<(typeof events)[EventType]['data'], Scope> = {
  conversation: 'conversations:read',
  message: 'messages:read',
  read: 'messages:read',
  note: 'conversations:read',
  agent: 'agents:read',
  visitor: 'visitors:read',
  call: 'conversations:read',
  job: 'ai:read',
  completion: 'reports:read',
};

export const eventTypes = Object.keys(events) as readonly EventType[];

export interface NewWebhook {
  /** Made by the caller, who sealed the secret for it. */
  readonly webhookId: string;
  readonly url: string;
  readonly events: readonly (EventType | '*')[];
  readonly description: string | null;
  /** Null for an app's, which its client secret signs. */
  readonly sealedSecret: string | null;
  readonly grant: Grant | undefined;
}

/** Refuses admin_required, insufficient_scope for an event that the key or app may not read, semantic_error when there are too many. */
export const createWebhook = command('webhook.create', (ctx, params: NewWebhook): WebhookView => {
  requireAdmin(ctx);
  requireReadable(params.events, params.grant);
  const webhook = addWebhook(ctx, 'events', { ...params, appId: appOf(params.grant) });
  return webhookView(webhook);
});

/** Nothing more is sent, and its log is gone. Refuses admin_required, not_found. */
export const removeWebhook = command('webhook.delete', (ctx, params: { webhookId: string; feed: WebhookFeed; grant: Grant | undefined }): void => {
  requireAdmin(ctx);
  const webhook = requireWebhook(ctx, params);
  deleteWebhook(ctx.db, webhook.id);
  setWebhooks(ctx, theWebhooks(ctx).filter(({ id }) => id !== webhook.id));
  ctx.audit({ action: 'webhook.deleted', targetKind: 'webhook', targetId: webhook.id, before: webhookView(webhook) });
});

/** Newest first. Refuses admin_required. */
export function listWebhooks(view: View, of: { feed: WebhookFeed; grant: Grant | undefined }): WebhookView[] {
  requireAdmin(view);
  return theWebhooks(view).filter((webhook) => isOf(webhook, of)).map(webhookView);
}

/** An app knows its own alone. Refuses not_found. */
export function requireWebhook(view: Pick<View, 'state'>, of: { webhookId: string; feed: WebhookFeed; grant: Grant | undefined }): WebhookRecord {
  return theWebhooks(view).find((webhook) => webhook.id === of.webhookId && isOf(webhook, of)) ?? refuse('not_found');
}

/** Refuses semantic_error when there are too many. */
export function addWebhook(ctx: Context, feed: WebhookFeed, named: { webhookId: string; appId: string | null; url: string; events: readonly string[]; description: string | null; sealedSecret: string | null }): WebhookRecord {
  const present = theWebhooks(ctx);
  if (present.length >= maxWebhooks) refuse('semantic_error', { message: `A workspace may have ${maxWebhooks} webhooks.`, detail: { maxWebhooks } });
  const { url, host, username, password } = partsOf(named.url);
  if (host === '' || username !== '' || password !== '') refuseField('invalid_body', 'url', 'must be a web address without a user name');
  const webhook: WebhookRecord = {
    id: named.webhookId,
    feed,
    appId: named.appId,
    url,
    events: [...new Set(named.events)],
    description: named.description,
    sealedSecret: named.sealedSecret,
    status: 'active',
    failingSince: null,
    createdAt: ctx.at,
  };
  insertWebhook(ctx.db, webhook);
  setWebhooks(ctx, [webhook, ...present]);
  ctx.audit({ action: 'webhook.created', targetKind: 'webhook', targetId: webhook.id, after: webhookView(webhook) });
  return webhook;
}

export function setWebhooks(ctx: Context, webhooks: readonly WebhookRecord[]): void {
  ctx.become(webhooksKind, '', webhooks);
}

/** What its secret is sealed as. */
export function webhookSecretName(workspaceId: string, webhookId: string): string {
  return `${workspaceId}:webhook:${webhookId}`;
}

export function webhookView({ id, url, events, description, status, createdAt }: WebhookRecord): WebhookView {
  return { id, url, events, description, status, createdAt };
}

function requireReadable(wanted: readonly (EventType | '*')[], grant: Grant | undefined): void {
  if (grant === undefined) return;
  const types = wanted.includes('*') ? eventTypes : (wanted as readonly EventType[]);
  for (const type of types) {
    const scope = scopeOf[events[type].data];
    if (!allows(grant, scope)) refuse('insufficient_scope', { message: `${type} needs the scope ${scope}.`, detail: { scope } });
  }
}

function appOf(grant: Grant | undefined): string | null {
  return grant?.by === 'app' ? grant.id : null;
}

function isOf(webhook: WebhookRecord, { feed, grant }: { feed: WebhookFeed; grant: Grant | undefined }): boolean {
  return webhook.feed === feed && (grant?.by !== 'app' || webhook.appId === grant.id);
}

function partsOf(text: string): { url: string; host: string; username: string; password: string } {
  const url = URL.parse(text);
  return { url: url?.href ?? '', host: url?.host ?? '', username: url?.username ?? '', password: url?.password ?? '' };
}
