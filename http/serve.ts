// The composition: every part made once, handed to those that use it, started in order and stopped in the opposite one.
// Tests start the service here with a clock, a random source or ports of their own; http/main.ts starts it from the
// environment.

import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { giveBackOrphans, sweepNumberPlaces } from '../engine/calls/number-claims.ts';
import { Directory, type WorkspaceFiles } from '../engine/directory/directory.ts';
import { deadlineCommands, outboxJobs } from '../engine/jobs.ts';
import { Ingestion } from '../engine/knowledge/ingestion.ts';
import { type DomainFindings, isRequired } from '../engine/mail/email-domain.ts';
import { bounceLabel } from '../engine/mail/inbound-addresses.ts';
import { hostOf } from '../engine/mail-addresses.ts';
import { Checkpoints } from '../engine/runtime/checkpoints.ts';
import { type Clock, systemClock } from '../engine/runtime/clock.ts';
import { Engine } from '../engine/runtime/engine.ts';
import { createIds, type FillRandom } from '../engine/runtime/ids.ts';
import type { Log } from '../engine/runtime/log.ts';
import { DeliveryError, isLastAttempt, type OutboxItem, type OutboxJobs } from '../engine/runtime/outbox.ts';
import { type SliceLengths, Slices } from '../engine/runtime/slices.ts';
import { Turns } from '../engine/runtime/turns.ts';
import type { Workspace } from '../engine/runtime/workspace.ts';
import { addressRefused } from '../engine/tickets/delivery.ts';
import { isActive } from '../engine/workspace/roster.ts';
import type { SyncToDisk } from '../store/database.ts';
import type { Glance } from '../store/glance.ts';
import { oldestQueuedOutboxAt } from '../store/runtime/outbox.ts';
import { allAgents } from '../store/workspace/agents.ts';
import { findWorkspace } from '../store/workspace/workspaces.ts';
import { bundleForBrowsers, bundlePages } from '../workers/browser-bundler.ts';
import { type Checkpointer, createCheckpointer } from '../workers/checkpointer.ts';
import { apexDomain } from '../workers/domain-names.ts';
import { AttachmentRefused, createAttachmentSource } from '../workers/files/attachment-source.ts';
import { recognise } from '../workers/files/file-types.ts';
import { createMailReader, type MailReader } from '../workers/mail/mail-reader.ts';
import { createNumberingPlan, type NumberingPlan } from '../workers/numbering-plan.ts';
import { programVersion, readProgramFile } from '../workers/program-files.ts';
import { stripeBilling } from '../workers/providers/billing-stripe.ts';
import { type Carrier, CarrierRefused, noCarrier } from '../workers/providers/carrier.ts';
import { simulatedCarrier } from '../workers/providers/carrier-simulated.ts';
import { type Commerce, createCommerce } from '../workers/providers/commerce.ts';
import { type EmailDomainProvider, selfProvider } from '../workers/providers/email-domain.ts';
import { createFetcher } from '../workers/providers/fetcher.ts';
import { dnsResolver, systemResolver } from '../workers/providers/host-resolver.ts';
import { MailRefused, type MailSender, outboxSender, smtpSender } from '../workers/providers/mail.ts';
import { withinReserve } from '../workers/providers/objects-reserve.ts';
import { openPlaces, type Places, PlacesUnusable } from '../workers/providers/places.ts';
import { createResolver } from '../workers/providers/resolver.ts';
import { CannotTakeMail, listenForMail, MailNotTaken, type SmtpListener } from '../workers/providers/smtp-listener.ts';
import { createWebhookSender } from '../workers/providers/webhook-sender.ts';
import { createReader, type Reader } from '../workers/reader/reader.ts';
import { createAccessTokens } from '../workers/secrets/access-tokens.ts';
import { createPasskeys } from '../workers/secrets/passkeys.ts';
import { createPasswordHasher } from '../workers/secrets/password-hasher.ts';
import { createPasswordStrength } from '../workers/secrets/password-strength.ts';
import { createSecretBox } from '../workers/secrets/secret-box.ts';
import { createTotp } from '../workers/secrets/totp.ts';
import { createPageFiles, type PageFiles } from './browser/page-files.ts';
import { createWidgetFiles, type WidgetFiles } from './browser/widget-files.ts';
import { sendCode } from './delivery/codes.ts';
import { createInboundMail, UnacceptableMail } from './delivery/mail-in.ts';
import { hostKeyOf, sendQueuedMail, workspaceOfReturnPath } from './delivery/mail-out.ts';
import { createOperatorMailbox } from './delivery/operator-mailbox.ts';
import { CertificateUnusable } from './edge/certificate.ts';
import { reachableHost, urlAt } from './edge/listening.ts';
import { Server } from './edge/server.ts';
import { createKnowledgeParts, type KnowledgeOptions, type KnowledgeParts } from './knowledge-parts.ts';
import { networkOf } from './limits/network-address.ts';
import { SignInGuard } from './limits/sign-in-guard.ts';
import { createSmtpBudget } from './limits/smtp-budget.ts';
import { Pipeline } from './pipeline/pipeline.ts';
import { type Config, ConfigError, ceilingsOf } from './process/config.ts';
import { takeDataFolder } from './process/data-folder.ts';
import { DiskReserve } from './process/disk-reserve.ts';
import { FolderFaults, requireDirectory, requireKnown } from './process/folder-faults.ts';
import { type FolderKeys, takeKeys } from './process/folder-keys.ts';
import { createLog } from './process/log.ts';
import { LogThrottle } from './process/log-throttle.ts';
import { createMetrics, type Metrics } from './process/metrics.ts';
import { StorageWatch } from './process/storage-watch.ts';
import type { Route } from './route.ts';
import { systemRoutes } from './routes/system.ts';
import { apiRoutes } from './routes.ts';
import type { Services } from './services.ts';
import { createExportLinks } from './signed/export-links.ts';
import { createRegistrationCodes } from './signed/registration-codes.ts';
import { SignInSteps } from './signed/sign-in-steps.ts';
import { createUploadLinks } from './signed/upload-links.ts';
import { createVisitorTokens } from './signed/visitor-tokens.ts';
import { Sockets } from './sockets/sockets.ts';
import { createVisitorPlaces } from './visitor-places.ts';
import { sendWebhook } from './webhooks/sending.ts';

