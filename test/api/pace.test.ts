import t from 'tap';
import { Pace } from '../../http/limits/pace.ts';

const mebibyte = 1024 * 1024;

t.test('a network moves 64 MiB a second, waits for the rest, and costs others nothing', async (t) => {
  let nowMs = 1000;
  const waits: number[] = [];
  const pace = new Pace({
    now: () => nowMs,
    wait: async (ms) => void waits.push(Math.round(ms)),
  });
  for (let part = 0; part < 4; part += 1) await pace.take('a', mebibyte);
  t.same(waits, [], 'the first three mebibytes and the part that crosses them');
  await pace.take('a', 64 * mebibyte);
  await pace.take('a', mebibyte);
  t.same(waits, [13, 1013]);
  await pace.take('b', mebibyte);
  t.equal(waits.length, 2, 'another network');
  nowMs += 10_000;
  await pace.take('a', mebibyte);
  t.equal(waits.length, 2, 'time that was not used is not kept');
  for (let part = 0; part < 4; part += 1) await pace.take('a', mebibyte);
  t.same(waits.slice(2), [13]);
});

t.test('networks that are no longer ahead are forgotten, those that are stay', async (t) => {
  let nowMs = 0;
  const waits: number[] = [];
  const pace = new Pace({ now: () => nowMs, wait: async (ms) => void waits.push(ms) });
  for (let network = 0; network < 5000; network += 1) {
    nowMs += 1;
    await pace.take(`n${network}`, 1);
  }
  await pace.take('ahead', 128 * mebibyte);
  for (let network = 0; network < 1500; network += 1) await pace.take(`m${network}`, 1);
  t.same(waits, []);
  await pace.take('ahead', 1);
  t.equal(waits.length, 1);
});
