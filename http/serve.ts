// Starts and stops the service: the data folder is locked, the parts are made, what an earlier process left is settled,
// and the listeners open; stopping does the opposite. Tests start the service here with a clock, a random source or
// ports of their own; http/main.js starts it from the environment.

import { join, resolve } from 'node:path';
import { releaseOrphans, sweepNumberPlaces } from '../engine/calls/number-claims.ts';
import type { NumberClaim } from '../engine/directory/changes.ts';
import { workspacePath } from '../engine/operations/integrity.ts';
import { resetSecondFactorsServed } from '../engine/operations/second-factor-reset.ts';
import { findClient } from '../engine/platform/oauth-apps.ts';
import { systemCaller } from '../engine/runtime/caller.ts';
import { systemClock } from '../engine/runtime/clock.ts';
import { removeDatabase } from '../store/database.ts';
import { type Glance, whoWasOnline } from '../store/glance.ts';
import { PlacesUnusable } from '../workers/providers/places.ts';
import { CannotTakeMail, listenForMail, type SmtpListener } from '../workers/providers/smtp-listener.ts';
import type { ClusterNode } from './cluster/node.ts';
import { type ComposeOptions, type Composition, compose, workspaceFiles } from './composition.ts';
import { smtpOptions } from './delivery/smtp-mail.ts';
import { CertificateUnusable } from './edge/certificate.ts';
import { reachableHost, urlAt } from './edge/listening.ts';
import { Server } from './edge/server.ts';
import { takeDataFolder } from './process/data-folder.ts';
import { confirmKeys, keysOfCluster, recordKeys } from './process/folder-keys.ts';
import { requireNoNode, requireNoSingleServer } from './process/folder-owner.ts';
import { createLog, logTimeoutMs, logWritten } from './process/log.ts';
import { LogThrottle } from './process/log-throttle.ts';
import type { OtherNodes } from './request.ts';
import type { Route } from './route.ts';
import type { Services } from './services.ts';

export interface ServeOptions extends ComposeOptions {
  readonly bodyTimeoutMs?: number;
  readonly stallTimeoutMs?: number;
  /** The other nodes of a cluster; undefined for a node alone. */
  readonly nodes?: OtherNodes;
}

export interface Running {
  readonly port: number;
  /** http://host:port of the listener. */
  readonly url: string;
  /** Of the SMTP listener, if there is one. */
  readonly smtpPort: number | undefined;
  readonly services: Services;
  readonly routes: readonly Route[];
  /**
   * Reads the certificates of the HTTP and SMTP listeners and the database of places again. A file that cannot be used
   * is logged, and the previous one stays in use. Rejects if nothing can listen any more.
   */
  reload(): Promise<void>;
  /** The longest that stop() takes: ten seconds, and for a node of several what it takes to hand over. */
  readonly stopsWithinMs: number;
  /** Hands over, finishes what is in progress, makes it durable, notifies the sockets, closes. */
  stop(): Promise<void>;
}

/** Shorter than the library's own limit, at which it closes the connection without a reply: eight to twelve seconds. */
const bodyTimeoutMs = 7_000;
/** One log line a minute for each kind of event that a flood repeats. */
const logEveryMs = 60_000;
/** Of a stop, without what is handed over to other nodes. */
const stopTimeoutMs = 10_000;
/** For requests in progress; the rest of the ten seconds is for the disk. */
const drainTimeoutMs = 6_000;

/**
 * Rejects with ConfigError, DataFolderInUse, DataFolderUnusable, DatabaseUnusable (directory.db), CannotListen or
 * CannotTakeMail.
 */
export async function serve(given: ServeOptions): Promise<Running> {
  const dataDir = resolve(given.config.dataDir);
  const lock = takeDataFolder(dataDir);
  let options = given;
  let parts: Composition;
  try {
    if (given.config.cluster === undefined) requireNoNode(dataDir);
    else requireNoSingleServer(dataDir);
    options = await joined(given);
    parts = await compose(options);
  } catch (error) {
    await options.cluster?.leave().catch(() => undefined);
    lock.release();
    throw error;
  }
  const [open] = lock.openToOthers;
  if (open !== undefined)
    parts.services.log.warn(
      { path: open, paths: lock.openToOthers.length },
      'others can read files in the data folder, and this user cannot change their permissions',
    );
  const service = new Service(parts, serverOf(parts, options), { ...options, unlock: () => lock.release() });
  await service.start();
  return service;
}

