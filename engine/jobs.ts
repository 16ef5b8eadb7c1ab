// Registers every deadline's command and every outbox job's handler. Add new timers and jobs here.

import { answerKind, handoverSummaryKind, restChat, restDeadline, settleAnswer } from './assistant/answering.ts';
import { noteFailedOrder } from './calls/carrier-events.ts';
import { ringTimeout } from './calls/unanswered.ts';
import { ringTimeoutDeadline } from './conversations/call.ts';
import {
  type CallOrderItem,
  callOrderKind,
  type NumberReleaseItem,
  numberReleaseKind,
} from './conversations/carrier-orders.ts';
import { expireAssignment, handshakeDeadline } from './conversations/handshake.ts';
import {
  callNoticeDeadline,
  givenNoticeDeadline,
  messageNoticeDeadline,
  offerNoticeDeadline,
} from './conversations/notices.ts';
import { drainDeadline, drainOn } from './conversations/routing.ts';
import {
  autoClose,
  autoCloseDeadline,
  continueRescheduling,
  rescheduleClosingsDeadline,
  wakeConversation,
  wakeDeadline,
} from './conversations/status.ts';
import { rescheduleUnreachableDeadline, unreachableDeadline } from './conversations/unreachable.ts';
import { continueUnseen, rescheduleUnseenDeadline, unseenDeadline } from './conversations/unseen.ts';
import { contactsDeadline, indexOlder } from './customers/contacts.ts';
import { continueUnreachable, noteUnreachable } from './customers/reach.ts';
import { importCopyKind } from './imports/conversation-import.ts';
import {
  clearImportKind,
  expireImport,
  failImport,
  importDeadline,
  importKind,
  settleImportCopy,
} from './imports/jobs.ts';
import { crawlKind, failCrawl } from './knowledge/crawls.ts';
import { embedKind, sweep, sweepDeadline } from './knowledge/knowledge.ts';
import { type DomainCheck, domainCheckKind, pollDeadline, pollDomain, settleDomainCheck } from './mail/email-domain.ts';
import { checkMailbox, mailboxDeadline, mailboxKind, settleMailbox } from './mail/mailboxes.ts';
import { type Mail, mailKind } from './mail/outgoing.ts';
import { disableFailing, settleDelivery } from './platform/webhook-outcomes.ts';
import { disableDeadline } from './platform/webhooks.ts';
import { rebuildReports, reportsDeadline } from './rollups.ts';
import type { DeadlineCommand, DeadlineCommands } from './runtime/deadlines.ts';
import type { Deadline, OutboxKind } from './runtime/kinds.ts';
import type { Delivered, OutboxItem, OutboxJob, OutboxJobs } from './runtime/outbox.ts';
import { clearDeadline, clearDepartment } from './team/departments.ts';
import {
  mailUnseen,
  noticeCall,
  noticeGiven,
  noticeMailDeadline,
  noticeMessage,
  noticeOffer,
  type Push,
  pushKind,
  settlePush,
} from './team/notifying.ts';
import { awayDeadline, goAway } from './team/presence.ts';
import { returnConversations, returnDeadline } from './team/returning.ts';
import { type AttachmentCopy, copyKind, settleCopy } from './tickets/attachment-copies.ts';
import { mailUnseenAnswers } from './tickets/chat-mail.ts';
import { settleMail } from './tickets/delivery.ts';
import { draftKind, settleDraft } from './tickets/drafts.ts';
import { type CodeToSend, codeKind, settleCode } from './verification/delivery.ts';
import { webhookDeliveryKind } from './webhook-deliveries.ts';
import { endPeriod, periodDeadline } from './workspace/billing.ts';
import { maintain, maintenanceDeadline } from './workspace/maintenance.ts';
import { shortenDeadline, shortenEvents } from './workspace/short-events.ts';
import { expireUpload, removeObjectKind, uploadDeadline } from './workspace/uploads.ts';

