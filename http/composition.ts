// Makes every part once and hands it to those that use it. Starts nothing. Called by serve.ts.

import { join, resolve } from 'node:path';
import { answerCustomer, summariseHandover } from '../engine/assistant/answering.ts';
import { Directory, type DirectoryOptions, type WorkspaceFiles } from '../engine/directory/directory.ts';
import { Imports } from '../engine/imports/running.ts';
import { deadlineCommands, outboxJobs } from '../engine/jobs.ts';
import { Ingestion } from '../engine/knowledge/ingestion.ts';
import { hostOf } from '../engine/mail-addresses.ts';
import { Checkpoints } from '../engine/runtime/checkpoints.ts';
import { type Clock, systemClock } from '../engine/runtime/clock.ts';
import { Engine } from '../engine/runtime/engine.ts';
import { createIds, type FillRandom, type Ids } from '../engine/runtime/ids.ts';
import type { Log } from '../engine/runtime/log.ts';
import { isLastAttempt, type OutboxItem, type OutboxJobs } from '../engine/runtime/outbox.ts';
import { type SliceLengths, Slices } from '../engine/runtime/slices.ts';
import { Turns } from '../engine/runtime/turns.ts';
import type { Workspace } from '../engine/runtime/workspace.ts';
import type { MailPorts } from '../engine/tickets/mail-intake.ts';
import { isActive } from '../engine/workspace/roster.ts';
import type { SyncToDisk } from '../store/database.ts';
import { oldestQueuedOutboxAt } from '../store/runtime/outbox.ts';
import { allAgents } from '../store/workspace/agents.ts';
import { findWorkspace } from '../store/workspace/workspaces.ts';
import { bundleForBrowsers, bundlePages } from '../workers/browser-bundler.ts';
import { type Checkpointer, createCheckpointer } from '../workers/checkpointer.ts';
import { apexDomain } from '../workers/domain-names.ts';
import { recognise } from '../workers/files/file-types.ts';
import { mailsOf } from '../workers/imports/mbox.ts';
import type { MailReader } from '../workers/mail/mail-reader.ts';
import { programVersion, readProgramFile } from '../workers/program-files.ts';
import type { MailSender } from '../workers/providers/mail.ts';
import { maxMailBytes } from '../workers/providers/smtp-listener.ts';
import { createReader, type Reader } from '../workers/reader/reader.ts';
import { createAccessTokens } from '../workers/secrets/access-tokens.ts';
import { createPasskeys } from '../workers/secrets/passkeys.ts';
import { createPasswordHasher } from '../workers/secrets/password-hasher.ts';
import { createPasswordStrength } from '../workers/secrets/password-strength.ts';
import { createSecretBox, type SecretBox } from '../workers/secrets/secret-box.ts';
import { createTotp } from '../workers/secrets/totp.ts';
import { assistancePorts } from './assistance-ports.ts';
import { createPageFiles, type PageFiles } from './browser/page-files.ts';
import { createWidgetFiles, type WidgetFiles } from './browser/widget-files.ts';
import type { ClusterNode } from './cluster/node.ts';
import { ArrivingMail } from './delivery/arriving-mail.ts';
import { importKeyName } from './delivery/import-keys.ts';
import { hostKeyOf, sendQueuedMail } from './delivery/mail-out.ts';
import { MailboxAccess } from './delivery/mailbox-access.ts';
import { Mailboxes } from './delivery/mailboxes.ts';
import { type OutsideParts, outsidePorts } from './delivery/ports.ts';
import { sendPush } from './delivery/push.ts';
import type { KnowledgeParts } from './knowledge-parts.ts';
import { networkOf } from './limits/network-address.ts';
import { SignInGuard } from './limits/sign-in-guard.ts';
import { type Outside, type OutsideOptions, outsideOf } from './outside-parts.ts';
import { Pipeline } from './pipeline/pipeline.ts';
import { clusterFaults, clusterHindrances } from './process/cluster-figures.ts';
import { type Config, ceilingsOf } from './process/config.ts';
import { FolderFaults, requireDirectory, requireKnown } from './process/folder-faults.ts';
import { type FolderKeys, keysOfCluster, takeKeys } from './process/folder-keys.ts';
import { createLog, logTimeoutMs, logWritten } from './process/log.ts';
import { createMetrics, type Metrics } from './process/metrics.ts';
import { StorageWatch } from './process/storage-watch.ts';
import { createReplyTimes } from './reply-times.ts';
import type { Route } from './route.ts';
import { systemRoutes } from './routes/system.ts';
import { apiRoutes } from './routes.ts';
import type { Services } from './services.ts';
import { createArticlePreviews } from './signed/article-previews.ts';
import { createChatLinks } from './signed/chat-links.ts';
import { createExportLinks } from './signed/export-links.ts';
import { createIdentity } from './signed/identity.ts';
import { createMailboxGrants } from './signed/mailbox-grants.ts';
import { createNoticeLinks } from './signed/notice-links.ts';
import { createRegistrationCodes } from './signed/registration-codes.ts';
import { SignInSteps } from './signed/sign-in-steps.ts';
import { createUploadLinks } from './signed/upload-links.ts';
import { createVisitorTokens } from './signed/visitor-tokens.ts';
import { Sockets } from './sockets/sockets.ts';
import { sendWebhook } from './webhooks/sending.ts';

