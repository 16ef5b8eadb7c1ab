// This node of a cluster: joins, serves its share, answers other nodes, and leaves. Loaded in a cluster only, by a
// dynamic import. The rules are in engine/runtime/cluster/, NATS is in workers/cluster/.

import { createHash, createHmac, randomUUID } from 'node:crypto';
import type { Directory } from '../../engine/directory/directory.ts';
import { type PlainRefusal, plainRefusal, Refusal, refusalFrom } from '../../engine/errors.ts';
import type { ServedReset } from '../../engine/operations/second-factor-reset.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Copies } from '../../engine/runtime/cluster/copies.ts';
import { Lease, leaseMs } from '../../engine/runtime/cluster/lease.ts';
import { Limited } from '../../engine/runtime/cluster/limited.ts';
import { Ownerships } from '../../engine/runtime/cluster/ownership.ts';
import {
  CallRefused,
  directoryId,
  discardedOwner,
  LogFull,
  LogUnreachable,
  NodeAway,
  type NodeRecord,
  type Ownership,
} from '../../engine/runtime/cluster/ports.ts';
import { Restorer } from '../../engine/runtime/cluster/restore.ts';
import { Router } from '../../engine/runtime/cluster/routing.ts';
import { Rush } from '../../engine/runtime/cluster/rush.ts';
import { SnapshotMaker } from '../../engine/runtime/cluster/snapshots.ts';
import { handOverAll, handOverWithinMs } from '../../engine/runtime/cluster/stopping.ts';
import { View } from '../../engine/runtime/cluster/view.ts';
import type { Engine } from '../../engine/runtime/engine.ts';
import type { Log } from '../../engine/runtime/log.ts';
import {
  type Elsewhere,
  type ForeignPart,
  isElsewhere,
  KeptElsewhere,
  NeededFromElsewhere,
  NotServed,
  type Placement,
  type ServedElsewhere,
} from '../../engine/runtime/placement.ts';
import type { SyncToDisk } from '../../store/database.ts';
import { findDirectoryWorkspace } from '../../store/directory/directory.ts';
import { schemaVersion } from '../../store/schema-version.ts';
import { authoritiesIn, ClusterRefused, NatsFull } from '../../workers/cluster/address.ts';
import { type ClusterStore, openCluster } from '../../workers/cluster/cluster.ts';
import { type CopyWriter, createCopyWriter } from '../../workers/cluster/copy-writer.ts';
import { answerCopies } from '../../workers/cluster/inventory.ts';
import { createPacking, type Packing } from '../../workers/cluster/packing.ts';
import { programVersion } from '../../workers/program-files.ts';
import type { ReceivedMail } from '../../workers/providers/smtp-listener.ts';
import type { MailElsewhere, MailOutcome } from '../delivery/arriving-mail.ts';
import type { Routing } from '../pipeline/pipeline.ts';
import type { ClusterCounts, ClusterFigures } from '../process/cluster-figures.ts';
import type { ClusterConfig, Config } from '../process/config.ts';
import type { FolderKeys } from '../process/folder-keys.ts';
import type { Reply } from '../request.ts';
import type { Route } from '../route.ts';
import type { FromElsewhere, HelloElsewhere, Elsewhere as SocketsElsewhere } from '../sockets/elsewhere.ts';
import type { SocketElsewhere } from '../sockets/session.ts';
import { BriefMemory } from './brief-memory.ts';
import { DeadNodes } from './dead-nodes.ts';
import { type ForwardedRequest, PeerRequests } from './forwarding.ts';
import { NodeFiles } from './node-files.ts';
import { type MailFromNodes, mailRoute, sendMail } from './peer-mail.ts';
import { KnownNodes } from './receiving.ts';
import { areOthersAmong, printsOf, requireSameSecrets, type SecretPrints } from './same-secrets.ts';

