import t from 'tap';
import { type NodeRecord, noNodesSchema, type Ownership } from '../../engine/runtime/cluster/ports.ts';
import { dutyOf, inLine, isTooNew } from '../../engine/runtime/cluster/sharing.ts';
import { nodeRecord } from '../support/node-record.ts';

const view = (...records: NodeRecord[]): Map<string, NodeRecord> => new Map(records.map((one) => [one.node, one]));
const owned = (node: string, change: Partial<Ownership> = {}): Ownership => ({
  node,
  epoch: 1,
  schema: 1,
  isPinned: false,
  ...change,
});
const ids = Array.from({ length: 3000 }, (_, index) => `workspace ${index}`);
const three = ['a', 'b', 'c'].map((node) => nodeRecord(node));
const names = (records: readonly NodeRecord[]): string[] => records.map(({ node }) => node);

t.test('[cluster sharing] every node has about the same share, whoever computes it', async (t) => {
  const counts = new Map<string, number>();
  const different: string[] = [];
  for (const id of ids) {
    const line = names(inLine(id, three));
    if (String(names(inLine(id, [...three].reverse()))) !== String(line)) different.push(id);
    counts.set(line[0] ?? '', (counts.get(line[0] ?? '') ?? 0) + 1);
  }
  t.same(different, []);
  for (const [node, count] of counts) t.ok(count > 900 && count < 1100, `${node}: ${count}`);
});

t.test('[cluster sharing] when a node goes, only its own share moves, to those who are second', async (t) => {
  const without = three.filter(({ node }) => node !== 'b');
  const wrong = ids.filter((id) => {
    const before = names(inLine(id, three)).filter((node) => node !== 'b');
    return String(names(inLine(id, without))) !== String(before);
  });
  t.same(wrong, []);
});

t.test('[cluster sharing] nodes that drain, are not ready or are too old are not in line', async (t) => {
  const nodes = [
    nodeRecord('a', { isDraining: true }),
    nodeRecord('b', { isReady: false }),
    nodeRecord('c'),
    nodeRecord('d', { schema: 2 }),
  ];
  for (const id of ids.slice(0, 50)) {
    t.same(names(inLine(id, nodes)).sort(), ['c', 'd']);
    t.same(names(inLine(id, nodes, 2)), ['d']);
  }
});

t.test('[cluster sharing] what each node does for a workspace', async (t) => {
  const id = 'workspace 1';
  const [first = '', second = '', third = ''] = names(inLine(id, three));
  const nodes = view(...three);
  const duties = (ownership: Ownership, there = nodes): string[] =>
    [first, second, third].map((node) => {
      const duty = dutyOf(node, id, { ownership, nodes: there });
      return duty.kind === 'give' ? `give to ${duty.to.node}` : duty.kind;
    });
  t.same(duties(owned(first)), ['serve', 'copy', 'none']);
  t.same(
    duties(owned(third)),
    ['copy', 'none', `give to ${first}`],
    'the next owner reads it before it is handed over',
  );
  t.same(duties(owned(third, { isPinned: true })), ['copy', 'none', 'serve'], 'moved by hand, it stays');
  t.same(duties(owned('gone')), ['serve', 'none', 'none']);
  const without = view(...three.filter(({ node }) => node !== first));
  t.same(
    duties(owned(first), without).slice(1),
    ['serve', 'none'],
    'the second takes over; the third is next when that is done',
  );
  const draining = view(...three.map((one) => (one.node === first ? { ...one, isDraining: true } : one)));
  t.same(duties(owned(first), draining), [`give to ${second}`, 'copy', 'none']);
  t.same(duties(owned(first, { isPinned: true }), draining), [`give to ${second}`, 'copy', 'none']);
  t.same(
    duties(owned(first), view(nodeRecord(first, { isDraining: true }))).slice(0, 1),
    ['serve'],
    'nobody else is there',
  );
  t.same(duties(owned('gone', { schema: 2 })), ['none', 'none', 'none'], 'all are too old for it');
  t.same(
    duties(owned(first, { schema: 2 })),
    ['none', 'none', 'none'],
    'its owner is there again with an older program, and leaves it alone',
  );
  const renewed = view(...three.map((one) => (one.node === third ? { ...one, schema: 2 } : one)));
  t.same(
    duties(owned(first, { schema: 2 }), renewed),
    ['none', 'none', 'serve'],
    'the newer one takes it from an owner that cannot open it',
  );
  t.same(duties(owned(first, { schema: 2, isPinned: true }), renewed), ['none', 'none', 'serve']);
});

t.test('[cluster sharing] too new is what nobody who is there can open, and not what nobody is to serve', async (t) => {
  t.notOk(isTooNew(owned('a'), three));
  t.ok(isTooNew(owned('a', { schema: 2 }), three));
  t.notOk(isTooNew(owned('a', { schema: 2 }), [...three, nodeRecord('d', { schema: 2, isDraining: true })]));
  t.notOk(isTooNew(owned('-discarded', { schema: noNodesSchema }), three));
});
