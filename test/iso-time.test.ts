import t from 'tap';
import { isoTime } from '../engine/runtime/clock.ts';

t.test('[2] times are ISO 8601 UTC with milliseconds, whatever was asked before', async (t) => {
  const around = Date.parse('2026-11-20T12:00:00.000Z');
  const times = [0, 1, 999, 1000, 1001, 59_999, 60_000, -1, 12.7, 86_400_000, 999, 0].map((offset) => around + offset);
  for (const ms of [...times, 0, 1, -1, -1000, Date.parse('1969-12-31T23:59:59.999Z'), Date.parse('9999-12-31T23:59:59.999Z')]) t.equal(isoTime(ms), new Date(ms).toISOString(), String(ms));
});