const deadlines: readonly (readonly [Deadline, DeadlineCommand])[] = [
  [awayDeadline, goAway],
  [handshakeDeadline, expireAssignment],
  [autoCloseDeadline, autoClose],
  [wakeDeadline, wakeConversation],
  [rescheduleClosingsDeadline, continueRescheduling],
  [restDeadline, restChat],
  [unreachableDeadline, noteUnreachable],
  [rescheduleUnreachableDeadline, continueUnreachable],
  [unseenDeadline, mailUnseenAnswers],
  [rescheduleUnseenDeadline, continueUnseen],
  [clearDeadline, clearDepartment],
  [drainDeadline, drainOn],
  [contactsDeadline, indexOlder],
  [maintenanceDeadline, maintain],
  [messageNoticeDeadline, noticeMessage],
  [offerNoticeDeadline, noticeOffer],
  [givenNoticeDeadline, noticeGiven],
  [callNoticeDeadline, noticeCall],
  [noticeMailDeadline, mailUnseen],
  [mailboxDeadline, checkMailbox],
  [importDeadline, expireImport],
  [pollDeadline, pollDomain],
  [reportsDeadline, rebuildReports],
  [returnDeadline, returnConversations],
  [ringTimeoutDeadline, ringTimeout],
  [shortenDeadline, shortenEvents],
  [sweepDeadline, sweep],
  [uploadDeadline, expireUpload],
  [disableDeadline, disableFailing],
  [periodDeadline, endPeriod],
];

export const deadlineCommands: DeadlineCommands = Object.fromEntries(
  deadlines.map(([{ deadlineKind }, command]) => [deadlineKind, command]),
);

/**
 * Ports through which outbox jobs reach the outside. Each resolves to the other side's answer, and rejects with
 * DeliveryError or any other error to be retried.
 */
export interface OutsidePorts {
  sendMail(item: { workspaceId: string; id: string; mail: Mail }): Promise<string>;
  /** Sends a mail that an agent scheduled. */
  sendDraft(item: { workspaceId: string; draftId: string }): Promise<string>;
  /** Brings in the mail of a mailbox. Resolves to `moreMail` if there is more than one check takes. */
  checkMailbox(item: { workspaceId: string; mailboxId: string; signal: AbortSignal }): Promise<string>;
  /** Resolves to DomainFindings as JSON. */
  checkEmailDomain(item: { workspaceId: string; check: DomainCheck }): Promise<string>;
  /** With the size as the detail. */
  copyAttachment(copy: AttachmentCopy): Promise<Delivered>;
  /** Also waits for the workspace's budget of uploads. */
  copyImported(item: { workspaceId: string; copy: AttachmentCopy }): Promise<Delivered>;
  steerCall(item: CallOrderItem): Promise<string>;
  releaseNumber(item: NumberReleaseItem): Promise<string>;
  /** The rejection's message is shown to the person who requested the crawl. */
  crawl(item: { workspaceId: string; jobId: string; signal: AbortSignal }): Promise<string>;
  embed(item: { workspaceId: string; signal: AbortSignal }): Promise<string>;
  /** Moves conversations in, some minutes of them. The rejection's message is shown to the admin who started it. */
  runImport(item: { workspaceId: string; importId: string; outboxId: string; signal: AbortSignal }): Promise<string>;
  /** Deletes the file of an import. */
  clearImport(item: { workspaceId: string; importId: string }): Promise<string>;
  removeObject(item: { key: string }): Promise<string>;
  sendWebhook(item: OutboxItem): Promise<Delivered>;
  /** Rejects with DeliveryError `subscriptionGone` if the browser no longer has the subscription. */
  sendPush(item: OutboxItem<Push>): Promise<string>;
  /** Answers a customer's message, or hands the chat over. */
  answerCustomer(item: {
    workspaceId: string;
    id: string;
    conversationId: string;
    messageId: string;
    createdAt: string;
  }): Promise<string>;
  /** Writes what a chat was about that the assistant handed over. */
  summariseHandover(item: { workspaceId: string; conversationId: string }): Promise<string>;
  sendCode(item: { workspaceId: string; id: string; verificationId: string; code: CodeToSend }): Promise<string>;
}

/** Builds the job of a kind, once the ports to the outside are known. */
interface JobMaker {
  readonly name: string;
  make(ports: OutsidePorts): OutboxJob;
}