/** What of the service this node's part in the cluster works on. */
export interface NodeParts {
  readonly engine: Engine;
  readonly directory: Directory;
  readonly syncToDisk?: SyncToDisk | undefined;
  readonly counts: ClusterCounts | undefined;
  closeReaders(workspaceId: string, path: string): Promise<void>;
  onServed(workspaceId: string): void;
  /** Of one that is served, when those who wait for others have them: what can wait. Must not reject. */
  look(workspaceId: string, isServed: () => boolean): Promise<void>;
  onEnded(workspaceId: string): void;
  /** Of a workspace that this node serves, for another node. */
  foreign(part: ForeignPart): unknown;
  /** By an operator, of an agent of a workspace that this node serves. */
  resetSecondFactors(reset: ServedReset): Promise<boolean>;
  /** Another node of this name is there. */
  onReplaced(): void;
}

const lookEveryMs = 1000;
const callMs = 5000;
const pingMs = 500;
/** Reading a copy of a gigabyte takes minutes; whoever hands over asks again. */
const warmMs = 60_000;
/** Files of workspaces that came here, by the thread that checkpoints. */
const looksAtOnce = 4;
/** Of a node that stops, for the files that it still served. */
const closeForMs = 4000;
/** Within this time the others, and load balancers, have heard where everything is now. */
const heardMs = 500;
/** How long a start waits for a directory that can be read. */
const directoryMs = 60_000;
/** A change of the directory is made elsewhere before this node's copy has it. */
const copyMs = 5000;
/** How long a change waits for the directory to be served somewhere. */
const directoryMovesMs = 10_000;
const betweenLooksMs = 50;
/** From the reservation of a new workspace until it has an owner. */
const beginsWithinMs = 60_000;
/** A request needs a part of another workspace, and then another node; more would be a circle. */
const maxDetours = 4;
/** Of a node's name, in its challenges. */
const tagBytes = 4;

export async function joinCluster(
  settings: ClusterConfig,
  {
    clock,
    log,
    dataDir,
    keys,
    storage,
  }: Omit<Ground, 'ca' | 'snapshotBucket'> & { readonly storage: Config['storage'] },
): Promise<ClusterNode> {
  const bucket = storage.provider === 's3' ? storage : undefined;
  const ca = await authoritiesIn('CLUSTER_CA_FILE', settings.caFile);
  const store = await openCluster({
    url: settings.natsUrl,
    credsFile: settings.natsCredsFile,
    caFile: settings.natsCaFile,
    name: settings.name,
    replicas: settings.replicas,
    node: settings.node,
    leaseMs,
    bucket,
    notice: (fields, text) => log.warn(fields, text),
  });
  return new ClusterNode(settings, store, { clock, log, dataDir, keys, ca, snapshotBucket: bucket?.bucket });
}

interface Ground {
  readonly clock: Clock;
  readonly log: Log;
  readonly dataDir: string;
  readonly keys: FolderKeys;
  /** Of the other nodes' certificates. */
  readonly ca: string | undefined;
  readonly snapshotBucket: string | undefined;
}

/** A request, as Routing.answer() gets it. */
type RoutedRequest = Parameters<Routing['answer']>[1];

export class ClusterNode implements Placement, Routing, SocketsElsewhere, MailElsewhere {
  readonly settings: ClusterConfig;
  readonly view: View;
  /** The longest that handOver() takes. */
  readonly handsOverWithinMs = handOverWithinMs + heardMs;
  readonly #store: ClusterStore;
  readonly #ground: Ground;
  readonly #packing: Packing = createPacking();
  readonly #copyWriter: CopyWriter = createCopyWriter();
  readonly #peers: PeerRequests;
  /** For the edge: what other nodes sent on, and from where they connect. */
  readonly known: KnownNodes;
  readonly #foreign: BriefMemory<unknown>;
  /** Whether a workspace that this node did not know exists. */
  readonly #asked: BriefMemory<boolean>;
  readonly #dead: DeadNodes;
  readonly #prints: SecretPrints;
  #parts: Running | undefined;
  #isOver = false;