/** Of a node that serves what a node left that died: parking them would cost more than the memory, 0.6 MiB each. */
const maxOpenInCluster = 500;

/** Everything but `config` has a default; tests replace the parts that they watch. */
export interface ComposeOptions extends OutsideOptions {
  readonly config: Config;
  readonly log?: Log;
  readonly clock?: Clock;
  readonly fillRandom?: FillRandom;
  readonly random?: () => number;
  readonly syncToDisk?: SyncToDisk;
  readonly checkpointer?: Checkpointer;
  readonly reader?: Reader;
  /** Frames of 4 KiB in a log before it is copied back. */
  readonly logFrameLimit?: number;
  readonly sliceLengths?: SliceLengths;
  /** Check every reply against its route's declaration. For tests. */
  readonly checkReplies?: boolean;
  /** `npm run dev` bundles them again after each change. */
  readonly pageFiles?: PageFiles;
  readonly widgetFiles?: WidgetFiles;
  /** This node's part in a cluster. */
  readonly cluster?: ClusterNode | undefined;
  /** The disk refused to sync; by default the process ends. */
  readonly onSyncFailed?: (error: Error) => void;
}

/** Every part, made and connected, with nothing started. */
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
  readonly mailboxes: Mailboxes;
  readonly arrivingMail: ArrivingMail;
  readonly faults: FolderFaults;
  readonly storage: StorageWatch;
  /** Reported by /readyz. */
  isReady: boolean;
}

/**
 * Makes the parts over a data folder that this process holds. Rejects with ConfigError, DatabaseUnusable
 * (directory.db), DataFolderUnusable.
 */
