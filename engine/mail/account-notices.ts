// Security mails to agents about their own account: a changed password, address, key or app. They are queued in the
// same transaction as the change, so they never report one that did not happen. They contain no link and no secret: the
// reader signs in where they always do. Sent by every command that changes who can act as an agent.

import { countAccountNotices, insertAccountNotice } from '../../store/workspace/account-notices.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { deviceOf } from '../devices.ts';
import { plainName } from '../lines.ts';
import { isoTime } from '../runtime/clock.ts';
import type { Context } from '../runtime/context.ts';
import { theRoster } from '../workspace/roster.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { enqueueNotice } from './outgoing.ts';

/** Where a request came from, as far as known. */
export interface Origin {
  readonly address: string;
  readonly userAgent: string | null;
}

export interface AccountNotice {
  /** One line, such as "Your password was changed". */
  readonly subject: string;
  /** What happened and its consequences, in whole sentences. */
  readonly text: string;
  readonly origin?: Origin | undefined;
  /** What to do if it was not intended, if not choosing a new password. */
  readonly advice?: string;
  /**
   * Limits mails that an attacker, with or without the password, could cause at will: at most `mails` of a kind per
   * `perMs`.
   */
  readonly atMost?: { readonly kind: string; readonly mails: number; readonly perMs: number };
}

/**
 * Queues the mail. Returns false if the limit for its kind is reached. `agent` may still have its former address. The
 * mail names who made the change if it was another agent.
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
    // Generated, so machines must not answer it (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
  });
}

/** Returns false if the limit is reached. */
function countOne(
  ctx: Context,
  agentId: string,
  { kind, mails, perMs }: NonNullable<AccountNotice['atMost']>,
): boolean {
  if (countAccountNotices(ctx.db, { agentId, kind, since: isoTime(ctx.nowMs - perMs) }) >= mails) return false;
  insertAccountNotice(ctx.db, { agentId, kind, sentAt: ctx.at });
  return true;
}
