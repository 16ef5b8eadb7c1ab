// Lists that are read page by page: what happens while a page is on its way.

import t from 'tap';
import { PagedList } from '../../http/pages/design/paged.ts';
import type { Page } from '../../http/pages/design/pager.ts';

interface Asked {
  readonly cursor: string | null;
  readonly signal: AbortSignal;
  answer(rows: readonly string[], nextCursor?: string): Promise<void>;
  fail(): Promise<void>;
}

function scene() {
  const asked: Asked[] = [];
  const list = new PagedList<string>(
    (cursor, signal) =>
      new Promise<Page<string>>((resolve, reject) => {
        const settle = async (): Promise<void> => {
          await new Promise((done) => setImmediate(done));
        };
        asked.push({
          cursor,
          signal,
          answer: (rows, nextCursor) => {
            resolve({ rows, nextCursor: nextCursor ?? null });
            return settle();
          },
          fail: () => {
            reject(new Error('gone'));
            return settle();
          },
        });
      }),
  );
  return { list, asked };
}

t.test('pages are read one at a time, and shown as one list', async (t) => {
  const { list, asked } = scene();
  t.match(list, { rows: undefined, loading: true, hasMore: false, failure: undefined });
  list.reload();
  list.more();
  t.equal(asked.length, 1, 'nothing is asked for twice');
  await asked[0]?.answer(['a', 'b'], 'next');
  t.match(list, { rows: ['a', 'b'], loading: false, hasMore: true });
  list.more();
  t.match(list, { rows: ['a', 'b'], loading: true, hasMore: true });
  t.equal(asked[1]?.cursor, 'next');
  await asked[1]?.answer(['c']);
  t.match(list, { rows: ['a', 'b', 'c'], loading: false, hasMore: false });
  list.more();
  t.equal(asked.length, 2, 'there is no page after the last');
});

t.test('what changes while a page is read is applied to it as well', async (t) => {
  const { list, asked } = scene();
  list.reload();
  list.change((rows) => rows.filter((one) => one !== 'b'));
  await asked[0]?.answer(['a', 'b'], 'next');
  t.strictSame(list.rows, ['a']);
  list.more();
  const wholes: boolean[] = [];
  list.change((rows, isWhole) => {
    wholes.push(isWhole);
    return ['new', ...rows.filter((one) => one !== 'new')];
  });
  t.strictSame(list.rows, ['new', 'a']);
  await asked[1]?.answer(['c']);
  t.strictSame(list.rows, ['new', 'a', 'c']);
  t.strictSame(wholes, [false, true], 'the list is whole after its last page');
  list.reload();
  await asked[2]?.answer(['a', 'b']);
  t.strictSame(list.rows, ['a', 'b'], 'only changes since the read began are applied');
});

t.test('a page that failed is read again; what was read stays', async (t) => {
  const { list, asked } = scene();
  list.reload();
  await asked[0]?.fail();
  t.match(list, { rows: undefined, loading: false, failure: { message: 'gone' } });
  list.retry();
  t.match(list, { loading: true, failure: undefined });
  await asked[1]?.answer(['a'], 'next');
  list.more();
  await asked[2]?.fail();
  t.match(list, { rows: ['a'], hasMore: true, failure: { message: 'gone' } });
  list.retry();
  t.equal(asked[3]?.cursor, 'next');
});

t.test('reading from the start drops the page on its way, and keeps what is shown until the new one', async (t) => {
  const { list, asked } = scene();
  list.reload();
  await asked[0]?.answer(['a'], 'next');
  list.more();
  list.reload();
  t.ok(asked[1]?.signal.aborted);
  t.match(list, { rows: ['a'], loading: true, hasMore: true });
  await asked[1]?.answer(['b']);
  t.strictSame(list.rows, ['a'], 'a late page changes nothing');
  await asked[2]?.answer(['z'], 'next');
  t.match(list, { rows: ['z'], hasMore: true });
  list.more();
  list.stop();
  await asked[3]?.fail();
  t.match(list, { rows: ['z'], failure: undefined });
});
