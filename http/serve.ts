// The composition: every part made once, handed to those that use it, started in order and stopped in the opposite one. Tests
// start the service here with a clock, a random source or ports of their own; http/main.ts starts it from the environment.

import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Directory } from '../engine/directory.ts';
import type { Mail } from '../engine/mail.ts';
import { deadlineCommands, outboxKinds } from '../engine/rules.ts';
import { allAgents } from '../store/agents.ts';
import { type Clock, systemClock } from '../engine/runtime/clock.ts';
import { Engine } from '../engine/runtime/engine.ts';
import { createIds, type FillRandom } from '../engine/runtime/ids.ts';
import type { Log } from '../engine/runtime/log.ts';
import { OutsideFailure } from '../engine/runtime/outbox.ts';
import { lockFile, type SyncToDisk } from '../store/database.ts';
import { oldestQueuedOutboxAt } from '../store/outbox.ts';
import { createAccessTokens } from '../workers/access-tokens.ts';
import { createCheckpointer } from '../workers/checkpointer.ts';
import { createPasswordHasher } from '../workers/password-hasher.ts';
import { createPasswordStrength } from '../workers/password-strength.ts';
import { createReader } from '../workers/reader.ts';
import { MailRefused, type MailSender, outboxSender, smtpSender } from '../workers/providers/mail.ts';
import type { Config } from './config.ts';
import { readOrMakeSecret } from './data-folder.ts';
import { createLog } from './log.ts';
import { createMetrics } from './metrics.ts';
import { Pipeline } from './pipeline.ts';
import type { Route } from './route.ts';
import { apiRoutes } from './routes.ts';
import { systemRoutes } from './routes/system.ts';
import { createServer } from './server.ts';
import type { Services } from './services.ts';
import { Sockets } from './sockets.ts';
import { createVisitorTokens } from './visitor-tokens.ts';

export interface ServeOptions {
  readonly config: Config;
  readonly log?: Log;
  readonly clock?: Clock;
  readonly fillRandom?: FillRandom;
  readonly random?: () => number;
  readonly syncToDisk?: SyncToDisk;
  readonly mail?: MailSender;
  /** Hold every reply against its declaration. For tests. */
  readonly checkReplies?: boolean;
  readonly bodyTimeoutMs?: number;
  /** The disk refused to sync; ends the process unless a test stands in. */
  readonly onSyncFailed?: (error: Error) => void;
}

export interface Running {
  readonly port: number;
  /** http://host:port of the listener. */
  readonly url: string;
  readonly services: Services;
  readonly routes: readonly Route[];
  /** Finishes what is under way, makes it durable, tells the sockets, closes. Within stopTimeoutMs. */
  stop(): Promise<void>;
}

/** Another process uses the data folder. */
export class DataFolderInUse extends Error {
  override readonly name = 'DataFolderInUse';
}

const bodyTimeoutMs = 30_000;
/** Requests under way get so long; the rest of the ten seconds is for the disk. */
const drainTimeoutMs = 6_000;

