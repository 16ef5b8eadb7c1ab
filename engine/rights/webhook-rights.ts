// What a webhook may receive now. It has the rights of whoever created or last saved it: an admin, an admin's key, or
// an app with a grant. When those end it pauses, and its record shows the reason until it is saved again. Decisions
// "Settled after the audit".

import type { WebhookRecord } from '../../store/platform/webhooks.ts';
import type { View } from '../runtime/context.ts';
import { type Holder, type Rights, rightsOf } from './rights.ts';
import { isAllowed, type Scope } from './scopes.ts';

/** The scope that a subscription itself requires, by the source of its events. */
const scopeOfFeed = { events: 'webhooks:write', verify: 'verify' } as const satisfies Record<
  WebhookRecord['feed'],
  Scope
>;

export const pausedReasons = ['admin_left', 'key_revoked', 'app_not_allowed'] as const;
export type PausedReason = (typeof pausedReasons)[number];

/** Undefined for a webhook without a holder. */
export function holderOfWebhook({ agentId, keyId, appId }: WebhookRecord): Holder | undefined {
  return agentId === null ? undefined : { agentId, keyId, appId };
}

/** The part that the workspace's own file decides; the edge checks an app's own registration. */
export function localRightsOf(view: Pick<View, 'db' | 'at'>, webhook: WebhookRecord): Rights | undefined {
  const holder = holderOfWebhook(webhook);
  return holder && rightsOf(view, holder);
}

/** Why it is paused; undefined if it is not. */
export function whyPaused(webhook: WebhookRecord, rights: Rights | undefined): PausedReason | undefined {
  if (rights !== undefined && rights.agent.role !== 'admin') return 'admin_left';
  if (rights !== undefined && isAllowed(rights.grant, scopeOfFeed[webhook.feed])) return undefined;
  if (webhook.appId !== null) return 'app_not_allowed';
  return webhook.keyId === null ? 'admin_left' : 'key_revoked';
}

/** What is needed to decide whether an event may be delivered. */
export interface Deliverable {
  /** The scope for its record; undefined if the subscription's scope is enough, null if a key needs `*`. */
  readonly scope?: Scope | null | undefined;
  /** Whether live or test keys caused it, if that matters. */
  readonly mode?: 'live' | 'test' | undefined;
}

export function mayReceive(webhook: WebhookRecord, rights: Rights | undefined, { scope, mode }: Deliverable): boolean {
  if (whyPaused(webhook, rights) !== undefined) return false;
  if (rights?.grant?.mode === 'test' && mode === 'live') return false;
  return scope === undefined || isAllowed(rights?.grant, scope);
}