export interface ServeOptions extends KnowledgeOptions {
  readonly config: Config;
  readonly log?: Log;
  readonly clock?: Clock;
  readonly fillRandom?: FillRandom;
  readonly random?: () => number;
  readonly syncToDisk?: SyncToDisk;
  readonly mail?: MailSender;
  readonly checkpointer?: Checkpointer;
  readonly reader?: Reader;
  /** Frames of 4 KiB in a log before it is copied back. */
  readonly logFrameLimit?: number;
  readonly sliceLengths?: SliceLengths;
  readonly emailDomains?: EmailDomainProvider;
  /** Hold every reply against its declaration. For tests. */
  readonly checkReplies?: boolean;
  readonly bodyTimeoutMs?: number;
  /** How long a shop may take to say what it knows of a customer. */
  readonly commerceTimeoutMs?: number;
  readonly stallTimeoutMs?: number;
  /** `npm run dev` bundles them again after each change. */
  readonly pageFiles?: PageFiles;
  readonly widgetFiles?: WidgetFiles;
  /** The disk refused to sync; ends the process unless a test stands in. */
  readonly onSyncFailed?: (error: Error) => void;
}

export interface Running {
  readonly port: number;
  /** http://host:port of the listener. */
  readonly url: string;
  /** Of the SMTP listener, where there is one. */
  readonly smtpPort: number | undefined;
  readonly services: Services;
  readonly routes: readonly Route[];
  /**
   * Reads the certificates' files, of the edge and of SMTP, and the database of places again. What is wrong with them
   * is logged, and the former ones stay. Rejects when nobody listens any more.
   */
  reload(): Promise<void>;
  /** Finishes what is under way, makes it durable, tells the sockets, closes. Within stopTimeoutMs. */
  stop(): Promise<void>;
}

/** Shorter than the edge's own, which would close the connection without a word after eight to twelve seconds. */
const bodyTimeoutMs = 7_000;
/** One log line a minute for each kind of event that a flood repeats. */
const logEveryMs = 60_000;
/** Requests under way get so long; the rest of the ten seconds is for the disk. */
const drainTimeoutMs = 6_000;

