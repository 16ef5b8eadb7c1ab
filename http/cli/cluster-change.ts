// Changes the file of a workspace of a running cluster by hand: for what takes too long for a node's main thread. Nobody
// serves the workspace meanwhile, and the change is one entry of its log, so it is there whole or not at all; the log's
// fence keeps whoever still writes from doing so. Nodes follow it as any other entry.

import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { changingBy, Fenced, noNodesSchema, type Ownership } from '../../engine/runtime/cluster/ports.ts';
import { Database } from '../../store/database.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { AddedFrames } from '../../store/page-log/added-frames.ts';
import { encodeChange } from '../../store/page-log/encode.ts';
import { joinPieces } from '../../store/page-log/entries.ts';
import type { Link } from '../../store/page-log/pieces.ts';
import type { ClusterStore } from '../../workers/cluster/cluster.ts';
import type { Gathered } from '../../workers/cluster/gathering.ts';
import { type Gathering, uninterrupted } from './cluster-gather.ts';
import { ProgramError } from './command.ts';

/** The schema that the file has is behind the name, for who finds what a killed command left. */
const heldShape = new RegExp(`^${changingBy}(\\d+)$`);
const attempts = 20;
const againMs = 250;
const appendMs = 60_000;
const releaseMs = 60_000;
const releaseAgainMs = 1000;

/** If a command that was killed left the workspace without anybody who serves it, its nodes take it again. */
export async function releaseLeft({ owners }: ClusterStore, workspaceId: string): Promise<void> {
  const found = await owners.of(workspaceId);
  if (found === undefined || found.ownership.schema !== noNodesSchema) return;
  const before = ownershipBefore(found.ownership);
  if (before.schema === noNodesSchema) return;
  await owners.set(workspaceId, { ...before, epoch: before.epoch + 1 }, found.revision);
}

interface Held {
  /** What it becomes again. */
  readonly before: Ownership;
  readonly epoch: number;
  readonly revision: number;
}

export interface Changed<Result> {
  readonly result: Result;
  /** Why NATS still has what was there before. */
  readonly leftBehind: string | undefined;
}

/**
 * Fetches the workspace's file, has `change` commit to it, appends what that changed, and removes from NATS what was
 * there before, when the workspace is served again. What `change` throws leaves the workspace as it was. Rejects with
 * ProgramError, also if the change was not made because somebody else wrote.
 */
export function changeWorkspace<Result>(
  gathering: Gathering,
  workspaceId: string,
  change: (db: Database) => Result,
): Promise<Changed<Result>> {
  return uninterrupted(async () => {
    const { store } = gathering;
    const held = await holdOrRelease(store, workspaceId);
    let made: Made<Result>;
    try {
      made = await changeHeld(gathering, workspaceId, change);
    } catch (error) {
      await release(store, workspaceId, held);
      if (!(error instanceof Fenced)) throw error;
      throw new ProgramError(`somebody else changed ${workspaceId} meanwhile, and nothing was done: try again`);
    }
    const released = await settled(release(store, workspaceId, held));
    const leftBehind = await replaceStored(gathering, workspaceId, made.at);
    if (released.status === 'rejected') throw new ProgramError(`it is done, but ${messageOf(released.reason)}`);
    return { result: made.result, leftBehind };
  });
}

interface Made<Result> {
  readonly result: Result;
  readonly at: Gathered;
}

async function changeHeld<Result>(
  gathering: Gathering,
  workspaceId: string,
  change: (db: Database) => Result,
): Promise<Made<Result>> {
  const { logs } = gathering.store;
  const expected = await fence(gathering.store, workspaceId);
  const gathered = await gathering.fetch(workspaceId);
  if (gathered === undefined || gathered.sequence !== expected) throw new Fenced('it went on after it was read');
  requireVersion(gathering.pathOf(workspaceId));
  const { result, bytes, link } = changed(gathering.pathOf(workspaceId), gathered.link, change);
  const entry = { id: randomUUID(), expected, bytes };
  const sequence = await logs.append(workspaceId, entry, AbortSignal.timeout(appendMs));
  return { result, at: { sequence, link } };
}

function changed<Result>(
  path: string,
  from: Link,
  change: (db: Database) => Result,
): { result: Result; bytes: Uint8Array; link: Link } {
  const db = Database.openWriter(path, workspaceMigrations);
  try {
    const frames = new AddedFrames(db);
    const result = change(db);
    const made = frames.next();
    if (made === undefined) return { result, bytes: new Uint8Array(), link: from };
    const { pieces, link } = encodeChange(made, { read: (into, at) => db.readLog(into, at), link: from });
    return { result, bytes: joinPieces(pieces), link };
  } finally {
    db.close();
  }
}

