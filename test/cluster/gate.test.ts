// The gate of one workspace, over a log and a disk that the test completes by hand.

import t from 'tap';
import { Gate } from '../../engine/runtime/cluster/gate.ts';
import { Fenced, type LogEntry, LogUnreachable, type WorkspaceLogs } from '../../engine/runtime/cluster/ports.ts';
import { Voided } from '../../engine/runtime/lane.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { turns } from '../support/toy.ts';

interface Append {
  readonly id: string;
  readonly expected: number;
  readonly text: string;
  take(sequence: number): Promise<void>;
  refuse(error: Error): Promise<void>;
}

const never: AsyncIterable<LogEntry> = (async function* () {})();

function startGate() {
  const appends: Append[] = [];
  const logs: WorkspaceLogs = {
    append: (_, { id, expected, bytes }, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new LogUnreachable('given up')));
        appends.push({
          id,
          expected,
          text: bytes.length > 100 ? `${bytes.length} bytes` : Buffer.from(bytes).toString(),
          take: (sequence) => (resolve(sequence), turns(1)),
          refuse: (error) => (reject(error), turns(1)),
        });
      }),
    read: () => never,
    follow: () => never,
    purge: () => Promise.resolve(),
  };
  const clock = new ManualClock();
  const seen: string[] = [];
  const state = { isHeld: true };
  let made = 0;
  const gate = new Gate({
    workspaceId: 'w',
    sequence: 7,
    logs,
    clock,
    newId: () => `id ${(made += 1)}`,
    isHeld: () => state.isHeld,
    onBroken: () => void seen.push('broken'),
  });
  /** Returns how to complete its sync. */
  const pass = (text: string): ((error?: Error) => void) => {
    let synced: (error: Error | null) => void = () => {};
    gate.pass({ bytes: Buffer.from(text), sync: (done) => (synced = done) }, (error) =>
      seen.push(`${text.slice(0, 9)}: ${error === null ? 'done' : error.name}`),
    );
    return (error) => synced(error ?? null);
  };
  return { gate, appends, clock, pass, state, taken: () => seen.splice(0) };
}

t.test('[cluster gate] an outcome leaves when the log has it and the own disk too, whichever is first', async (t) => {
  const { appends, pass, taken } = startGate();
  const first = pass('a');
  await appends[0]?.take(9);
  t.same(taken(), []);
  first();
  t.same(taken(), ['a: done']);
  const second = pass('b');
  second();
  t.same(taken(), []);
  await appends[1]?.take(12);
  t.same(taken(), ['b: done']);
});

t.test('[cluster gate] each commit is an entry behind the one before', async (t) => {
  const { gate, appends, pass } = startGate();
  pass('a')();
  await appends[0]?.take(9);
  pass('b')();
  await appends[1]?.take(10);
  t.same(
    appends.map(({ id, expected, text }) => [id, expected, text]),
    [
      ['id 1', 7, 'a'],
      ['id 2', 9, 'b'],
    ],
  );
  t.equal(gate.sequence, 10);
  t.ok(gate.isAtRest);
});

t.test('[cluster gate] a fence voids what is not acknowledged, and all that comes', async (t) => {
  const { gate, appends, pass, taken } = startGate();
  pass('a')();
  await appends[0]?.refuse(new Fenced('another has appended'));
  t.same(taken(), ['broken', 'a: Voided'], 'its owner knows before who waits');
  pass('b');
  t.same(taken(), ['b: Voided']);
  t.equal(appends.length, 1);
  t.equal(gate.sequence, 7);
  t.notOk(gate.isAtRest);
});

t.test('[cluster gate] what the log does not acknowledge within 10 s is void', async (t) => {
  const { appends, clock, pass, taken } = startGate();
  pass('a')();
  clock.advance(9999);
  await turns(1);
  t.same(taken(), []);
  clock.advance(1);
  await turns(1);
  t.same(taken(), ['broken', 'a: Voided']);
  await appends[0]?.take(8);
  t.same(taken(), [], 'and an answer after that changes nothing');
});

t.test('[cluster gate] a commit that changed nothing needs no entry, but the lease', async (t) => {
  const { appends, pass, state, taken } = startGate();
  pass('')();
  t.same(taken(), [': done']);
  const synced = pass('');
  state.isHeld = false;
  synced();
  t.same(taken(), ['broken', ': Voided'], 'when it leaves');
  t.equal(appends.length, 0);
});

t.test('[cluster gate] the first entry of an owner is appended even if it is empty', async (t) => {
  const { gate, appends } = startGate();
  const opened = gate.open(Buffer.from(''));
  t.same([appends[0]?.expected, appends[0]?.text], [7, '']);
  await appends[0]?.take(20);
  await opened;
  t.equal(gate.sequence, 20);
  const other = startGate();
  const refused = other.gate.open(Buffer.from(''));
  void other.appends[0]?.refuse(new Fenced('another has appended'));
  await t.rejects(refused, Voided);
});

t.test('[cluster gate] a failed sync is told as it is: the process ends', async (t) => {
  const { gate, appends, pass, taken } = startGate();
  pass('a')(new Error('the disk'));
  t.same(taken(), ['a: Error']);
  await appends[0]?.take(8);
  t.same(taken(), []);
  t.notOk(gate.isAtRest, 'the file may not hold what the log does');
});

t.test('[cluster gate] a commit that comes before the last one is done voids both', async (t) => {
  const { appends, pass, taken } = startGate();
  pass('a')();
  pass('b');
  t.same(taken(), ['broken', 'a: Voided', 'b: Voided']);
  await appends[0]?.take(9);
  t.same(taken(), []);
});
