// Registers every deadline's command and every outbox job's handler. Add new timers and jobs here.

import { indexDeadline } from '../store/customers/contacts.ts';
import { rebuildDeadline } from '../store/reports/rebuild.ts';
import { noteFailedOrder } from './calls/carrier-events.ts';
import { ringTimeout } from './calls/unanswered.ts';
import { ringTimeoutDeadline } from './conversations/call.ts';
import {
  type CallOrderItem,
  callOrderKind,
  callOrderRetryDelaysMs,
  type NumberReleaseItem,
  numberReleaseKind,
  numberReleaseRetryDelaysMs,
} from './conversations/carrier-orders.ts';
import { expireAssignment, handshakeDeadline } from './conversations/handshake.ts';
import { drainDeadline, drainOn } from './conversations/routing.ts';
import {
  autoClose,
  autoCloseDeadline,
  continueRescheduling,
  rescheduleClosingsDeadline,
} from './conversations/status.ts';
import { indexOlder } from './customers/contacts.ts';
import { crawlKind, crawlRetryDelaysMs, failCrawl } from './knowledge/crawls.ts';
import { embedKind, embedRetryDelaysMs, sweep, sweepDeadline } from './knowledge/knowledge.ts';
import { type DomainCheck, domainCheckKind, pollDeadline, pollDomain, settleDomainCheck } from './mail/email-domain.ts';
import { keptOfMail, type Mail, mailKind, mailRetryDelaysMs } from './mail/outgoing.ts';
import { disableFailing, settleDelivery, webhookRetryDelaysMs } from './platform/webhook-deliveries.ts';
import { disableDeadline } from './platform/webhooks.ts';
import { rebuildReports } from './rollups.ts';
import type { DeadlineCommands } from './runtime/deadlines.ts';
import type { Delivered, OutboxItem, OutboxKinds } from './runtime/outbox.ts';
import { clearDeadline, clearDepartment } from './team/departments.ts';
import { awayDeadline, goAway } from './team/presence.ts';
import { returnConversations, returnDeadline } from './team/returning.ts';
import { type AttachmentCopy, copyKind, copyRetryDelaysMs, settleCopy } from './tickets/attachment-copies.ts';
import { settleMail } from './tickets/delivery.ts';
import { type CodeToSend, codeKind, codeRetryDelaysMs, keptOfCode, settleCode } from './verification/delivery.ts';
import { webhookDeliveryKind } from './webhook-feed.ts';
import { endPeriod, periodDeadline } from './workspace/billing.ts';
import { maintain, maintenanceDeadline } from './workspace/maintenance.ts';
import { expireUpload, removeObjectKind, removeObjectRetryDelaysMs, uploadDeadline } from './workspace/uploads.ts';

export const deadlineCommands: DeadlineCommands = {
  [awayDeadline]: goAway,
  [handshakeDeadline]: expireAssignment,
  [autoCloseDeadline]: autoClose,
  [rescheduleClosingsDeadline]: continueRescheduling,
  [clearDeadline]: clearDepartment,
  [drainDeadline]: drainOn,
  [indexDeadline]: indexOlder,
  [maintenanceDeadline]: maintain,
  [pollDeadline]: pollDomain,
  [rebuildDeadline]: rebuildReports,
  [returnDeadline]: returnConversations,
  [ringTimeoutDeadline]: ringTimeout,
  [sweepDeadline]: sweep,
  [uploadDeadline]: expireUpload,
  [disableDeadline]: disableFailing,
  [periodDeadline]: endPeriod,
};

/**
 * Ports through which outbox jobs reach the outside. Each resolves to the other side's answer, and rejects with
 * DeliveryError or any other error to be retried.
 */
