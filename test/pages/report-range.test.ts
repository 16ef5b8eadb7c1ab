// A report's range, as plain functions: days in the workspace's zone, also over changes of the clock.

import t from 'tap';
import {
  bucketRange,
  customRange,
  dayOfInstant,
  mayBeHourly,
  midnightOf,
  rangeBefore,
  rangeOf,
  rangeQuery,
} from '../../http/pages/reports/range.ts';

const iso = (ms: number): string => new Date(ms).toISOString();
const midnight = (day: string, zone: string): string => iso(midnightOf(Date.parse(`${day}T00:00:00Z`), zone));

t.test('a day begins at its own midnight, wherever the reader is', (t) => {
  t.equal(midnight('2026-11-20', 'Asia/Kolkata'), '2026-11-19T18:30:00.000Z');
  t.equal(midnight('2026-11-20', 'America/Los_Angeles'), '2026-11-20T08:00:00.000Z');
  t.equal(midnight('2026-03-29', 'Europe/Berlin'), '2026-03-28T23:00:00.000Z', 'the day the clock goes forward');
  t.equal(midnight('2026-03-30', 'Europe/Berlin'), '2026-03-29T22:00:00.000Z', 'and the one after');
  t.equal(midnight('2026-10-26', 'Europe/Berlin'), '2026-10-25T23:00:00.000Z');
  t.equal(dayOfInstant('2026-11-19T18:30:00.000Z', 'Asia/Kolkata'), '2026-11-20');
  t.equal(dayOfInstant('2026-11-19T18:29:59.999Z', 'Asia/Kolkata'), '2026-11-19');
  t.strictSame(
    [dayOfInstant('2026-11-20', 'UTC'), dayOfInstant('soon', 'UTC'), dayOfInstant('', 'UTC')],
    ['2026-11-20', '', ''],
  );
  t.end();
});

t.test('a range of days includes the last; errors in one are named', (t) => {
  const range = (from: string, to: string) => customRange({ from, to }, 'Europe/Berlin');
  t.strictSame(range('2026-11-20', '2026-11-20'), {
    fromMs: Date.parse('2026-11-19T23:00:00Z'),
    toMs: Date.parse('2026-11-20T23:00:00Z'),
  });
  t.strictSame(
    range('2026-11-20T10:00:00Z', '2026-11-20T11:00:00Z'),
    { fromMs: Date.parse('2026-11-20T10:00:00Z'), toMs: Date.parse('2026-11-20T11:00:00Z') },
    'times are taken as they are',
  );
  t.ok('fromMs' in range('2025-11-21', '2026-11-20'), '365 days');
  t.match(range('2025-11-20', '2026-11-20'), { to: /365/ });
  t.match(
    [
      range('', '2026-11-20'),
      range('2026-11-20', ''),
      range('2026-11-21', '2026-11-20'),
      range('2026-02-31x', '2026-11-20'),
    ],
    [{ from: /first day/ }, { to: /last day/ }, { to: /after the first day/ }, { from: /first day/ }],
  );
  t.end();
});

t.test('the query of the API, and of the time before', (t) => {
  const asked = (text: string) => rangeOf(new URLSearchParams(text));
  t.match(asked('range=2d&by=minute'), { range: '7d', granularity: undefined });
  t.strictSame(rangeQuery(asked('range=30d&from=x'), 'UTC'), { range: '30d' });
  t.equal(rangeQuery(asked('range=custom&from=2026-11-20'), 'UTC'), undefined);
  t.strictSame(rangeQuery(asked('range=custom&from=2026-11-20&to=2026-11-20'), 'UTC'), {
    range: 'custom',
    from: '2026-11-20T00:00:00.000Z',
    to: '2026-11-21T00:00:00.000Z',
  });
  t.strictSame(rangeBefore({ start: '2026-11-13T12:00:00.000Z', end: '2026-11-20T12:00:00.000Z' }), {
    range: 'custom',
    from: '2026-11-06T12:00:00.000Z',
    to: '2026-11-13T12:00:00.000Z',
  });
  t.strictSame(
    [
      'range=1d',
      'range=30d',
      'range=90d',
      'range=custom&from=2026-10-21&to=2026-11-20',
      'range=custom&from=2026-10-20&to=2026-11-20',
      'range=custom',
    ].map((text) => mayBeHourly(asked(text), 'UTC')),
    [true, true, false, true, false, false],
  );
  t.end();
});

t.test('a bucket ends where the next one begins, and the last and first with the range', (t) => {
  const series = [{ bucket: '2026-11-19T00:00:00.000+05:30' }, { bucket: '2026-11-20T00:00:00.000+05:30' }];
  const range = { start: '2026-11-19T04:00:00.000Z', end: '2026-11-20T04:00:00.000Z' };
  t.strictSame(bucketRange(series, 0, range), { from: '2026-11-19T04:00:00.000Z', to: '2026-11-19T18:30:00.000Z' });
  t.strictSame(
    bucketRange(series, 1, range),
    { from: '2026-11-19T18:30:00.000Z', to: '2026-11-20T04:00:00.001Z' },
    'events at its very end count',
  );
  t.end();
});
