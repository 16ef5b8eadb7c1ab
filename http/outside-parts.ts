// Makes the providers, the storage and the threads that read what comes from outside, as the settings choose them.
// Nothing runs, and no library loads, before first use. Made by composition.ts.

import { join } from 'node:path';
import { bounceLabel } from '../engine/mail/inbound-addresses.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import type { Log } from '../engine/runtime/log.ts';
import { type AttachmentSource, createAttachmentSource } from '../workers/files/attachment-source.ts';
import { createForeignSources } from '../workers/imports/sources.ts';
import { createImportedMails, type ImportedMails } from '../workers/mail/imported-mails.ts';
import { createMailReader, type MailReader } from '../workers/mail/mail-reader.ts';
import { createMailboxReader, type MailboxReader } from '../workers/mail/mailboxes.ts';
import { createNumberingPlan, type NumberingPlan } from '../workers/numbering-plan.ts';
import { stripeBilling } from '../workers/providers/billing-stripe.ts';
import { type Carrier, noCarrier } from '../workers/providers/carrier.ts';
import { simulatedCarrier } from '../workers/providers/carrier-simulated.ts';
import { type ChatModel, chatSilenceMs, createChatModel } from '../workers/providers/chat-model.ts';
import { type Commerce, createCommerce } from '../workers/providers/commerce.ts';
import { type EmailDomainProvider, selfProvider } from '../workers/providers/email-domain.ts';
import { createFetcher } from '../workers/providers/fetcher.ts';
import { dnsResolver, type ResolveHost, systemResolver } from '../workers/providers/host-resolver.ts';
import { type MailSender, outboxSender, smtpSender } from '../workers/providers/mail.ts';
import { createMailAccess } from '../workers/providers/mail-access.ts';
import { mailServers } from '../workers/providers/mail-server.ts';
import type { ObjectStore } from '../workers/providers/objects.ts';
import { withinReserve } from '../workers/providers/objects-reserve.ts';
import { openPlaces, type Places, PlacesUnusable } from '../workers/providers/places.ts';
import { createResolver } from '../workers/providers/resolver.ts';
import { createPushSender, type PushSender } from '../workers/providers/web-push.ts';
import { createWebhookSender, type WebhookSender } from '../workers/providers/webhook-sender.ts';
import { SenderTurns } from '../workers/sender-turns.ts';
import { createKnowledgeParts, type KnowledgeOptions, type KnowledgeParts } from './knowledge-parts.ts';
import { importedBatches } from './limits/imported-batches.ts';
import { type Config, ConfigError } from './process/config.ts';
import { DiskReserve } from './process/disk-reserve.ts';
import type { Services } from './services.ts';
import { createVisitorPlaces } from './visitor-places.ts';

/** What tests replace. */
export interface OutsideOptions extends KnowledgeOptions {
  readonly mail?: MailSender;
  readonly mailReader?: MailReader;
  readonly importedMails?: ImportedMails;
  readonly mailboxReader?: MailboxReader;
  readonly emailDomains?: EmailDomainProvider;
  readonly mailProviders?: Parameters<typeof createMailAccess>[1];
  /** How long a shop may take to answer what it knows of a customer. */
  readonly commerceTimeoutMs?: number;
  /** How long a language model may take for a whole answer. */
  readonly chatModelTimeoutMs?: number;
}

/** Providers, and the threads that read what comes from outside. */
export interface Outside {
  readonly mail: MailSender;
  readonly mailReader: MailReader;
  readonly knowledge: KnowledgeParts;
  readonly attachmentSource: AttachmentSource;
  readonly services: OutsideServices;
}

type OutsideServices = Pick<
  Services,
  | 'carrier'
  | 'numberingPlan'
  | 'embedder'
  | 'retriever'
  | 'crawler'
  | 'models'
  | 'imageSource'
  | 'mailPictures'
  | 'objects'
  | 'disk'
  | 'diskTurns'
  | 'emailDomains'
  | 'names'
  | 'webhookSender'
  | 'pushSender'
  | 'billing'
  | 'commerce'
  | 'foreignSources'
  | 'importTurns'
  | 'importedMails'
  | 'chatModel'
  | 'visitorPlaces'
  | 'sendThrough'
  | 'mailboxReader'
  | 'mailAccess'
>;

/** To one server of language models, from all workspaces. More wait. */
const chatConnections = 16;

