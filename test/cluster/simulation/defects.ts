// Deliberate defects of the cluster's rules. The simulation must find each, or it proves nothing about them.

import { Gate } from '../../../engine/runtime/cluster/gate.ts';
import { Lease } from '../../../engine/runtime/cluster/lease.ts';
import type { LogEntry } from '../../../engine/runtime/cluster/ports.ts';
import { Restorer } from '../../../engine/runtime/cluster/restore.ts';
import { SnapshotMaker } from '../../../engine/runtime/cluster/snapshots.ts';
import { LogServers } from './log-servers.ts';
import { NodeFiles } from './node-files.ts';
import { directory } from './sim-node.ts';

export interface Defect {
  readonly name: string;
  /** What the simulation says of it. */
  readonly finding: RegExp;
  /** Returns how to remove it again. */
  plant(): () => void;
}

/** `change` gets what is right, a method or a getter, and returns what is wrong. */
function defect<Prototype extends object, Key extends keyof Prototype & string>(
  name: string,
  finding: RegExp,
  [prototype, key]: readonly [Prototype, Key],
  change: (right: PropertyDescriptor) => PropertyDescriptor,
): Defect {
  return {
    name,
    finding,
    plant() {
      const right = Object.getOwnPropertyDescriptor(prototype, key);
      if (right === undefined) throw new Error(`there is no ${key}`);
      Object.defineProperty(prototype, key, { ...right, ...change(right) });
      return () => void Object.defineProperty(prototype, key, right);
    },
  };
}

const wrongOrder = /was written after|both acknowledged|is older than|do not agree|is not there|there twice/;

export const defects: readonly Defect[] = [
  defect('no fence', wrongOrder, [LogServers.prototype, 'isFenced'], () => ({ value: () => false })),
  defect(
    'an outcome leaves before the log has it',
    /was acknowledged at|is older than|both acknowledged|was read, and is not there|do not agree|left, and it did not/,
    [Gate.prototype, 'pass'],
    ({ value: right }) => ({
      value(this: Gate, change: Parameters<Gate['pass']>[0], done: Parameters<Gate['pass']>[1]) {
        right.call(this, change, () => {});
        change.sync(done);
      },
    }),
  ),
  defect('a lease is believed after its end', /is older than/, [Lease.prototype, 'isHeld'], () => ({
    get(this: Lease) {
      return this.term > 0;
    },
  })),
  defect(
    'what was served before the lease ended is served on',
    // What was being handed over when the lease ended is neither dropped nor handed over after it.
    /is older than|is never served again/,
    [Lease.prototype, 'term'],
    () => ({ get: () => 1 }),
  ),
  defect(
    'the log is purged beyond the snapshot',
    /is never served again/,
    [SnapshotMaker.prototype, 'purgeableUpTo'],
    () => ({ value: () => Number.POSITIVE_INFINITY }),
  ),
  defect(
    'a change of the directory is lost between two owners',
    /^seed \d+: directory/,
    [NodeFiles.prototype, 'apply'],
    ({ value: right }) => ({
      // The copy says that it equals an entry which it has not applied, now and then.
      value(this: NodeFiles, workspaceId: string, entries: readonly LogEntry[]) {
        const isLost = ({ sequence }: LogEntry): boolean => workspaceId === directory && sequence % 5 === 0;
        const left = entries.map((entry) => (isLost(entry) ? { ...entry, bytes: new Uint8Array() } : entry));
        return right.call(this, workspaceId, left);
      },
    }),
  ),
  defect('a workspace is served before an entry of its own', /is older than/, [Gate.prototype, 'open'], () => ({
    value: () => Promise.resolve(),
  })),
  defect('the file of a killed node is believed', wrongOrder, [NodeFiles.prototype, 'doubt'], () => ({
    value: () => {},
  })),
  defect('a gap in the log is read over', wrongOrder, [Restorer.prototype, 'isNext'], () => ({ value: () => true })),
];

/** Found in some tens of seeds, so only looked for in a longer run. */
export const rareDefects: readonly Defect[] = [
  defect('an owner that is there is not asked for', /is older than/, [LogServers.prototype, 'node'], () => ({
    value: () => undefined,
  })),
];