/** In a cluster, the node is connected before anything else: the files that it may serve are not its own to judge. */
async function joined(options: ServeOptions): Promise<ServeOptions> {
  const { config } = options;
  if (config.cluster === undefined) return options;
  const clock = options.clock ?? systemClock();
  const log = options.log ?? createLog(config.logLevel);
  const { joinCluster } = await import('./cluster/node.ts');
  const cluster = await joinCluster(config.cluster, {
    clock,
    log,
    dataDir: resolve(config.dataDir),
    keys: keysOfCluster(config),
    storage: config.storage,
  });
  return { ...options, clock, log, cluster };
}

function serverOf({ services, pipeline, sockets }: Composition, options: ServeOptions): Server {
  const { config, clock, log } = services;
  const throttle = new LogThrottle(clock, logEveryMs);
  return new Server({
    pipeline,
    sockets,
    trustedProxies: config.trustProxy,
    maxConnectionsPerNetwork: config.rateLimits ? config.maxConnectionsPerNetwork : undefined,
    onTooMany(network) {
      const times = throttle.count('connections');
      if (times !== undefined)
        log.warn({ network, times }, 'new connections are closed: too many, from one address or overall');
    },
    tls: config.tls,
    isOnlyOverTls: config.tls !== undefined || config.baseUrl.startsWith('https:'),
    bodyTimeoutMs: options.bodyTimeoutMs ?? bodyTimeoutMs,
    nodes: options.cluster?.known ?? options.nodes,
    ...(options.stallTimeoutMs === undefined ? {} : { stallTimeoutMs: options.stallTimeoutMs }),
  });
}

class Service implements Running {
  readonly services: Services;
  readonly routes: readonly Route[];
  readonly #parts: Composition;
  readonly #server: Server;
  readonly #options: ServeOptions & { unlock(): void };
  #smtp: SmtpListener | undefined;
  #port = 0;
  #stopping: Promise<void> | undefined;

