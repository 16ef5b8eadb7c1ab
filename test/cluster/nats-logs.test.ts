// Logs of workspaces on a real NATS server: order, the fence, answers that get lost, large entries, readers and purges.

import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { headers } from '@nats-io/transport-node';
import t from 'tap';
import { Fenced, type LogEntry, LogUnreachable, type WorkspaceLogs } from '../../engine/runtime/cluster/ports.ts';
import { logPlace } from '../../workers/cluster/layout.ts';
import { CutLink } from '../support/cut-link.ts';
import { openStore, operator, skip, startNats } from '../support/nats.ts';

const never = new AbortController().signal;
const layout = { name: 'test', replicas: 1 };

function append(logs: WorkspaceLogs, workspaceId: string, expected: number, bytes: Uint8Array, id = randomUUID()) {
  return logs.append(workspaceId, { id, expected, bytes }, never);
}

async function all(entries: AsyncIterable<LogEntry>): Promise<LogEntry[]> {
  const found: LogEntry[] = [];
  for await (const entry of entries) found.push(entry);
  return found;
}

const textsOf = (entries: readonly LogEntry[]): string[] => entries.map(({ bytes }) => Buffer.from(bytes).toString());

t.test('[cluster] logs', { skip }, async (t) => {
  const server = await startNats(t);
  const { logs } = await openStore(t, server.url);
  const other = await openStore(t, server.url, { node: 'node-2' });
  const { connection, jsm } = await operator(t, server.url);

  t.test('entries are read in the order in which they were appended, each with the one before', async (t) => {
    t.same(await all(logs.read('order', 0)), [], 'nothing yet');
    let last = 0;
    const sequences: number[] = [];
    for (const text of ['a', '', 'c']) {
      last = await append(logs, 'order', last, Buffer.from(text));
      sequences.push(last);
    }
    // Another workspace of the same stream or not: it is not seen.
    await append(logs, 'elsewhere', 0, Buffer.from('x'));
    const entries = await all(logs.read('order', 0));
    t.same(textsOf(entries), ['a', '', 'c'], 'an empty one is an entry, too');
    t.same(
      entries.map(({ sequence }) => sequence),
      sequences,
    );
    t.same(
      entries.map(({ previous }) => previous),
      [0, ...sequences.slice(0, -1)],
    );
    t.same(textsOf(await all(logs.read('order', sequences[0] ?? 0))), ['', 'c']);
    t.same(await all(logs.read('order', last)), []);
  });

  t.test('the fence: of two that append at once, one wins, each time', async (t) => {
    let last = 0;
    for (let round = 0; round < 100; round += 1) {
      const outcomes = await Promise.allSettled(
        [logs, other.logs].map((one, index) => append(one, 'fenced', last, Buffer.from(`${round} by ${index}`))),
      );
      const won = outcomes.flatMap((one, index) =>
        one.status === 'fulfilled' ? [{ index, sequence: one.value }] : [],
      );
      const lost = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      if (won.length !== 1 || !(lost[0] instanceof Fenced)) t.fail(`round ${round}`, { outcomes });
      const [winner] = won;
      if (winner === undefined) return;
      const [entry] = await all(logs.read('fenced', last));
      if (Buffer.from(entry?.bytes ?? []).toString() !== `${round} by ${winner.index}`)
        t.fail(`round ${round}: wrong entry`);
      last = winner.sequence;
    }
    t.equal((await all(logs.read('fenced', 0))).length, 100);
  });

  t.test('a batch is fenced as one message is', async (t) => {
    const large = randomBytes(3 * 1024 * 1024);
    const first = await append(logs, 'batch-fence', 0, large);
    await t.rejects(append(other.logs, 'batch-fence', 0, large), Fenced);
    await t.rejects(append(other.logs, 'batch-fence', 0, Buffer.from('small')), Fenced);
    await append(other.logs, 'batch-fence', first, large);
    t.equal((await all(logs.read('batch-fence', 0))).length, 2);
  });

  t.test('an answer that is lost: asked again, the append is told as taken, and is there once', async (t) => {
    for (const [workspaceId, bytes] of [
      ['lost-small', Buffer.from('small')],
      ['lost-large', randomBytes(2.5 * 1024 * 1024)],
    ] as const) {
      const link = await CutLink.start(t, server.port);
      const { logs: cutLogs } = await openStore(t, link.url);
      const first = await append(cutLogs, workspaceId, 0, Buffer.from('first'));
      const lost = link.lose(
        bytes.length > 100 ? 'Nats-Batch-Commit' : `HPUB ${logPlace(layout, workspaceId).subject}`,
        '"seq":',
      );
      const appended = append(cutLogs, workspaceId, first, bytes);
      await lost;
      const sequence = await appended;
      const entries = await all(logs.read(workspaceId, first));
      t.equal(entries.length, 1, workspaceId);
      t.equal(entries[0]?.sequence, sequence);
      t.ok(bytes.equals(entries[0]?.bytes ?? Buffer.alloc(0)));
    }
  });

  t.test('error 10164 does not say who was first: it is asked again, and so is any other but 10071', async (t) => {
    const link = await CutLink.start(t, server.port);
    const { logs: cutLogs } = await openStore(t, link.url);
    for (const code of [10164, 10158, 10077, 10008]) {
      const workspaceId = `code-${code}`;
      const first = await append(logs, workspaceId, 0, Buffer.from('first'));
      link.rewriteOnce('"err_code":10071', `"err_code":${code}`);
      let answers = 0;
      void link.seen('"err_code":', 1).then(() => {
        answers += 1;
        return link.seen('"err_code":', 1).then(() => {
          answers += 1;
        });
      });
      await t.rejects(append(cutLogs, workspaceId, 0, Buffer.from('outdated')), Fenced);
      t.equal(answers, 2, `${code}: asked twice`);
      await append(cutLogs, workspaceId, first, Buffer.from('second'));
    }
  });

  t.test('an append whose id NATS has forgotten is recognised by what follows the expected entry', async (t) => {
    const id = randomUUID();
    const { subject } = logPlace(layout, 'forgotten');
    const head = headers();
    head.set('Switchboard-Entry', id);
    const answer = await connection.request(subject, Buffer.from('taken long ago'), { headers: head, timeout: 30_000 });
    const { seq } = answer.json<{ seq: number }>();
    await append(other.logs, 'forgotten', seq, Buffer.from('another owner went on'));
    t.equal(await append(logs, 'forgotten', 0, Buffer.from('taken long ago'), id), seq);
    await t.rejects(append(logs, 'forgotten', 0, Buffer.from('never taken')), Fenced);
  });

  t.test('an append ends with its signal, while NATS cannot be reached', async (t) => {
    const link = await CutLink.start(t, server.port);
    const { logs: cutLogs } = await openStore(t, link.url);
    link.cut();
    const giveUp = new AbortController();
    const id = randomUUID();
    const appended = cutLogs.append('ended', { id, expected: 0, bytes: Buffer.from('x') }, giveUp.signal);
    giveUp.abort();
    await t.rejects(appended, LogUnreachable);
    link.mend();
    t.ok(await append(cutLogs, 'ended', 0, Buffer.from('x'), id), 'asked again under the same id');
    t.same(textsOf(await all(logs.read('ended', 0))), ['x']);
  });

  t.test('50 MB are read, small entries and large ones', async (t) => {
    const sizes = [
      ...Array.from({ length: 80 }, () => 512 * 1024),
      5 * 1024 * 1024,
      1024 * 1024,
      1024 * 1024 - 4096,
      4 * 1024 * 1024,
    ];
    const hashes: string[] = [];
    const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
    let last = 0;
    for (const size of sizes) {
      const bytes = randomBytes(size);
      hashes.push(hashOf(bytes));
      last = await append(logs, 'long', last, bytes);
    }
    const found: string[] = [];
    let position = 0;
    for await (const { sequence, previous, bytes } of other.logs.read('long', 0)) {
      if (previous !== position) t.fail(`entry ${sequence} follows ${previous}, not ${position}`);
      position = sequence;
      found.push(hashOf(bytes));
    }
    t.same(found, hashes);
    t.equal(position, last);
  });

  t.test('an entry that no log takes is refused at once', async (t) => {
    await t.rejects(append(logs, 'too-large', 0, Buffer.alloc(257 * 1024 * 1024)), RangeError);
  });

  t.test('who follows gets what is there and what comes, also after a cut', async (t) => {
    const link = await CutLink.start(t, server.port);
    const follower = await openStore(t, link.url);
    const enough = new AbortController();
    let last = await append(logs, 'followed', 0, Buffer.from('0'));
    const entries = follower.logs.follow('followed', 0, enough.signal)[Symbol.asyncIterator]();
    const next = async (): Promise<string | undefined> => {
      const { value } = await entries.next();
      return value === undefined ? undefined : Buffer.from(value.bytes).toString().slice(0, 4);
    };
    t.equal(await next(), '0');
    for (const text of ['1', '2']) {
      last = await append(logs, 'followed', last, Buffer.from(text));
      t.equal(await next(), text);
    }
    link.cut();
    last = await append(logs, 'followed', last, Buffer.from('3'));
    last = await append(logs, 'followed', last, Buffer.alloc(2 * 1024 * 1024, '4'));
    link.mend();
    t.equal(await next(), '3');
    t.equal(await next(), '4444');
    const ending = next();
    enough.abort();
    t.equal(await ending, undefined);
  });

  t.test('a purge leaves the newest entry, whole', async (t) => {
    const large = randomBytes(2 * 1024 * 1024 + 7);
    let last = 0;
    for (const text of ['a', 'b', 'c']) last = await append(logs, 'purged', last, Buffer.from(text));
    for (const nothing of [-1, 0]) await logs.purge('purged', nothing);
    const [, b, ...rest] = await all(logs.read('purged', 0));
    t.equal(rest.length, 1, 'nothing is purged up to nothing');
    await logs.purge('purged', b?.sequence ?? 0);
    const left = await all(logs.read('purged', 0));
    t.same(textsOf(left), ['c']);
    t.equal(left[0]?.previous, b?.sequence, 'a reader sees that something is missing');
    await logs.purge('purged', last + 1000);
    t.same(textsOf(await all(logs.read('purged', 0))), ['c']);
    await t.rejects(append(other.logs, 'purged', 0, Buffer.from('newcomer')), Fenced);
    const newest = await append(logs, 'purged', last, large);
    await logs.purge('purged', newest);
    const [whole, ...more] = await all(logs.read('purged', 0));
    t.same(more, []);
    t.ok(large.equals(whole?.bytes ?? Buffer.alloc(0)));
    await logs.purge('never-there', 5);
  });

  t.test('workspaces are spread over the streams', async (t) => {
    const used = new Set<string>();
    for (let index = 0; index < 64; index += 1) used.add(logPlace(layout, `workspace-${index}`).stream);
    t.equal(used.size, 8);
    for (const stream of used) t.equal((await jsm.streams.info(stream)).config.name, stream);
    t.throws(() => logPlace(layout, 'a.b'), /not a name/);
    t.throws(() => logPlace(layout, '*'), /not a name/);
  });
});
