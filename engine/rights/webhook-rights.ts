// What a webhook may be told at this moment. It lives by the rights of who made it, or saved it last: an admin, a key
// of one, or an app that one allows. When those end it is told nothing more, and the reason stands in its record until
// somebody saves it anew. Decisions "Settled after the audit".

import type { WebhookRecord } from '../../store/platform/webhooks.ts';
import type { View } from '../runtime/context.ts';
import { type Holder, type Rights, rightsOf } from './rights.ts';
import { isAllowed, type Scope } from './scopes.ts';

/** What a subscription itself needs, by where its events come from. */
const scopeOfFeed = { events: 'webhooks:write', verify: 'verify' } as const satisfies Record<
  WebhookRecord['feed'],
  Scope
>;

export const pausedReasons = ['admin_left', 'key_revoked', 'app_not_allowed'] as const;
export type PausedReason = (typeof pausedReasons)[number];

/** Undefined for one that nobody answers for. */
export function holderOfWebhook({ agentId, keyId, appId }: WebhookRecord): Holder | undefined {
  return agentId === null ? undefined : { agentId, keyId, appId };
}

/** As far as the workspace itself tells; an app's own rights are the edge's to look at. */
export function localRightsOf(view: Pick<View, 'db' | 'at'>, webhook: WebhookRecord): Rights | undefined {
  const holder = holderOfWebhook(webhook);
  return holder && rightsOf(view, holder);
}

/** Why it is told nothing; undefined while it is. */
export function whyPaused(webhook: WebhookRecord, rights: Rights | undefined): PausedReason | undefined {
  if (rights !== undefined && rights.agent.role !== 'admin') return 'admin_left';
  if (rights !== undefined && isAllowed(rights.grant, scopeOfFeed[webhook.feed])) return undefined;
  if (webhook.appId !== null) return 'app_not_allowed';
  return webhook.keyId === null ? 'admin_left' : 'key_revoked';
}

/** What is to be known of an event before it is told. */
export interface Telling {
  /** What its record needs; undefined where the subscription alone does. */
  readonly scope?: Scope | undefined;
  /** Of which keys' doing it is, where that matters. */
  readonly mode?: 'live' | 'test' | undefined;
}

export function mayBeTold(webhook: WebhookRecord, rights: Rights | undefined, { scope, mode }: Telling): boolean {
  if (whyPaused(webhook, rights) !== undefined) return false;
  if (rights?.grant?.mode === 'test' && mode === 'live') return false;
  return scope === undefined || isAllowed(rights?.grant, scope);
}