/** Rejects with ConfigError. */
export async function outsideOf(
  { config, clock, log, dataDir }: { config: Config; clock: Clock; log: Log; dataDir: string },
  options: OutsideOptions,
): Promise<Outside> {
  const outboxFolder = join(dataDir, 'outbox');
  const knowledge = createKnowledgeParts(config, options);
  const { embedder, retriever, crawler, models, imageSource, mailPictures } = knowledge;
  const disk = new DiskReserve({ folder: dataDir, reserveBytes: config.diskReserveBytes, clock, log });
  const numberingPlan = createNumberingPlan();
  const places = await placesOf(config);
  return {
    mail: options.mail ?? (config.mail.provider === 'smtp' ? smtpSender(config.mail.url) : outboxSender(outboxFolder)),
    mailReader: options.mailReader ?? createMailReader({ dnsServers: config.dnsServers }),
    knowledge,
    attachmentSource: createAttachmentSource(knowledge.fetcher),
    services: {
      embedder,
      retriever,
      crawler,
      models,
      imageSource,
      mailPictures,
      disk,
      diskTurns: knowledge.diskTurns,
      numberingPlan,
      objects: objectsWithin(disk, config, knowledge.objects),
      carrier: await carrierOf(config, { numberingPlan, outboxFolder }),
      emailDomains: options.emailDomains ?? emailDomainsOf(config),
      names: createResolver(config.dnsServers),
      webhookSender: webhookSenderOf(config),
      pushSender: pushSenderOf(config),
      commerce: commerceOf(config, options),
      foreignSources: createForeignSources({
        allowPrivate: config.allowPrivateWebhooks,
        dnsServers: config.dnsServers,
        userAgent: `switchboard (+${config.baseUrl})`,
      }),
      importedMails: options.importedMails ?? createImportedMails({ dnsServers: config.dnsServers }),
      importTurns: new SenderTurns(importedBatches),
      chatModel: chatModelOf(config, options),
      billing: config.billing.provider === 'stripe' ? stripeBilling(config.billing) : undefined,
      sendThrough: mailServers(resolveHostOf(config)),
      mailboxReader: options.mailboxReader ?? createMailboxReader(resolveHostOf(config)),
      mailAccess: createMailAccess(config.mailApps, options.mailProviders),
      visitorPlaces: createVisitorPlaces({ places, countryHeaders: config.geo.countryHeaders }),
    },
  };
}

function emailDomainsOf({ emailDomainProvider, mailHost, dnsServers }: Config): EmailDomainProvider | undefined {
  if (emailDomainProvider === 'none') return undefined;
  return selfProvider({ mailHost, bounceLabel, resolver: createResolver(dnsServers) });
}

/** Files on the disk must leave its reserve free. */
function objectsWithin(
  disk: DiskReserve,
  { storage }: Config,
  objects: ObjectStore | undefined,
): ObjectStore | undefined {
  return objects !== undefined && storage.provider === 'disk' ? withinReserve(objects, () => disk.hasRoom) : objects;
}

function resolveHostOf({ dnsServers }: Config): ResolveHost {
  return dnsServers === undefined ? systemResolver : dnsResolver(dnsServers);
}

function webhookSenderOf({ dnsServers, allowPrivateWebhooks, baseUrl }: Config): WebhookSender {
  return createWebhookSender({
    resolveHost: dnsServers === undefined ? systemResolver : dnsResolver(dnsServers),
    allowPrivate: allowPrivateWebhooks,
    userAgent: `Switchboard-Webhooks (+${baseUrl})`,
  });
}

function pushSenderOf({ dnsServers, allowPrivateWebhooks, baseUrl, mailFrom }: Config): PushSender {
  return createPushSender({
    resolveHost: dnsServers === undefined ? systemResolver : dnsResolver(dnsServers),
    allowPrivate: allowPrivateWebhooks,
    userAgent: `Switchboard-Push (+${baseUrl})`,
    contact: `mailto:${mailFrom}`,
  });
}

/** Loads its library on first use. */
function commerceOf(config: Config, options: OutsideOptions): Commerce {
  const { allowPrivateWebhooks: allowPrivate, dnsServers } = config;
  const fetcher = createFetcher({
    allowPrivate,
    resolveHost: dnsServers === undefined ? systemResolver : dnsResolver(dnsServers),
    userAgent: `switchboard (+${config.baseUrl})`,
  });
  return createCommerce({ fetcher, allowPrivate, timeoutMs: options.commerceTimeoutMs });
}

/** Loads its library on first use. */
function chatModelOf(config: Config, { chatModelTimeoutMs }: OutsideOptions): ChatModel {
  const fetcherTo = (place: { allowPrivate: boolean }) =>
    createFetcher({
      ...place,
      resolveHost: resolveHostOf(config),
      userAgent: `switchboard (+${config.baseUrl})`,
      silenceTimeoutMs: chatSilenceMs,
      connectionsPerOrigin: chatConnections,
    });
  return createChatModel(
    { anywhere: fetcherTo({ allowPrivate: true }), publicOnly: fetcherTo({ allowPrivate: false }) },
    { timeoutMs: chatModelTimeoutMs },
  );
}

/** Rejects with ConfigError. */
async function placesOf({ geo }: Config): Promise<Places | undefined> {
  if (geo.database === undefined) return undefined;
  return openPlaces(geo.database).catch((cause: unknown): never => {
    throw cause instanceof PlacesUnusable ? new ConfigError(`GEO_DB: ${cause.message}`) : cause;
  });
}

async function carrierOf(
  config: Config,
  options: { numberingPlan: NumberingPlan; outboxFolder: string },
): Promise<Carrier> {
  switch (config.carrier.provider) {
    case 'simulated':
      return simulatedCarrier(options);
    case 'twilio': {
      const { twilioCarrier } = await import('../workers/providers/carrier-twilio.ts');
      return twilioCarrier({ ...config.carrier, baseUrl: config.baseUrl, numberingPlan: options.numberingPlan });
    }
    case 'none':
      return noCarrier();
  }
}