/** Every part, made and joined, with nothing started. */
export interface Composition {
  readonly services: Services;
  readonly engine: Engine;
  readonly directory: Directory;
  readonly pipeline: Pipeline;
  readonly sockets: Sockets;
  readonly routes: readonly Route[];
  readonly metrics: Metrics;
  readonly mail: MailSender;
  readonly checkpointer: Checkpointer;
  readonly mailReader: MailReader;
  readonly knowledge: KnowledgeParts;
  readonly ingestion: Ingestion;
  readonly faults: FolderFaults;
  readonly storage: StorageWatch;
  /** Told by /readyz. */
  isReady: boolean;
}

/**
 * Makes the parts over a data folder that this process holds. Rejects with ConfigError, DatabaseUnusable
 * (directory.db), DataFolderUnusable.
 */
export async function compose(options: ServeOptions): Promise<Composition> {
  const { config } = options;
  const log = options.log ?? createLog(config.logLevel);
  const clock = options.clock ?? systemClock();
  const random = options.random ?? Math.random;
  const dataDir = resolve(config.dataDir);

  const onSyncFailed =
    options.onSyncFailed ??
    ((error: Error): void => {
      log.error({ err: error }, 'a write to the disk failed; stopping, since its state is unknown');
      process.exit(1);
    });
  const ids = createIds(clock, options.fillRandom);
  const checkpointer = options.checkpointer ?? createCheckpointer();
  const reader =
    options.reader ??
    createReader({
      dataDir,
      whenDurable: (workspaceId, call, seenMs) => engine.whenDurable(workspaceId, call, seenMs),
    });
  const checkpoints = new Checkpoints({
    checkpoint: (path) => checkpointer.checkpoint(path),
    log,
    random,
    ...(options.logFrameLimit === undefined ? {} : { frameLimit: options.logFrameLimit }),
  });
  const mail =
    options.mail ??
    (config.mail.provider === 'smtp' ? smtpSender(config.mail.url) : outboxSender(join(dataDir, 'outbox')));
  const ofFiles = {
    dataDir,
    clock,
    log,
    checkpoints,
    slices: new Slices(options.sliceLengths),
    onSyncFailed,
    onBatch: (figures: Parameters<Metrics['observeBatch']>[0]) => metrics.observeBatch(figures),
    ...(options.syncToDisk === undefined ? {} : { syncToDisk: options.syncToDisk }),
  };

  requireDirectory(dataDir);
  const directory = new Directory({ ...ofFiles, mailFrom: config.mailFrom });
  const { jwtSecret: secret, secretsKey } = keysOf(config, { dataDir, directory, log });
  const secrets = createSecretBox(secretsKey);
  const faults = new FolderFaults({ dataDir, log });

  const knowledge = createKnowledgeParts(config, options);
  const disk = new DiskReserve({ folder: dataDir, reserveBytes: config.diskReserveBytes, clock, log });
  const objects =
    knowledge.objects !== undefined && config.storage.provider === 'disk'
      ? withinReserve(knowledge.objects, () => disk.hasRoom)
      : knowledge.objects;
  const uploadLinks = createUploadLinks({ secret, baseUrl: config.baseUrl });
  const attachmentSource = createAttachmentSource(knowledge.fetcher);
  const ownDomains =
    config.emailDomainProvider === 'none'
      ? undefined
      : selfProvider({ mailHost: config.mailHost, bounceLabel, resolver: createResolver(config.dnsServers) });
  const emailDomains = options.emailDomains ?? ownDomains;
  const mailReader = createMailReader({ dnsServers: config.dnsServers });

  const places = await placesOf(config);
  const numberingPlan = createNumberingPlan();
  const carrier = await carrierOf(config, { numberingPlan, outboxFolder: join(dataDir, 'outbox') });
  const webhookSender = createWebhookSender({
    resolveHost: config.dnsServers === undefined ? systemResolver : dnsResolver(config.dnsServers),
    allowPrivate: config.allowPrivateWebhooks,
    userAgent: `Switchboard-Webhooks (+${config.baseUrl})`,
  });

  const ofMail = {
    sender: mail,
    secrets,
    mailFrom: config.mailFrom,
    hostKey: hostKeyOf(config),
    takesReturns: config.smtp !== undefined && hostOf(config.mailFrom) === config.mailHost,
  };
  const outbox = outboxJobs({
    sendMail: (item) => sendQueuedMail({ engine, ...ofMail }, item).catch(asOutsideFailure),
    async checkEmailDomain({ workspaceId, check }) {
      if (emailDomains === undefined)
        throw new DeliveryError('no provider for email domains is configured', { permanent: true });
      const stands = await emailDomains.check(check.records);
      const isOurs =
        check.records.every((record, index) => stands[index] === true || !isRequired(record)) &&
        (await directory.claimDomain({ name: check.name, workspaceId }));
      return JSON.stringify({ stands, isOurs } satisfies DomainFindings);
    },
    async copyAttachment({ key, sourceUrl, contentType }) {
      if (objects === undefined) throw new DeliveryError('no storage for files is configured', { permanent: true });
      const content = await attachmentSource.fetch(sourceUrl).catch(asOutsideFailure);
      await objects.put(key, { contentType, size: content.length }, Readable.from([content]));
      return key;
    },
    steerCall: ({ provider, call, order }) => byCarrier(carrier, provider, () => carrier.steer(call, order)),
    releaseNumber: ({ provider, providerDidId }) => byCarrier(carrier, provider, () => carrier.release(providerDidId)),
    crawl: (item) => ingestion.crawl(item),
    embed: (item) => ingestion.embed(item),
    async removeObject({ key }) {
      await objects?.remove(key);
      return key;
    },
    sendWebhook: (item) => sendWebhook({ engine, config, secrets, clock, sender: webhookSender }, item),
    sendCode: (item) =>
      sendCode(
        {
          secrets,
          now: () => clock.now(),
          mail: ({ workspaceId, id, ...message }) =>
            sendQueuedMail({ engine, ...ofMail }, { workspaceId, id, mail: message }).catch(asOutsideFailure),
          text: (sms) => byCarrier(carrier, carrier.provider, () => carrier.sendSms(sms)),
          speak: (message) => byCarrier(carrier, carrier.provider, () => carrier.speak(message)),
        },
        item,
      ),
  });
  const engine: Engine = new Engine({
    ...ofFiles,
    ids,
    random,
    deadlines: deadlineCommands,
    outbox: observed(outbox, (kind, outcome) => metrics.observeOutside(kind, outcome)),
    settings: { baseUrl: config.baseUrl, mailHost: config.mailHost },
    ceilings: ceilingsOf(config),
    glance: (path) => checkpointer.glance({ path, model: knowledge.embedder.model }),
    isKnown: (workspaceId) => directory.isWorkspace(workspaceId),
  });
  const ingestion = new Ingestion({ engine, ...knowledge });

  const inboundMail = createInboundMail({
    engine,
    directory,
    reader: mailReader,
    objects,
    publicUrl: (key) => uploadLinks.publicUrl(key),
    ids,
    mailHost: config.mailHost,
  });

  const services: Services = {
    config,
    clock,
    ids,
    log,
    engine,
    directory,
    hasher: createPasswordHasher(),
    strength: createPasswordStrength(),
    signInGuard: new SignInGuard(clock, config.rateLimits),
    signInSteps: new SignInSteps(clock, ids),
    passkeys: createPasskeys(new URL(config.baseUrl).origin),
    accessTokens: createAccessTokens(secret, () => clock.now()),
    visitorTokens: createVisitorTokens(secret),
    secrets,
    exportLinks: createExportLinks(secret),
    registrationCodes: createRegistrationCodes(secret),
    commerce: commerceOf(config, options),
    totp: createTotp(),
    carrier,
    numberingPlan,
    reader,
    embedder: knowledge.embedder,
    retriever: knowledge.retriever,
    crawler: knowledge.crawler,
    imageSource: knowledge.imageSource,
    objects,
    disk,
    uploadLinks,
    recognise,
    inboundMail,
    emailDomains,
    apexDomain,
    webhookSender,
    billing: config.billing.provider === 'stripe' ? stripeBilling(config.billing) : undefined,
    billingTurns: new Turns(),
    visitorPlaces: createVisitorPlaces({ places, countryHeaders: config.geo.countryHeaders }),
    widgetFiles: options.widgetFiles ?? createWidgetFiles(bundleForBrowsers),
    pageFiles: options.pageFiles ?? createPageFiles(bundlePages),
    dropVisitor: (workspaceId, visitorId) => sockets.dropVisitor(workspaceId, visitorId),
    dropEnded: (workspaceId, agentId) => sockets.dropEnded(workspaceId, agentId),
  };

  const metrics = createMetrics(
    {
      engine: () => ({ ...engine.figures, laneDepth: engine.figures.laneDepth + directory.lane.depth }),
      sockets: () => sockets.counts,
      readerWaiting: () => reader.waiting,
      outboxAgeSeconds: () => outboxAgeSeconds(engine, clock),
      folderFaults: () => faults.count,
      disk: () => disk,
    },
    { version: programVersion() },
  );
  const storage = new StorageWatch({ objects: services.objects, clock, log });
  const routes: readonly Route[] = [
    ...apiRoutes,
    ...systemRoutes({
      routes: () => routes,
      metrics,
      baseUrl: config.baseUrl,
      readPage: readProgramFile,
      isReady: () => composition.isReady,
      faults: () => [...faults.lines, ...storage.lines],
    }),
  ];
  const pipeline = new Pipeline({ services, routes, metrics, checkReplies: options.checkReplies ?? false });
  const sockets: Sockets = new Sockets(services, pipeline);
  engine.onPublish((workspaceId, events) => {
    sockets.publish(workspaceId, events);
    reader.noteMessages(workspaceId, events.filter(({ type }) => type === 'message.created').length);
  });
  const composition: Composition = {
    services,
    engine,
    directory,
    pipeline,
    sockets,
    routes,
    metrics,
    mail,
    checkpointer,
    mailReader,
    knowledge,
    ingestion,
    faults,
    storage,
    isReady: false,
  };
  return composition;
}