/**
 * With a snapshot of the fetched file, what the former one and the log had of the workspace is gone. Resolves to why not:
 * then that is so with the next snapshot.
 */
export async function replaceStored(
  gathering: Gathering,
  workspaceId: string,
  at: Gathered,
): Promise<string | undefined> {
  const { store, packing } = gathering;
  const packed = gathering.workPath(`${workspaceId}.packed`);
  try {
    const state = await packing.hold(gathering.pathOf(workspaceId));
    const file = await state.pack(packed);
    await store.snapshots.put(workspaceId, { ...at, ...file }, packed);
    await store.logs.purge(workspaceId, at.sequence);
    return undefined;
  } catch (error) {
    return messageOf(error);
  } finally {
    rmSync(packed, { force: true });
  }
}

/** An entry behind everything that any node has written. Resolves to its sequence. */
async function fence({ logs, inventory }: ClusterStore, workspaceId: string): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const expected = (await inventory.sequences([workspaceId])).get(workspaceId) ?? 0;
    if (expected === 0) throw new ProgramError(`the cluster has no log of ${workspaceId}`);
    try {
      const entry = { id: randomUUID(), expected, bytes: new Uint8Array() };
      return await logs.append(workspaceId, entry, AbortSignal.timeout(appendMs));
    } catch (error) {
      // Its owner has not heard yet.
      if (!(error instanceof Fenced) || attempt === attempts) throw error;
    }
    await pause(againMs);
  }
}

/** Nobody serves the workspace from now on. */
async function hold({ owners }: ClusterStore, workspaceId: string): Promise<Held> {
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const found = await owners.of(workspaceId);
    if (found === undefined) throw new ProgramError(`the cluster has no workspace with the id ${workspaceId}`);
    const before = ownershipBefore(found.ownership);
    if (before.schema === noNodesSchema)
      throw new ProgramError(`nobody is to serve ${workspaceId}: its registration failed`);
    const epoch = found.ownership.epoch + 1;
    const ownership = { node: `${changingBy}${before.schema}`, epoch, schema: noNodesSchema, isPinned: false };
    const revision = await owners.set(workspaceId, ownership, found.revision);
    if (revision !== undefined) return { before, epoch, revision };
    await pause(againMs);
  }
  throw new ProgramError(`${workspaceId} moves from node to node: try again later`);
}

/** Of one that a killed command left held, any node may be the next. */
function ownershipBefore(found: Ownership): Ownership {
  const [, schema] = heldShape.exec(found.node) ?? [];
  return schema === undefined ? found : { ...found, schema: Number(schema) };
}

/** What broke off may be held all the same. */
async function holdOrRelease(store: ClusterStore, workspaceId: string): Promise<Held> {
  try {
    return await hold(store, workspaceId);
  } catch (error) {
    if (error instanceof ProgramError) throw error;
    await againFor(releaseMs, workspaceId, () => releaseLeft(store, workspaceId));
    throw error;
  }
}

function release({ owners }: ClusterStore, workspaceId: string, { before, epoch, revision }: Held): Promise<void> {
  // Another command may hold it now.
  return againFor(releaseMs, workspaceId, async () => {
    await owners.set(workspaceId, { ...before, epoch: epoch + 1 }, revision);
  });
}

/** An election of NATS takes some seconds. Rejects with ProgramError if NATS does not answer for so long. */
async function againFor(ms: number, workspaceId: string, work: () => Promise<void>): Promise<void> {
  for (const untilMs = performance.now() + ms; ; await pause(releaseAgainMs))
    try {
      await work();
      return;
    } catch (error) {
      if (performance.now() < untilMs) continue;
      throw new ProgramError(
        `nobody may serve ${workspaceId} until this command is run again, because NATS does not answer: ${messageOf(error)}`,
      );
    }
}

async function settled<Result>(work: Promise<Result>): Promise<PromiseSettledResult<Result>> {
  const [result] = await Promise.allSettled([work]);
  return result;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function requireVersion(path: string): void {
  const db = Database.openReader(path);
  try {
    if (db.version === workspaceMigrations.at(-1)?.version) return;
    throw new ProgramError(
      'the workspace is of another version of the program: use the switchboard of the version that its node runs',
    );
  } finally {
    db.close();
  }
}