export async function compose(options: ComposeOptions): Promise<Composition> {
  const ground = groundOf(options);
  const { config, clock, log } = ground;
  const folder = folderOf(ground, options, (figures) => metrics.observeBatch(figures));
  const { directory, checkpointer, faults } = folder;
  const outside = await outsideOf(ground, options);
  const { knowledge, mail, mailReader } = outside;
  const made: Made = { options, ground, folder, outside };
  const outsides = outsideParts(made, () => ({ engine, ingestion, mailboxes, services }));
  const engine: Engine = engineOf(made, outsides, () => metrics);
  const ingestion = new Ingestion({ engine, log, ...knowledge });
  const services: Services = servicesOf(made, {
    engine,
    sockets: () => sockets,
    sendMail: (item) => sendQueuedMail(outsides.mail(), item),
  });
  const mailboxes = new Mailboxes({
    engine,
    mailPorts: services.mailPorts,
    openMailbox: (server) => services.mailboxReader.open(server),
    userOf: services.mailboxUser,
    folder: join(ground.dataDir, 'fetched-mail'),
  });
  const metrics: Metrics = metricsOf(services, { faults, cluster: options.cluster, sockets: () => sockets });
  const storage = new StorageWatch({ objects: services.objects, clock, log });
  const routes: readonly Route[] = [
    ...apiRoutes,
    ...systemRoutes({
      routes: () => routes,
      metrics,
      baseUrl: config.baseUrl,
      readPage: readProgramFile,
      isReady: () => composition.isReady,
      hindrances: () => clusterHindrances(options.cluster),
      faults: () => [...faults.lines, ...storage.lines, ...clusterFaults(options.cluster)],
    }),
  ];
  const { arrivingMail, nodeRoutes } = arrivalOf(ground, services, options.cluster);
  const pipeline = new Pipeline({
    services,
    routes,
    nodeRoutes,
    metrics,
    checkReplies: options.checkReplies ?? false,
    routing: options.cluster,
  });
  const sockets: Sockets = new Sockets(services, pipeline, { elsewhere: options.cluster });
  engine.onPublish((workspaceId, events) => {
    sockets.publish(workspaceId, events);
    services.reader.noteMessages(workspaceId, events.filter(({ type }) => type === 'message.created').length);
  });
  const parts = {
    services,
    engine,
    directory,
    pipeline,
    sockets,
    routes,
    metrics,
    faults,
    storage,
    ingestion,
    mailboxes,
    arrivingMail,
  };
  const composition: Composition = { ...parts, mail, checkpointer, mailReader, knowledge, isReady: false };
  return composition;
}

/** Mail by SMTP, and what other nodes request of this one about it. */
function arrivalOf(
  { dataDir }: Ground,
  services: Services,
  cluster: ClusterNode | undefined,
): { readonly arrivingMail: ArrivingMail; readonly nodeRoutes: readonly Route[] | undefined } {
  const arrivingMail = new ArrivingMail(services, join(dataDir, 'operator-mail'), cluster);
  const nodeRoutes = cluster?.routes({
    folder: join(dataDir, 'incoming-from-nodes'),
    maxMailBytes,
    receive: (received) => arrivingMail.receiveHere(received),
  });
  return { arrivingMail, nodeRoutes };
}

/** What is made before the engine. */
interface Made {
  readonly options: ComposeOptions;
  readonly ground: Ground;
  readonly folder: Folder;
  readonly outside: Outside;
}

/** `metrics`: made with the engine, and called once it runs. */
function engineOf({ options, ground, folder, outside }: Made, outsides: OutsideParts, metrics: () => Metrics): Engine {
  const { embedder } = outside.services;
  const jobs = outboxJobs(outsidePorts(outsides));
  return new Engine({
    ...folder.ofFiles,
    ids: ground.ids,
    random: ground.random,
    deadlines: deadlineCommands,
    outbox: observed(jobs, (kind, outcome) => metrics().observeOutside(kind, outcome)),
    settings: { baseUrl: ground.config.baseUrl, mailHost: ground.config.mailHost },
    ceilings: ceilingsOf(ground.config),
    glance: (path) => folder.checkpointer.glance({ path, model: embedder.model }),
    isKnown: (workspaceId) => folder.directory.isWorkspace(workspaceId),
    placement: options.cluster,
    maxOpen: options.cluster && maxOpenInCluster,
  });
}