/** Rejects with DataFolderInUse, DatabaseUnusable (directory.db) or an error of the listener. */
export async function serve(options: ServeOptions): Promise<Running> {
  const { config } = options;
  const log = options.log ?? createLog(config.logLevel);
  const clock = options.clock ?? systemClock();
  const dataDir = resolve(config.dataDir);
  mkdirSync(dataDir, { recursive: true });
  const lock = lockFile(join(dataDir, 'lock'));
  if (lock === undefined) throw new DataFolderInUse(`the data folder ${dataDir} is in use by another process`);

  const onSyncFailed =
    options.onSyncFailed ??
    ((error: Error): void => {
      log.error({ err: error }, 'the disk did not take what was written; ending, since what it holds is unknown');
      process.exit(1);
    });
  const ids = createIds(clock, options.fillRandom);
  const checkpointer = createCheckpointer();
  const reader = createReader({ dataDir });
  const mail = options.mail ?? (config.mail.provider === 'smtp' ? smtpSender(config.mail.url) : outboxSender(join(dataDir, 'outbox')));
  const syncToDisk = options.syncToDisk === undefined ? {} : { syncToDisk: options.syncToDisk };
  const random = options.random === undefined ? {} : { random: options.random };

  const engine: Engine = new Engine({
    dataDir,
    clock,
    ids,
    log,
    checkpoint: (path) => checkpointer.checkpoint(path),
    deadlines: deadlineCommands,
    outbox: outboxKinds({ sendMail: (item) => deliverMail(mail, config, item) }),
    onSyncFailed,
    onBatch: (figures) => metrics.observeBatch(figures),
    ...syncToDisk,
    ...random,
  });
  const directory = new Directory({ dataDir, clock, log, onSyncFailed, ...syncToDisk });

  const secret = config.jwtSecret ?? readOrMakeSecret(join(dataDir, 'jwt-secret'));
  const services: Services = {
    config,
    clock,
    ids,
    log,
    engine,
    directory,
    hasher: createPasswordHasher(),
    strength: createPasswordStrength(),
    accessTokens: createAccessTokens(secret, () => clock.now()),
    visitorTokens: createVisitorTokens(secret),
    reader,
    dropVisitor: (workspaceId, visitorId) => sockets.dropVisitor(workspaceId, visitorId),
  };

  let ready = false;
  const metrics = createMetrics({
    engine: () => engine.figures,
    sockets: () => sockets.counts,
    readerWaiting: () => reader.waiting,
    outboxAgeSeconds: () => outboxAgeSeconds(engine, clock),
  });
  const routes: readonly Route[] = [...apiRoutes, ...systemRoutes({ routes: () => routes, metrics, baseUrl: config.baseUrl, isReady: () => ready })];
  const pipeline = new Pipeline({ services, routes, metrics, checkReplies: options.checkReplies ?? false });
  const sockets: Sockets = new Sockets(services, pipeline);
  engine.onPublish((workspaceId, events) => {
    sockets.publish(workspaceId, events);
    reader.noteMessages(workspaceId, events.filter(({ type }) => type === 'message.created').length);
  });
  const server = createServer({ pipeline, sockets, trustProxy: config.trustProxy, bodyTimeoutMs: options.bodyTimeoutMs ?? bodyTimeoutMs });

  await directory.sweep((workspaceId, agentId) => emailOf(engine, workspaceId, agentId));
  let port: number;
  try {
    port = await server.listen(config.host, config.port);
  } catch (error) {
    await engine.stop();
    await directory.stop();
    lock.release();
    throw error;
  }
  ready = true;
  void engine.wakeAll();

  let stopping: Promise<void> | undefined;
  return {
    port,
    url: `http://${config.host === '0.0.0.0' ? '127.0.0.1' : config.host}:${port}`,
    services,
    routes,
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };

  async function stop(): Promise<void> {
    ready = false;
    server.stopListening();
    await Promise.race([server.drained(), new Promise((resolve) => setTimeout(resolve, drainTimeoutMs).unref())]);
    sockets.endAll();
    // Before the engine, whose last connection to a file tidies its log away.
    await reader.stop();
    await engine.stop();
    await directory.stop();
    server.close();
    mail.close();
    metrics.stop();
    await checkpointer.stop();
    lock?.release();
  }
}

async function deliverMail(sender: MailSender, config: Config, item: { id: string; mail: Mail }): Promise<string> {
  const { fromName, ...mail } = item.mail;
  try {
    return await sender.send({ ...mail, id: item.id, from: { address: config.mailFrom, ...(fromName === undefined ? {} : { name: fromName }) } });
  } catch (error) {
    if (error instanceof MailRefused) throw new OutsideFailure(error.message, { permanent: true, cause: error });
    throw error;
  }
}

function emailOf(engine: Engine, workspaceId: string, agentId: string): string | undefined {
  const workspace = engine.workspace(workspaceId);
  return workspace === undefined ? undefined : allAgents(workspace.db).find((agent) => agent.id === agentId)?.email;
}

function outboxAgeSeconds(engine: Engine, clock: Clock): number {
  let oldest: string | undefined;
  for (const workspace of engine.openWorkspaces()) {
    const at = oldestQueuedOutboxAt(workspace.db);
    if (at !== undefined && (oldest === undefined || at < oldest)) oldest = at;
  }
  return oldest === undefined ? 0 : Math.max(0, (clock.now() - Date.parse(oldest)) / 1000);
}
