// Which known vulnerabilities of a dependency fail a run, by npm's own form of a report; the tests do not ask the
// registry.

import t from 'tap';
import { allowances, failing } from '../support/advisories.ts';

const url = 'https://github.com/advisories/GHSA-0000-0000-0000';
const report = (severity: string) => ({
  vulnerabilities: {
    parser: { severity, via: [{ url, title: 'Runs what it reads', severity }] },
    user: { severity, via: ['parser'] },
  },
});
const now = new Date('2026-11-21T12:00:00.000Z');

t.test('high and critical faults fail, once each', async (t) => {
  for (const severity of ['high', 'critical'])
    t.strictSame(failing(report(severity), now), [`${severity}: parser: Runs what it reads (${url})`]);
  for (const severity of ['info', 'low', 'moderate']) t.strictSame(failing(report(severity), now), []);
  t.strictSame(failing({ vulnerabilities: {} }, now), []);
});

t.test('one that is allowed does not, until its last day is over', async (t) => {
  const allowance = { url, reason: 'Nothing is read by it here.', until: '2026-11-21' };
  t.strictSame(failing(report('high'), now, [allowance]), []);
  t.match(failing(report('high'), new Date('2026-11-22T00:00:00.000Z'), [allowance]), [/was allowed until 2026-11-21/]);
  t.equal(failing(report('high'), now, [{ ...allowance, url: `${url}1` }]).length, 1, 'another one is not');
});

t.test('each allowance has a reason and a day', async (t) => {
  for (const { url: named, reason, until } of allowances) {
    t.match(named, /^https:\/\//);
    t.ok(reason.length > 20, reason);
    t.match(until, /^\d{4}-\d\d-\d\d$/);
  }
});