/** The same kinds, each attempt of which is told. */
function observed(jobs: OutboxJobs, tell: (kind: string, outcome: 'sent' | 'retry' | 'failed') => void): OutboxJobs {
  return Object.fromEntries(
    Object.entries(jobs).map(([name, job]) => [
      name,
      {
        ...job,
        async deliver(item: OutboxItem) {
          try {
            const answer = await job.deliver(item);
            tell(name, 'sent');
            return answer;
          } catch (error) {
            tell(name, isLastAttempt(job, item, error) ? 'failed' : 'retry');
            throw error;
          }
        },
      },
    ]),
  );
}

/**
 * Rejects with ConfigError, DataFolderInUse, DataFolderUnusable, DatabaseUnusable (directory.db), CannotListen or
 * CannotTakeMail.
 */
export async function serve(options: ServeOptions): Promise<Running> {
  const { config } = options;
  const lock = takeDataFolder(resolve(config.dataDir));
  let parts: Composition;
  try {
    parts = await compose(options);
  } catch (error) {
    lock.release();
    throw error;
  }
  const { services, engine, directory, sockets, pipeline, routes } = parts;
  const [open] = lock.openToOthers;
  if (open !== undefined)
    services.log.warn(
      { path: open, paths: lock.openToOthers.length },
      'others can read files in the data folder, and this user cannot change their permissions',
    );
  const throttle = new LogThrottle(services.clock, logEveryMs);
  const server = new Server({
    pipeline,
    sockets,
    trustedProxies: config.trustProxy,
    maxConnectionsPerNetwork: config.rateLimits ? config.maxConnectionsPerNetwork : undefined,
    onTooMany(network) {
      const times = throttle.count('connections');
      if (times !== undefined)
        services.log.warn({ network, times }, 'new connections are closed: too many, from one address or overall');
    },
    tls: config.tls,
    isOnlyOverTls: config.tls !== undefined || config.baseUrl.startsWith('https:'),
    bodyTimeoutMs: options.bodyTimeoutMs ?? bodyTimeoutMs,
    ...(options.stallTimeoutMs === undefined ? {} : { stallTimeoutMs: options.stallTimeoutMs }),
  });
  let orphans: Awaited<ReturnType<typeof sweepNumberPlaces>>;
  let port: number;
  let smtp: SmtpListener | undefined;
  try {
    await directory.sweep(workspaceFiles(engine));
    parts.faults.compare(directory.db);
    orphans = await sweepNumberPlaces(services);
    smtp = await listenForSmtp();
    port = await server.listen(config.host, config.port);
  } catch (error) {
    await smtp?.close();
    await close();
    throw error;
  }
  parts.isReady = true;
  services.disk.watch();
  parts.storage.watch();
  engine
    .wakeAll(visit)
    .catch((error: unknown) =>
      services.log.error(
        { err: error },
        'not every workspace could be opened at start; each opens with its first request',
      ),
    );

  let stopping: Promise<void> | undefined;
  const giveBack = (numbers: typeof orphans): Promise<void> =>
    giveBackOrphans(services, numbers, () => stopping !== undefined);
  directory.alsoSweep(async () => giveBack(await sweepNumberPlaces(services)));
  giveBack(orphans).catch((error: unknown) => directory.sweepLater(error));
  return {
    port,
    smtpPort: smtp?.port,
    url: urlAt(config.tls === undefined ? 'http' : 'https', reachableHost(config.host), port),
    services,
    routes,
    async reload() {
      await reloadPlaces();
      await renewed(config.tls?.certFile, () => server.reloadCertificate());
      await renewed(config.smtp?.tls?.certFile, () => smtp?.reloadCertificate());
    },
    stop() {
      if (stopping === undefined) {
        services.log.info({}, 'stopping');
        stopping = stop().then(() => services.log.info({}, 'stopped'));
      }
      return stopping;
    },
  };

  async function reloadPlaces(): Promise<void> {
    try {
      if (await services.visitorPlaces.reload())
        services.log.info({ file: config.geo.database }, 'the database of places was reloaded');
    } catch (error) {
      if (!(error instanceof PlacesUnusable)) throw error;
      services.log.error({ err: error }, 'the database of places could not be loaded; the previous one stays in use');
    }
  }

  /** Of one listener; what is wrong with the files of the one does not keep the other from its own. */
  async function renewed(file: string | undefined, reload: () => Promise<void> | undefined): Promise<void> {
    if (file === undefined) return;
    try {
      await reload();
      services.log.info({ file }, 'the certificate was reloaded');
    } catch (error) {
      if (!(error instanceof CertificateUnusable || error instanceof CannotTakeMail)) throw error;
      services.log.error({ err: error }, 'the certificate could not be loaded; the previous one stays in use');
    }
  }

  /** What is to be done about a workspace once it is known how its file stands. */
  function visit(workspaceId: string, glance: Glance): void {
    if (glance.state !== 'current') return;
    if (directory.isWorkspace(workspaceId)) parts.faults.judge(workspaceId, glance, services.secrets);
    parts.ingestion.review(workspaceId, glance);
    sockets.reviewPresence(workspaceId, glance);
    directory
      .settleDomains({ workspaceId, verified: glance.domain })
      .catch((error: unknown) =>
        services.log.error(
          { workspaceId, err: error },
          'a domain that is no longer verified could not be released; the next start does it',
        ),
      );
  }

  function listenForSmtp(): Promise<SmtpListener | undefined> {
    if (config.smtp === undefined) return Promise.resolve(undefined);
    const operatorMailbox = createOperatorMailbox({
      folder: join(resolve(config.dataDir), 'operator-mail'),
      mailHost: config.mailHost,
      mailFrom: config.mailFrom,
      log: services.log,
      now: () => services.clock.now(),
    });
    return listenForMail({
      ...config.smtp,
      name: config.mailHost,
      folder: join(resolve(config.dataDir), 'incoming'),
      networkOf,
      ...(config.rateLimits
        ? {
            bytes: createSmtpBudget({
              bytesPerDay: config.ceilings.smtpBytesPerDay,
              clock: services.clock,
              log: services.log,
            }),
          }
        : {}),
      takes: (address) => services.inboundMail.takes(address) || operatorMailbox.has(address),
      async receive(received) {
        const [forOperator = [], forWorkspaces = []] = [true, false].map((wanted) =>
          received.recipients.filter(
            (address) => (operatorMailbox.has(address) && !services.inboundMail.takes(address)) === wanted,
          ),
        );
        try {
          if (forWorkspaces.length > 0)
            await services.inboundMail.receiveSmtp({ ...received, recipients: forWorkspaces });
          const unread: string[] = [];
          for (const address of forOperator) {
            const workspaceId = workspaceOfReturnPath(address, config.mailFrom);
            if (workspaceId === undefined || !(await services.inboundMail.receiveReturn(workspaceId, received)))
              unread.push(address);
          }
          if (unread.length > 0) await operatorMailbox.keep({ ...received, recipients: unread });
        } catch (error) {
          throw error instanceof UnacceptableMail ? new MailNotTaken(error.message, { cause: error }) : error;
        }
      },
      onError: (error) => services.log.error({ err: error }, 'a mail could not be received; its sender will retry'),
    });
  }

  async function stop(): Promise<void> {
    parts.isReady = false;
    server.stopListening();
    const underWay = Promise.all([server.drained(), smtp?.close(), sockets.quiesced(), engine.rest()]);
    await Promise.race([underWay, new Promise((resolve) => setTimeout(resolve, drainTimeoutMs).unref())]);
    await engine.drained();
    sockets.endAll();
    await close();
  }

  async function close(): Promise<void> {
    // Before the engine, whose last connection to a file tidies its log away.
    await Promise.all([services.reader.stop(), services.retriever.stop()]);
    await engine.stop();
    await directory.stop();
    // After the engine: what they leave undone is not recorded as failed, but done again after the restart.
    parts.ingestion.stop();
    await Promise.all([parts.knowledge.stop(), parts.services.commerce.close()]);
    server.close();
    parts.mail.close();
    await parts.services.webhookSender.close();
    parts.metrics.stop();
    parts.services.disk.stop();
    parts.storage.stop();
    await parts.mailReader.stop();
    await parts.checkpointer.stop();
    lock.release();
  }
}