function servicesOf(
  { options, ground, folder, outside }: Made,
  { engine, sockets, sendMail }: { engine: Engine; sockets: () => Sockets; sendMail: Services['sendMail'] },
): Services {
  const { config, clock, ids, log, dataDir } = ground;
  const { directory, secrets, keys } = folder;
  const signed = signedPartsOf(config, keys.jwtSecret);
  const reader =
    options.reader ??
    createReader({
      dataDir,
      watch: (workspaceId) => engine.watchDurable(workspaceId),
    });
  const mailboxAccess = new MailboxAccess({ secrets, clock, access: outside.services.mailAccess, engine });
  const mailPorts: MailPorts = {
    engine,
    directory,
    ids,
    reader: outside.mailReader,
    objects: outside.services.objects,
    publicUrl: (key) => signed.uploadLinks.publicUrl(key),
    mailHost: config.mailHost,
    networkOf,
  };
  return {
    ...signInPartsOf(ground, { secret: keys.jwtSecret, node: options.cluster }),
    ...signed,
    ...outside.services,
    ...browserFilesOf(options),
    config,
    clock,
    ids,
    log,
    engine,
    directory,
    secrets,
    sendMail,
    imports: importsOf({ ground, folder, outside }, { engine, mailPorts, reader }),
    mailboxUser: (workspaceId, mailbox) => mailboxAccess.userOf(workspaceId, mailbox),
    recognise,
    apexDomain,
    reader,
    replyTimes: createReplyTimes({ engine, clock, reader }),
    billingTurns: new Turns(),
    mailPorts,
    dropVisitor: (workspaceId, visitorId) => sockets().dropVisitor(workspaceId, visitorId),
    dropEnded: (workspaceId, agentId) => sockets().dropEnded(workspaceId, agentId),
  };
}

function importsOf(
  { ground, folder, outside }: Omit<Made, 'options'>,
  { engine, mailPorts, reader }: { engine: Engine; mailPorts: MailPorts; reader: Reader },
): Imports {
  return new Imports({
    engine,
    clock: ground.clock,
    mailPorts,
    reader: outside.services.importedMails,
    folder: join(ground.dataDir, 'imports'),
    mailsOf,
    hasRoom: () => outside.services.disk.hasRoom,
    log: ground.log,
    noteMessages: (workspaceId, count) => reader.noteMessages(workspaceId, count),
    openSource: (access) => outside.services.foreignSources.open(access),
    tokenOf: (workspaceId, { id, sealedToken }) =>
      sealedToken === null ? '' : folder.secrets.open(sealedToken, importKeyName(workspaceId, id)),
  });
}

/** The parts that all others are made with. */
interface Ground {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: () => number;
  readonly dataDir: string;
}

function groundOf({ config, fillRandom, ...given }: ComposeOptions): Ground {
  const clock = given.clock ?? systemClock();
  return {
    config,
    log: given.log ?? createLog(config.logLevel),
    clock,
    ids: createIds(clock, fillRandom),
    random: given.random ?? Math.random,
    dataDir: resolve(config.dataDir),
  };
}

/** The data folder: its directory, its keys, and how its files are written. */
interface Folder {
  readonly directory: Directory;
  readonly checkpointer: Checkpointer;
  readonly keys: FolderKeys;
  readonly secrets: SecretBox;
  readonly faults: FolderFaults;
  /** For the directory's file and the workspaces' files. */
  readonly ofFiles: Omit<DirectoryOptions, 'mailFrom' | 'onBatch'> & { readonly onBatch: Metrics['observeBatch'] };
}

