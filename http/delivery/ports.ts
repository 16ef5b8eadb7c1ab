// The ports through which outbox jobs reach the outside: mail servers, the carrier, storage, DNS and customers' own
// servers. Says which failures are permanent. Made by http/composition.ts.

import { Readable } from 'node:stream';
import type { Directory } from '../../engine/directory/directory.ts';
import { Refusal } from '../../engine/errors.ts';
import type { Imports } from '../../engine/imports/running.ts';
import type { OutsidePorts } from '../../engine/jobs.ts';
import type { Ingestion } from '../../engine/knowledge/ingestion.ts';
import { type DomainFindings, isRequired } from '../../engine/mail/email-domain.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { DeliveryError } from '../../engine/runtime/outbox.ts';
import { addressRefused } from '../../engine/tickets/delivery.ts';
import { sendDueDraft } from '../../engine/tickets/drafts.ts';
import { type CodePorts, sendCode } from '../../engine/verification/codes.ts';
import { hasUploadBudget } from '../../engine/workspace/uploads.ts';
import { Refused } from '../../workers/failures.ts';
import type { AttachmentSource } from '../../workers/files/attachment-source.ts';
import type { Carrier } from '../../workers/providers/carrier.ts';
import type { EmailDomainProvider } from '../../workers/providers/email-domain.ts';
import type { ObjectStore } from '../../workers/providers/objects.ts';
import type { SecretBox } from '../../workers/secrets/secret-box.ts';
import { type OutgoingMailPorts, sendQueuedMail } from './mail-out.ts';
import type { Mailboxes } from './mailboxes.ts';

export interface OutsideParts {
  /** These four are made after the ports, with the engine that runs the jobs. */
  mail(): OutgoingMailPorts;
  ingestion(): Ingestion;
  mailboxes(): Mailboxes;
  imports(): Imports;
  readonly clock: Clock;
  readonly secrets: SecretBox;
  readonly directory: Directory;
  readonly emailDomains: EmailDomainProvider | undefined;
  readonly objects: ObjectStore | undefined;
  readonly attachmentSource: AttachmentSource;
  readonly carrier: Carrier;
  readonly sendWebhook: OutsidePorts['sendWebhook'];
  readonly sendPush: OutsidePorts['sendPush'];
  readonly answerCustomer: OutsidePorts['answerCustomer'];
  readonly summariseHandover: OutsidePorts['summariseHandover'];
}

export function outsidePorts(parts: OutsideParts): OutsidePorts {
  const { carrier, objects } = parts;
  const sendMail: OutsidePorts['sendMail'] = (item) => sendQueuedMail(parts.mail(), item).catch(asDeliveryError);
  const codePorts: CodePorts = {
    secrets: parts.secrets,
    clock: parts.clock,
    mail: ({ workspaceId, id, ...mail }) => sendMail({ workspaceId, id, mail }),
    text: (sms) => carrier.sendSms(sms).catch(asDeliveryError),
    speak: (message) => carrier.speak(message).catch(asDeliveryError),
  };
  const copyAttachment: OutsidePorts['copyAttachment'] = async ({ key, sourceUrl, contentType }) => {
    if (objects === undefined) throw new DeliveryError('no storage for files is configured', { permanent: true });
    const content = await parts.attachmentSource.fetch(sourceUrl).catch(asDeliveryError);
    await objects.put(key, { contentType, size: content.length }, Readable.from([content]));
    return { answer: key, detail: String(content.length) };
  };
  return {
    sendMail,
    sendDraft: ({ workspaceId, draftId }) =>
      parts
        .mail()
        .engine.execute(sendDueDraft, { workspaceId, caller: systemCaller, params: { draftId } })
        .catch(asDeliveryError),
    checkMailbox: (item) => parts.mailboxes().check(item),
    checkEmailDomain: (item) => checkEmailDomain(parts, item),
    copyAttachment,
    async copyImported({ workspaceId, copy }) {
      const view = parts.mail().engine.workspace(workspaceId)?.view(systemCaller);
      if (view !== undefined && !hasUploadBudget(view))
        throw new DeliveryError('too much was uploaded in a day', { permanent: false });
      return copyAttachment(copy);
    },
    steerCall: ({ provider, call, order }) => byItsCarrier(carrier, provider, () => carrier.steer(call, order)),
    releaseNumber: ({ provider, providerDidId }) =>
      byItsCarrier(carrier, provider, () => carrier.release(providerDidId)),
    crawl: (item) => parts.ingestion().crawl(item),
    embed: (item) => parts.ingestion().embed(item),
    runImport: (item) => parts.imports().run(item),
    clearImport: ({ workspaceId, importId }) => parts.imports().clear(workspaceId, importId),
    async removeObject({ key }) {
      await objects?.remove(key);
      return key;
    },
    sendWebhook: parts.sendWebhook,
    sendPush: parts.sendPush,
    answerCustomer: parts.answerCustomer,
    summariseHandover: parts.summariseHandover,
    sendCode: (item) => sendCode(codePorts, item),
  };
}

/** Looks up the records; once the required ones are found, claims the domain for the workspace. */
async function checkEmailDomain(
  { emailDomains, directory }: OutsideParts,
  { workspaceId, check }: Parameters<OutsidePorts['checkEmailDomain']>[0],
): Promise<string> {
  if (emailDomains === undefined)
    throw new DeliveryError('no provider for email domains is configured', { permanent: true });
  const stands = await emailDomains.check(check.records);
  const isOurs =
    check.records.every((record, index) => stands[index] === true || !isRequired(record)) &&
    (await directory.claimDomain({ name: check.name, workspaceId }));
  return JSON.stringify({ stands, isOurs } satisfies DomainFindings);
}

/** A job that was queued for one carrier cannot be done by another. */
async function byItsCarrier(carrier: Carrier, provider: string, work: () => Promise<string>): Promise<string> {
  if (provider !== carrier.provider)
    throw new DeliveryError(`the number belongs to ${provider}, and the carrier is now ${carrier.provider}`, {
      permanent: true,
    });
  return work().catch(asDeliveryError);
}

/** A permanent refusal, ours or another's, in the outbox's form. */
function asDeliveryError(error: unknown): never {
  if (error instanceof Refusal) {
    const { message, retryAfter } = error;
    throw new DeliveryError(
      message,
      retryAfter === undefined ? { permanent: true } : { permanent: false, retryAfterMs: retryAfter * 1000 },
    );
  }
  if (!(error instanceof Refused)) throw error;
  const code = error.isAddress ? addressRefused : undefined;
  throw new DeliveryError(error.message, { permanent: true, code, cause: error });
}