  constructor(parts: Composition, server: Server, options: ServeOptions & { unlock(): void }) {
    this.services = parts.services;
    this.routes = parts.routes;
    this.#parts = parts;
    this.#server = server;
    this.#options = options;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    const { config } = this.services;
    return urlAt(config.tls === undefined ? 'http' : 'https', reachableHost(config.host), this.#port);
  }

  get smtpPort(): number | undefined {
    return this.#smtp?.port;
  }

  /** Closes what was opened if it fails. */
  async start(): Promise<void> {
    const { services } = this;
    const { engine, directory, faults, storage } = this.#parts;
    const { config, log } = services;
    const { cluster } = this.#options;
    let orphans: NumberClaim[];
    try {
      // Without a directory, what comes is answered with 503.
      if (cluster !== undefined) await this.#join(cluster);
      await directory.sweep(workspaceFiles(engine, cluster && ((id) => cluster.settles(id))));
      if (cluster === undefined) faults.compare(directory.db);
      orphans = await sweepNumberPlaces(services);
      const smtp = smtpOptions(services, this.#parts.arrivingMail, resolve(config.dataDir));
      this.#smtp = smtp && (await listenForMail(smtp));
      if (cluster === undefined) await this.#listen();
    } catch (error) {
      await this.#smtp?.close();
      await this.#close();
      throw error;
    }
    this.#parts.isReady = true;
    services.disk.watch();
    storage.watch();
    // In a cluster, each is looked at when this node takes it.
    const awake = cluster === undefined ? engine.wakeAll((id, glance) => this.#visit(id, glance)) : Promise.resolve();
    awake
      .catch((error: unknown) =>
        log.error({ err: error }, 'not every workspace could be opened at start; each opens with its first request'),
      )
      .then(() => services.imports.sweep())
      .catch((error: unknown) => log.warn({ err: error }, 'files of imports that are gone may be left'));
    const release = (numbers: NumberClaim[]): Promise<void> =>
      releaseOrphans(services, numbers, () => this.#stopping !== undefined);
    directory.alsoSweep(async () => release(await sweepNumberPlaces(services)));
    release(orphans).catch((error: unknown) => directory.sweepLater(error));
  }

  async #listen(): Promise<void> {
    const { config } = this.services;
    this.#port = await this.#server.listen(config.host, config.port);
  }

  /** Listens, and joins. Resolves when the directory can be read. */
  async #join(cluster: ClusterNode): Promise<void> {
    const { reader, retriever, log, config } = this.services;
    const { engine, directory, sockets, mailboxes } = this.#parts;
    await this.#listen();
    const url = new URL(cluster.settings.nodeUrl);
    if (url.port === '0') url.port = String(this.#port);
    await cluster.start(
      {
        engine,
        directory,
        syncToDisk: this.#options.syncToDisk,
        counts: this.#parts.metrics.cluster,
        closeReaders: async (workspaceId, path) => {
          await Promise.all([reader.forget(workspaceId), retriever.forget(path)]);
          removeDatabase(join(resolve(config.dataDir), 'index', `${workspaceId}.db`));
        },
        onServed: (workspaceId) => {
          // What its former node left half done is settled here.
          directory.sweepSoon();
          this.#reviewPresence(workspaceId);
        },
        look: (workspaceId, isServed) => this.#look(workspaceId, isServed),
        foreign: ({ workspaceId, key }) => {
          const workspace = engine.workspace(workspaceId);
          return (workspace && findClient(workspace.view(systemCaller), key)) ?? null;
        },
        resetSecondFactors: (reset) => resetSecondFactorsServed({ engine, directory }, reset),
        onEnded: (workspaceId) => {
          sockets.endWorkspace(workspaceId);
          mailboxes.endWorkspace(workspaceId);
        },
        onReplaced: () => {
          log.error({ node: cluster.settings.node }, 'another node of this name is there; this one stops');
          const exit = (): void => process.exit(1);
          this.stop().then(exit, exit);
        },
      },
      url.origin,
    );
    const keys = keysOfCluster(config);
    await confirmKeys(keys, { directory, areOthersThere: () => cluster.areOthersThere() });
    await cluster.beReady();
    await recordKeys(keys, { directory, log });
  }

  /** Of a workspace that this node serves from now on: its agents and visitors have a moment to come here. */
  #reviewPresence(workspaceId: string): void {
    const { directory, engine, sockets } = this.#parts;
    try {
      const workspace = directory.isWorkspace(workspaceId) ? engine.workspace(workspaceId) : undefined;
      if (workspace === undefined) return;
      sockets.reviewPresence(workspaceId, whoWasOnline(workspace.view(systemCaller).db), { isMoved: true });
    } catch (error) {
      this.services.log.warn({ workspaceId, err: error }, 'who was online in a workspace could not be read');
    }
  }

  /** Of a workspace that this node serves from now on. */
  async #look(workspaceId: string, isServed: () => boolean): Promise<void> {
    const { checkpointer, directory, knowledge } = this.#parts;
    const path = workspacePath(resolve(this.services.config.dataDir), workspaceId);
    try {
      // One that is being made has nothing to look at.
      if (!directory.isWorkspace(workspaceId)) return;
      const glance = await checkpointer.glance({ path, model: knowledge.embedder.model });
      if (isServed()) this.#goOn(workspaceId, glance);
    } catch (error) {
      // The stop of this node cut it off; the next one that serves the workspace looks at it.
      if (this.#stopping !== undefined) return;
      this.services.log.warn({ workspaceId, err: error }, 'the file of a workspace could not be looked at');
    }
  }

  async reload(): Promise<void> {
    const { config } = this.services;
    await this.#reloadPlaces();
    await this.#reloadCertificate(config.tls?.certFile, () => this.#server.reloadCertificate());
    await this.#reloadCertificate(config.smtp?.tls?.certFile, () => this.#smtp?.reloadCertificate());
  }

  async #reloadPlaces(): Promise<void> {
    const { visitorPlaces, config, log } = this.services;
    try {
      if (await visitorPlaces.reload()) log.info({ file: config.geo.database }, 'the database of places was reloaded');
    } catch (error) {
      if (!(error instanceof PlacesUnusable)) throw error;
      log.error({ err: error }, 'the database of places could not be loaded; the previous one stays in use');
    }
  }

  /** For one listener: a file that it cannot use does not keep the other listener from its own. */
  async #reloadCertificate(file: string | undefined, reload: () => Promise<void> | undefined): Promise<void> {
    const { log } = this.services;
    if (file === undefined) return;
    try {
      await reload();
      log.info({ file }, 'the certificate was reloaded');
    } catch (error) {
      if (!(error instanceof CertificateUnusable || error instanceof CannotTakeMail)) throw error;
      log.error({ err: error }, 'the certificate could not be loaded; the previous one stays in use');
    }
  }

