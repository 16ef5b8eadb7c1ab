// When the copies of a node are read, over a log that the test answers by hand.

import t from 'tap';
import { Copies } from '../../engine/runtime/cluster/copies.ts';
import type { LogEntry } from '../../engine/runtime/cluster/ports.ts';
import { Restorer } from '../../engine/runtime/cluster/restore.ts';
import { Rush } from '../../engine/runtime/cluster/rush.ts';
import { silentLog } from '../../engine/runtime/log.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { turns } from '../support/toy.ts';

const nobody = (): Promise<never> => Promise.reject(new Error('nobody does this'));

function startCopies() {
  const reads: { readonly workspaceId: string; answer(): Promise<void> }[] = [];
  const files = {
    sequence: () => 1,
    load: nobody,
    apply: nobody,
    current: () => Promise.resolve(),
    open: nobody,
    serve: () => undefined,
    settle: nobody,
    rest: nobody,
    release: () => undefined,
    remove: () => undefined,
    bytes: () => 0,
    pack: nobody,
  };
  async function* read(workspaceId: string): AsyncGenerator<LogEntry, void, void> {
    await new Promise<void>((resolve) => reads.push({ workspaceId, answer: () => (resolve(), turns(3)) }));
  }
  async function* follow(_: string, _after: number, signal: AbortSignal): AsyncGenerator<LogEntry, void, void> {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  }
  const logs = { append: nobody, purge: nobody, read, follow };
  const clock = new ManualClock();
  const rush = new Rush(clock);
  const snapshots = { newest: nobody, put: nobody, get: nobody };
  const copies = new Copies({
    logs,
    files,
    restorer: new Restorer({ logs, snapshots, files }),
    clock,
    log: silentLog,
    isTaken: () => false,
    isUrgent: (workspaceId) => workspaceId === 'directory',
    rush,
  });
  return { copies, clock, rush, reads, read: () => reads.map(({ workspaceId }) => workspaceId) };
}

t.test('[cluster] no copy begins to be read while workspaces are taken, but one that is read from', async (t) => {
  const { copies, clock, rush, reads, read } = startCopies();
  rush.begin();
  copies.keep('w');
  copies.keep('directory');
  await turns(3);
  t.same(read(), ['directory']);
  rush.endSoon();
  await turns(5);
  t.same(read(), ['directory'], 'those who waited for the last workspace write first');
  clock.advance(2000);
  await turns(5);
  t.same(read(), ['directory', 'w']);
  for (const { answer } of reads) await answer();
  t.equal(copies.behind, 0);
});

t.test('[cluster] a copy that is stopped while it is read, and kept again, is read again', async (t) => {
  const { copies, clock, reads, read } = startCopies();
  copies.keep('w');
  await turns(3);
  const stopped = copies.stop('w');
  copies.keep('w');
  await reads[0]?.answer();
  await stopped;
  clock.advance(1);
  await turns(3);
  t.same(read(), ['w', 'w']);
  await reads[1]?.answer();
  t.equal(copies.behind, 0);
});

t.test('[cluster] a copy that somebody waited for is not read a second time', async (t) => {
  const { copies, rush, reads, read } = startCopies();
  rush.begin();
  copies.keep('w');
  const warm = copies.warm('w');
  await turns(3);
  rush.end();
  await turns(5);
  t.same(read(), ['w']);
  await reads[0]?.answer();
  await warm;
  await turns(3);
  t.same(read(), ['w']);
  t.equal(copies.behind, 0);
});