function folderOf(
  { config, log, clock, random, dataDir }: Ground,
  options: ComposeOptions,
  onBatch: Metrics['observeBatch'],
): Folder {
  const checkpointer = options.checkpointer ?? createCheckpointer();
  const checkpoints = new Checkpoints({
    checkpoint: (path, isOpen) => checkpointer.checkpoint(path, isOpen),
    log,
    random,
    ...(options.logFrameLimit === undefined ? {} : { frameLimit: options.logFrameLimit }),
  });
  const onSyncFailed =
    options.onSyncFailed ??
    ((error: Error): void => {
      log.error({ err: error }, 'a write to the disk failed; stopping, since its state is unknown');
      void logWritten(log, logTimeoutMs).then(() => process.exit(1));
    });
  const ofFiles = {
    dataDir,
    clock,
    log,
    checkpoints,
    slices: new Slices(options.sliceLengths),
    onSyncFailed,
    onBatch,
    ...(options.syncToDisk === undefined ? {} : { syncToDisk: options.syncToDisk }),
  };
  const { cluster } = options;
  if (cluster === undefined) requireDirectory(dataDir);
  const directory = new Directory({
    ...ofFiles,
    mailFrom: config.mailFrom,
    ...(cluster === undefined
      ? {}
      : {
          file: 'cluster',
          remote: (name, params) => cluster.changeDirectory(name, params),
          mayRead: () => cluster.isLeaseHeld,
        }),
  });
  const keys = cluster === undefined ? keysOf(config, { dataDir, directory, log }) : keysOfCluster(config);
  const secrets = createSecretBox(keys.secretsKey);
  return { directory, checkpointer, keys, secrets, faults: new FolderFaults({ dataDir, log }), ofFiles };
}

/** `later`: what is made with these ports. */
function outsideParts(
  { ground, folder, outside }: Made,
  later: () => { engine: Engine; ingestion: Ingestion; mailboxes: Mailboxes; services: Services },
): OutsideParts {
  const { config, clock } = ground;
  const { directory, secrets, keys } = folder;
  const { carrier, objects, emailDomains, webhookSender: sender, pushSender } = outside.services;
  const hostKey = hostKeyOf(config);
  const chatLinks = createChatLinks(keys.jwtSecret);
  const noticeLinks = createNoticeLinks(keys.jwtSecret);
  const mail = () => ({
    engine: later().engine,
    sender: outside.mail,
    sendThrough: outside.services.sendThrough,
    ownServers: !config.mail.isChosen,
    mailboxUser: later().services.mailboxUser,
    secrets,
    directory,
    chatLinks,
    noticeLinks,
    baseUrl: config.baseUrl,
    isLimited: config.rateLimits,
    mailFrom: config.mailFrom,
    hostKey,
    takesReturns: config.smtp !== undefined && hostOf(config.mailFrom) === config.mailHost,
  });
  return {
    clock,
    directory,
    secrets,
    carrier,
    objects,
    emailDomains,
    attachmentSource: outside.attachmentSource,
    mail,
    ingestion: () => later().ingestion,
    mailboxes: () => later().mailboxes,
    imports: () => later().services.imports,
    answerCustomer: (item) => answerCustomer(later().engine, item, assistancePorts(later().services)),
    summariseHandover: (item) => summariseHandover(later().engine, item, assistancePorts(later().services)),
    sendWebhook: (item) => sendWebhook({ engine: later().engine, config, secrets, clock, sender }, item),
    sendPush: (item) => sendPush({ engine: later().engine, secrets, clock, sender: pushSender }, item),
  };
}

type SignInParts = 'hasher' | 'strength' | 'signInGuard' | 'signInSteps' | 'passkeys' | 'totp' | 'accessTokens';

function signInPartsOf(
  { config, clock, ids }: Ground,
  { secret, node }: { secret: FolderKeys['jwtSecret']; node: ClusterNode | undefined },
): Pick<Services, SignInParts> {
  return {
    hasher: createPasswordHasher(),
    strength: createPasswordStrength(),
    signInGuard: new SignInGuard(clock, config.rateLimits),
    signInSteps: new SignInSteps(clock, ids, node),
    passkeys: createPasskeys(new URL(config.baseUrl).origin),
    totp: createTotp(),
    accessTokens: createAccessTokens(secret, () => clock.now()),
  };
}

type SignedParts =
  | 'visitorTokens'
  | 'identity'
  | 'chatLinks'
  | 'noticeLinks'
  | 'mailboxGrants'
  | 'exportLinks'
  | 'articlePreviews'
  | 'registrationCodes'
  | 'uploadLinks';