/**
 * Throws DataFolderUnusable, and closes directory.db then, when it knows none of the workspaces or a key is not the one
 * they were served by.
 */
function keysOf(
  { jwtSecret, secretsKey }: Config,
  { dataDir, directory, log }: { dataDir: string; directory: Directory; log: Log },
): FolderKeys {
  try {
    requireKnown(dataDir, directory.db);
    return takeKeys({
      dataDir,
      directory: directory.db,
      log,
      given: { jwtSecret, secretsKey },
      boxOf: createSecretBox,
    });
  } catch (error) {
    directory.db.close();
    throw error;
  }
}

/** What a provider will not do, however often it is asked, in the outbox's words. */
function asOutsideFailure(error: unknown): never {
  if (error instanceof MailRefused)
    throw new DeliveryError(error.message, {
      permanent: true,
      code: error.isAddress ? addressRefused : undefined,
      cause: error,
    });
  if (error instanceof AttachmentRefused) throw new DeliveryError(error.message, { permanent: true, cause: error });
  throw error;
}

/** What the sweep at start asks of the workspaces. */
export function workspaceFiles(engine: Engine): WorkspaceFiles {
  const read = <Value>(workspaceId: string, from: (db: Workspace['db'] | undefined) => Value): Value | null => {
    try {
      return from(engine.workspace(workspaceId)?.db);
    } catch {
      // Said in the log where it was opened.
      return null;
    }
  };
  return {
    emailOf: (workspaceId, agentId) =>
      read(workspaceId, (db) =>
        db === undefined ? undefined : allAgents(db).find((agent) => agent.id === agentId && isActive(agent))?.email,
      ),
    // An empty file is of a making that was cut off, not one that cannot be read.
    isMade: (workspaceId) =>
      engine.hasFile(workspaceId) && read(workspaceId, (db) => db !== undefined && findWorkspace(db) !== undefined),
    remove: (workspaceId) => engine.discard(workspaceId),
  };
}