  /** What the start does for a workspace once the state of its file is known. */
  #visit(workspaceId: string, glance: Glance): void {
    if (glance.state === 'current') this.#parts.sockets.reviewPresence(workspaceId, glance);
    this.#goOn(workspaceId, glance);
  }

  /** With what a former process, or node, was at. */
  #goOn(workspaceId: string, glance: Glance): void {
    const { directory, faults, ingestion } = this.#parts;
    const { log, secrets } = this.services;
    if (glance.state !== 'current') return;
    if (directory.isWorkspace(workspaceId)) faults.judge(workspaceId, glance, secrets);
    ingestion.review(workspaceId, glance);
    directory
      .settleDomains({ workspaceId, verified: glance.domain })
      .catch((error: unknown) =>
        log.error(
          { workspaceId, err: error },
          'a domain that is no longer verified could not be released; the next start does it',
        ),
      );
  }

  get stopsWithinMs(): number {
    return stopTimeoutMs + (this.#options.cluster?.handsOverWithinMs ?? 0);
  }

  stop(): Promise<void> {
    const { log } = this.services;
    if (this.#stopping === undefined) {
      log.info({}, 'stopping');
      this.#stopping = this.#stop().then(async () => {
        log.info({}, 'stopped');
        await logWritten(log, logTimeoutMs);
      });
    }
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const { engine, sockets } = this.#parts;
    const { cluster } = this.#options;
    this.#parts.isReady = false;
    if (cluster !== undefined) {
      this.#server.endConnections();
      await cluster.handOver();
    }
    this.#server.stopListening();
    const inProgress = Promise.all([this.#server.drained(), this.#smtp?.close(), sockets.quiesced(), engine.rest()]);
    await Promise.race([inProgress, new Promise((resolve) => setTimeout(resolve, drainTimeoutMs).unref())]);
    await engine.drained();
    sockets.endAll();
    await this.#close();
  }

  async #close(): Promise<void> {
    const { services } = this;
    const { engine, directory, ingestion, mailboxes, knowledge, mail, metrics, storage, mailReader, checkpointer } =
      this.#parts;
    // Before the engine, whose last connection to a file removes its log, and before files are released as copies.
    await Promise.all([services.reader.stop(), services.retriever.stop()]);
    await this.#options.cluster?.end();
    await engine.stop();
    await directory.stop();
    // After the engine: what they leave unfinished is not recorded as failed, but repeated after the restart.
    ingestion.stop();
    mailboxes.stop();
    await services.mailboxReader.stop();
    await Promise.all([
      knowledge.stop(),
      services.commerce.close(),
      services.foreignSources.close(),
      services.chatModel.close(),
    ]);
    this.#server.close();
    mail.close();
    await Promise.all([services.webhookSender.close(), services.pushSender.close()]);
    metrics.stop();
    services.disk.stop();
    storage.stop();
    await Promise.all([mailReader.stop(), services.importedMails.stop()]);
    await checkpointer.stop();
    await this.#options.cluster?.leave();
    this.#options.unlock();
  }
}
