// Mails that tell an agent what was done to its account: a password, an address, a key, an app that changed. They leave
// through the durable outbox with the command that did it, so that none is told of what did not happen. They hold no
// link and no secret: whoever reads one goes where it always goes. Called by every command that changes who can act as
// an agent.

import { countAccountNotices, insertAccountNotice } from '../../store/workspace/account-notices.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { deviceOf } from '../devices.ts';
import { plainName } from '../lines.ts';
import { isoTime } from '../runtime/clock.ts';
import type { Context } from '../runtime/context.ts';
import { theRoster } from '../workspace/roster.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { enqueueNotice } from './outgoing.ts';

/** Where a request came from, as far as it can be told. */
export interface Origin {
  readonly address: string;
  readonly userAgent: string | null;
}

export interface AccountNotice {
  /** One line, such as "Your password was changed". */
  readonly subject: string;
  /** What was done and what follows from it, in whole sentences. */
  readonly text: string;
  readonly origin?: Origin | undefined;
  /** What to do if it was not wanted, where that is not to choose a new password. */
  readonly advice?: string;
  /**
   * Of what strangers, or whoever has the password, can bring about as often as they like: no more of a kind than so
   * many in so long.
   */
  readonly atMost?: { readonly kind: string; readonly mails: number; readonly perMs: number };
}

/**
 * Queues the mail; false when there were enough of its kind. `agent` may have the address that it had until now. Who
 * did it is told where that was somebody else of the workspace.
 */
export function mailAccountNotice(
  ctx: Context,
  agent: Pick<AgentRecord, 'id' | 'email' | 'name'>,
  notice: AccountNotice,
): boolean {
  if (notice.atMost !== undefined && !countOne(ctx, agent.id, notice.atMost)) return false;
  const workspace = plainName(theWorkspace(ctx).name);
  const by =
    ctx.caller.kind === 'agent' && ctx.caller.agentId !== agent.id
      ? theRoster(ctx).agents.get(ctx.caller.agentId)
      : undefined;
  const facts = [
    `When: ${ctx.at.slice(0, 16).replace('T', ' ')} UTC`,
    ...(by === undefined ? [] : [`By: ${plainName(by.name)}, ${by.email}`]),
    ...(notice.origin === undefined ? [] : [`From: ${deviceOf(notice.origin.userAgent)}, ${notice.origin.address}`]),
  ];
  const advice =
    notice.advice ??
    'If this was not you, choose a new password with "Forgot it?" on the sign-in page, and tell an admin.';
  return enqueueNotice(ctx, {
    to: agent.email,
    subject: notice.subject,
    text: [`Hello ${plainName(agent.name)},`, notice.text, [`Workspace: ${workspace}`, ...facts].join('\n'), advice]
      .join('\n\n')
      .concat('\n'),
    // Nobody wrote it, so no machine shall answer it (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
  });
}

/** False when there were enough. */
function countOne(
  ctx: Context,
  agentId: string,
  { kind, mails, perMs }: NonNullable<AccountNotice['atMost']>,
): boolean {
  if (countAccountNotices(ctx.db, { agentId, kind, since: isoTime(ctx.nowMs - perMs) }) >= mails) return false;
  insertAccountNotice(ctx.db, { agentId, kind, sentAt: ctx.at });
  return true;
}