  constructor(settings: ClusterConfig, store: ClusterStore, ground: Ground) {
    this.settings = settings;
    this.#store = store;
    this.#ground = ground;
    this.view = new View({ nodes: store.nodes, owners: store.owners });
    const { secret } = settings;
    const { jwtSecret, secretsKey } = ground.keys;
    this.#prints = printsOf({ JWT_SECRET: jwtSecret, SECRETS_KEY: secretsKey, CLUSTER_SECRET: secret }, settings.name);
    this.#foreign = new BriefMemory(ground.clock);
    this.#asked = new BriefMemory(ground.clock);
    this.#peers = new PeerRequests({ secret, clock: ground.clock, log: ground.log, ca: ground.ca });
    this.known = new KnownNodes({ secret, clock: ground.clock });
    this.#dead = new DeadNodes({
      clock: ground.clock,
      log: ground.log,
      nodes: store.nodes,
      // One that drains is about to stop, and leaves by itself.
      others: () =>
        [...this.view.nodes.values()].filter(({ node, isDraining }) => node !== settings.node && !isDraining),
      isAlive: (node) =>
        store.calls.ask(node, 'ping', undefined, pingMs).then(
          () => true,
          () => false,
        ),
    });
  }

  takes(workspaceId: string): boolean {
    return this.#parts?.ownerships.takes(workspaceId) === true;
  }

  epochServed(workspaceId: string): number | undefined {
    return this.#parts?.ownerships.epochServed(workspaceId);
  }

  /** False also of one whose making failed. */
  hasOwner(workspaceId: string): boolean {
    return isOwned(this.view.owners.get(workspaceId));
  }

  mayExist(workspaceId: string): boolean {
    if (this.hasOwner(workspaceId)) return true;
    const asked = this.#asked.get(workspaceId);
    if (asked !== undefined) return asked.value;
    throw new NeededFromElsewhere(`whether there is a workspace ${workspaceId}`, async () => {
      // Whoever asked for an address that may be none does not wait for an election.
      const isLate = this.#pause(callMs).then(() => null);
      const found = await Promise.race([this.#store.owners.of(workspaceId).catch(() => null), isLate]);
      // Without the log, nobody knows.
      if (found === null) throw new NotServed();
      this.#asked.set(workspaceId, isOwned(found?.ownership));
    });
  }

  foreign(part: ForeignPart): unknown {
    const known = this.#foreign.get(keyOf(part));
    if (known !== undefined) return known.value;
    throw new NeededFromElsewhere(`${part.kind} ${part.key}`, () => this.#fetch(part));
  }

  /** Whether this node settles what an interrupted change left of the workspace: it serves it, or nobody ever did. */
  settles(workspaceId: string): boolean {
    if (this.takes(workspaceId)) return true;
    if (this.hasOwner(workspaceId) || !this.takes(directoryId)) return false;
    // Its node may be about to begin it.
    const reservedAt = findDirectoryWorkspace(this.#running.directory.db, workspaceId)?.reservedAt;
    return reservedAt != null && Date.parse(reservedAt) + beginsWithinMs < this.#ground.clock.now();
  }

  /** Of several nodes, this one as part of its challenges. */
  get tag(): Uint8Array {
    return tagOf(this.settings.node);
  }

  sign(bytes: Uint8Array): Buffer {
    return createHmac('sha256', this.settings.secret).update('a challenge for any node\n').update(bytes).digest();
  }

  otherBy(challenge: Uint8Array): string | undefined {
    if (startsWith(challenge, this.tag)) return undefined;
    return [...this.view.nodes.keys()].find((node) => startsWith(challenge, tagOf(node)));
  }

  discard(workspaceId: string): Promise<void> {
    return this.#running.ownerships.discard(workspaceId);
  }

  begin(workspaceId: string): Promise<void> {
    return this.#running.ownerships.begin(workspaceId);
  }

  /** Whether this node may answer from what it has. */
  get isLeaseHeld(): boolean {
    return this.#parts?.lease.isHeld === true;
  }

  get isNatsConnected(): boolean {
    return this.#store.isConnected;
  }

  get isNatsFull(): boolean {
    return this.#store.isFull;
  }

  get figures(): ClusterFigures {
    const parts = this.#parts;
    return {
      workspacesServed: parts?.ownerships.size ?? 0,
      copies: Object.keys(parts?.files.copies() ?? {}).length,
      copiesBehind: parts?.copies.behind ?? 0,
      isLeaseHeld: this.isLeaseHeld,
      isNatsConnected: this.isNatsConnected,
      isNatsFull: this.isNatsFull,
    };
  }

  /** Rejects with NotServed, or with an error if what another node did is unknown. */
  async answer(elsewhere: Elsewhere, request: RoutedRequest): Promise<Reply> {
    for (let times = 1, next = elsewhere; ; times += 1) {
      if (times > maxDetours) throw new NotServed();
      if (!(next instanceof NeededFromElsewhere)) return this.#answerElsewhere(next, request);
      await next.fetch();
      try {
        return await request.here();
      } catch (error) {
        if (!isElsewhere(error)) throw error;
        next = error;
      }
    }
  }

  /** Rejects with NotServed, or if its node cannot be reached. */
  socketTo(workspaceId: string, hello: HelloElsewhere, to: FromElsewhere): Promise<SocketElsewhere | 'here'> {
    return this.#running.router.send<SocketElsewhere | 'here'>(workspaceId, {
      kind: 'command',
      here: () => Promise.resolve('here'),
      there: (node) => this.#peers.openSocket(node, hello, to),
    });
  }

  sendMail(node: NodeRecord, mail: ReceivedMail): Promise<MailOutcome> {
    return sendMail((request) => this.#forward(node, request), mail);
  }

  /** What only other nodes request. */
  routes(mail: MailFromNodes): readonly Route[] {
    return [mailRoute(mail)];
  }

  async #forward(node: NodeRecord, request: ForwardedRequest): Promise<Reply> {
    const counts = this.#parts?.counts;
    try {
      const reply = await this.#peers.forward(node, request);
      counts?.observeForwarded('answered');
      return reply;
    } catch (error) {
      counts?.observeForwarded(error instanceof NotServed ? 'not served' : 'unknown');
      throw error;
    }
  }

  #answerElsewhere(elsewhere: ServedElsewhere | KeptElsewhere, request: RoutedRequest): Promise<Reply> {
    const { begun, body, isRead } = request;
    const { head, requestId } = begun;
    const isReceived = head.forwarded === 'byNode';
    const there = (node: NodeRecord): Promise<Reply> => this.#forward(node, { head, requestId, body });
    if (elsewhere instanceof KeptElsewhere) {
      const node = this.view.nodes.get(elsewhere.node);
      return node === undefined || isReceived ? Promise.reject(new NotServed()) : there(node);
    }
    const here = (): Promise<Reply> =>
      request.here().catch((error: unknown) => {
        if (error instanceof NeededFromElsewhere) return this.answer(error, request);
        throw isElsewhere(error) ? new NotServed() : error;
      });
    const kind = isRead ? 'read' : 'command';
    const { router } = this.#running;
    return isReceived
      ? router.receive(elsewhere.workspaceId, { kind, here })
      : router.send(elsewhere.workspaceId, { kind, here, there });
  }

  /** The node that serves the workspace, once there is one. Undefined: this one. Rejects with NotServed. */
  ownerOf(workspaceId: string): Promise<NodeRecord | undefined> {
    return this.#running.router.send<NodeRecord | undefined>(workspaceId, {
      kind: 'command',
      here: () => Promise.resolve(undefined),
      there: (node) => Promise.resolve(node),
    });
  }

  /**
   * Joins, and resolves when the directory can be read; beReady() is next. Rejects with NameTaken, ClusterRefused or an
   * error in a person's words. `url`: where other nodes reach this one.
   */
  async start(parts: NodeParts, url: string): Promise<void> {
    const running = this.#make(parts, url);
    this.#parts = running;
    this.#answerCalls(running);
    this.view.onChange((workspaceId) => {
      if (workspaceId === undefined) this.#knowNodes();
    });
    this.view.start();
    await running.lease.start().catch((error: unknown) => {
      throw startRefusal(error);
    });
    await this.#requireSameSecrets({ mayBegin: false });
    await this.#haveDirectory(running);
    this.#dead.start();
    this.#lookLater(running);
  }

  /** Whether another node is there that has, or may have, other secrets than this one. Rejects with LogUnreachable. */
  async areOthersThere(): Promise<boolean> {
    const nodes = (await this.#store.inventory.nodes()).values();
    return areOthersAmong(nodes, { node: this.settings.node, prints: this.#prints });
  }

  /** A change of the directory, which another node serves, or this one in a moment. Rejects with NotServed. */
  async changeDirectory(name: string, params: unknown): Promise<unknown> {
    const { router, directory } = this.#running;
    const { clock } = this.#ground;
    const untilMs = clock.now() + directoryMovesMs;
    for (;;) {
      const way = router.wayTo(directoryId);
      if (way.to === 'here') return directory.changeFor(name, params);
      if (way.to === 'node') {
        const changed = await this.#askToChange(way.node, { name, params });
        if (changed !== undefined) {
          // Whoever changes nothing asks for what the others changed.
          if (!(await this.#haveShown(changed.sequence)) && name === 'nothing') throw new NotServed();
          return changed.result;
        }
      }
      if (way.to === 'nowhere' && way.why !== undefined) throw new NotServed(1, way.why);
      if (clock.now() >= untilMs) throw new NotServed();
      await this.#pause(betweenLooksMs);
    }
  }

  /** Resolves when reads of the directory have the entry, or to false after a time: whoever reads may be a moment late. */
  async #haveShown(sequence: number): Promise<boolean> {
    const { files, ownerships } = this.#running;
    const { clock } = this.#ground;
    const untilMs = clock.now() + copyMs;
    const isShown = (): boolean => files.shownSequence >= sequence || ownerships.takes(directoryId);
    while (!isShown() && clock.now() < untilMs) await this.#pause(betweenLooksMs);
    return isShown();
  }

  /** Hands over what others can take, within a time. */
  async handOver(): Promise<void> {
    if (this.#parts === undefined) return;
    const { ownerships, lease } = this.#parts;
    const others = [...this.view.nodes.values()].some(
      ({ node, isReady, isDraining }) => node !== lease.record.node && isReady && !isDraining,
    );
    if (!others || !lease.isHeld) return;
    const { clock, log } = this.#ground;
    const begunMs = clock.now();
    const { all } = ownerships.left;
    await handOverAll(ownerships, clock);
    const left = ownerships.left.all;
    log.info({ workspaces: all - left, left, durationMs: clock.now() - begunMs }, 'workspaces were handed over');
    // Until then some are still sent here, and are sent on.
    await this.#pause(heardMs);
  }

  /**
   * Ends what is still served, at once. Resolves when the files are closed, or after a time: one left open is read from
   * the log again. Call before the engine is stopped.
   */
  async end(): Promise<void> {
    if (this.#parts === undefined) return;
    const { ownerships, files } = this.#parts;
    ownerships.end(new Error('the node stops'));
    await Promise.race([files.closed(), this.#pause(closeForMs)]);
  }

  /** Says that this node is gone. Call when nothing is served any more. */
  async leave(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.view.stop();
    this.#dead.stop();
    await this.#parts?.lease.leave().catch(() => undefined);
    await Promise.all([this.#packing.stop(), this.#copyWriter.stop(), this.#peers.close()]);
    await this.#store.close();
  }

  get #running(): Running {
    if (this.#parts === undefined) throw new NotServed();
    return this.#parts;
  }

  #make(parts: NodeParts, url: string): Running {
    const { clock, log, snapshotBucket } = this.#ground;
    const { logs, owners, nodes, snapshots, calls } = this.#store;
    const { view } = this;
    const rush = new Rush(clock);
    const files = this.#filesOf(parts, rush);
    const restorer = new Restorer({ logs, snapshots, files });
    const lease = new Lease({
      nodes,
      clock,
      log,
      record: {
        node: this.settings.node,
        url,
        version: programVersion(),
        schema: schemaVersion,
        incarnation: randomUUID(),
        isReady: false,
        isDraining: false,
        secrets: this.#prints,
        snapshotBucket,
      },
      hooks: { onTerm: () => ownerships.onTerm(), onReplaced: () => parts.onReplaced() },
    });
    const isTaken = (workspaceId: string): boolean => ownerships.holding(workspaceId) !== undefined;
    const isUrgent = (workspaceId: string): boolean => workspaceId === directoryId;
    const copies = new Copies({ logs, files, restorer, clock, log, isTaken, isUrgent, rush });
    const ownerships: Ownerships = new Ownerships({
      clock,
      log,
      lease,
      view,
      logs,
      owners,
      nodes,
      peers: {
        warm: async (node, workspaceId) => void (await calls.ask(node.node, 'warm', { workspaceId }, warmMs)),
      },
      files,
      restorer,
      copies,
      rush,
      everywhere: new Set([directoryId]),
      newId: () => randomUUID(),
      counts: parts.counts,
    });
    const snapshotMaker = new SnapshotMaker({ clock, ownerships, files, logs, snapshots, restorer, log });
    return {
      files,
      lease,
      ownerships,
      snapshotMaker,
      router: new Router({ clock, lease, view, ownerships }),
      directory: parts.directory,
      foreign: (part) => parts.foreign(part),
      resetSecondFactors: (reset) => parts.resetSecondFactors(reset),
      counts: parts.counts,
      copies,
    };
  }

  #filesOf(parts: NodeParts, rush: Rush): NodeFiles {
    const { log, dataDir } = this.#ground;
    const looks = new Limited(looksAtOnce, async (workspaceId) => {
      await rush.whenOver();
      await this.#look(workspaceId, parts);
    });
    return new NodeFiles({
      ...parts,
      onServed: (workspaceId) => {
        parts.onServed(workspaceId);
        looks.add(workspaceId);
      },
      log,
      dataDir,
      snapshots: this.#store.snapshots,
      packing: this.#packing,
      copyWriter: this.#copyWriter,
    });
  }

  /** It may leave meanwhile, and come back. */
  async #look(workspaceId: string, { look }: NodeParts): Promise<void> {
    let epoch: number | undefined;
    do {
      epoch = this.epochServed(workspaceId);
      if (epoch !== undefined) await look(workspaceId, () => this.epochServed(workspaceId) === epoch);
    } while (this.epochServed(workspaceId) !== epoch);
  }

  /** From here on it takes its share of the workspaces. Rejects with ClusterRefused or LogUnreachable. */
  async beReady(): Promise<void> {
    await this.#requireSameSecrets({ mayBegin: true });
    await this.#running.ownerships.beReady();
  }

  /** For a while also while NATS does not answer: its servers may just have started, or elect a leader. */
  async #requireSameSecrets(when: { readonly mayBegin: boolean }): Promise<void> {
    const { clock, log } = this.#ground;
    const untilMs = clock.now() + directoryMs;
    for (;;) {
      try {
        await this.#lookAtSecrets(when);
        return;
      } catch (error) {
        if (!(error instanceof LogUnreachable) || clock.now() >= untilMs) throw error;
        log.warn({ err: error }, 'the record of the secrets could not be read; it is tried again');
      }
      await this.#pause(betweenLooksMs);
    }
  }

  #lookAtSecrets(when: { readonly mayBegin: boolean }): Promise<void> {
    const areOthersThere = (): Promise<boolean> => this.areOthersThere();
    return requireSameSecrets(
      { logs: this.#store.logs, log: this.#ground.log, prints: this.#prints, areOthersThere },
      when,
    );
  }

  #knowNodes(): void {
    const nodes = [...this.view.nodes.values()];
    this.#peers.keepOnly(nodes);
    void this.known.follow(nodes);
  }

  #answerCalls({ ownerships, files }: Running): void {
    this.#store.calls.answer({
      warm: (params) => ownerships.warm(workspaceIn(params)),
      change: (params) => this.#answerChange(params as { name: string; params: unknown }),
      move: async (params) => {
        const { node } = params as { node: string };
        await ownerships.move(workspaceIn(params), node).catch((error: unknown) => {
          throw new CallRefused(error instanceof Error ? error.message : String(error));
        });
      },
      ping: () => Promise.resolve(true),
      drain: () => ownerships.drain(),
      'reset-second-factors': (params) =>
        this.#running.resetSecondFactors(params as ServedReset).catch((error: unknown) => {
          throw operatorRefusal(error);
        }),
      foreign: (part) => Promise.resolve(this.#running.foreign(part as ForeignPart)),
      copies: (params) => Promise.resolve(answerCopies(new Map(Object.entries(files.copies())), params)),
    });
  }

  async #fetch(part: ForeignPart): Promise<void> {
    const owner = await this.ownerOf(part.workspaceId);
    // It has become this node's.
    if (owner === undefined) return;
    const value = await this.#store.calls.ask(owner.node, 'foreign', part, callMs);
    this.#foreign.set(keyOf(part), value);
  }

  async #answerChange(change: { name: string; params: unknown }): Promise<unknown> {
    const { ownerships } = this.#running;
    if (!ownerships.takes(directoryId))
      throw new CallRefused('the directory is not served here', { isNotServed: true } satisfies RefusedChange);
    try {
      const result = await this.#running.directory.changeFor(change.name, change.params);
      return { result, sequence: ownerships.holding(directoryId)?.gate?.sequence ?? 0 };
    } catch (error) {
      if (error instanceof Refusal)
        throw new CallRefused(error.message, {
          refusal: plainRefusal(error),
        } satisfies RefusedChange);
      throw error;
    }
  }

  /** Undefined if the other node has done nothing. Rejects with a Refusal, or if the outcome is unknown. */
  async #askToChange(
    { node }: NodeRecord,
    change: { name: string; params: unknown },
  ): Promise<{ result: unknown; sequence: number } | undefined> {
    try {
      return (await this.#store.calls.ask(node, 'change', change, callMs)) as { result: unknown; sequence: number };
    } catch (error) {
      if (error instanceof NodeAway) return undefined;
      const data = error instanceof CallRefused ? (error.data as RefusedChange | undefined) : undefined;
      if (data?.isNotServed === true) return undefined;
      throw (data?.refusal && refusalFrom(data.refusal)) ?? error;
    }
  }

  /**
   * The directory is made by the first node of all; after that each waits until it serves it or has a copy of it.
   */
  async #haveDirectory({ ownerships, directory }: Running): Promise<void> {
    const { clock, log } = this.#ground;
    const untilMs = clock.now() + directoryMs;
    for (;;) {
      if (directory.isReadable) return;
      if (clock.now() >= untilMs)
        throw new ClusterRefused(
          'The directory of the cluster cannot be read: this node could not bring its copy of it up to date within a minute. Its log says why',
        );
      const isNew = (await this.#store.owners.of(directoryId).catch(() => null)) === undefined;
      if (isNew)
        await ownerships
          .begin(directoryId)
          .catch((error: unknown) => log.info({ err: error }, 'another node makes the directory'));
      if (!directory.isReadable) await this.#pause(betweenLooksMs);
    }
  }

  #lookLater(running: Running): void {
    this.#ground.clock.after(lookEveryMs, () => {
      if (this.#isOver) return;
      running.snapshotMaker.look();
      this.#lookLater(running);
    });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#ground.clock.after(ms, resolve));
  }
}