/** Loads what it needs alone. */
function commerceOf(config: Config, options: ServeOptions): Commerce {
  const { allowPrivateWebhooks: allowPrivate, dnsServers } = config;
  const fetcher = createFetcher({
    allowPrivate,
    resolveHost: dnsServers === undefined ? systemResolver : dnsResolver(dnsServers),
    userAgent: `switchboard (+${config.baseUrl})`,
  });
  return createCommerce({ fetcher, allowPrivate, timeoutMs: options.commerceTimeoutMs });
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

/** What was left for one carrier cannot be done by another. */
async function byCarrier(carrier: Carrier, provider: string, deed: () => Promise<string>): Promise<string> {
  if (provider !== carrier.provider)
    throw new DeliveryError(`the number belongs to ${provider}, and the carrier is now ${carrier.provider}`, {
      permanent: true,
    });
  try {
    return await deed();
  } catch (error) {
    if (error instanceof CarrierRefused) throw new DeliveryError(error.message, { permanent: true, cause: error });
    throw error;
  }
}

function outboxAgeSeconds(engine: Engine, clock: Clock): number {
  let oldest: string | undefined;
  // Not all: a file that is asked now and then would never be idle.
  for (const workspace of engine.workspacesWithOutsideWork()) {
    const at = oldestQueuedOutboxAt(workspace.db);
    if (at !== undefined && (oldest === undefined || at < oldest)) oldest = at;
  }
  return oldest === undefined ? 0 : Math.max(0, (clock.now() - Date.parse(oldest)) / 1000);
}
