// Mails to admins when a webhook stops: a receiver that was given up, or rights that ended. To the receiving program it
// would look as if nothing happened.

import type { WebhookRecord } from '../../store/platform/webhooks.ts';
import { mailAccountNotice } from '../mail/account-notices.ts';
import { localRightsOf, whyPaused } from '../rights/webhook-rights.ts';
import type { Context } from '../runtime/context.ts';
import { theWebhooks } from '../webhook-deliveries.ts';
import { isActive, theRoster } from '../workspace/roster.ts';

const where = 'You can check it under Settings, Webhooks.';

export function mailDisabled(ctx: Context, webhook: WebhookRecord, isGone: boolean): void {
  const why = isGone
    ? 'Its receiver answered 410, which means that it is permanently gone.'
    : 'Its receiver has accepted nothing for five days.';
  mailAdmins(ctx, {
    subject: 'A webhook was disabled',
    text: `The webhook to ${webhook.url} is disabled: nothing is sent to it any more. ${why} When the receiver works again, set the webhook to active; events in between are not sent later.`,
  });
}

/**
 * Runs a change that may end rights, and notifies admins of the workspace's own webhooks that it paused. An app looks
 * after its own.
 */
export function notifyingOfPaused(ctx: Context, change: () => void): void {
  const before = new Set(pausedOf(ctx).map(({ id }) => id));
  change();
  const paused = pausedOf(ctx).filter(({ id, appId }) => appId === null && !before.has(id));
  if (paused.length === 0) return;
  const subject = paused.length === 1 ? 'A webhook was paused' : 'Webhooks were paused';
  const list = paused.map(
    ({ url, keyId }) =>
      `- ${url}: ${keyId === null ? 'its creator is no longer an admin' : 'the key that created it was revoked'}`,
  );
  mailAdmins(ctx, {
    subject,
    text: [
      'A webhook depends on the rights of its creator. These have ended for',
      list.join('\n'),
      'If you save one of them, you become responsible for it, and it resumes.',
    ].join('\n\n'),
  });
}

function pausedOf(ctx: Context): WebhookRecord[] {
  return theWebhooks(ctx).filter(
    (webhook) => webhook.status === 'active' && whyPaused(webhook, localRightsOf(ctx, webhook)) !== undefined,
  );
}

function mailAdmins(ctx: Context, notice: { subject: string; text: string }): void {
  for (const agent of theRoster(ctx).agents.values())
    if (agent.role === 'admin' && isActive(agent)) mailAccountNotice(ctx, agent, { ...notice, advice: where });
}