export interface OutsidePorts {
  sendMail(item: { workspaceId: string; id: string; mail: Mail }): Promise<string>;
  /** Resolves to DomainFindings as JSON. */
  checkEmailDomain(item: { workspaceId: string; check: DomainCheck }): Promise<string>;
  copyAttachment(copy: AttachmentCopy): Promise<string>;
  steerCall(item: CallOrderItem): Promise<string>;
  releaseNumber(item: NumberReleaseItem): Promise<string>;
  /** The rejection's message is shown to the person who requested the crawl. */
  crawl(item: { workspaceId: string; jobId: string }): Promise<string>;
  embed(item: { workspaceId: string }): Promise<string>;
  removeObject(item: { key: string }): Promise<string>;
  sendWebhook(item: OutboxItem): Promise<Delivered>;
  sendCode(item: { workspaceId: string; id: string; verificationId: string; code: CodeToSend }): Promise<string>;
}

export const outboxKindNames: readonly string[] = [
  mailKind,
  callOrderKind,
  numberReleaseKind,
  copyKind,
  domainCheckKind,
  crawlKind,
  embedKind,
  removeObjectKind,
  webhookDeliveryKind,
  codeKind,
];

/** Across all workspaces. Each occupies a site, a page reader and an embedder. */
const crawlsAtOnce = 2;
const embeddingsAtOnce = 2;

/** Only the command that enqueues a kind writes its payload, which makes these casts safe. */
export function outboxKinds(ports: OutsidePorts): OutboxKinds {
  return {
    [mailKind]: {
      retryDelaysMs: mailRetryDelaysMs,
      deliver: ({ workspaceId, id, payload }) => ports.sendMail({ workspaceId, id, mail: payload as Mail }),
      settled: settleMail,
      kept: (payload, state) => keptOfMail(payload as Mail, state),
    },
    [domainCheckKind]: {
      // The poll's own deadline retries.
      retryDelaysMs: [],
      deliver: ({ workspaceId, payload }) => ports.checkEmailDomain({ workspaceId, check: payload as DomainCheck }),
      settled: settleDomainCheck,
    },
    [copyKind]: {
      retryDelaysMs: copyRetryDelaysMs,
      deliver: ({ payload }) => ports.copyAttachment(payload as AttachmentCopy),
      settled: settleCopy,
    },
    [callOrderKind]: {
      retryDelaysMs: callOrderRetryDelaysMs,
      deliver: (item) => ports.steerCall(item.payload as CallOrderItem),
      settled: noteFailedOrder,
    },
    [numberReleaseKind]: {
      retryDelaysMs: numberReleaseRetryDelaysMs,
      deliver: (item) => ports.releaseNumber(item.payload as NumberReleaseItem),
    },
    [crawlKind]: {
      retryDelaysMs: crawlRetryDelaysMs,
      maxUnderWay: crawlsAtOnce,
      deliver: (item) => ports.crawl({ workspaceId: item.workspaceId, jobId: item.subjectId ?? '' }),
      settled(ctx, item, outcome) {
        if (outcome.state !== 'sent') failCrawl(ctx, item.subjectId ?? '', outcome.answer);
      },
    },
    [embedKind]: {
      retryDelaysMs: embedRetryDelaysMs,
      maxUnderWay: embeddingsAtOnce,
      deliver: (item) => ports.embed({ workspaceId: item.workspaceId }),
    },
    [removeObjectKind]: {
      retryDelaysMs: removeObjectRetryDelaysMs,
      // Only expireUpload() writes it.
      deliver: (item) => ports.removeObject(item.payload as { key: string }),
    },
    [webhookDeliveryKind]: {
      retryDelaysMs: webhookRetryDelaysMs,
      isApart: true,
      deliver: (item) => ports.sendWebhook(item),
      settled: settleDelivery,
    },
    [codeKind]: {
      retryDelaysMs: codeRetryDelaysMs,
      // Only enqueueCode() writes it.
      deliver: (item) =>
        ports.sendCode({
          workspaceId: item.workspaceId,
          id: item.id,
          verificationId: item.subjectId ?? '',
          code: item.payload as CodeToSend,
        }),
      settled: settleCode,
      kept: (payload) => keptOfCode(payload as CodeToSend),
    },
  };
}