/** Of the first record that this node writes. */
function startRefusal(error: unknown): unknown {
  if (error instanceof LogFull) return new NatsFull('it takes no record of this node', { cause: error });
  if (!(error instanceof LogUnreachable)) return error;
  return new ClusterRefused(
    `NATS, which CLUSTER_NATS_URL names, takes no record of this node: ${error.message}. Most of its servers must run, see each other and have room; their logs say why they do not`,
    { cause: error },
  );
}

function isOwned(ownership: Ownership | undefined): boolean {
  return ownership !== undefined && ownership.node !== discardedOwner;
}

function keyOf({ kind, key }: ForeignPart): string {
  return `${kind} ${key}`;
}

function tagOf(node: string): Uint8Array {
  return createHash('sha256').update(node).digest().subarray(0, tagBytes);
}

function startsWith(bytes: Uint8Array, tag: Uint8Array): boolean {
  return Buffer.from(tag).equals(bytes.subarray(0, tag.length));
}

/** What comes with the refusal of a change. */
interface RefusedChange {
  readonly isNotServed?: true;
  readonly refusal?: PlainRefusal;
}

/** For `switchboard` commands, which ask again unless it is refused for good. */
function operatorRefusal(error: unknown): CallRefused {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof Refusal) return new CallRefused(message);
  const isUndone = isElsewhere(error) || error instanceof NotServed;
  return new CallRefused(message, { tryAgain: isUndone ? 'nothing was done' : 'unknown' });
}

interface Running {
  foreign(part: ForeignPart): unknown;
  resetSecondFactors: NodeParts['resetSecondFactors'];
  readonly counts: ClusterCounts | undefined;
  readonly copies: Copies;
  readonly files: NodeFiles;
  readonly lease: Lease;
  readonly ownerships: Ownerships;
  readonly snapshotMaker: SnapshotMaker;
  readonly router: Router;
  readonly directory: Directory;
}

function workspaceIn(params: unknown): string {
  return (params as { workspaceId: string }).workspaceId;
}
