// Deletes expired data once a day, a page at a time: old events, settled outbox items, old audit entries. Specification
// 8, decisions 6.

import { deleteAiRequestsBefore } from '../../store/assistant/ai-requests.ts';
import { deleteExpiredOAuth } from '../../store/platform/oauth-grants.ts';
import { deleteSettledDeliveries } from '../../store/platform/webhook-deliveries.ts';
import { expireAudit } from '../../store/runtime/audit.ts';
import { deleteEventsBefore } from '../../store/runtime/events.ts';
import { deleteSettledOutbox } from '../../store/runtime/outbox.ts';
import { deleteVerificationsBefore } from '../../store/verification/verifications.ts';
import { deleteAccountNoticesBefore } from '../../store/workspace/account-notices.ts';
import { deleteExpiredAgentSessions } from '../../store/workspace/agent-sessions.ts';
import { deleteKnownOriginsBefore } from '../../store/workspace/known-origins.ts';
import { deleteOneTimeTokensBefore } from '../../store/workspace/one-time-tokens.ts';
import { deleteBillingEventsBefore } from '../../store/workspace/subscriptions.ts';
import { deleteTalliesBefore } from '../../store/workspace/tallies.ts';
import {
  accountNoticesKeptMs,
  aiRequestsKeptMs,
  auditKeptMs,
  auditTombstoneMs,
  billingEventsKeptMs,
  eventsKeptMs,
  knownBrowserMs,
  outboxKeptMs,
  verificationsKeptMs,
} from '../constants.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import { deadline } from '../runtime/kinds.ts';
import { planOf } from './entitlements.ts';

export const maintenanceDeadline = deadline('workspace.maintain');

/** Daily, starting when the workspace is created. */
export const maintenanceMs = 24 * 3600_000;
/** Rows deleted per transaction. The next page follows a second later. */
const pageSize = 1000;
const nextPageMs = 1000;

export const maintain = command('workspace.maintain', (ctx, params: DeadlineParams): void => {
  const before = (ms: number): string => isoTime(ctx.nowMs - ms);
  const events = deleteEventsBefore(ctx.db, before(eventsKeptMs), pageSize);
  const outbox = deleteSettledOutbox(ctx.db, before(outboxKeptMs), pageSize);
  const deliveries = deleteSettledDeliveries(ctx.db, before(outboxKeptMs), pageSize);
  const audit = planOf(ctx).keepsAudit
    ? 0
    : expireAudit(
        ctx.db,
        { now: ctx.at, olderThan: before(auditKeptMs), hiddenBefore: before(auditTombstoneMs) },
        pageSize,
      );
  deleteBillingEventsBefore(ctx.db, before(billingEventsKeptMs));
  deleteOneTimeTokensBefore(ctx.db, before(auditKeptMs));
  const verifications = deleteVerificationsBefore(ctx.db, before(verificationsKeptMs), pageSize);
  const tokens = deleteExpiredOAuth(ctx.db, before(maintenanceMs), pageSize);
  const tallies = deleteTalliesBefore(ctx.db, ctx.at, pageSize);
  const sessions = deleteExpiredAgentSessions(ctx.db, before(maintenanceMs), pageSize);
  const origins = deleteKnownOriginsBefore(ctx.db, before(knownBrowserMs), pageSize);
  const asked = deleteAiRequestsBefore(ctx.db, before(aiRequestsKeptMs), pageSize);
  deleteAccountNoticesBefore(ctx.db, before(accountNoticesKeptMs));
  const isMore = [events, outbox, deliveries, audit, verifications, tokens, tallies, sessions, origins, asked].includes(
    pageSize,
  );
  ctx.setDeadline(maintenanceDeadline, params.subjectId, ctx.nowMs + (isMore ? nextPageMs : maintenanceMs));
});