function signedPartsOf({ baseUrl }: Config, secret: FolderKeys['jwtSecret']): Pick<Services, SignedParts> {
  return {
    visitorTokens: createVisitorTokens(secret),
    identity: createIdentity(secret),
    chatLinks: createChatLinks(secret),
    noticeLinks: createNoticeLinks(secret),
    mailboxGrants: createMailboxGrants(secret),
    exportLinks: createExportLinks(secret),
    articlePreviews: createArticlePreviews(secret),
    registrationCodes: createRegistrationCodes(secret),
    uploadLinks: createUploadLinks({ secret, baseUrl }),
  };
}

function browserFilesOf(options: ComposeOptions): Pick<Services, 'widgetFiles' | 'pageFiles'> {
  return {
    widgetFiles: options.widgetFiles ?? createWidgetFiles(bundleForBrowsers),
    pageFiles: options.pageFiles ?? createPageFiles(bundlePages),
  };
}

function metricsOf(
  { engine, directory, reader, disk, clock }: Services,
  { faults, cluster, sockets }: { faults: FolderFaults; cluster: ClusterNode | undefined; sockets: () => Sockets },
): Metrics {
  return createMetrics(
    {
      engine: () => ({ ...engine.figures, laneDepth: engine.figures.laneDepth + (directory.lane?.depth ?? 0) }),
      sockets: () => sockets().counts,
      readerWaiting: () => reader.waiting,
      outboxAgeSeconds: () => outboxAgeSeconds(engine, clock),
      folderFaults: () => faults.count,
      disk: () => disk,
      cluster: cluster && (() => cluster.figures),
    },
    { version: programVersion() },
  );
}

/** The same jobs; reports each attempt. */
function observed(jobs: OutboxJobs, report: (kind: string, outcome: 'sent' | 'retry' | 'failed') => void): OutboxJobs {
  return Object.fromEntries(
    Object.entries(jobs).map(([name, job]) => [
      name,
      {
        ...job,
        async deliver(item: OutboxItem) {
          try {
            const answer = await job.deliver(item);
            report(name, 'sent');
            return answer;
          } catch (error) {
            report(name, isLastAttempt(job, item, error) ? 'failed' : 'retry');
            throw error;
          }
        },
      },
    ]),
  );
}

/**
 * Throws DataFolderUnusable, and closes directory.db, if it knows none of the workspaces or a key is not the one that
 * they were served with.
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

/** Answers the directory's sweep from the workspaces' own files. `serves`: whether this node serves a workspace. */
export function workspaceFiles(engine: Engine, serves: (workspaceId: string) => boolean = () => true): WorkspaceFiles {
  const read = <Value>(workspaceId: string, from: (db: Workspace['db'] | undefined) => Value): Value | null => {
    if (!serves(workspaceId)) return null;
    try {
      return from(engine.workspace(workspaceId)?.db);
    } catch {
      // Logged where it was opened.
      return null;
    }
  };
  return {
    emailOf: (workspaceId, agentId) =>
      read(workspaceId, (db) =>
        db === undefined ? undefined : allAgents(db).find((agent) => agent.id === agentId && isActive(agent))?.email,
      ),
    // An empty file was left by a creation that was interrupted; it is not unreadable.
    isMade: (workspaceId) =>
      serves(workspaceId)
        ? engine.hasFile(workspaceId) && read(workspaceId, (db) => db !== undefined && findWorkspace(db) !== undefined)
        : null,
    remove: (workspaceId) => engine.discard(workspaceId),
  };
}

function outboxAgeSeconds(engine: Engine, clock: Clock): number {
  let oldest: string | undefined;
  // Only these: reading a file from time to time would keep it from being closed as idle.
  for (const workspace of engine.workspacesWithOutsideWork()) {
    const at = oldestQueuedOutboxAt(workspace.db);
    if (at !== undefined && (oldest === undefined || at < oldest)) oldest = at;
  }
  return oldest === undefined ? 0 : Math.max(0, (clock.now() - Date.parse(oldest)) / 1000);
}