function job<Payload extends object>(
  kind: OutboxKind<Payload>,
  does: Pick<OutboxJob<NoInfer<Payload>>, 'settled'> & {
    deliver(item: OutboxItem<NoInfer<Payload>>, ports: OutsidePorts): ReturnType<OutboxJob['deliver']>;
  },
): JobMaker {
  const { name, ...rules } = kind;
  const { deliver, ...rest } = does;
  return {
    name,
    make: (ports): OutboxJob<Payload> => ({ ...rules, ...rest, deliver: (item) => deliver(item, ports) }),
  };
}

const jobs: readonly JobMaker[] = [
  job(mailKind, {
    deliver: ({ workspaceId, id, payload }, ports) => ports.sendMail({ workspaceId, id, mail: payload }),
    settled: settleMail,
  }),
  job(draftKind, {
    deliver: ({ workspaceId, subjectId }, ports) => ports.sendDraft({ workspaceId, draftId: subjectId ?? '' }),
    settled: settleDraft,
  }),
  job(mailboxKind, {
    deliver: ({ workspaceId, subjectId, signal }, ports) =>
      ports.checkMailbox({ workspaceId, mailboxId: subjectId ?? '', signal }),
    settled: settleMailbox,
  }),
  job(domainCheckKind, {
    deliver: ({ workspaceId, payload }, ports) => ports.checkEmailDomain({ workspaceId, check: payload }),
    settled: settleDomainCheck,
  }),
  job(copyKind, { deliver: ({ payload }, ports) => ports.copyAttachment(payload), settled: settleCopy }),
  job(callOrderKind, { deliver: ({ payload }, ports) => ports.steerCall(payload), settled: noteFailedOrder }),
  job(numberReleaseKind, { deliver: ({ payload }, ports) => ports.releaseNumber(payload) }),
  job(crawlKind, {
    deliver: ({ workspaceId, subjectId, signal }, ports) =>
      ports.crawl({ workspaceId, jobId: subjectId ?? '', signal }),
    settled(ctx, item, outcome) {
      if (outcome.state !== 'sent') failCrawl(ctx, item.subjectId ?? '', outcome.answer);
    },
  }),
  job(embedKind, { deliver: ({ workspaceId, signal }, ports) => ports.embed({ workspaceId, signal }) }),
  job(importCopyKind, {
    deliver: ({ workspaceId, payload }, ports) => ports.copyImported({ workspaceId, copy: payload }),
    settled: settleImportCopy,
  }),
  job(importKind, {
    deliver: ({ workspaceId, id, subjectId, signal }, ports) =>
      ports.runImport({ workspaceId, importId: subjectId ?? '', outboxId: id, signal }),
    settled(ctx, item, outcome) {
      if (outcome.state !== 'sent')
        failImport(ctx, { importId: item.subjectId ?? '', outboxId: item.id }, outcome.answer);
    },
  }),
  job(clearImportKind, {
    deliver: ({ workspaceId, subjectId }, ports) => ports.clearImport({ workspaceId, importId: subjectId ?? '' }),
  }),
  job(removeObjectKind, { deliver: ({ payload }, ports) => ports.removeObject(payload) }),
  job(webhookDeliveryKind, { deliver: (item, ports) => ports.sendWebhook(item), settled: settleDelivery }),
  job(pushKind, { deliver: (item, ports) => ports.sendPush(item), settled: settlePush }),
  job(answerKind, {
    deliver: ({ subjectId, payload, ...item }, ports) =>
      ports.answerCustomer({ ...item, conversationId: subjectId ?? '', messageId: payload.messageId }),
    settled: settleAnswer,
  }),
  job(handoverSummaryKind, {
    deliver: ({ workspaceId, subjectId }, ports) =>
      ports.summariseHandover({ workspaceId, conversationId: subjectId ?? '' }),
  }),
  job(codeKind, {
    deliver: ({ workspaceId, id, subjectId, payload }, ports) =>
      ports.sendCode({ workspaceId, id, verificationId: subjectId ?? '', code: payload }),
    settled: settleCode,
  }),
];

export const outboxKindNames: readonly string[] = jobs.map(({ name }) => name);

export function outboxJobs(ports: OutsidePorts): OutboxJobs {
  return Object.fromEntries(jobs.map(({ name, make }) => [name, make(ports)]));
}
